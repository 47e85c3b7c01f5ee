//! Tests of `json_record`.

use super::*;
use crate::scenario::ycsb::record::push_field;

#[test]
fn a_record_is_an_object_of_texts() {
    // What the binding's Java writes, quotes and backslashes escaped; and back again.
    let mut record = Vec::new();
    push_field(&mut record, b"field1", b"b");
    push_field(&mut record, b"field0", b"say \"a\\b\"");
    let json = encode(&record).expect("a record");
    let text = r#"{"field0":"say \"a\\b\"","field1":"b"}"#;
    assert_eq!(String::from_utf8_lossy(&json), text);
    let read = decode(&json).expect("an object");
    assert_eq!(read["field0"], "say \"a\\b\"");
    assert_eq!(read.len(), 2);
}

#[test]
fn what_is_no_object_of_texts_is_no_record() {
    // Cut short, a list, a number in it, a record of another binding.
    for wrong in ["{\"a\":\"b\"", "[]", "{\"a\":1}", "\0\0\0\u{1}a", ""] {
        assert_eq!(decode(wrong.as_bytes()), Err(NoRecord), "{wrong:?}");
    }
    assert_eq!(encode(&[0, 0]), Err(NoRecord));
}
