//! Internal keys: user key, sequence number and kind, and the one order over them.
//!
//! Layout of an encoded internal key:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | n | bytes | user key |
//! | n | 8 | u64, little-endian | trailer: sequence number × 256 + kind |
//!
//! Order: user keys ascending by the keyspace's order; for equal user keys trailers descending,
//! so that the newest entry of a key comes first.

use std::cmp::Ordering;
use std::fmt;

use crate::base::types::comparator::Comparator;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;

/// Bytes of the trailer behind the user key.
pub const TRAILER_BYTES: usize = 8;

/// Sequence number and kind compressed into eight bytes; a larger trailer is a newer entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trailer(u64);

impl Trailer {
    /// Compresses a sequence number and a kind.
    pub fn new(seqno: SeqNo, kind: Kind) -> Trailer {
        Trailer(seqno.get() << 8 | u64::from(kind.byte()))
    }

    /// The trailer that sorts before every entry visible at `seqno`: where a seek starts.
    pub fn seek(seqno: SeqNo) -> Trailer {
        Trailer::new(seqno, Kind::LAST)
    }

    /// The trailer compressed in `raw`, or `None` when its kind is unknown. For bytes from disk.
    pub fn checked(raw: u64) -> Option<Trailer> {
        Kind::from_byte((raw & 0xff) as u8).map(|_| Trailer(raw))
    }

    /// The compressed number.
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The sequence number.
    pub fn seqno(self) -> SeqNo {
        SeqNo::new(self.0 >> 8)
    }

    /// The kind.
    pub fn kind(self) -> Kind {
        Kind::from_byte((self.0 & 0xff) as u8).expect("a trailer holds a known kind")
    }
}

impl fmt::Debug for Trailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{:?}", self.seqno(), self.kind())
    }
}

/// Appends the encoded internal key to `out`.
pub fn encode_into(out: &mut Vec<u8>, user_key: &[u8], trailer: Trailer) {
    out.reserve(user_key.len() + TRAILER_BYTES);
    out.extend_from_slice(user_key);
    out.extend_from_slice(&trailer.raw().to_le_bytes());
}

/// The encoded internal key.
pub fn encode(user_key: &[u8], trailer: Trailer) -> Vec<u8> {
    let mut out = Vec::with_capacity(user_key.len() + TRAILER_BYTES);
    encode_into(&mut out, user_key, trailer);
    out
}

/// Splits an encoded internal key that is known to be whole.
///
/// # Panics
/// When it is not: cursors only hand out checked keys.
#[inline]
pub fn split(internal: &[u8]) -> (&[u8], Trailer) {
    let (user_key, raw) = internal
        .split_last_chunk::<TRAILER_BYTES>()
        .expect("an internal key has a trailer");
    (user_key, Trailer(u64::from_le_bytes(*raw)))
}

/// The user key of an encoded internal key that is known to be whole.
#[inline]
pub fn user_key(internal: &[u8]) -> &[u8] {
    split(internal).0
}

/// The one order of internal keys. Both must be whole.
#[inline]
pub fn compare(comparator: &Comparator, left: &[u8], right: &[u8]) -> Ordering {
    let (left_key, left_trailer) = split(left);
    let (right_key, right_trailer) = split(right);
    comparator
        .compare(left_key, right_key)
        .then_with(|| right_trailer.cmp(&left_trailer))
}

#[cfg(test)]
mod tests;
