//! Cases of their own; that files end at them is tested with the output.

use crate::base::types::bytes::Bytes;
use crate::base::types::order::KeyOrder;
use crate::flow::borders::Borders;

fn borders(keys: &[&str]) -> Borders {
    Borders::at(
        keys.iter()
            .map(|key| Bytes::copy_of(key.as_bytes()))
            .collect(),
    )
}

fn is_met(borders: &mut Borders, key: &str) -> bool {
    borders.is_met(&KeyOrder::Bytewise, key.as_bytes())
}

#[test]
fn a_border_is_met_once_by_the_first_key_that_reaches_it() {
    let mut borders = borders(&["c", "f"]);
    assert!(!is_met(&mut borders, "a"));
    assert!(!is_met(&mut borders, "b"));
    assert!(is_met(&mut borders, "c"), "at it");
    assert!(!is_met(&mut borders, "d"));
    assert!(is_met(&mut borders, "h"), "behind it");
    assert!(!is_met(&mut borders, "i"), "there are no more");
}

#[test]
fn of_several_borders_between_two_keys_none_is_met_again() {
    let mut borders = borders(&["b", "c", "d", "x"]);
    assert!(!is_met(&mut borders, "a"));
    assert!(is_met(&mut borders, "e"));
    assert!(!is_met(&mut borders, "f"));
}

#[test]
fn what_lies_before_the_first_key_of_a_file_is_no_border_of_it() {
    let mut borders = borders(&["b", "d", "f"]);
    assert!(!is_met(&mut borders, "c"), "nobody looked before");
    assert!(is_met(&mut borders, "d"));
    borders.begin_file();
    assert!(!is_met(&mut borders, "g"));
    assert!(!is_met(&mut Borders::default(), "g"));
}
