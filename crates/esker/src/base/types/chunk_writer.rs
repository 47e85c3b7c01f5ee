//! Puts the keys of a chunk together, one upon the other.

use std::ops::Range;

use crate::base::types::key::TRAILER_BYTES;

/// Bytes of a user key that fit into one number: most keys are no longer.
pub const HEAD_BYTES: usize = 16;

/// Bytes of such a key with its trailer.
pub const SHORT_BYTES: usize = HEAD_BYTES + TRAILER_BYTES;

/// Where one entry of a chunk lies: its internal key, and its value in the bytes it was found in.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The internal key.
    pub key: Range<usize>,
    /// The value.
    pub value: Range<usize>,
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

/// Puts keys together, and keeps the entries of some of them.
///
/// A thing of its own, which lives in the loop that uses it: so what it knows of the last key stays
/// in registers, where fields of the chunk would be written and read back at every entry.
#[derive(Debug)]
pub struct ChunkWriter<'a> {
    room: &'a mut [u8],
    spots: &'a mut Vec<Spot>,
    /// Where in `room` the last key that was put together begins and its trailer ends, whether it
    /// is that of an entry or not.
    last: Range<usize>,
    /// The first bytes of that key, the first byte lowest; behind its end there may be anything.
    head: u128,
}

impl<'a> ChunkWriter<'a> {
    /// A writer of keys into `room`, and of entries behind those in `spots`.
    pub fn new(room: &'a mut [u8], spots: &'a mut Vec<Spot>) -> ChunkWriter<'a> {
        ChunkWriter {
            room,
            spots,
            last: 0..0,
            head: 0,
        }
    }

    /// Puts the next key together as [`ChunkWriter::put_key`] does, from so many bytes of the last
    /// one's user key and of `rest`, behind which the trailer stands there; `None`, and nothing is
    /// changed, where that is longer than usual keys are.
    #[inline(always)]
    pub fn put_short(&mut self, shared: u8, unshared: u8, rest: &[u8; SHORT_BYTES]) -> Option<Put> {
        let bits = 8 * u32::from(shared);
        let (shared, unshared) = (usize::from(shared), usize::from(unshared));
        let len = shared + unshared;
        let last_len = self.last.len().saturating_sub(TRAILER_BYTES);
        if len > HEAD_BYTES || shared > last_len {
            return None;
        }
        let start = self.last.end;
        let room = self
            .room
            .get_mut(start..)?
            .first_chunk_mut::<SHORT_BYTES>()?;
        // Out of registers: what was stored a moment ago in two pieces is slow to load as one.
        let suffix = rest.first_chunk().expect("it is longer");
        let suffix = u128::from_le_bytes(*suffix).checked_shl(bits).unwrap_or(0);
        let head = self.head & LOW_BYTES[shared] | suffix;
        let is_as_long = len + TRAILER_BYTES == self.last.len();
        let is_again = is_as_long && (head ^ self.head) & LOW_BYTES[len] == 0;
        room[..HEAD_BYTES].copy_from_slice(&head.to_le_bytes());
        room[len..len + TRAILER_BYTES].copy_from_slice(&rest[unshared..unshared + TRAILER_BYTES]);
        self.head = head;
        self.last = start..start + len + TRAILER_BYTES;
        Some(if is_again { Put::Again } else { Put::Another })
    }

    /// Puts the next key together: so many bytes of the last one's user key, then the first
    /// `rest_len` of `rest`, whose last eight are a trailer.
    pub fn put_key(&mut self, shared: usize, rest: &[u8], rest_len: usize) -> Put {
        let last_len = self.last.len().saturating_sub(TRAILER_BYTES);
        if shared > last_len || rest_len > rest.len() || rest_len < TRAILER_BYTES {
            return Put::Refused;
        }
        let start = self.last.end;
        let put = put_long_key(self.room, &self.last, shared, &rest[..rest_len]);
        if put != Put::Refused {
            self.last = start..start + shared + rest_len;
            let head = self.room[start..].first_chunk();
            self.head = u128::from_le_bytes(*head.expect("there is room behind every key"));
        }
        put
    }

    /// The user key that was put together last; empty before the first.
    #[inline(always)]
    pub fn last_user_key(&self) -> &[u8] {
        user_key_at(self.room, &self.last)
    }

    /// The first sixteen bytes of that, as `prefix_number_16` has them.
    #[inline(always)]
    pub fn last_prefix(&self) -> u128 {
        let len = self.last.len().saturating_sub(TRAILER_BYTES);
        (self.head & LOW_BYTES[len.min(HEAD_BYTES)]).swap_bytes()
    }

    /// Keeps the entry of the key put together last, with its value.
    #[inline(always)]
    pub fn keep(&mut self, value: Range<usize>) {
        let key = self.last.clone();
        self.spots.push(Spot { key, value });
    }

    /// Lets go of the entries kept so far, and not of the key put together last.
    #[inline]
    pub fn drop_kept(&mut self) {
        self.spots.clear();
    }

    /// Where the value of the first entry lies.
    pub fn first_value(&self) -> Option<Range<usize>> {
        self.spots.first().map(|spot| spot.value.clone())
    }

    /// Where the value of the last entry lies.
    pub fn last_value(&self) -> Option<Range<usize>> {
        self.spots.last().map(|spot| spot.value.clone())
    }

    /// How many entries are kept.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.spots.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }
}

/// Ones in so many of the lowest bytes.
static LOW_BYTES: [u128; HEAD_BYTES + 1] = {
    let mut masks = [u128::MAX; HEAD_BYTES + 1];
    let mut count = 0;
    while count < HEAD_BYTES {
        masks[count] = (1 << (8 * count)) - 1;
        count += 1;
    }
    masks
};

#[inline(always)]
fn user_key_at<'a>(room: &'a [u8], internal: &Range<usize>) -> &'a [u8] {
    let end = internal.end.saturating_sub(TRAILER_BYTES);
    room.get(internal.start..end).unwrap_or_default()
}

#[inline(never)]
fn put_long_key(room: &mut [u8], last: &Range<usize>, shared: usize, rest: &[u8]) -> Put {
    let start = last.end;
    let end = start + shared + rest.len();
    if end + HEAD_BYTES > room.len() {
        return Put::Refused;
    }
    room.copy_within(last.start..last.start + shared, start);
    room[start + shared..end].copy_from_slice(rest);
    match !last.is_empty() && user_key_at(room, &(start..end)) == user_key_at(room, last) {
        true => Put::Again,
        false => Put::Another,
    }
}

#[cfg(test)]
mod tests;
