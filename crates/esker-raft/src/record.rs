//! What the shared log keeps of a group, record by record, and its bytes.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | kind, of the list below |
//! | 1 | 8 | u64, little-endian | group |
//! | 9 | … | see below | what the kind says |
//!
//! | kind | name | what follows |
//! |---|---|---|
//! | 1 | begin | replica, index, term (u64 each), configuration (`configuration.rs`) |
//! | 2 | append | count of entries (u32), entries as `entry.rs` has them |
//! | 3 | hard state | term (u64), replica voted for or 0 (u64), commit (u64) |
//! | 4 | compact | index (u64), its term (u64) |
//! | 5 | destroy | replica (u64) |
//!
//! Valid if and only if the kind is known, every number is at most 2^62, replicas of begin and
//! destroy are above 0, and an append has entries, which follow one on the other with terms that
//! never fall. A begin forgets all entries of the group up to then, and its hard state stays; an
//! append implies that every entry of the group from its first index on is gone; a destroy that
//! everything of the group is, for good under this replica id and all smaller ones. Checksums and
//! torn ends are the log's own business.

use raft::eraftpb::Entry;

use crate::codec::{DecodeError, Put, Reader, count};
use crate::configuration::Configuration;
use crate::entry;
use crate::ids::{GroupId, ReplicaId};
use crate::limits::{MESSAGE_ENTRIES_MAX, NUMBER_MAX, RECORD_BYTES_MAX};

/// What a replica must never forget: its term and whom it voted for in it; and how far is
/// committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardState {
    /// The largest term it has seen.
    pub term: u64,
    /// Whom it voted for in that term; 0 is nobody.
    pub vote: u64,
    /// Up to which index it knows to be committed.
    pub commit: u64,
}

/// One record of the shared log.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A group's log begins, or begins anew from an image.
    Begin {
        /// The group.
        group: GroupId,
        /// Its replica here.
        replica: ReplicaId,
        /// The entry before the first one that will follow; 0 if there is none.
        index: u64,
        /// Its term.
        term: u64,
        /// The members as of that index.
        configuration: Configuration,
    },
    /// Entries, in place of all from the first one's index on.
    Append {
        /// The group.
        group: GroupId,
        /// One at least, each index one above the one before.
        entries: Vec<Entry>,
    },
    /// Term, vote and commit.
    Hard {
        /// The group.
        group: GroupId,
        /// In place of the one before.
        state: HardState,
    },
    /// Entries up to an index are needed no more.
    Compact {
        /// The group.
        group: GroupId,
        /// The last one that is not needed.
        index: u64,
        /// Its term, which is needed.
        term: u64,
    },
    /// The replica is destroyed.
    Destroy {
        /// The group.
        group: GroupId,
        /// Its replica here.
        replica: ReplicaId,
    },
}

/// The records in which `entries` are saved: each within its bounds, one entry at least.
pub(crate) fn appends(group: GroupId, entries: Vec<Entry>) -> Vec<Record> {
    let mut records = Vec::new();
    let mut chunk = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let size = entry::size_bytes(&entry);
        if !chunk.is_empty()
            && (bytes + size > RECORD_BYTES_MAX || chunk.len() == MESSAGE_ENTRIES_MAX)
        {
            let entries = std::mem::take(&mut chunk);
            records.push(Record::Append { group, entries });
            bytes = 0;
        }
        bytes += size;
        chunk.push(entry);
    }
    if !chunk.is_empty() {
        let entries = chunk;
        records.push(Record::Append { group, entries });
    }
    records
}

/// Bytes of an append up to its entries.
const APPEND_HEAD_BYTES: usize = 1 + 8 + 4;

impl Record {
    /// The group that it is about.
    pub fn group(&self) -> GroupId {
        match self {
            Record::Begin { group, .. }
            | Record::Append { group, .. }
            | Record::Hard { group, .. }
            | Record::Compact { group, .. }
            | Record::Destroy { group, .. } => *group,
        }
    }

    /// Bytes of an append's record, and more than those of any other without its configuration.
    pub fn size_bytes(&self) -> usize {
        let entries = match self {
            Record::Append { entries, .. } => entries.iter().map(entry::size_bytes).sum(),
            _ => 2 * APPEND_HEAD_BYTES,
        };
        APPEND_HEAD_BYTES + entries
    }

    /// Appends the record to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut head = |kind: u8, group: GroupId| {
            out.put_u8(kind);
            out.put_u64(group.0);
        };
        match self {
            Record::Begin {
                group,
                replica,
                index,
                term,
                configuration,
            } => {
                head(1, *group);
                out.put_u64(replica.0);
                out.put_u64(*index);
                out.put_u64(*term);
                configuration.encode(out);
            }
            Record::Append { group, entries } => {
                assert!(entries.len() <= MESSAGE_ENTRIES_MAX);
                head(2, *group);
                out.put_u32(count(entries.len()));
                for one in entries {
                    entry::encode(one, out);
                }
            }
            Record::Hard { group, state } => {
                head(3, *group);
                out.put_u64(state.term);
                out.put_u64(state.vote);
                out.put_u64(state.commit);
            }
            Record::Compact { group, index, term } => {
                head(4, *group);
                out.put_u64(*index);
                out.put_u64(*term);
            }
            Record::Destroy { group, replica } => {
                head(5, *group);
                out.put_u64(replica.0);
            }
        }
    }

    /// The group that the record is about which `bytes` are, without a look at the rest.
    pub fn peek_group(bytes: &[u8]) -> Result<GroupId, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.u8("kind of a record")?;
        Ok(GroupId(reader.u64("group")?))
    }

    /// The record that `bytes` are, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8("kind of a record")?;
        let group = GroupId(reader.u64("group")?);
        let record = match kind {
            1 => Record::Begin {
                group,
                replica: read_replica(&mut reader)?,
                index: reader.u64_to(NUMBER_MAX, "index")?,
                term: reader.u64_to(NUMBER_MAX, "term")?,
                configuration: Configuration::read(&mut reader)?,
            },
            2 => Record::Append {
                group,
                entries: read_entries(&mut reader)?,
            },
            3 => Record::Hard {
                group,
                state: HardState {
                    term: reader.u64_to(NUMBER_MAX, "term")?,
                    vote: reader.u64_to(NUMBER_MAX, "vote")?,
                    commit: reader.u64_to(NUMBER_MAX, "commit")?,
                },
            },
            4 => Record::Compact {
                group,
                index: reader.u64_to(NUMBER_MAX, "index")?,
                term: reader.u64_to(NUMBER_MAX, "term")?,
            },
            5 => Record::Destroy {
                group,
                replica: read_replica(&mut reader)?,
            },
            _ => return Err(reader.refuse("kind of a record")),
        };
        reader.end()?;
        Ok(record)
    }
}

fn read_replica(reader: &mut Reader<'_>) -> Result<ReplicaId, DecodeError> {
    let id = reader.u64_to(NUMBER_MAX, "replica id")?;
    if id == 0 {
        return Err(reader.refuse("replica id above 0"));
    }
    Ok(ReplicaId(id))
}

fn read_entries(reader: &mut Reader<'_>) -> Result<Vec<Entry>, DecodeError> {
    let len = reader.count(
        MESSAGE_ENTRIES_MAX,
        entry::ENTRY_HEAD_BYTES,
        "count of entries",
    )?;
    let mut entries = Vec::with_capacity(len);
    for _ in 0..len {
        entries.push(entry::read(reader)?);
    }
    let before = entries.first().map(|first| (first.index - 1, first.term));
    match before {
        Some((index, term)) if entry::follow_on(&entries, index, term) => Ok(entries),
        _ => Err(reader.refuse("entries in their order")),
    }
}

#[cfg(test)]
mod tests;
