//! Entries that lie one behind another in one place, decoded together.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::chunk_writer::{ChunkWriter, HEAD_BYTES, Spot};
use crate::base::types::comparator::Comparator;
use crate::base::types::key::{self, TRAILER_BYTES};
use crate::base::types::kind::Kind;
use crate::base::types::prefix::KeyHead;
use crate::base::types::seqno::SeqNo;

/// Most bytes of keys in a chunk, longer ones apart: enough for 256 usual keys.
const KEY_BYTES_MAX: usize = 16 << 10;

/// Which entries a reader wants to have gathered.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// How keys compare.
    pub comparator: &'a Comparator,
    /// Newer entries are not for the reader.
    pub at: SeqNo,
    /// The user key at which it ends, exclusive.
    pub limit: Option<&'a [u8]>,
    /// How many at most.
    pub count_max: usize,
}

/// Entries that need no cursor to be walked over: gathered for one reader, and then of different
/// keys and each a plain value that is seen as it is; or all that there are, as a merge has them in
/// its lookahead.
///
/// Shape: internal keys in a buffer of its own, values in the bytes that they were found in, which
/// it keeps alive. It stands on one of its entries, or is empty and stands nowhere.
#[derive(Debug, Default)]
pub struct EntryChunk {
    /// Internal keys, one behind the other, and room for more.
    keys: Vec<u8>,
    entries: Vec<Spot>,
    /// What the values lie in.
    memory: Option<Arc<[u8]>>,
    /// The entry it stands on.
    at: usize,
    /// Whether anybody wrote to it since it was made empty.
    is_begun: bool,
}

impl EntryChunk {
    /// Makes it empty.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.memory = None;
        self.at = 0;
        self.is_begun = false;
    }

    /// Makes it empty, and writes to it, with room for `count` keys of about `key_len` bytes.
    pub fn begin(&mut self, count: usize, key_len: usize) -> ChunkWriter<'_> {
        self.clear();
        self.is_begun = true;
        let wanted = count.saturating_mul(key_len + TRAILER_BYTES);
        let wanted = wanted.min(KEY_BYTES_MAX) + 2 * (HEAD_BYTES + TRAILER_BYTES);
        if self.keys.len() < wanted {
            self.keys.resize(wanted, 0);
        }
        ChunkWriter::new(&mut self.keys, &mut self.entries)
    }

    /// Makes it stand on its first or last entry, with the memory that its values lie in.
    pub fn bind(&mut self, memory: &Arc<[u8]>, is_at_end: bool) {
        self.memory = Some(Arc::clone(memory));
        self.at = if is_at_end {
            self.entries.len().saturating_sub(1)
        } else {
            0
        };
    }

    /// Changes the raw trailer of each of its entries.
    pub fn change_trailers(&mut self, changed: impl Fn(u64) -> u64) {
        for spot in &self.entries {
            let (_, trailer) = self.keys[spot.key.clone()]
                .split_last_chunk_mut::<TRAILER_BYTES>()
                .expect("an internal key has a trailer");
            *trailer = changed(u64::from_le_bytes(*trailer)).to_le_bytes();
        }
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
        let next = self.at + 1;
        let is_on = next < self.entries.len();
        if is_on {
            self.at = next;
        }
        is_on
    }

    /// Moves to the entry before, if there is one.
    #[inline]
    pub fn step_back(&mut self) -> bool {
        let before = self.at.checked_sub(1);
        if let Some(before) = before {
            self.at = before;
        }
        before.is_some()
    }

    /// Makes it of the entry that `lookahead`, which has entries of all kinds, stands on, and of
    /// those from there on that way that are for the reader; `lookahead` then stands on the last of
    /// them.
    ///
    /// `false`, and `lookahead` stands where it stood, where there is none but the one.
    pub fn take_from(
        &mut self,
        lookahead: &mut EntryChunk,
        is_back: bool,
        terms: &Terms<'_>,
    ) -> bool {
        self.clear();
        self.is_begun = true;
        let taken = match is_back {
            false => lookahead.at..lookahead.plain_end(terms),
            true => lookahead.plain_start(terms)..lookahead.at + 1,
        };
        if taken.len() < 2 {
            return false;
        }
        let spots = &lookahead.entries[taken.clone()];
        let (Some(first), Some(last)) = (spots.first(), spots.last()) else {
            return false;
        };
        let start = first.key.start;
        let keys = &lookahead.keys[start..last.key.end];
        if self.keys.len() < keys.len() {
            self.keys.resize(keys.len(), 0);
        }
        self.keys[..keys.len()].copy_from_slice(keys);
        self.entries.extend(spots.iter().map(|spot| Spot {
            key: spot.key.start - start..spot.key.end - start,
            value: spot.value.clone(),
        }));
        self.bind(lookahead.held(), is_back);
        lookahead.at = if is_back { taken.start } else { taken.end - 1 };
        true
    }

    // Behind the last that is for the reader, of those from the one it stands on.
    fn plain_end(&self, terms: &Terms<'_>) -> usize {
        let end = self.at.saturating_add(terms.count_max);
        let limit = terms.limit.map(Row::of_key);
        let mut before = self.row_at(self.at);
        for index in self.at + 1..end.min(self.entries.len()) {
            let row = self.row_at(index);
            let is_nearer = |limit| row.compare(limit, terms.comparator).is_lt();
            if !row.is_plain(terms)
                || row.has_key_of(&before)
                || !limit.as_ref().is_none_or(is_nearer)
            {
                return index;
            }
            before = row;
        }
        end.min(self.entries.len()).max(self.at + 1)
    }

    // The first that is for the reader, of those up to the one it stands on. Of its very first
    // nobody knows whether the entry before is one of the same key.
    fn plain_start(&self, terms: &Terms<'_>) -> usize {
        let start = self.at.saturating_sub(terms.count_max);
        let limit = terms.limit.map(Row::of_key);
        let mut behind = self.row_at(self.at);
        for index in (start..self.at).rev() {
            let row = self.row_at(index);
            if row.has_key_of(&behind) {
                return (index + 2).min(self.at);
            }
            let is_nearer = |limit| row.compare(limit, terms.comparator).is_gt();
            if !row.is_plain(terms) || !limit.as_ref().is_none_or(is_nearer) {
                return index + 1;
            }
            behind = row;
        }
        (start + 1).min(self.at)
    }

    #[inline]
    fn row_at(&self, index: usize) -> Row<'_> {
        let (user_key, trailer) = key::split(self.key_at(&self.entries[index]));
        Row {
            trailer: trailer.raw(),
            ..Row::of_key(user_key)
        }
    }

    /// Internal key of the first entry.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.entries.first().map(|spot| self.key_at(spot))
    }

    /// Internal key of the last entry.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.entries.last().map(|spot| self.key_at(spot))
    }

    /// The internal key of the entry it stands on.
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.key_at(&self.entries[self.at])
    }

    /// Internal key of the entry before the one it stands on, if it has that.
    #[inline]
    pub fn key_before(&self) -> Option<&[u8]> {
        let spot = self.entries.get(self.at.checked_sub(1)?)?;
        Some(self.key_at(spot))
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

    /// As [`EntryChunk::value`], as a handle that may be kept.
    pub fn value_bytes(&self) -> Bytes {
        let spot = &self.entries[self.at];
        Bytes::of_shared(self.held(), spot.value.clone())
    }

    #[inline]
    fn key_at(&self, spot: &Spot) -> &[u8] {
        &self.keys[spot.key.clone()]
    }

    #[inline]
    fn held(&self) -> &Arc<[u8]> {
        self.memory.as_ref().expect("a chunk with entries is bound")
    }
}

/// An entry as a reader looks at it.
#[derive(Clone, Copy)]
struct Row<'a> {
    user_key: &'a [u8],
    head: KeyHead,
    trailer: u64,
}

impl<'a> Row<'a> {
    #[inline]
    fn of_key(user_key: &'a [u8]) -> Row<'a> {
        Row {
            user_key,
            head: KeyHead::of(user_key),
            trailer: 0,
        }
    }

    /// Whether it is a value as it stands, and one that the reader sees.
    #[inline]
    fn is_plain(&self, terms: &Terms<'_>) -> bool {
        self.trailer & 0xff == u64::from(Kind::Put as u8) && self.trailer >> 8 <= terms.at.get()
    }

    #[inline]
    fn has_key_of(&self, other: &Row<'_>) -> bool {
        let is_same = self.head.is_same(&other.head);
        is_same.unwrap_or_else(|| self.user_key == other.user_key)
    }

    #[inline]
    fn compare(&self, other: &Row<'_>, comparator: &Comparator) -> Ordering {
        match self.head.prefix.cmp(&other.head.prefix) {
            decided if decided.is_ne() && comparator.is_bytewise() => decided,
            _ => comparator.compare(self.user_key, other.user_key),
        }
    }
}

#[cfg(test)]
mod tests;
