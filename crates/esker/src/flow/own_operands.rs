//! A memtable's entries each on its own: no operand holds an older one.
//!
//! A memtable folds merges as they arrive ([`Kind::MergeFolded`]), and keeps the older entries for
//! older readers. A flush writes entries for all readers at once, so it takes each operand as it
//! was written, and folds anew within the stripes of the live snapshots.

use crate::base::types::cursor::Cursor;
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
        let is_valid = self.inner.seek(target)?;
        self.moved(is_valid)
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        let is_valid = self.inner.seek_for_prev(target)?;
        self.moved(is_valid)
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

    fn value(&self) -> &[u8] {
        self.inner.own_value()
    }
}
