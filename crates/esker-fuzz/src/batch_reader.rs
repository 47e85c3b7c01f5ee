//! Any bytes as a record of the log: a batch that reads whole must be its own encoding.

use esker::internals::base::types::entry::split_expiring;
use esker::internals::base::types::kind::Kind;
use esker::internals::store::batch::writer::LargeBytes;
use esker::internals::store::batch::{Batch, Record};
use esker::internals::store::vlog::ValuePointer;
use esker::internals::store::vlog::pointer::POINTER_BYTES;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Ok(Some(reader)) = Record::read_batch(bytes) else {
        return;
    };
    let mut batch = Batch::new();
    for entry in reader.entries() {
        let entry = entry.expect("a checked batch reads");
        let (keyspace, key, value) = (entry.keyspace, entry.key, entry.value);
        let added = match entry.trailer.kind() {
            Kind::Delete => batch.delete(keyspace, key),
            Kind::Put => batch.put(keyspace, key, value),
            Kind::Merge => batch.merge(keyspace, key, value),
            Kind::RangeDelete => batch.delete_range(keyspace, key, value),
            Kind::PutExpiring => {
                let (expiry, value) = split_expiring(value).expect("the reader checked it");
                batch.put_expiring(keyspace, key, expiry, value)
            }
            Kind::PutSeparated | Kind::PutSeparatedExpiring => {
                let expiry = split_expiring(value).filter(|_| value.len() > POINTER_BYTES);
                let (expiry, pointer) = match expiry {
                    Some((expiry, pointer)) => (Some(expiry), pointer),
                    None => (None, value),
                };
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
