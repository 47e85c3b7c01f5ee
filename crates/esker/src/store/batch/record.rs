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
//! | 1 | prepare | reserved for two phases |
//! | 2 | commit here | reserved for two phases |
//! | 3 | commit full | reserved for two phases |
//! | 4 | rollback | reserved for two phases |
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

/// Where the kind stands in a record.
const KIND_OFFSET: usize = 7;

/// Kinds from here on may be passed over by a program that does not know them.
const OPTIONAL_KIND: u8 = 128;

/// A record of the log whose kind is known, or may be passed over.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// Writes that happen together.
    Batch(BatchReader<'a>),
    /// One of that kind, which a newer Esker has a use for.
    Optional(u8),
}

impl<'a> Record<'a> {
    /// Reads the beginning of a record; a batch is still to be checked.
    ///
    /// Errors: `Unsupported` with the number of a kind that only a newer Esker knows; as
    /// [`BatchReader::new`].
    pub fn read(bytes: &'a [u8]) -> Result<Record<'a>> {
        match kind_of(bytes) {
            0 => BatchReader::new(bytes).map(Record::Batch),
            kind @ OPTIONAL_KIND.. => Ok(Record::Optional(kind)),
            kind => Err(unknown(kind)),
        }
    }

    /// The batch of a record, checked whole; `None` where it is one that may be passed over.
    ///
    /// Errors: as [`Record::read`] and [`BatchReader::check`].
    pub fn read_batch(bytes: &'a [u8]) -> Result<Option<BatchReader<'a>>> {
        match Record::read(bytes)? {
            Record::Optional(_) => Ok(None),
            Record::Batch(batch) => batch.check().map(|()| Some(batch)),
        }
    }
}

/// The kind of a record; 0 where it is too short to say.
pub fn kind_of(bytes: &[u8]) -> u8 {
    bytes.get(KIND_OFFSET).copied().unwrap_or(0)
}

#[cold]
fn unknown(kind: u8) -> Error {
    let name = match kind {
        1 => " (prepare)",
        2 => " (commit here)",
        3 => " (commit full)",
        4 => " (rollback)",
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
