//! Tests of what is told of sizes.

use super::*;

#[test]
fn a_dictionary_is_spared_by_what_is_missing_to_a_gigabyte() {
    // A quarter of a gigabyte: three quarters of the dictionary; of more than one nothing.
    let division = vec![
        ("records".to_owned(), 9_000),
        ("dictionary".to_owned(), 400),
    ];
    assert_eq!(spared(&division, 250_000_000), 300);
    assert_eq!(spared(&division, 5_000_000_000), 0);
    assert_eq!(spared(&[], 1), 0);
}
