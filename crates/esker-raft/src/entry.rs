//! One entry of a Raft log as bytes, the same in messages and in records of the log.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | kind: 0 a write or nothing, 1 a change of the configuration |
//! | 1 | 8 | u64, little-endian | term |
//! | 9 | 8 | u64, little-endian | index |
//! | 17 | 4 | u32, little-endian | length of the payload |
//! | 21 | … | bytes | payload |
//! | … | 4 | u32, little-endian | length of the context |
//! | … | … | bytes | context: of a change, its steps as `change.rs` has them |
//!
//! Valid if and only if the kind is known, term and index are 1 to 2^62, both lengths are within
//! `limits.rs`, and the context of a change is valid or empty, which leaves a joint configuration.
//! The payload of a change is what `raft` reads when its own leader proposes it; nobody parses it
//! when it comes from a socket or a disk.

use raft::eraftpb::EntryType;

use crate::change::Change;
use crate::codec::{DecodeError, Put, Reader};
use crate::limits::{CONTEXT_BYTES_MAX, ENTRY_BYTES_MAX, NUMBER_MAX};

pub use raft::eraftpb::Entry;

/// Bytes of an entry without payload and context.
pub const ENTRY_HEAD_BYTES: usize = 1 + 8 + 8 + 4 + 4;

const PLAIN: u8 = 0;
const CHANGE: u8 = 1;

/// Appends `entry` to `out`.
pub fn encode(entry: &Entry, out: &mut Vec<u8>) {
    assert!(entry.data.len() <= ENTRY_BYTES_MAX);
    assert!(entry.context.len() <= CONTEXT_BYTES_MAX);
    out.put_u8(if is_change(entry) { CHANGE } else { PLAIN });
    out.put_u64(entry.term);
    out.put_u64(entry.index);
    out.put_bytes(&entry.data);
    out.put_bytes(&entry.context);
}

/// The entry that `bytes` are, all of them.
pub fn decode(bytes: &[u8]) -> Result<Entry, DecodeError> {
    let mut reader = Reader::new(bytes);
    let entry = read(&mut reader)?;
    reader.end()?;
    Ok(entry)
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Entry, DecodeError> {
    let mut entry = Entry::default();
    match reader.u8("kind of an entry")? {
        PLAIN => {}
        CHANGE => entry.set_entry_type(EntryType::EntryConfChangeV2),
        _ => return Err(reader.refuse("kind of an entry")),
    }
    entry.term = reader.u64_to(NUMBER_MAX, "term of an entry")?;
    entry.index = reader.u64_to(NUMBER_MAX, "index of an entry")?;
    if entry.term == 0 || entry.index == 0 {
        return Err(reader.refuse("index and term above 0"));
    }
    let payload = reader.bytes(ENTRY_BYTES_MAX, "payload of an entry")?;
    entry.data = payload.to_vec().into();
    let context = reader.bytes(CONTEXT_BYTES_MAX, "context of an entry")?;
    entry.context = context.to_vec().into();
    // Checked once, here: whoever applies the entry relies on it.
    if is_change(&entry) && !context.is_empty() {
        Change::decode(context)?;
    }
    Ok(entry)
}

/// Whether `entry` changes the configuration.
pub fn is_change(entry: &Entry) -> bool {
    entry.get_entry_type() != EntryType::EntryNormal
}

/// Bytes that an entry takes in a message, a record or the cache.
pub fn size_bytes(entry: &Entry) -> usize {
    ENTRY_HEAD_BYTES + entry.data.len() + entry.context.len()
}

/// Whether `entries` follow on `index` one by one, with terms that never fall below `term`.
pub(crate) fn follow_on(entries: &[Entry], index: u64, term: u64) -> bool {
    let mut at = (index, term);
    entries.iter().all(|entry| {
        let follows = entry.index == at.0 + 1 && entry.term >= at.1;
        at = (entry.index, entry.term);
        follows
    })
}
