//! Tests of what follows on what.

use super::*;
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::store::batch::two_phases::{NewPrepare, copy_of, encode_rollback};
use crate::store::batch::writer::Batch;

const HERE: FileNumber = FileNumber(4);

fn prepare(id: &[u8], key: &[u8]) -> Vec<u8> {
    let mut batch = Batch::new();
    batch.put(KeyspaceId(0), key, b"value").unwrap();
    let new = NewPrepare {
        id,
        prepared_unix_s: 1,
        claims: &[],
        count: 1,
    };
    let mut record = new.encode_front();
    record.extend_from_slice(BatchReader::new(batch.bytes()).unwrap().body());
    record
}

fn commit_here(prepare: &[u8], offset: u64) -> Vec<u8> {
    let read = Prepare::read(prepare).unwrap();
    read.encode_commit_here(SeqNo::new(9), offset)
}

fn follow(log: &mut PreparedLog, offset: u64, record: &[u8]) -> Option<(u64, Vec<u8>)> {
    let effect = log.follow((HERE, offset), record).unwrap();
    let entry = effect.written()?.entries().next().unwrap().unwrap();
    Some((entry.trailer.seqno().get(), entry.key.to_vec()))
}

fn refused(log: &mut PreparedLog, offset: u64, record: &[u8]) {
    let before = log.clone();
    let error = log.follow((HERE, offset), record).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    assert_eq!(log.live, before.live);
}

#[test]
fn a_commit_here_writes_what_was_prepared() {
    let mut log = PreparedLog::default();
    let record = prepare(b"id", b"key");
    assert_eq!(follow(&mut log, 46, &record), None);
    assert_eq!(log.live().count(), 1);
    let commit = commit_here(&record, 46);
    assert_eq!(follow(&mut log, 99, &commit), Some((9, b"key".to_vec())));
    assert_eq!(log.live().count(), 0);
    // It has ended: nothing of it is left to be committed again.
    refused(&mut log, 150, &commit);
    // Its id is free.
    assert_eq!(follow(&mut log, 200, &prepare(b"id", b"other")), None);
}

#[test]
fn a_commit_here_must_have_its_prepare_there() {
    // Without it, elsewhere, in another segment, or with other entries: damage.
    let record = prepare(b"id", b"key");
    let mut log = PreparedLog::default();
    refused(&mut log, 99, &commit_here(&record, 46));
    follow(&mut log, 46, &record);
    refused(&mut log, 99, &commit_here(&record, 47));
    refused(&mut log, 99, &commit_here(&prepare(b"id", b"kez"), 46));
    let mut log = PreparedLog::default();
    log.follow((FileNumber(3), 46), &record).unwrap();
    refused(&mut log, 99, &commit_here(&record, 46));
}

#[test]
fn an_id_is_prepared_once_but_by_copies() {
    let mut log = PreparedLog::default();
    let record = prepare(b"id", b"key");
    follow(&mut log, 46, &record);
    refused(&mut log, 99, &record);
    let copy = copy_of(&record, (HERE, 46));
    follow(&mut log, 99, &copy);
    assert_eq!(log.live().next().unwrap().place, (HERE, 99));
    // Its commit names the copy.
    refused(&mut log, 150, &commit_here(&record, 46));
    follow(&mut log, 150, &commit_here(&record, 99)).unwrap();
}

#[test]
fn what_says_all_by_itself_may_come_alone() {
    // The segment of the prepare may be gone.
    let record = prepare(b"id", b"key");
    let read = Prepare::read(&record).unwrap();
    let mut log = PreparedLog::default();
    let full = read.encode_commit_full(SeqNo::new(5));
    assert_eq!(follow(&mut log, 46, &full), Some((5, b"key".to_vec())));
    assert_eq!(follow(&mut log, 99, &encode_rollback(b"id")), None);
    follow(&mut log, 150, &copy_of(&record, (FileNumber(1), 46)));
    assert_eq!(log.live().count(), 1);
    assert_eq!(follow(&mut log, 200, &encode_rollback(b"id")), None);
    assert_eq!(log.into_live(), []);
}
