//! Tests of building a batch: limits, and that a refused call changes nothing.

use super::*;
use crate::base::types::expiry::Expiry;
use crate::store::batch::reader::BatchReader;

const KS: KeyspaceId = KeyspaceId(3);

fn kind_of(result: Result<()>) -> ErrorKind {
    result.expect_err("must be refused").kind()
}

#[test]
fn too_large_leaves_the_batch_unchanged() {
    // Each kind of call goes one byte over its limit; the bytes stay what they were.
    let mut batch = Batch::new();
    batch.put(KS, b"a", b"1").unwrap();
    let before = batch.bytes().to_vec();
    let long_key = vec![7; KEY_BYTES_MAX + 1];
    assert_eq!(kind_of(batch.put(KS, &long_key, b"")), ErrorKind::TooLarge);
    assert_eq!(
        kind_of(batch.put_expiring(KS, &long_key, Expiry::MAX, b"")),
        ErrorKind::TooLarge
    );
    assert_eq!(kind_of(batch.delete(KS, &long_key)), ErrorKind::TooLarge);
    assert_eq!(
        kind_of(batch.merge(KS, &long_key, b"")),
        ErrorKind::TooLarge
    );
    assert_eq!(
        kind_of(batch.delete_range(KS, &long_key, b"")),
        ErrorKind::TooLarge
    );
    assert_eq!(
        kind_of(batch.delete_range(KS, b"", &long_key)),
        ErrorKind::TooLarge
    );
    assert_eq!(batch.bytes(), before);
    assert_eq!(batch.count(), 1);
}

#[test]
fn lengths_are_checked_before_bytes_are_touched() {
    // A gigabyte is not needed to see what the limits do.
    assert!(check_len("value", VALUE_BYTES_MAX, VALUE_BYTES_MAX).is_ok());
    assert!(check_len("value", VALUE_BYTES_MAX + 1, VALUE_BYTES_MAX).is_err());
    assert!(check_batch_len(100, BATCH_BYTES_MAX - 100).is_ok());
    assert!(check_batch_len(100, BATCH_BYTES_MAX - 99).is_err());
}

#[test]
fn the_longest_key_fits() {
    // The limit itself is allowed, on both ends of a range.
    let key = vec![9; KEY_BYTES_MAX];
    let mut batch = Batch::new();
    batch.delete_range(KS, &key, &key).unwrap();
    batch.delete(KS, &key).unwrap();
    BatchReader::new(batch.bytes()).unwrap().check().unwrap();
}

#[test]
fn a_cleared_batch_is_a_new_one() {
    // Clearing forgets entries and sequence number, and keeps the memory.
    let mut batch = Batch::with_capacity(100);
    batch.put(KS, b"a", b"1").unwrap();
    batch.set_first_seqno(SeqNo::new(77));
    batch.clear();
    assert!(batch.is_empty());
    assert_eq!(batch.bytes(), Batch::new().bytes());
    assert_eq!(batch.size_bytes(), HEADER_BYTES);
}

#[test]
fn appended_entries_follow_their_own() {
    // A leader of a group puts the batches of the others behind its own.
    let mut leader = Batch::new();
    leader.put(KS, b"a", b"1").unwrap();
    let mut other = Batch::new();
    other.delete(KS, b"b").unwrap();
    other.merge(KS, b"c", b"3").unwrap();
    leader.append(&other).unwrap();
    leader.append(&Batch::new()).unwrap();
    let reader = BatchReader::new(leader.bytes()).unwrap();
    let keys: Vec<&[u8]> = reader.entries().map(|entry| entry.unwrap().key).collect();
    assert_eq!(keys, [b"a", b"b", b"c"]);
}

#[test]
#[should_panic]
fn a_sequence_number_beyond_56_bits_is_our_bug() {
    // Two entries cannot start at the last number.
    let mut batch = Batch::new();
    batch.delete(KS, b"a").unwrap();
    batch.delete(KS, b"b").unwrap();
    batch.set_first_seqno(SeqNo::MAX);
}
