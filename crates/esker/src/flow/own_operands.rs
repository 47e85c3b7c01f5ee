//! A memtable's entries each on its own: no operand holds an older one.
//!
//! A memtable folds merges as they arrive ([`Kind::MergeFolded`]), and keeps the older entries for
//! older readers. A flush writes entries for all readers at once, so it takes each operand as it
//! was written, and folds anew within the stripes of the live snapshots.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::store::mem::memtable::MemCursor;

/// A memtable's cursor that shows [`Kind::MergeFolded`] as the [`Kind::Merge`] it was.
pub struct OwnOperands {
    inner: MemCursor,
    /// The key to show instead of the inner one, for an entry that was folded.
    plain_key: Vec<u8>,
    is_folded: bool,
}

impl OwnOperands {
    /// The entries under `inner`.
    pub fn new(inner: MemCursor) -> OwnOperands {
        OwnOperands {
            inner,
            plain_key: Vec::new(),
            is_folded: false,
        }
    }

    fn moved(&mut self, is_valid: bool) -> Result<bool> {
        self.is_folded = false;
        if is_valid {
            let (user_key, trailer) = key::split(self.inner.key());
            if trailer.kind() == Kind::MergeFolded {
                self.is_folded = true;
                self.plain_key.clear();
                let plain = Trailer::new(trailer.seqno(), Kind::Merge);
                key::encode_into(&mut self.plain_key, user_key, plain);
            }
        }
        Ok(is_valid)
    }

    /// How the trailer that is shown compares with the target's, where the user key is the same.
    fn compare_trailer(&self, target: &[u8]) -> Option<Ordering> {
        let (wanted_key, wanted) = key::split(target);
        let (user_key, trailer) = key::split(self.key());
        (user_key == wanted_key).then(|| trailer.cmp(&wanted))
    }
}

impl Cursor for OwnOperands {
    fn seek_to_first(&mut self) -> Result<bool> {
        let is_valid = self.inner.seek_to_first()?;
        self.moved(is_valid)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        let is_valid = self.inner.seek_to_last()?;
        self.moved(is_valid)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        // An entry that is shown as another kind sorts later than the inner one: look from
        // before its sequence number on, and pass over it if it is shown before the target.
        let (user_key, trailer) = key::split(target);
        let from = key::encode(user_key, Trailer::seek(trailer.seqno()));
        let is_valid = self.inner.seek(&from)?;
        if self.moved(is_valid)? && self.compare_trailer(target) == Some(Ordering::Greater) {
            return self.next();
        }
        Ok(self.is_valid())
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        let is_valid = self.inner.seek_for_prev(target)?;
        if self.moved(is_valid)? && self.compare_trailer(target) == Some(Ordering::Less) {
            return self.prev();
        }
        Ok(self.is_valid())
    }

    fn next(&mut self) -> Result<bool> {
        let is_valid = self.inner.next()?;
        self.moved(is_valid)
    }

    fn prev(&mut self) -> Result<bool> {
        let is_valid = self.inner.prev()?;
        self.moved(is_valid)
    }

    fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }

    fn key(&self) -> &[u8] {
        if self.is_folded {
            &self.plain_key
        } else {
            self.inner.key()
        }
    }

    fn value(&self) -> Result<&[u8]> {
        Ok(self.inner.own_value())
    }

    fn value_bytes(&self) -> Result<Bytes> {
        self.value().map(Bytes::copy_of)
    }

    fn is_surely_newest(&self) -> bool {
        false
    }

    fn fill(&mut self, _: Way, _: Fill<'_>, _: &mut EntryChunk) -> bool {
        false
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        None
    }
}

#[cfg(test)]
mod tests;
