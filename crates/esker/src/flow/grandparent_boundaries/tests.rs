//! Cases of their own; that files end at them is tested with the output.

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::flow::grandparent_boundaries::GrandparentBoundaries;

fn boundaries(keys: &[&str]) -> GrandparentBoundaries {
    GrandparentBoundaries::at(
        keys.iter()
            .map(|key| Bytes::copy_of(key.as_bytes()))
            .collect(),
    )
}

fn is_met(boundaries: &mut GrandparentBoundaries, key: &str) -> bool {
    boundaries.is_met(&Comparator::Bytewise, key.as_bytes())
}

#[test]
fn a_boundary_is_met_once_by_the_first_key_that_reaches_it() {
    let mut boundaries = boundaries(&["c", "f"]);
    assert!(!is_met(&mut boundaries, "a"));
    assert!(!is_met(&mut boundaries, "b"));
    assert!(is_met(&mut boundaries, "c"), "at it");
    assert!(!is_met(&mut boundaries, "d"));
    assert!(is_met(&mut boundaries, "h"), "behind it");
    assert!(!is_met(&mut boundaries, "i"), "there are no more");
}

#[test]
fn of_several_boundaries_between_two_keys_none_is_met_again() {
    let mut boundaries = boundaries(&["b", "c", "d", "x"]);
    assert!(!is_met(&mut boundaries, "a"));
    assert!(is_met(&mut boundaries, "e"));
    assert!(!is_met(&mut boundaries, "f"));
}

#[test]
fn what_lies_before_the_first_key_of_a_file_is_no_boundary_of_it() {
    let mut boundaries = boundaries(&["b", "d", "f"]);
    assert!(!is_met(&mut boundaries, "c"), "nobody looked before");
    assert!(is_met(&mut boundaries, "d"));
    boundaries.begin_file();
    assert!(!is_met(&mut boundaries, "g"));
    assert!(!is_met(&mut GrandparentBoundaries::default(), "g"));
}
