//! Byte layout of a batch.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | u64 | sequence number of the first entry |
//! | 8 | 4 | u32 | count of entries |
//! | 12 | … | | the entries, one behind the other |
//!
//! An entry:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 | u8 | kind: 0 delete, 1 put, 2 merge, 3 range delete, 4 put expiring, 6 apart, 7 both, |
//! | | | 8 put expiring between two seconds, 9 apart too |
//! | 1–5 | varint u32 | keyspace |
//! | 1–3 | varint | length of the key |
//! | n | bytes | key; of a range delete, the first key of the range |
//! | 1–5 | varint | length of the value; absent for a delete |
//! | n | bytes | value; absent for a delete |
//!
//! The value of a range delete is the range's end key, exclusive. The value of an expiring put is
//! the expiry (unix seconds, u32) and then the user's value. The value of a put whose value lies
//! apart is a pointer into the value log (`store/vlog/pointer`); of one that expires as well, the
//! expiry and then the pointer. Kinds 8 and 9 are 4 and 7 with an expiry in unix milliseconds (48
//! bits) that is no whole second and lies before second 2^32 - 1; from database format 3 on.
//! Integers are little-endian. The entry at index `i` has the sequence number "first + i".
//!
//! Valid if and only if the entries fill the bytes exactly, are as many as the count says, have
//! kinds of the list above, lengths within `base/types/limits` (those of an expiry and a pointer
//! where the kind has one, and a pointer and milliseconds that are valid), varints in their
//! shortest form, and no entry's sequence number needs more than 56 bits. All together have at most
//! 2 GiB.

use crate::base::types::kind::Kind;
use crate::base::types::limits::{BATCH_BYTES_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::store::vlog::pointer::POINTER_BYTES;

/// Bytes in front of the first entry.
pub const HEADER_BYTES: usize = 12;

/// Where the count stands in the header.
pub const COUNT_OFFSET: usize = 8;

/// Bytes of the shortest entry: a delete of the empty key.
pub const ENTRY_BYTES_MIN: usize = 3;

// No batch within its size can hold more entries than the count can say.
const _: () = assert!(BATCH_BYTES_MAX / ENTRY_BYTES_MIN < u32::MAX as usize);

/// Lengths that the value of an entry may have, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLengths {
    /// Shortest value.
    pub min: usize,
    /// Longest value.
    pub max: usize,
}

/// What a batch may hold for an entry of `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRule {
    /// The entry has no value.
    Absent,
    /// The entry has a value with a length in these bounds.
    Present(ValueLengths),
    /// The same, and the value begins with an expiry that is no whole second.
    BehindMillis(ValueLengths),
    /// Such an entry is never in a batch.
    Refused,
}

/// The rule for the values of entries of `kind`.
#[inline]
pub fn value_rule(kind: Kind) -> ValueRule {
    let expiry_bytes = kind.expiry_bytes();
    let (min, max) = match kind {
        Kind::Delete => return ValueRule::Absent,
        Kind::MergeFolded => return ValueRule::Refused,
        Kind::Put | Kind::Merge => (0, VALUE_BYTES_MAX),
        Kind::PutExpiring => (expiry_bytes, expiry_bytes + VALUE_BYTES_MAX),
        Kind::RangeDelete => (0, KEY_BYTES_MAX),
        Kind::PutExpiringMillis => (expiry_bytes, expiry_bytes + VALUE_BYTES_MAX),
        Kind::PutSeparated | Kind::PutSeparatedExpiring | Kind::PutSeparatedExpiringMillis => {
            (expiry_bytes + POINTER_BYTES, expiry_bytes + POINTER_BYTES)
        }
    };
    let lengths = ValueLengths { min, max };
    match kind.has_millis() {
        true => ValueRule::BehindMillis(lengths),
        false => ValueRule::Present(lengths),
    }
}
