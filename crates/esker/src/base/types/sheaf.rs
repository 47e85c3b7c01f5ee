//! Entries that lie one behind another in one place, decoded together for one reader.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::order::KeyOrder;
use crate::base::types::seqno::SeqNo;
use crate::base::types::sheaf_writer::{HEAD_BYTES, SheafWriter, Spot};

/// Most bytes of keys in a sheaf, longer ones apart: enough for 256 usual keys.
const KEY_BYTES_MAX: usize = 16 << 10;

/// Which entries a reader wants to have gathered.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// How keys compare.
    pub order: &'a KeyOrder,
    /// Newer entries are not for the reader.
    pub at: SeqNo,
    /// The user key at which it ends, exclusive.
    pub limit: Option<&'a [u8]>,
    /// How many at most.
    pub count_max: usize,
}

/// Entries of different keys, each of them a plain value that one reader sees as it is: what a
/// walk over them needs no cursor for.
///
/// Shape: internal keys in a buffer of its own, values in the bytes that they were found in, which
/// it keeps alive. It stands on one of its entries, or is empty and stands nowhere.
#[derive(Debug, Default)]
pub struct Sheaf {
    /// Internal keys, one behind the other, and room for more.
    keys: Vec<u8>,
    entries: Vec<Spot>,
    /// What holds the values.
    bytes: Option<Arc<Vec<u8>>>,
    /// The entry it stands on.
    at: usize,
    /// Whether anybody wrote to it since it was made empty.
    is_begun: bool,
}

impl Sheaf {
    /// Makes it empty.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = None;
        self.at = 0;
        self.is_begun = false;
    }

    /// Makes it empty, and writes to it, with room for `count` keys of about `key_len` bytes.
    pub fn begin(&mut self, count: usize, key_len: usize) -> SheafWriter<'_> {
        self.clear();
        self.is_begun = true;
        let wanted = count.saturating_mul(key_len + TRAILER_BYTES);
        let wanted = wanted.min(KEY_BYTES_MAX) + 2 * (HEAD_BYTES + TRAILER_BYTES);
        if self.keys.len() < wanted {
            self.keys.resize(wanted, 0);
        }
        SheafWriter::new(&mut self.keys, &mut self.entries)
    }

    /// Makes it stand on its first or last entry, with the bytes that its values lie in.
    pub fn bind(&mut self, bytes: &Arc<Vec<u8>>, is_at_end: bool) {
        self.bytes = Some(Arc::clone(bytes));
        self.at = if is_at_end {
            self.entries.len().saturating_sub(1)
        } else {
            0
        };
    }

    /// Whether anybody wrote to it since it was made empty.
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// How many entries it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Moves to the next of its entries, if there is one.
    #[inline]
    pub fn step(&mut self) -> bool {
        let is_on = self.at + 1 < self.entries.len();
        self.at += usize::from(is_on);
        is_on
    }

    /// Moves to the entry before, if there is one.
    #[inline]
    pub fn step_back(&mut self) -> bool {
        let is_on = self.at > 0;
        self.at -= usize::from(is_on);
        is_on
    }

    /// Internal key of the first entry.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.entries.first().map(|spot| self.key_at(spot))
    }

    /// Internal key of the last entry.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.entries.last().map(|spot| self.key_at(spot))
    }

    /// The user key of the entry it stands on.
    #[inline]
    pub fn user_key(&self) -> &[u8] {
        let spot = &self.entries[self.at];
        &self.keys[spot.key.start..spot.key.end - TRAILER_BYTES]
    }

    /// The value of the entry it stands on.
    #[inline]
    pub fn value(&self) -> &[u8] {
        let spot = &self.entries[self.at];
        &self.held()[spot.value.clone()]
    }

    /// As [`Sheaf::value`], as a handle that may be kept.
    pub fn value_bytes(&self) -> Bytes {
        let spot = &self.entries[self.at];
        Bytes::slice_of(self.held(), spot.value.clone())
    }

    fn key_at(&self, spot: &Spot) -> &[u8] {
        &self.keys[spot.key.clone()]
    }

    #[inline]
    fn held(&self) -> &Arc<Vec<u8>> {
        self.bytes.as_ref().expect("a sheaf with entries is bound")
    }
}

#[cfg(test)]
mod tests;
