//! Any bytes as a record of the log: a batch that reads whole must be its own encoding.

use esker::internals::base::types::expiry::Expiry;
use esker::internals::base::types::ids::FileNumber;
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::store::batch::prepared_log::PreparedLog;
use esker::internals::store::batch::two_phases::{
    CommitFull, NewPrepare, copy_of, encode_rollback,
};
use esker::internals::store::batch::writer::LargeBytes;
use esker::internals::store::batch::{Batch, BatchReader, Record};
use esker::internals::store::vlog::ValuePointer;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    match Record::read_whole(bytes) {
        Ok(Record::Batch(reader)) => run_batch(bytes, &reader),
        Ok(record) => run_other(bytes, &record),
        Err(_) => {}
    }
}

// What a prepare says is what its commits say, and each record is its own encoding.
fn run_other(bytes: &[u8], record: &Record<'_>) {
    match record {
        Record::Prepare(prepare) => {
            let first = SeqNo::new(1);
            let new = NewPrepare {
                id: prepare.id,
                prepared_unix_s: prepare.prepared_unix_s,
                claims: &prepare.claims,
                count: prepare.entries.count(),
            };
            let mut again = new.encode_front();
            again.extend_from_slice(prepare.entries.body());
            if let Some(origin) = prepare.origin {
                again = copy_of(&again, origin);
            }
            assert!(again == bytes);
            let full = prepare.encode_commit_full(first);
            let full = CommitFull::read(&full).expect("a commit reads");
            assert!(full.id == prepare.id && full.entries.body() == prepare.entries.body());
            let place = (FileNumber(7), 46);
            let here = prepare.encode_commit_here(first, place.1);
            let mut log = PreparedLog::default();
            log.follow(place, bytes).expect("the first one follows");
            let committed = log.follow((place.0, 99), &here).expect("and its commit");
            let written = committed.written().expect("a commit writes");
            assert!(written.body() == prepare.entries.body());
        }
        Record::Rollback(id) => assert!(encode_rollback(id) == bytes),
        Record::CommitHere(_) | Record::CommitFull(_) | Record::Optional(_) => {}
        Record::Batch(_) => panic!("of another kind"),
    }
}

fn run_batch(bytes: &[u8], reader: &BatchReader<'_>) {
    let mut batch = Batch::new();
    for entry in reader.entries() {
        let entry = entry.expect("a checked batch reads");
        let (keyspace, key, value) = (entry.keyspace, entry.key, entry.value);
        let added = match entry.trailer.kind() {
            Kind::Delete => batch.delete(keyspace, key),
            Kind::Put => batch.put(keyspace, key, value),
            Kind::Merge => batch.merge(keyspace, key, value),
            Kind::RangeDelete => batch.delete_range(keyspace, key, value),
            kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                let (expiry, value) = Expiry::split(kind, value).expect("the reader checked it");
                batch.put_expiring(keyspace, key, expiry, value)
            }
            kind @ (Kind::PutSeparated
            | Kind::PutSeparatedExpiring
            | Kind::PutSeparatedExpiringMillis) => {
                let expiry = Expiry::split(kind, value).map(|(expiry, _)| expiry);
                let pointer = &value[kind.expiry_bytes()..];
                let pointer = ValuePointer::decode(pointer).expect("the reader checked it");
                let added = batch.put_separated(keyspace, key, expiry, LargeBytes::Lent(&[]));
                batch.set_pointer(batch.large_values().len() - 1, &pointer);
                added
            }
            Kind::MergeFolded => panic!("never in a batch"),
        };
        added.expect("what was read is within the limits");
    }
    batch.set_first_seqno(reader.first_seqno());
    assert!(batch.bytes() == bytes);
}
