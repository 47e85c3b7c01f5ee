//! Tests of `merge_builtin`.

use super::*;

fn fold(name: &str, base: Option<&[u8]>, operands: &[&[u8]]) -> Vec<u8> {
    builtin(name).unwrap().0.fold(b"k", base, operands).unwrap()
}

#[test]
fn counters_wrap_and_ignore_other_sizes() {
    // As RocksDB's uint64add: a value of another size counts as 0, the sum wraps.
    let one = 1u64.to_le_bytes();
    let max = u64::MAX.to_le_bytes();
    assert_eq!(fold("uint64add", None, &[&one, &one]), 2u64.to_le_bytes());
    assert_eq!(fold("uint64add", Some(&max), &[&one]), 0u64.to_le_bytes());
    assert_eq!(fold("uint64add", Some(b"text"), &[&one, b"x"]), one);
}

#[test]
fn minimum_of_a_missing_base_is_its_operands() {
    // A base of 0 would make every minimum 0.
    let (three, five) = (3u64.to_le_bytes(), 5u64.to_le_bytes());
    assert_eq!(fold("uint64min", None, &[&five, &three]), three);
    assert_eq!(fold("uint64min", Some(&three), &[&five]), three);
    assert_eq!(fold("uint64max", Some(&three), &[&five]), five);
}

#[test]
fn append_joins_with_its_delimiter() {
    // The delimiter is part of the name, so a reopen with another one is noticed.
    assert_eq!(fold("append", Some(b"a"), &[b"b", b"c"]), b"a,b,c");
    assert_eq!(fold("append:", None, &[b"b", b"c"]), b"bc");
    assert_eq!(builtin("append:--").unwrap().0.name(), "append:--");
    assert_eq!(builtin("append:,").unwrap().0.name(), "append");
    assert!(builtin("appendix").is_none() && builtin("nosuch").is_none());
}

#[test]
fn grouping_does_not_matter() {
    // The law of merge operators: combining first gives the same as folding all at once.
    let operands: [&[u8]; 3] = [b"12345678", b"abcdefgh", b"\xff\x01"];
    for name in BUILTIN_NAMES {
        let rule = builtin(name).unwrap();
        for base in [None, Some(&b"AAAAAAAA"[..])] {
            let whole = rule.0.fold(b"k", base, &operands).unwrap();
            let pair = rule.0.combine(b"k", operands[0], operands[1]).unwrap();
            let grouped = rule.0.fold(b"k", base, &[&pair, operands[2]]).unwrap();
            assert_eq!(whole, grouped, "{name} with base {base:?}");
        }
    }
}
