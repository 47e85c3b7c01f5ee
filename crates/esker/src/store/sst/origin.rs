//! Where a sorted file comes from: whose it is, and which files it was made of.
//!
//! For repair, when no manifest says which files count. A lineage is encoded as
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 10 | varint | 1 if there is a lower end, + 2 if there is an upper one |
//! | 1 to 10, n | varint, bytes | the lower end, a user key; only where there is one |
//! | 1 to 10, n | varint, bytes | the upper end; only where there is one |
//! | 1 to 10 | varint | count of sources |
//! | 1 to 10 each | varint | number of a source; from the second on less the one before |
//!
//! Valid if and only if all of it is whole, the first number is below 4, and the numbers ascend.

use std::sync::Arc;

use crate::base::codec::reader::{ByteReader, put_prefixed};
use crate::base::codec::varint::put_varint;
use crate::base::types::bytes::Bytes;
use crate::base::types::ids::FileNumber;

/// Where a file comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Name of the keyspace; empty where nobody said.
    pub keyspace_name: Bytes,
    /// The files whose place it takes, if it was made of files.
    pub lineage: Option<Lineage>,
    /// By what the database is known that wrote it; `None` where nobody said.
    pub database_id: Option<[u8; 16]>,
}

/// The files whose place a sorted file takes, and for which keys.
///
/// All files made of the same sources together, each for its keys, hold what those held. So once
/// they are there for all keys the sources count no more; and where one of them is not there, and
/// all sources are, they were never finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// Their numbers, ascending; with those that counted no more when the file was begun.
    pub sources: Arc<[FileNumber]>,
    /// From this user key on; `None` from the first.
    pub lower: Option<Bytes>,
    /// Up to this user key, exclusive; `None` to the last.
    pub upper: Option<Bytes>,
}

impl Lineage {
    /// Appends its bytes.
    pub fn put(&self, out: &mut Vec<u8>) {
        let flags = u64::from(self.lower.is_some()) | u64::from(self.upper.is_some()) << 1;
        put_varint(out, flags);
        for end in [&self.lower, &self.upper].into_iter().flatten() {
            put_prefixed(out, end);
        }
        put_varint(out, self.sources.len() as u64);
        let mut last = 0;
        for number in self.sources.iter() {
            put_varint(out, number.0 - last);
            last = number.0;
        }
    }

    /// Takes a lineage off the front of `reader`; `None` when it is not valid.
    pub fn take(reader: &mut ByteReader<'_>) -> Option<Lineage> {
        let flags = reader.varint().filter(|flags| *flags < 4)?;
        let mut end = |bit: u64| match flags & bit {
            0 => Some(None),
            _ => reader.prefixed().map(|key| Some(Bytes::copy_of(key))),
        };
        let (lower, upper) = (end(1)?, end(2)?);
        let count = reader.varint()?;
        let mut sources: Vec<FileNumber> = Vec::new();
        for _ in 0..count {
            let step = reader.varint()?;
            let last = sources.last().map_or(0, |last| last.0);
            if step == 0 && !sources.is_empty() {
                return None;
            }
            sources.push(FileNumber(last.checked_add(step)?));
        }
        Some(Lineage {
            sources: sources.into(),
            lower,
            upper,
        })
    }
}

#[cfg(test)]
mod tests;
