//! Tests of the records of two phases.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::store::batch::record::{Record, kind_of};
use crate::store::batch::writer::Batch;

const KEYSPACE: KeyspaceId = KeyspaceId(3);

fn prepare() -> Vec<u8> {
    let mut batch = Batch::new();
    batch.put(KEYSPACE, b"key", b"value").unwrap();
    batch.delete_range(KEYSPACE, b"a", b"b").unwrap();
    let claims = [
        Claim {
            keyspace: KEYSPACE,
            keys: KeyRange::ALL,
        },
        Claim {
            keyspace: KeyspaceId(300),
            keys: KeyRange {
                lower: Bound::Included(b"k".to_vec()),
                upper: Bound::Excluded(b"l".to_vec()),
            },
        },
    ];
    let new = NewPrepare {
        id: b"id",
        prepared_unix_s: 1_800_000_000,
        claims: &claims,
        count: batch.count(),
    };
    let mut record = new.encode_front();
    record.extend_from_slice(BatchReader::new(batch.bytes()).unwrap().body());
    record
}

#[test]
fn what_is_encoded_is_read_again() {
    let record = prepare();
    let read = Prepare::read(&record).unwrap();
    assert_eq!((read.id, read.origin), (&b"id"[..], None));
    assert_eq!(read.prepared_unix_s, 1_800_000_000);
    assert_eq!(read.claims.len(), 2);
    assert_eq!(read.claims[0].keys, KeyRange::ALL);
    read.entries.check().unwrap();
    assert_eq!(read.entries.count(), 2);

    let here = read.encode_commit_here(SeqNo::new(77), 4096);
    let commit = CommitHere::read(&here).unwrap();
    assert_eq!((commit.first_seqno, commit.count), (SeqNo::new(77), 2));
    assert_eq!((commit.prepare_offset, commit.id), (4096, &b"id"[..]));
    assert_eq!(commit.crc, crc32c(read.entries.body()));

    let full = read.encode_commit_full(SeqNo::new(77));
    assert!(full.len() <= record.len());
    let commit = CommitFull::read(&full).unwrap();
    assert_eq!(commit.entries.first_seqno(), SeqNo::new(77));
    assert_eq!(commit.entries.body(), read.entries.body());
    assert_eq!(read_rollback(&encode_rollback(b"id")).unwrap(), b"id");
}

#[test]
fn a_copy_says_where_the_first_one_was() {
    // A copy of a copy too: so somebody who looks at the log finds when it was prepared.
    let record = prepare();
    let copy = copy_of(&record, (FileNumber(7), 46));
    let again = copy_of(&copy, (FileNumber(9), 11));
    assert_eq!((copy.len(), &again), (record.len(), &copy));
    let read = Prepare::read(&again).unwrap();
    assert_eq!(read.origin, Some((FileNumber(7), 46)));
    assert_eq!(
        read.entries.body(),
        Prepare::read(&record).unwrap().entries.body()
    );
}

#[test]
fn each_kind_stands_where_that_of_a_batch_is_0() {
    let record = prepare();
    let read = Prepare::read(&record).unwrap();
    assert_eq!(kind_of(&record), PREPARE);
    assert_eq!(
        kind_of(&read.encode_commit_here(SeqNo::MAX, 1)),
        COMMIT_HERE
    );
    assert_eq!(
        kind_of(&read.encode_commit_full(SeqNo::new(1))),
        COMMIT_FULL
    );
    assert_eq!(kind_of(&encode_rollback(b"id")), ROLLBACK);
}

#[test]
fn what_is_cut_short_or_has_more_is_damage() {
    // At each length: no panic, and nothing that passes for whole.
    let record = prepare();
    let read = Prepare::read(&record).unwrap();
    let first = SeqNo::new(5);
    let all = [
        record.clone(),
        read.encode_commit_here(first, 46),
        read.encode_commit_full(first),
        encode_rollback(b"id"),
    ];
    for bytes in all {
        let is_whole = |bytes: &[u8]| match Record::read_whole(bytes) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption);
                false
            }
        };
        assert!(is_whole(&bytes));
        for len in 8..bytes.len() {
            assert!(!is_whole(&bytes[..len]), "{len} of {}", bytes.len());
        }
        assert!(!is_whole(&[&bytes[..], &[0]].concat()));
    }
}

#[test]
fn what_is_0_must_be_0() {
    let mut record = prepare();
    record[0] = 1;
    assert!(Prepare::read(&record).is_err(), "a prepare with a number");
    let mut record = prepare();
    record[ORIGIN_OFFSET + 8] = 1;
    assert!(
        Prepare::read(&record).is_err(),
        "an offset without a segment"
    );
    let mut record = encode_rollback(b"id");
    record[8] = 1;
    assert!(read_rollback(&record).is_err(), "a rollback with entries");
}
