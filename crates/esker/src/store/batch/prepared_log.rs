//! Which transactions are prepared, as the records of a log tell one after the other.
//!
//! A prepare makes one, and a copy of it moves it; a commit or a rollback ends it. The log is read
//! from the first needed segment on, so a record that says everything by itself may come without
//! the prepare: a commit full, a rollback, a copy. A commit here may not, since its prepare lies in
//! front of it in the same segment.

use std::collections::BTreeMap;

use crate::base::codec::checksum::crc32c;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::record::Record;
use crate::store::batch::two_phases::{CommitHere, Prepare};

/// A place in the log: a segment, and the offset of a record in it.
pub type Place = (FileNumber, u64);

/// A transaction that is prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedPrepare {
    /// Where its last record lies.
    pub place: Place,
    /// That record, a valid prepare.
    pub record: Vec<u8>,
}

/// The transactions that are prepared at one place of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreparedLog {
    live: BTreeMap<Vec<u8>, LoggedPrepare>,
    /// The prepare of the last commit here, whose entries were handed out.
    committed: Vec<u8>,
}

/// What a record of the log does.
#[derive(Clone, Debug)]
pub enum Effect<'a> {
    /// A batch is written.
    Written(BatchReader<'a>),
    /// A prepared transaction is written; its large values were durable before.
    Committed(BatchReader<'a>),
    /// A transaction is prepared, with these entries, and writes nothing yet.
    Prepared(BatchReader<'a>),
    /// One is rolled back.
    RolledBack,
    /// It may be passed over.
    Nothing,
}

impl<'a> Effect<'a> {
    /// The entries that are written, or prepared.
    pub fn entries(&self) -> Option<BatchReader<'a>> {
        match self {
            Effect::Written(entries) | Effect::Committed(entries) | Effect::Prepared(entries) => {
                Some(*entries)
            }
            Effect::RolledBack | Effect::Nothing => None,
        }
    }

    /// The entries that are written.
    pub fn written(&self) -> Option<BatchReader<'a>> {
        self.entries()
            .filter(|_| !matches!(self, Effect::Prepared(_)))
    }

    /// Whether it is one of a transaction that is prepared.
    pub fn is_of_two_phases(&self) -> bool {
        !matches!(self, Effect::Written(_) | Effect::Nothing)
    }
}

impl LoggedPrepare {
    /// What the record says.
    ///
    /// Errors: none of a prepare that [`PreparedLog`] has taken.
    pub fn read(&self) -> Result<Prepare<'_>> {
        Prepare::read(&self.record)
    }
}

impl PreparedLog {
    /// Follows the record at `place`, which is not empty and no head. Whatever entries come of it
    /// are checked whole.
    ///
    /// Errors: as [`Record::read`]; `Corruption` for a record that is not valid, or that does not
    /// follow on those before it; nothing has changed then.
    pub fn follow<'a>(&'a mut self, place: Place, record: &'a [u8]) -> Result<Effect<'a>> {
        Ok(match Record::read(record)? {
            Record::Optional(_) => Effect::Nothing,
            Record::Batch(batch) => {
                batch.check()?;
                Effect::Written(batch)
            }
            Record::Prepare(prepare) => {
                prepare.entries.check()?;
                self.prepare(place, &prepare, record)?;
                Effect::Prepared(prepare.entries)
            }
            Record::CommitHere(commit) => Effect::Committed(self.commit_here(place, &commit)?),
            Record::CommitFull(commit) => {
                commit.entries.check()?;
                self.live.remove(commit.id);
                Effect::Committed(commit.entries)
            }
            Record::Rollback(id) => {
                self.live.remove(id);
                Effect::RolledBack
            }
        })
    }

    /// The transactions that are prepared, by their ids.
    pub fn live(&self) -> impl Iterator<Item = &LoggedPrepare> {
        self.live.values()
    }

    /// The same, taken out.
    pub fn into_live(self) -> Vec<LoggedPrepare> {
        self.live.into_values().collect()
    }

    fn prepare(&mut self, place: Place, prepare: &Prepare<'_>, record: &[u8]) -> Result<()> {
        if prepare.origin.is_none() && self.live.contains_key(prepare.id) {
            return Err(contradicts(prepare.id, "is prepared twice"));
        }
        let record = record.to_vec();
        self.live
            .insert(prepare.id.to_vec(), LoggedPrepare { place, record });
        Ok(())
    }

    fn commit_here(&mut self, place: Place, commit: &CommitHere<'_>) -> Result<BatchReader<'_>> {
        let wanted = (place.0, commit.prepare_offset);
        let found = self.live.get(commit.id);
        let Some(found) = found.filter(|found| found.place == wanted) else {
            return Err(contradicts(
                commit.id,
                "is committed, and not prepared there",
            ));
        };
        let entries = Prepare::read(&found.record)?.entries;
        if entries.count() != commit.count || crc32c(entries.body()) != commit.crc {
            return Err(contradicts(commit.id, "is committed with other entries"));
        }
        // Before it is taken out: its numbers may be wrong.
        entries.numbered(commit.first_seqno)?;
        if let Some(found) = self.live.remove(commit.id) {
            self.committed = found.record;
        }
        Prepare::read(&self.committed)?
            .entries
            .numbered(commit.first_seqno)
    }
}

fn contradicts(id: &[u8], what: &str) -> Error {
    Error::corruption(format!(
        "the transaction b\"{}\" {what}; `esker repair --dry-run` tells what would be lost",
        id.escape_ascii()
    ))
}

#[cfg(test)]
mod tests;
