//! Filters against what the standard library says.

use super::{Filter, contains};
use crate::dice::Dice;
use crate::message::data::FilterType;

#[test]
fn each_kind_looks_where_it_should() {
    let matches = |kind, pattern: &[u8], bytes: &[u8]| {
        Filter::new(FilterType(kind), pattern)
            .unwrap()
            .matches(bytes)
    };
    assert!(matches(0, b"x", b"abc"));
    assert!(matches(1, b"b", b"abc") && !matches(1, b"x", b"abc"));
    assert!(matches(2, b"ab", b"abc") && !matches(2, b"bc", b"abc"));
    assert!(matches(3, b"bc", b"abc") && !matches(3, b"ab", b"abc"));
    for kind in 0..4 {
        assert!(matches(kind, b"", b"abc") && matches(kind, b"", b""));
    }
    for kind in [-1, 4, i32::MAX] {
        assert_eq!(Filter::new(FilterType(kind), b""), None);
    }
}

#[test]
fn only_a_prefix_narrows_a_range() {
    for (kind, prefix) in [(0, &b""[..]), (1, b""), (2, b"ab"), (3, b"")] {
        let filter = Filter::new(FilterType(kind), b"ab").unwrap();
        assert_eq!(filter.prefix(), prefix);
    }
}

#[test]
fn a_part_is_found_wherever_it_stands() {
    let mut dice = Dice::new(4);
    for _ in 0..5000 {
        let bytes: Vec<u8> = dice.bytes(8).iter().map(|byte| byte % 2).collect();
        let part: Vec<u8> = dice.bytes(3).iter().map(|byte| byte % 2).collect();
        let is_there = part.is_empty() || bytes.windows(part.len()).any(|window| window == part);
        assert_eq!(contains(&bytes, &part), is_there);
    }
}

#[test]
fn looking_takes_time_linear_in_what_is_looked_through() {
    // Half a million places at which half a million bytes agree but for the last: 2^38 comparisons
    // if each place is looked at anew, several seconds; counted are the fifty that fit between.
    let bytes = vec![b'a'; 1 << 20];
    let mut part = vec![b'a'; 1 << 19];
    part.push(b'b');
    #[allow(
        clippy::disallowed_methods,
        reason = "the time that it takes is the claim"
    )]
    let started = std::time::Instant::now();
    for _ in 0..50 {
        assert!(!contains(&bytes, &part));
    }
    #[allow(
        clippy::disallowed_methods,
        reason = "the time that it takes is the claim"
    )]
    let took = started.elapsed();
    // On a machine that does much else as well; looked at anew, it would be minutes.
    assert!(took.as_secs() < 60, "{took:?}");
}
