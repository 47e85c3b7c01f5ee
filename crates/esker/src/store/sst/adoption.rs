//! Sorted files that were written elsewhere: which numbers they have there and here.
//!
//! A file that was written outside of the database, or by another one, is taken in as it is, by a
//! second name. Every checksum in it has the number mixed in under which it was written, and its
//! entries have the sequence numbers of that place. So the manifest says with the record of the
//! file which number that was, and the smallest sequence number in it; the record itself says which
//! one that is here. All others are as far from it as they were, so their order stays.
//!
//! Law: an adopted file has another number in it than in its name. Who knows nothing of it but its
//! name, as a repair without a manifest, never takes its entries for as old as they say.

use crate::base::types::ids::FileNumber;
use crate::base::types::limits::SEQNO_MAX;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;

/// What an adopted file has in it, where a file of the database has what its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The number under which it was written, which all its checksums contain.
    pub number: FileNumber,
    /// The smallest sequence number in it; at least 1.
    pub smallest_seqno: SeqNo,
}

/// By which number a sorted file is known, and what is to be known about it to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBinding {
    /// Its number here: that of its name.
    pub number: FileNumber,
    /// The number that its checksums contain.
    pub bound: FileNumber,
    /// Which numbers its entries have here, if they are not those they have in the file.
    pub renumbering: Option<Renumbering>,
}

/// Sequence numbers that are all shifted by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renumbering {
    /// The smallest number as the file has it; at least 1.
    pub stored: SeqNo,
    /// The same as it is shown.
    pub shown: SeqNo,
}

impl From<FileNumber> for FileBinding {
    /// Of a file that was written under its own number.
    fn from(number: FileNumber) -> FileBinding {
        FileBinding {
            number,
            bound: number,
            renumbering: None,
        }
    }
}

impl Renumbering {
    /// The number that an entry of the file is shown with. Of a damaged file it may be any.
    #[inline]
    pub fn shown(self, stored: SeqNo) -> SeqNo {
        let shifted = stored.get().wrapping_add(self.shown.get());
        SeqNo::new(shifted.wrapping_sub(self.stored.get()) & SEQNO_MAX)
    }

    /// Up to which number in the file a reader sees entries who sees those up to `at`; `None` when
    /// there are none.
    #[inline]
    pub fn stored(self, at: SeqNo) -> Option<SeqNo> {
        let above = at.get().checked_sub(self.shown.get())?;
        let stored = self.stored.get().saturating_add(above);
        Some(SeqNo::new(stored.min(SEQNO_MAX)))
    }

    /// As [`Renumbering::shown`], of a raw trailer.
    #[inline]
    pub fn shown_trailer(self, raw: u64) -> u64 {
        self.shown(SeqNo::new(raw >> 8)).get() << 8 | raw & 0xff
    }

    /// The raw trailer in the file that lies among its entries where `raw` lies among what is
    /// shown.
    #[inline]
    pub fn stored_trailer(self, raw: u64) -> u64 {
        match self.stored(SeqNo::new(raw >> 8)) {
            Some(stored) => stored.get() << 8 | raw & 0xff,
            // Behind all entries of its key: no number in the file is 0.
            None => 0,
        }
    }

    /// A range delete of the file as it is shown.
    pub fn shown_range_delete(self, stored: &RangeDelete) -> RangeDelete {
        RangeDelete {
            seqno: self.shown(stored.seqno),
            ..stored.clone()
        }
    }
}

#[cfg(test)]
mod tests;
