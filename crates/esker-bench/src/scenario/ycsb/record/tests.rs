//! Tests of the layout of records and of what fields are filled with.

use super::*;

fn record(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut record = Vec::new();
    for (name, value) in pairs {
        push_field(&mut record, name.as_bytes(), value.as_bytes());
    }
    record
}

#[test]
fn the_layout_is_the_binding_s() {
    // Byte by byte: what YCSB wrote into RocksDB, we read, and the other way round.
    let bytes = record(&[("field0", "ab"), ("f", "")]);
    assert_eq!(bytes, b"\0\0\0\x06field0\0\0\0\x02ab\0\0\0\x01f\0\0\0\0");
    let found: Vec<_> = fields(&bytes).map(Result::unwrap).collect();
    assert_eq!(found, [(&b"field0"[..], &b"ab"[..]), (&b"f"[..], &b""[..])]);
}

#[test]
fn cut_and_negative_lengths_are_no_record() {
    // Every cut of a record of one field but none, and a length below 0.
    let bytes = record(&[("field0", "ab")]);
    for end in 1..bytes.len() {
        assert!(fields(&bytes[..end]).any(|field| field.is_err()), "{end}");
    }
    assert!(fields(b"\xff\xff\xff\xff").any(|field| field.is_err()));
    assert_eq!(find(&bytes[..7], b"x"), Err(NoRecord));
}

#[test]
fn an_update_changes_what_it_names() {
    // One field changes and keeps its place, one is new.
    let mut updated = Vec::new();
    let current = record(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let changes = record(&[("d", "4"), ("b", "two")]);
    replace_fields(&current, &changes, &mut updated).unwrap();
    assert_eq!(
        updated,
        record(&[("a", "1"), ("b", "two"), ("c", "3"), ("d", "4")])
    );
}

#[test]
fn letters_come_from_their_bits() {
    // All bits off, all on, and one number worked out by hand.
    assert_eq!(&six_letters(0), b"      ");
    assert_eq!(six_letters(u32::MAX), [63, 95, 127, 63, 95, 127]);
    assert_eq!(&six_letters(0x8211_0c85), b"%Dc\"Aa");
}

#[test]
fn random_values_have_their_length_and_their_seed() {
    // Lengths around multiples of six; the same seed, the same bytes.
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for length in [0, 1, 5, 6, 7, 100] {
        fill_random(&mut one, length, &mut Random::new(1));
        fill_random(&mut two, length, &mut Random::new(1));
        assert_eq!(one.len(), length);
        assert_eq!(one, two);
        assert!(one.iter().all(|byte| (32..128).contains(byte)));
    }
}

#[test]
fn hashes_are_those_of_java() {
    // "Aa" and "BB" are Java's best known twins.
    assert_eq!(continue_hash(0, b"Aa"), 2112);
    assert_eq!(continue_hash(0, b"BB"), 2112);
    assert_eq!(continue_hash(continue_hash(0, b"us"), b"er"), 3_599_307);
    assert_eq!(continue_hash(0, b"polygenelubricants"), i32::MIN);
}

#[test]
fn determined_values_are_ycsb_s() {
    // The text by the plain rule: hash everything anew each time.
    let (key, field) = ("user6284781860667377211", "field3");
    let mut plain = format!("{key}:{field}");
    while plain.len() < 100 {
        plain.push(':');
        let hash = continue_hash(0, plain.as_bytes());
        plain += &hash.to_string();
    }
    let mut value = Vec::new();
    fill_determined(&mut value, key.as_bytes(), field.as_bytes(), 100);
    assert_eq!(value, &plain.as_bytes()[..100]);
    fill_determined(&mut value, key.as_bytes(), field.as_bytes(), 10);
    assert_eq!(value, b"user628478");
}
