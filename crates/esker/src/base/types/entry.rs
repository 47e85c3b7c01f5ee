//! One borrowed entry: internal key and value.

use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;

/// Bytes of the expiry in front of the value of a [`Kind::PutExpiring`] entry.
pub const EXPIRY_BYTES: usize = 4;

/// One entry as it lies in a memtable, a block or a merge of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user's key.
    pub key: &'a [u8],
    /// Sequence number and kind.
    pub trailer: Trailer,
    /// The raw value: for [`Kind::PutExpiring`] with the expiry in front.
    pub value: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry with an encoded internal key that is known to be whole.
    pub fn from_internal(internal: &'a [u8], value: &'a [u8]) -> Entry<'a> {
        let (key, trailer) = key::split(internal);
        Entry {
            key,
            trailer,
            value,
        }
    }

    /// The sequence number.
    pub fn seqno(&self) -> SeqNo {
        self.trailer.seqno()
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.trailer.kind()
    }
}

/// Splits the raw value of a [`Kind::PutExpiring`] entry into expiry (unix seconds) and the
/// user's value, or `None` when it is too short. For bytes from disk.
pub fn split_expiring(raw: &[u8]) -> Option<(u32, &[u8])> {
    let (expiry, value) = raw.split_first_chunk::<EXPIRY_BYTES>()?;
    Some((u32::from_le_bytes(*expiry), value))
}

/// The raw value of a [`Kind::PutExpiring`] entry.
pub fn join_expiring(expiry_unix_s: u32, value: &[u8]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(EXPIRY_BYTES + value.len());
    raw.extend_from_slice(&expiry_unix_s.to_le_bytes());
    raw.extend_from_slice(value);
    raw
}

/// Whether a value with that expiry is gone at `now`, both in unix seconds.
///
/// A value lives through the last second before its expiry: an expiry equal to now is past.
pub fn is_expired(expiry_unix_s: u32, now_unix_s: u64) -> bool {
    u64::from(expiry_unix_s) <= now_unix_s
}
