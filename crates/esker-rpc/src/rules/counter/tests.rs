//! Numbers as C reads them.

use super::{Incremented, increment, parse};

#[test]
fn numbers_are_read_as_strtoll_reads_them_with_base_0() {
    let numbers: [(&str, i64); 18] = [
        ("0", 0),
        ("-0", 0),
        ("42", 42),
        ("+42", 42),
        ("-42", -42),
        (" \t\n\x0b\x0c\r42", 42),
        ("0x1F", 31),
        ("0X1f", 31),
        ("-0x10", -16),
        ("010", 8),
        ("-010", -8),
        ("00", 0),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("0x7fffffffffffffff", i64::MAX),
        ("-0x8000000000000000", i64::MIN),
        ("0777777777777777777777", i64::MAX),
        ("000000000000000000000000000000000007", 7),
    ];
    for (text, number) in numbers {
        assert_eq!(parse(text.as_bytes()), Some(number), "{text:?}");
    }
}

#[test]
fn anything_else_is_no_number() {
    let others = [
        "",
        " ",
        "-",
        "+",
        "- 1",
        "--1",
        "+-1",
        "1 ",
        "1a",
        "a",
        "08",
        "0x",
        "0xg",
        "0x-1",
        "1.0",
        "1e3",
        "9223372036854775808",
        "-9223372036854775809",
        "0x8000000000000000",
        "1\0",
        "\0",
        "0b1",
        "1_0",
        "99999999999999999999999999",
        "٣",
    ];
    for text in others {
        assert_eq!(parse(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn an_increment_adds_or_says_why_not() {
    assert_eq!(increment(None, 5), Incremented::To(5));
    assert_eq!(increment(Some(b""), -5), Incremented::To(-5));
    assert_eq!(increment(Some(b"0x10"), 1), Incremented::To(17));
    assert_eq!(increment(Some(b"x"), 0), Incremented::NoNumber);
    let most = i64::MAX.to_string();
    assert_eq!(
        increment(Some(most.as_bytes()), 0),
        Incremented::To(i64::MAX)
    );
    assert_eq!(
        increment(Some(most.as_bytes()), 1),
        Incremented::Overflow(i64::MAX)
    );
    let least = i64::MIN.to_string();
    assert_eq!(
        increment(Some(least.as_bytes()), -1),
        Incremented::Overflow(i64::MIN)
    );
}
