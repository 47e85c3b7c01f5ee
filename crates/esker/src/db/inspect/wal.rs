//! What lies in a segment of the log: records, gaps, and how it is chained to the one before.

use std::path::Path;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::bundle::Env;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::record::{Record, kind_of};
use crate::store::names::FileName;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::{Gap, Salvaged, WalSalvage};

/// A walk over everything in a segment, from front to back, also behind damage.
pub struct WalItems {
    walk: WalSalvage,
    is_first: bool,
    has_failed: bool,
}

/// One thing in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalItem {
    /// The first record: which segment came before, and where that one ended.
    Head {
        /// Where the record starts.
        offset: u64,
        /// The segment before; `None` in the first one.
        previous: Option<(FileNumber, u64)>,
    },
    /// An empty record: it says that the log is durable up to there, and nothing else.
    Mark {
        /// Where the record starts.
        offset: u64,
    },
    /// Writes that happened together.
    Batch(WalBatch),
    /// A transaction is prepared: its writes have numbers from 0 on, until it is committed.
    Prepare {
        /// By what it is known.
        id: Bytes,
        /// Of a copy, where it was written first.
        origin: Option<(FileNumber, u64)>,
        /// What it writes.
        writes: WalBatch,
    },
    /// A transaction is committed whose prepare lies in this segment.
    CommitHere {
        /// Where it starts.
        offset: u64,
        /// By what it is known.
        id: Bytes,
        /// Where its prepare starts.
        prepare_offset: u64,
        /// Sequence number of its first write.
        first_seqno: SeqNo,
        /// How many writes it has.
        count: u32,
    },
    /// A transaction is committed, with all that it writes.
    CommitFull {
        /// By what it is known.
        id: Bytes,
        /// What it writes.
        writes: WalBatch,
    },
    /// A transaction is rolled back.
    Rollback {
        /// Where it starts.
        offset: u64,
        /// By what it is known.
        id: Bytes,
    },
    /// A record of a kind that only a newer Esker knows.
    Unknown {
        /// Where it starts.
        offset: u64,
        /// Its length.
        len_bytes: u64,
        /// Its kind.
        kind: u8,
        /// Whether the log may be read without it.
        is_optional: bool,
    },
    /// A record that is intact as bytes and makes no sense.
    Strange {
        /// Where it starts.
        offset: u64,
        /// Its length.
        len_bytes: u64,
        /// Why it makes no sense.
        cause: String,
    },
    /// Bytes that are no intact record.
    Gap(Gap),
}

/// A batch in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalBatch {
    /// Where its record starts.
    pub offset: u64,
    /// Its length in bytes.
    pub len_bytes: u64,
    /// Sequence number of its first write.
    pub first_seqno: SeqNo,
    /// Sequence number of its last write.
    pub last_seqno: SeqNo,
    /// Its writes.
    pub entries: Vec<WalEntry>,
}

/// One write in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalEntry {
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// What it does.
    pub kind: Kind,
    /// The key; of a range delete the first key.
    pub key: Bytes,
    /// Length of the value in bytes; of a range delete that of the end key.
    pub value_len: usize,
}

/// What lies in the segment at `path`. Errors: `Invalid` when the name is not that of a segment;
/// what opening gives.
pub fn wal(path: impl AsRef<Path>) -> Result<WalItems> {
    wal_in(&Env::real(1), path.as_ref())
}

/// As [`wal`], in any world.
pub fn wal_in(env: &Env, path: &Path) -> Result<WalItems> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name @ FileName::Wal(_)) = name.and_then(FileName::parse) else {
        let place = path.display();
        return Err(Error::invalid(format!(
            "{place} is not named as a segment of the log is, such as 000012.wal; its number is \
             part of every checksum"
        )));
    };
    Ok(WalItems {
        walk: WalSalvage::new(env.fs.open_read(path)?, name),
        is_first: true,
        has_failed: false,
    })
}

impl Iterator for WalItems {
    type Item = Result<WalItem>;

    fn next(&mut self) -> Option<Result<WalItem>> {
        if self.has_failed {
            return None;
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.walk.next() {
            Ok(None) => None,
            Ok(Some(Salvaged::Gap(gap))) => Some(Ok(WalItem::Gap(gap))),
            Ok(Some(Salvaged::Record { offset, payload })) => {
                Some(Ok(item_of(is_first, offset, payload)))
            }
            Err(error) => {
                self.has_failed = true;
                Some(Err(error))
            }
        }
    }
}

fn item_of(is_first: bool, offset: u64, payload: &[u8]) -> WalItem {
    if payload.is_empty() {
        return WalItem::Mark { offset };
    }
    if is_first && let Ok(head) = SegmentHead::decode(payload) {
        let previous = head.previous;
        return WalItem::Head { offset, previous };
    }
    let len_bytes = payload.len() as u64;
    let unknown = |is_optional| WalItem::Unknown {
        offset,
        len_bytes,
        kind: kind_of(payload),
        is_optional,
    };
    let strange = |error: Error| WalItem::Strange {
        offset,
        len_bytes,
        cause: error.to_string(),
    };
    let writes = |entries: &BatchReader<'_>| read_batch(entries, offset, len_bytes);
    let item = match Record::read(payload) {
        Ok(Record::Batch(batch)) => writes(&batch).map(WalItem::Batch),
        Ok(Record::Prepare(prepare)) => writes(&prepare.entries).map(|writes| WalItem::Prepare {
            id: Bytes::copy_of(prepare.id),
            origin: prepare.origin,
            writes,
        }),
        Ok(Record::CommitHere(commit)) => Ok(WalItem::CommitHere {
            offset,
            id: Bytes::copy_of(commit.id),
            prepare_offset: commit.prepare_offset,
            first_seqno: commit.first_seqno,
            count: commit.count,
        }),
        Ok(Record::CommitFull(commit)) => {
            writes(&commit.entries).map(|writes| WalItem::CommitFull {
                id: Bytes::copy_of(commit.id),
                writes,
            })
        }
        Ok(Record::Rollback(id)) => Ok(WalItem::Rollback {
            offset,
            id: Bytes::copy_of(id),
        }),
        Ok(Record::Optional(_)) => Ok(unknown(true)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(unknown(false)),
        Err(error) => Err(error),
    };
    item.unwrap_or_else(strange)
}

fn read_batch(batch: &BatchReader<'_>, offset: u64, len_bytes: u64) -> Result<WalBatch> {
    let mut entries = Vec::new();
    let mut last_seqno = batch.first_seqno();
    for entry in batch.entries() {
        let entry = entry?;
        last_seqno = entry.trailer.seqno();
        entries.push(WalEntry {
            keyspace: entry.keyspace,
            kind: entry.trailer.kind(),
            key: Bytes::copy_of(entry.key),
            value_len: entry.value.len(),
        });
    }
    Ok(WalBatch {
        offset,
        len_bytes,
        first_seqno: batch.first_seqno(),
        last_seqno,
        entries,
    })
}
