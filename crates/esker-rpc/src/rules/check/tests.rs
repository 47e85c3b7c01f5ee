//! All checks, over values that are absent, empty, text and numbers.

use super::{Verdict, check};
use crate::message::data::CasCheckType;

/// Verdicts of the checks 0 to 17, a letter each: p passed, f failed, i invalid.
fn verdicts(value: Option<&[u8]>, operand: &[u8]) -> String {
    let all = (0..18).map(|kind| match check(CasCheckType(kind), value, operand) {
        Verdict::Passed => 'p',
        Verdict::Failed => 'f',
        Verdict::Invalid => 'i',
    });
    all.collect()
}

#[test]
fn every_check_is_as_its_table_says() {
    // Columns: none; absent, absent or empty, there, not empty; anywhere, prefix, postfix; bytes
    // <, <=, ==, >=, >; numbers <, <=, ==, >=, >.
    assert_eq!(verdicts(None, b""), "pppfffffffffffffff");
    assert_eq!(verdicts(None, b"1"), "pppfffffffffffffff");
    assert_eq!(
        verdicts(Some(b""), b""),
        "pfppf".to_owned() + "ppp" + "fpppf" + "iiiii"
    );
    assert_eq!(
        verdicts(Some(b""), b"1"),
        "pfppf".to_owned() + "fff" + "ppfff" + "iiiii"
    );
    assert_eq!(
        verdicts(Some(b"12"), b"12"),
        "pffpp".to_owned() + "ppp" + "fpppf" + "fpppf"
    );
    assert_eq!(
        verdicts(Some(b"12"), b"1"),
        "pffpp".to_owned() + "ppf" + "fffpp" + "fffpp"
    );
    assert_eq!(
        verdicts(Some(b"9"), b"12"),
        "pffpp".to_owned() + "fff" + "fffpp" + "ppfff"
    );
    assert_eq!(
        verdicts(Some(b"0x10"), b"16"),
        "pffpp".to_owned() + "fff" + "ppfff" + "fpppf"
    );
    assert_eq!(
        verdicts(Some(b"abc"), b"1"),
        "pffpp".to_owned() + "fff" + "fffpp" + "iiiii"
    );
    assert_eq!(
        verdicts(Some(b"1"), b"abc"),
        "pffpp".to_owned() + "fff" + "ppfff" + "iiiii"
    );
    assert_eq!(
        verdicts(Some(b"abc"), b"bc"),
        "pffpp".to_owned() + "pfp" + "ppfff" + "iiiii"
    );
}

#[test]
fn an_absent_value_fails_where_a_value_is_compared() {
    // Even where the operand is no number.
    for kind in 5..18 {
        assert_eq!(check(CasCheckType(kind), None, b"abc"), Verdict::Failed);
    }
}

#[test]
fn checks_that_do_not_exist_make_no_sense() {
    for kind in [-1, 18, i32::MAX] {
        for value in [None, Some(&b"1"[..])] {
            assert_eq!(check(CasCheckType(kind), value, b"1"), Verdict::Invalid);
        }
    }
}
