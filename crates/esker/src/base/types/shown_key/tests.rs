//! Tests of `shown_key`.

use super::*;

#[test]
fn a_long_key_is_shown_in_part() {
    assert_eq!(shown_key(b"a\x00\"b"), r#"b"a\x00\"b""#);
    assert_eq!(shown_key(&[b'k'; 64]), format!("b\"{}\"", "k".repeat(64)));
    assert_eq!(shown_key(&[b'k'; 65]), format!("b\"{}\"…", "k".repeat(64)));
}
