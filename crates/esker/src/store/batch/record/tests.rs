//! Tests of kinds of records.

use super::*;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::store::batch::writer::Batch;

fn batch() -> Vec<u8> {
    let mut batch = Batch::new();
    batch.put(KeyspaceId(0), b"key", b"value").unwrap();
    batch.set_first_seqno(SeqNo::MAX);
    batch.bytes().to_vec()
}

#[test]
fn a_batch_is_of_kind_0_whatever_its_number() {
    // The largest number leaves the top byte free, so no batch passes for another kind.
    let bytes = batch();
    assert_eq!(kind_of(&bytes), 0);
    let Record::Batch(read) = Record::read_whole(&bytes).unwrap() else {
        panic!("a batch");
    };
    assert_eq!((read.first_seqno(), read.count()), (SeqNo::MAX, 1));
}

#[test]
fn each_other_kind_is_refused_by_its_number_or_passed_over() {
    let mut bytes = batch();
    for kind in ROLLBACK + 1..=u8::MAX {
        bytes[KIND_OFFSET] = kind;
        match Record::read_whole(&bytes) {
            Ok(read) => assert!(matches!(read, Record::Optional(told) if told == kind)),
            Err(error) => {
                assert!(kind < OPTIONAL_KIND);
                assert_eq!(error.kind(), ErrorKind::Unsupported);
                assert!(error.to_string().contains(&format!("of kind {kind}")));
            }
        }
    }
    bytes[KIND_OFFSET] = 5;
    let error = Record::read(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unsupported: written by a newer Esker: the log has a record of kind 5 (keyspace), which \
         this program does not know; open the database with a newer program"
    );
}

#[test]
fn what_is_too_short_for_a_kind_is_a_damaged_batch() {
    for len in 0..KIND_OFFSET + 1 {
        let error = Record::read(&vec![0; len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
}
