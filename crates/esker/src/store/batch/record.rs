//! The records of the write-ahead log, by their kind.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 7 | u56 | sequence number of the first entry; 0 where the kind has none |
//! | 7 | 1 | u8 | kind |
//! | 8 | … | | as the kind says |
//!
//! | kind | record | where it is described |
//! |---|---|---|
//! | 0 | batch | `store/batch/format`: there it is one number with eight bytes |
//! | 1 | prepare | `store/batch/two_phases` |
//! | 2 | commit here | `store/batch/two_phases` |
//! | 3 | commit full | `store/batch/two_phases` |
//! | 4 | rollback | `store/batch/two_phases` |
//! | 5 | keyspace | reserved for who follows the log |
//! | 6 | ingest | reserved for who follows the log |
//! | 7–127 | | not given out |
//! | 128–255 | optional | nothing that a database cannot be read without |
//!
//! Integers are little-endian. The head of a segment and an empty mark are no such records: they
//! are known by their place and by their length. Kinds other than 0 are in databases of format 2
//! only (docs/decisions/0020-typed-log-records.md).
//!
//! Valid if and only if the kind is known and the record is what its kind says, or the kind is
//! optional. Any other kind is one of a newer Esker: refused by its number, and not damage.

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::store::batch::reader::BatchReader;
use crate::store::batch::two_phases::{
    COMMIT_FULL, COMMIT_HERE, CommitFull, CommitHere, PREPARE, Prepare, ROLLBACK, read_rollback,
};

/// Where the kind stands in a record.
const KIND_OFFSET: usize = 7;

/// Kinds from here on may be passed over by a program that does not know them.
const OPTIONAL_KIND: u8 = 128;

/// A record of the log whose kind is known, or may be passed over.
#[derive(Clone, Debug)]
pub enum Record<'a> {
    /// Writes that happen together.
    Batch(BatchReader<'a>),
    /// A transaction is prepared.
    Prepare(Prepare<'a>),
    /// One whose prepare lies in the same segment is committed.
    CommitHere(CommitHere<'a>),
    /// One is committed, with all its entries.
    CommitFull(CommitFull<'a>),
    /// The one with that id is rolled back.
    Rollback(&'a [u8]),
    /// One of that kind, which a newer Esker has a use for.
    Optional(u8),
}

impl<'a> Record<'a> {
    /// Reads the beginning of a record; entries are still to be checked.
    ///
    /// Errors: `Unsupported` with the number of a kind that only a newer Esker knows; `Corruption`
    /// for what no record of its kind is.
    pub fn read(bytes: &'a [u8]) -> Result<Record<'a>> {
        match kind_of(bytes) {
            0 => BatchReader::new(bytes).map(Record::Batch),
            PREPARE => Prepare::read(bytes).map(Record::Prepare),
            COMMIT_HERE => CommitHere::read(bytes).map(Record::CommitHere),
            COMMIT_FULL => CommitFull::read(bytes).map(Record::CommitFull),
            ROLLBACK => read_rollback(bytes).map(Record::Rollback),
            kind @ OPTIONAL_KIND.. => Ok(Record::Optional(kind)),
            kind => Err(unknown(kind)),
        }
    }

    /// The entries that stand in the record, if there may be any.
    pub fn entries(&self) -> Option<BatchReader<'a>> {
        match self {
            Record::Batch(entries) => Some(*entries),
            Record::Prepare(prepare) => Some(prepare.entries),
            Record::CommitFull(commit) => Some(commit.entries),
            Record::CommitHere(_) | Record::Rollback(_) | Record::Optional(_) => None,
        }
    }

    /// Reads a record, and all entries that stand in it.
    ///
    /// Errors: as [`Record::read`] and [`BatchReader::check`].
    pub fn read_whole(bytes: &'a [u8]) -> Result<Record<'a>> {
        let record = Record::read(bytes)?;
        if let Some(entries) = record.entries() {
            entries.check()?;
        }
        Ok(record)
    }
}

/// The number of a record's kind; 0 where it is too short to say.
pub fn kind_of(bytes: &[u8]) -> u8 {
    bytes.get(KIND_OFFSET).copied().unwrap_or(0)
}

#[cold]
fn unknown(kind: u8) -> Error {
    let name = match kind {
        5 => " (keyspace)",
        6 => " (ingest)",
        _ => "",
    };
    let message = format!(
        "written by a newer Esker: the log has a record of kind {kind}{name}, which this program \
         does not know; open the database with a newer program"
    );
    Error::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests;
