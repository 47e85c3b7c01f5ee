//! Reads the records of a segment in order, and judges how it ends: clean, torn or damaged.

use std::fmt;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::wal::format::EARLIER_DURABLE;
use crate::store::wal::salvage::{Gap, Step, WalSalvage};

/// How a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Behind the last record nothing of this log lies.
    Clean,
    /// Behind the last record lie bytes that were never proven durable; they are dropped.
    Torn {
        /// Where the first dropped record starts.
        offset: u64,
        /// Bytes from there to the last one that belongs, or may belong, to this log.
        dropped_bytes: u64,
        /// Intact records among them: behind a hole that a power cut left, or behind damage.
        intact_count: u64,
    },
}

/// A record and its place.
#[derive(Clone, Copy, Debug)]
pub struct PlacedRecord<'a> {
    /// Where it starts.
    pub offset: u64,
    /// The offset behind it.
    pub end: u64,
    /// The record.
    pub payload: &'a [u8],
}

/// Reads the records of one segment, from the first to the last that counts.
///
/// What it yields is a prefix of what was appended, and holds everything that was durable when a
/// later intact record was written: see "A torn tail, or damage?" in `wal/format`.
pub struct WalReader {
    walk: WalSalvage,
    record_end: u64,
    limit: u64,
    ended: Option<Ended>,
}

enum Ended {
    Tail(Tail),
    Damage(Error),
}

impl WalReader {
    /// A reader of the write-ahead log's segment with that number.
    pub fn new(file: Arc<dyn ReadFile>, number: FileNumber) -> WalReader {
        WalReader::named(file, FileName::Wal(number))
    }

    /// A reader of any file of the log's make; its number is the one in its name.
    ///
    /// # Panics
    /// When files of that name have no number.
    pub fn named(file: Arc<dyn ReadFile>, name: FileName) -> WalReader {
        WalReader {
            walk: WalSalvage::new(file, name),
            record_end: 0,
            limit: u64::MAX,
            ended: None,
        }
    }

    /// The same as far as the record that ends at `limit`: the segment ends there, cleanly,
    /// whatever lies behind.
    pub fn until(self, limit: u64) -> WalReader {
        WalReader { limit, ..self }
    }

    /// The record that begins at that offset; `None` where none of this segment does, or it is not
    /// what was written. Errors: what reading the file gives.
    pub fn record_at(
        file: Arc<dyn ReadFile>,
        name: FileName,
        offset: u64,
    ) -> Result<Option<Vec<u8>>> {
        let mut walk = WalSalvage::new(file, name);
        Ok(walk.find_at(offset)?.then(|| walk.payload().to_vec()))
    }

    /// A walk over everything intact, also behind damage: for repair.
    pub fn salvage(file: Arc<dyn ReadFile>, name: FileName) -> WalSalvage {
        WalSalvage::new(file, name)
    }

    /// The next record, or `None` behind the last one; then [`WalReader::tail`] says how the
    /// segment ends.
    ///
    /// Errors: `Corruption`, with file and offset, when records are damaged that once were
    /// durable; the same again from then on. Otherwise what reading the file gives.
    #[expect(
        clippy::should_implement_trait,
        reason = "a record borrows from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.ended.is_none() && self.record_end >= self.limit {
            self.ended = Some(Ended::Tail(Tail::Clean));
        }
        if self.ended.is_none() {
            match self.walk.step()? {
                Step::Record => {
                    self.record_end = self.walk.end_offset();
                    return Ok(Some(self.walk.payload()));
                }
                Step::End => self.ended = Some(Ended::Tail(Tail::Clean)),
                Step::Gap(gap) => self.ended = Some(judge(&mut self.walk, gap)),
            }
        }
        match &self.ended {
            Some(Ended::Damage(error)) => Err(error.again()),
            _ => Ok(None),
        }
    }

    /// As [`WalReader::next`], with the record's place.
    pub fn next_placed(&mut self) -> Result<Option<PlacedRecord<'_>>> {
        if self.next()?.is_none() {
            return Ok(None);
        }
        Ok(Some(PlacedRecord {
            offset: self.walk.record_offset(),
            end: self.record_end,
            payload: self.walk.payload(),
        }))
    }

    /// How the segment ends.
    ///
    /// # Panics
    /// When [`WalReader::next`] has not returned `None` yet.
    pub fn tail(&self) -> Tail {
        match &self.ended {
            Some(Ended::Tail(tail)) => *tail,
            _ => panic!("the tail is known when all records were read"),
        }
    }

    /// Where the record starts that was read last.
    pub fn record_offset(&self) -> u64 {
        self.walk.record_offset()
    }

    /// The offset behind the record that was read last.
    pub fn record_end(&self) -> u64 {
        self.record_end
    }

    /// The largest durable mark seen so far. Above 0 it proves that a sync of this segment
    /// succeeded, and with it, by the order of syncs, one of every earlier segment.
    pub fn durable_mark(&self) -> u64 {
        self.walk.durable_mark()
    }
}

impl fmt::Debug for WalReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WalReader({})", self.walk.name())
    }
}

// Walks over all that lies behind the gap. It cannot be done twice, so that an error of reading
// the file on the way is kept as the reader's.
fn judge(walk: &mut WalSalvage, gap: Gap) -> Ended {
    let mut intact_count = 0u64;
    loop {
        match walk.step() {
            Ok(Step::Record) => intact_count += 1,
            Ok(Step::Gap(_)) => {}
            Ok(Step::End) => break,
            Err(error) => return Ended::Damage(error),
        }
    }
    let mark = walk.durable_mark();
    if mark <= gap.offset.max(EARLIER_DURABLE) {
        return Ended::Tail(Tail::Torn {
            offset: gap.offset,
            dropped_bytes: walk.end_offset() - gap.offset,
            intact_count,
        });
    }
    let message = format!(
        "the record at offset {} is damaged, though a later one says that the log was durable up \
         to {mark}; intact records behind the damage: {intact_count}. `esker repair --dry-run` \
         tells what would be lost",
        gap.offset
    );
    let error = Error::corruption(message);
    Ended::Damage(error.in_file(walk.name()).at_offset(gap.damaged_at))
}

#[cfg(test)]
mod tests;
