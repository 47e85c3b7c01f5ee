//! What the tree knows of one sorted file without opening it.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::{Adoption, FileBinding, Renumbering};
use crate::store::sst::passing::Passing;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// What the tree knows of one sorted file without opening it.
///
/// Immutable once it stands in a version, and shared by every version that has the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Number of the file; its name follows from it.
    pub number: FileNumber,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Smallest user key of any entry or range delete in the file.
    pub smallest: Bytes,
    /// Largest user key, or the end of a range delete that reaches beyond every entry.
    pub largest: Bytes,
    /// Whether `largest` is the end of a range delete, so that the file says nothing about the
    /// key `largest` itself.
    pub is_largest_exclusive: bool,
    /// Smallest sequence number of any entry or range delete in the file.
    pub smallest_seqno: SeqNo,
    /// Largest sequence number of any entry or range delete in the file.
    pub largest_seqno: SeqNo,
    /// Point entries, deletes among them.
    pub entry_count: u64,
    /// Point entries that are deletes.
    pub delete_count: u64,
    /// Range deletes.
    pub range_delete_count: u64,
    /// Unix seconds at which the last entry has expired; `None` when some entry never does.
    pub newest_expiry_s: Option<u32>,
    /// What its entries point to in the value log.
    pub values: ValueLiveBytes,
    /// Whether it is searched while it is compressed; else it is made of blocks.
    pub is_searchable: bool,
    /// Bytes of its user keys and values before packing; 0 where nobody said.
    pub raw_bytes: u64,
    /// What of it passes by itself; `None` where nobody said.
    pub passing: Option<Passing>,
    /// What is in it, where it was written elsewhere.
    pub adoption: Option<Adoption>,
    /// Whether an expiry in it has milliseconds.
    pub has_millis: bool,
}

impl FileRecord {
    /// How it is known to who opens it.
    pub fn binding(&self) -> FileBinding {
        let Some(adoption) = self.adoption else {
            return FileBinding::from(self.number);
        };
        FileBinding {
            number: self.number,
            bound: adoption.number,
            renumbering: Some(Renumbering {
                stored: adoption.smallest_seqno,
                shown: self.smallest_seqno,
            }),
        }
    }

    /// Whether the whole file lies before `key`.
    #[inline]
    pub fn ends_before(&self, comparator: &Comparator, key: &[u8]) -> bool {
        match comparator.compare(&self.largest, key) {
            Ordering::Less => true,
            Ordering::Equal => self.is_largest_exclusive,
            Ordering::Greater => false,
        }
    }

    /// Whether the whole file lies after `key`.
    #[inline]
    pub fn starts_after(&self, comparator: &Comparator, key: &[u8]) -> bool {
        comparator.compare(&self.smallest, key) == Ordering::Greater
    }

    /// Whether `key` lies between the ends of the file.
    pub fn covers(&self, comparator: &Comparator, key: &[u8]) -> bool {
        !self.starts_after(comparator, key) && !self.ends_before(comparator, key)
    }

    /// Whether the whole file lies before the range that begins at `lower`.
    pub fn ends_before_bound(&self, comparator: &Comparator, lower: Bound<&[u8]>) -> bool {
        match lower {
            Bound::Unbounded => false,
            Bound::Included(key) => self.ends_before(comparator, key),
            Bound::Excluded(key) => comparator.compare(&self.largest, key) != Ordering::Greater,
        }
    }

    /// Whether the whole file lies after the range that ends at `upper`.
    pub fn starts_after_bound(&self, comparator: &Comparator, upper: Bound<&[u8]>) -> bool {
        match upper {
            Bound::Unbounded => false,
            Bound::Included(key) => self.starts_after(comparator, key),
            Bound::Excluded(key) => comparator.compare(&self.smallest, key) != Ordering::Less,
        }
    }

    /// Whether the file may hold a key of the range from `lower` to `upper`.
    pub fn overlaps(
        &self,
        comparator: &Comparator,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> bool {
        !self.ends_before_bound(comparator, lower) && !self.starts_after_bound(comparator, upper)
    }

    /// The keys between the ends of the file.
    pub fn key_range(&self) -> KeyRange {
        let largest = self.largest.to_vec();
        KeyRange {
            lower: Bound::Included(self.smallest.to_vec()),
            upper: if self.is_largest_exclusive {
                Bound::Excluded(largest)
            } else {
                Bound::Included(largest)
            },
        }
    }

    /// Whether every entry of the file has expired at `now_unix_s`, and no range delete in it
    /// still hides anything.
    pub fn is_expired(&self, now_unix_s: u64) -> bool {
        match self.newest_expiry_s {
            Some(newest) => self.range_delete_count == 0 && u64::from(newest) <= now_unix_s,
            None => false,
        }
    }

    /// Deletes, those of ranges among them, for each entry: from 0 to 1.
    pub fn delete_share(&self) -> f64 {
        let deletes = self.delete_count + self.range_delete_count;
        deletes as f64 / (self.entry_count + self.range_delete_count).max(1) as f64
    }

    /// Refuses a record whose fields contradict one another.
    pub fn check(&self, comparator: &Comparator) -> Result<()> {
        let number = self.number;
        let wrong = |what: &str| Err(Error::corruption(format!("file {number} {what}")));
        match comparator.compare(&self.smallest, &self.largest) {
            Ordering::Greater => return wrong("ends before it begins"),
            Ordering::Equal if self.is_largest_exclusive => return wrong("covers no key"),
            _ => {}
        }
        if self.smallest_seqno > self.largest_seqno {
            return wrong("has sequence numbers that end before they begin");
        }
        if self.delete_count > self.entry_count {
            return wrong("has more deletes than entries");
        }
        if let Some(adoption) = self.adoption {
            if adoption.number == self.number {
                return wrong("was adopted from itself");
            }
            if adoption.smallest_seqno == SeqNo::ZERO {
                return wrong("was adopted with a sequence number that no write has");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
