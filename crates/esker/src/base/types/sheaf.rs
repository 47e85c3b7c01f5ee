//! Entries that lie one behind another in one place, decoded together for one reader.

use std::ops::Range;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::order::KeyOrder;
use crate::base::types::seqno::SeqNo;

/// Most bytes of keys in a sheaf, longer ones apart: enough for 256 usual keys.
const KEY_BYTES_MAX: usize = 16 << 10;

/// Bytes of a user key that fit into one number: most keys are no longer.
const HEAD_BYTES: usize = 16;

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
    /// Where in `keys` the last key that was put together begins and its trailer ends, whether it
    /// is that of an entry or not.
    last: Range<usize>,
    /// The first bytes of that key, the first byte lowest; behind its end there may be anything.
    head: u128,
}

/// Where one entry lies.
#[derive(Clone, Debug)]
struct Spot {
    key: Range<usize>,
    value: Range<usize>,
}

/// What became of a key that was to be put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there, and its user key is that of the one before.
    Again,
    /// It is there, and its user key is another one.
    Another,
    /// The one before is not as long, or there is no room: nothing is changed.
    Refused,
}

impl Sheaf {
    /// Makes it empty.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = None;
        self.at = 0;
        self.last = 0..0;
    }

    /// Makes it empty, with room for `count` keys of about `key_len` bytes.
    pub fn begin(&mut self, count: usize, key_len: usize) {
        self.clear();
        let wanted = count.saturating_mul(key_len + TRAILER_BYTES);
        let wanted = wanted.min(KEY_BYTES_MAX) + 2 * (HEAD_BYTES + TRAILER_BYTES);
        if self.keys.len() < wanted {
            self.keys.resize(wanted, 0);
        }
    }

    /// Puts the next key together: so many bytes of the last one's user key, then the first
    /// `rest_len` of `rest`, whose last eight are a trailer.
    #[inline(always)]
    pub fn put_key(&mut self, shared: usize, rest: &[u8], rest_len: usize) -> Put {
        let last_len = self.last.len().saturating_sub(TRAILER_BYTES);
        if shared > last_len || rest_len > rest.len() || rest_len < TRAILER_BYTES {
            return Put::Refused;
        }
        let start = self.last.end;
        let suffix_len = rest_len - TRAILER_BYTES;
        let len = shared + suffix_len;
        // Out of registers: what was stored a moment ago in two pieces is slow to load as one.
        if len <= HEAD_BYTES
            && let Some(suffix) = rest.first_chunk::<HEAD_BYTES>()
            && let Some(trailer) = rest.get(suffix_len..rest_len)
            && let Some(room) = self.keys.get_mut(start..)
            && let Some(room) = room.first_chunk_mut::<{ HEAD_BYTES + TRAILER_BYTES }>()
        {
            let bits = 8 * u32::try_from(shared).expect("it is a part of sixteen");
            let suffix = u128::from_le_bytes(*suffix).checked_shl(bits).unwrap_or(0);
            let head = self.head & low_bytes(shared) | suffix;
            let is_as_long = len + TRAILER_BYTES == self.last.len();
            let is_again = is_as_long && (head ^ self.head) & low_bytes(len) == 0;
            room[..HEAD_BYTES].copy_from_slice(&head.to_le_bytes());
            room[len..len + TRAILER_BYTES].copy_from_slice(trailer);
            self.head = head;
            self.last = start..start + shared + rest_len;
            return if is_again { Put::Again } else { Put::Another };
        }
        self.put_long_key(shared, &rest[..rest_len])
    }

    #[inline(never)]
    fn put_long_key(&mut self, shared: usize, rest: &[u8]) -> Put {
        let (start, old) = (self.last.end, self.last.start);
        let end = start + shared + rest.len();
        if end + HEAD_BYTES > self.keys.len() {
            return Put::Refused;
        }
        self.keys.copy_within(old..old + shared, start);
        self.keys[start + shared..end].copy_from_slice(rest);
        let is_again =
            !self.last.is_empty() && self.keys[start..end - TRAILER_BYTES] == *self.last_user_key();
        self.last = start..end;
        let head = self.keys[start..]
            .first_chunk()
            .expect("there is room behind");
        self.head = u128::from_le_bytes(*head);
        if is_again { Put::Again } else { Put::Another }
    }

    /// The user key that was put together last; empty before the first.
    #[inline(always)]
    pub fn last_user_key(&self) -> &[u8] {
        let end = self.last.end.saturating_sub(TRAILER_BYTES);
        self.keys.get(self.last.start..end).unwrap_or_default()
    }

    /// The first sixteen bytes of that, as `prefix_number_16` has them.
    #[inline(always)]
    pub fn last_prefix(&self) -> u128 {
        let len = self.last.len().saturating_sub(TRAILER_BYTES);
        (self.head & low_bytes(len)).swap_bytes()
    }

    /// Keeps the entry of the key put together last, with its value.
    #[inline(always)]
    pub fn keep(&mut self, value: Range<usize>) {
        self.entries.push(Spot {
            key: self.last.clone(),
            value,
        });
    }

    /// Lets go of the entries kept so far, and not of the key put together last.
    pub fn drop_kept(&mut self) {
        self.entries.clear();
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

    /// Whether any key was put together since it was made empty.
    pub fn is_begun(&self) -> bool {
        self.last.end > 0
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

/// Ones in that many of the lowest bytes.
#[inline(always)]
fn low_bytes(count: usize) -> u128 {
    let bits = u32::try_from(count).map_or(u32::MAX, |count| count.saturating_mul(8));
    !u128::MAX.checked_shl(bits).unwrap_or(0)
}

#[cfg(test)]
mod tests;
