//! Values and structs of the wire, and what strangers make of them.

use std::collections::BTreeMap;

use super::{DEPTH_MAX, Kind, MEMORY_BASE, MEMORY_PER_BYTE_MAX, Malformed, Reader, Wire};
use crate::codec::scalars::Blob;
use crate::message::data::{KeyValue, MultiPutRequest, UpdateRequest};
use crate::message::meta::QueryConfigRequest;

fn bytes_of<T: Wire>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

fn take<T: Wire>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut reader = Reader::new(bytes);
    let value = T::take(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[test]
fn absent_fields_are_empty() {
    let request: UpdateRequest = take(&[0]).unwrap();
    assert_eq!(request, UpdateRequest::default());
    let request: QueryConfigRequest = take(b"\x0b\0\x01\0\0\0\x01t\0").unwrap();
    assert_eq!(request.app_name, "t");
    assert!(request.partition_indices.is_empty());
}

#[test]
fn every_field_that_is_not_optional_is_written() {
    let bytes = bytes_of(&KeyValue::default());
    assert_eq!(bytes, b"\x0c\0\x01\0\0\0\0\x0c\0\x02\0\0\0\0\0");
    let with_expiry = KeyValue {
        expire_ts_seconds: Some(0),
        ..KeyValue::default()
    };
    assert_eq!(bytes_of(&with_expiry).len(), bytes.len() + 7);
}

#[test]
fn unknown_fields_are_skipped_where_their_end_is_known() {
    let unknown: [&[u8]; 12] = [
        b"\x02\0\x63\x01",
        b"\x03\0\x63\x01",
        b"\x04\0\x6312345678",
        b"\x06\0\x63\x01\x02",
        b"\x08\0\x63\x01\x02\x03\x04",
        b"\x0a\0\x6312345678",
        b"\x0b\0\x63\0\0\0\x02hi",
        b"\x0f\0\x63\x08\0\0\0\x01\0\0\0\x07",
        b"\x0e\0\x63\x0b\0\0\0\x02\0\0\0\x01a\0\0\0\x01b",
        b"\x0d\0\x63\x0b\x0a\0\0\0\x01\0\0\0\x01a12345678",
        b"\x0f\0\x63\x0f\0\0\0\x01\x02\0\0\0\x02\x01\x01",
        b"\x0f\0\x63\x00\0\0\0\0",
    ];
    let known = b"\x0c\0\x01\0\0\0\x01k";
    for field in unknown {
        let bytes = [field, known, field, &[0]].concat();
        let taken: KeyValue = take(&bytes).unwrap();
        assert_eq!(&*taken.key, b"k", "{}", field.escape_ascii());
    }
}

#[test]
fn an_unknown_struct_is_malformed() {
    // A bare scalar has the same kind: nobody can tell where it ends.
    let alone = b"\x0c\0\x63\0\0\0\x01a\0";
    assert_eq!(take::<KeyValue>(alone), Err(Malformed::Unskippable(99)));
    let in_list = b"\x0f\0\x63\x0c\0\0\0\x01\0\0";
    assert_eq!(take::<KeyValue>(in_list), Err(Malformed::Unskippable(99)));
    let in_map = b"\x0d\0\x63\x0c\x02\0\0\0\x01\0\x01\0";
    assert_eq!(take::<KeyValue>(in_map), Err(Malformed::Unskippable(99)));
    let none_in_list = b"\x0f\0\x63\x0c\0\0\0\0\0";
    assert_eq!(take::<KeyValue>(none_in_list), Ok(KeyValue::default()));
}

#[test]
fn a_field_of_another_kind_is_malformed() {
    // Skipped, it would seem absent, and a write would store an empty value.
    let as_text = b"\x0b\0\x02\0\0\0\x01v\0";
    assert_eq!(
        take::<KeyValue>(as_text),
        Err(Malformed::Mismatch(Kind::Text))
    );
    let list_of_text = b"\x0f\0\x02\x0b\0\0\0\x01\0\0\0\0\0";
    let taken = take::<MultiPutRequest>(list_of_text);
    assert_eq!(taken, Err(Malformed::Mismatch(Kind::Text)));
    let empty_list_of_text = b"\x0f\0\x02\x0b\0\0\0\0\0";
    assert_eq!(take(empty_list_of_text), Ok(MultiPutRequest::default()));
}

#[test]
fn lengths_and_counts_are_held_against_the_bytes_that_are_there() {
    for edge in [u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x0100_0000, 8] {
        let word = edge.to_be_bytes();
        let length = Err(Malformed::Length(edge.cast_signed()));
        let blob = [&word[..], b"seven b"].concat();
        assert_eq!(take::<Blob>(&blob).map(drop), length);
        assert_eq!(take::<String>(&blob).map(drop), length);
        let list = [&[12][..], &word, b"seven b"].concat();
        assert_eq!(take::<Vec<KeyValue>>(&list).map(drop), length);
        let map = [&[11, 11][..], &word, &[0; 40]].concat();
        let taken = take::<BTreeMap<String, String>>(&map);
        assert!(taken.is_err());
        let unknown = [b"\x0f\0\x63\x08", &word[..], &[0; 31]].concat();
        assert_eq!(take::<KeyValue>(&unknown).map(drop), length);
        let unknown = [b"\x0d\0\x63\x08\x08", &word[..], &[0; 63]].concat();
        assert_eq!(take::<KeyValue>(&unknown).map(drop), length);
    }
}

#[test]
fn many_small_elements_take_no_more_memory_than_a_message_may() {
    // A struct with no field is one byte here and 56 in memory.
    let count = 1_000_000_u32;
    let bytes = [&[12][..], &count.to_be_bytes(), &vec![0; 1_000_000]].concat();
    let allowed = u64::try_from(MEMORY_BASE + MEMORY_PER_BYTE_MAX * bytes.len()).unwrap();
    let mut result = Ok(Vec::new());
    let measured = allocation_counter::measure(|| result = take::<Vec<KeyValue>>(&bytes));
    assert_eq!(result, Err(Malformed::Memory));
    assert_eq!(measured.bytes_max, 0);

    // As many as fit are read.
    let count = u32::try_from(allowed).unwrap() / 56 / 64;
    let fitting = [&[12][..], &count.to_be_bytes(), &vec![0; 1_000_000]].concat();
    let measured = allocation_counter::measure(|| {
        let mut reader = Reader::new(&fitting);
        assert!(Vec::<KeyValue>::take(&mut reader).is_ok());
    });
    assert!(measured.bytes_max <= allowed);

    // Empty strings are what clients send.
    let count = 200_000_u32;
    let honest = [&[12][..], &count.to_be_bytes(), &vec![0; 800_000]].concat();
    assert_eq!(
        take::<Vec<Blob>>(&honest).map(|list| list.len()),
        Ok(200_000)
    );
}

#[test]
fn several_lists_share_the_memory_of_their_message() {
    // Each list alone would do: 3 × 900 × 56 bytes are more than 16 for each of these bytes.
    let list = [b"\x0f\0\x02\x0c\0\0\x03\x84", &[0; 900][..]].concat();
    let many = [&list.repeat(20)[..], &[0]].concat();
    assert_eq!(take::<MultiPutRequest>(&many), Err(Malformed::Memory));
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| {
        let mut bytes = b"\x0f\0\x63".to_vec();
        for _ in 1..depth {
            bytes.extend_from_slice(&[15, 0, 0, 0, 1]);
        }
        bytes.extend_from_slice(&[2, 0, 0, 0, 1, 1, 0]);
        bytes
    };
    // The struct around it is one level.
    assert_eq!(take(&nested(DEPTH_MAX - 1)), Ok(KeyValue::default()));
    assert_eq!(take::<KeyValue>(&nested(DEPTH_MAX)), Err(Malformed::Depth));
    assert_eq!(take::<KeyValue>(&nested(100_000)), Err(Malformed::Depth));
}

#[test]
fn kinds_that_do_not_exist_are_malformed() {
    for kind in [1, 5, 7, 9, 16, 0x80, 255] {
        assert_eq!(
            take::<KeyValue>(&[kind, 0, 1, 0]),
            Err(Malformed::Kind(kind))
        );
    }
    let of_elements = b"\x0f\0\x63\x10\0\0\0\x01\0\0";
    assert_eq!(take::<KeyValue>(of_elements), Err(Malformed::Kind(16)));
}

#[test]
fn strings_are_utf_8_and_blobs_are_any_bytes() {
    assert_eq!(take::<String>(b"\0\0\0\x02\xff\xfe"), Err(Malformed::Text));
    assert_eq!(
        take::<Blob>(b"\0\0\0\x02\xff\xfe"),
        Ok(Blob::of(b"\xff\xfe"))
    );
}

#[test]
fn any_byte_but_zero_is_true() {
    assert_eq!(take::<bool>(&[7]), Ok(true));
    assert_eq!(take::<bool>(&[0]), Ok(false));
}

#[test]
fn refusals_are_said_in_words() {
    assert_eq!(
        Malformed::Unskippable(9).to_string(),
        "field 9 is unknown and a struct"
    );
    assert_eq!(
        Malformed::Length(-1).to_string(),
        "a length of -1 does not fit"
    );
}
