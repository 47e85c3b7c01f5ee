//! Byte layout of a block: prefixes, restarts, hash index.
//!
//! | size | type | meaning |
//! |---|---|---|
//! | … | entries | one behind the other, in the order of internal keys |
//! | 4 × r | u32 | restarts: offsets of entries that share nothing |
//! | b | u8 | hash index: for each bucket a restart number, 254 or 255; only if flagged |
//! | 2 | u16 | buckets of the hash index, b, at least 1; only if flagged |
//! | 4 | u32 | restarts, r; the highest bit flags a hash index |
//!
//! and of an entry:
//!
//! | size | type | meaning |
//! |---|---|---|
//! | 1 to 5 | varint | bytes of the user key shared with the entry before, s |
//! | 1 to 5 | varint | further bytes of the user key, n |
//! | 1 to 5 | varint | bytes of the value, v |
//! | n | bytes | the user key from byte s on |
//! | 8 | u64 | trailer: sequence number × 256 + kind |
//! | v | bytes | the value |
//!
//! All integers are little-endian. At a restart s is 0; elsewhere it is all that the two user
//! keys begin with alike, so that a search may conclude from s alone.
//!
//! Bucket `h` of a user key is (low 32 bits of its `hash64`) × b / 2^32. It holds the number of
//! the restart behind which all entries of the key lie, up to the next restart; 254 when keys of
//! several restarts fall into it; 255 when no key of the block does.
//!
//! Valid if and only if the parts fill the block, the first restart is 0, restarts ascend and
//! lie within the entries (there are none if and only if there are no entries), every bucket
//! names a restart or is 254 or 255, and every entry is whole, with a known kind of point entry.

use crate::base::codec::varint::varint_at_front;
use crate::base::types::key::TRAILER_BYTES;
use crate::base::types::kind::Kind;

/// Set in the last word of a block with a hash index.
pub const HASH_INDEX_FLAG: u32 = 1 << 31;

/// In a bucket: keys of several restarts fall into it, so only a search can tell.
pub const BUCKET_COLLISION: u8 = 254;

/// In a bucket: no key of the block falls into it.
pub const BUCKET_EMPTY: u8 = 255;

/// Most restarts of a block with a hash index: what a byte can name besides the two marks.
pub const HASHED_RESTARTS_MAX: usize = 253;

const _: () = assert!(HASHED_RESTARTS_MAX < BUCKET_COLLISION as usize);

/// Where the parts of one entry lie in its block. All offsets are within the entries.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Bytes of the user key taken from the entry before.
    pub shared: usize,
    /// Where the rest of the user key begins.
    pub suffix_start: usize,
    /// Where the trailer begins, and the rest of the user key ends.
    pub trailer_start: usize,
    /// Where the value begins, and the trailer ends.
    pub value_start: usize,
    /// Where the value and the entry end.
    pub value_end: usize,
}

/// Reads the lengths of the entry at `at`, or `None` when it is not whole or not of a kind that
/// lies in blocks.
#[inline(always)]
pub fn head_at(entries: &[u8], at: usize) -> Option<Head> {
    whole_at(entries, at).filter(|head| head.is_of_point_kind(entries))
}

/// As [`head_at`], of whatever kind: for a search, which looks at the kind of what it stops at.
#[inline(always)]
pub fn whole_at(entries: &[u8], at: usize) -> Option<Head> {
    let rest = entries.get(at..)?;
    // Keys and values below 128 bytes have one-byte lengths: nearly always true for keys.
    let (shared, unshared, value_len, taken) = match rest.first_chunk::<3>() {
        Some(&[s, u, v]) if (s | u | v) < 0x80 => (s.into(), u.into(), v.into(), 3),
        _ => long_lengths(rest)?,
    };
    let suffix_start = at + taken;
    let trailer_start = suffix_start + unshared;
    let value_start = trailer_start + TRAILER_BYTES;
    let value_end = value_start + value_len;
    (value_end <= entries.len()).then_some(Head {
        shared,
        suffix_start,
        trailer_start,
        value_start,
        value_end,
    })
}

impl Head {
    /// Whether the entry is of a kind that lies in blocks.
    #[inline(always)]
    pub fn is_of_point_kind(&self, entries: &[u8]) -> bool {
        is_point_kind(entries[self.trailer_start])
    }
}

// Lengths beyond the block are refused here, so that the sums above cannot overflow.
#[inline(never)]
fn long_lengths(rest: &[u8]) -> Option<(usize, usize, usize, usize)> {
    let mut taken = 0;
    let mut lengths = [0; 3];
    for length in &mut lengths {
        let (number, len) = varint_at_front(rest.get(taken..)?)?;
        *length = usize::try_from(number).ok()?;
        taken += len;
    }
    let [shared, unshared, value_len] = lengths;
    (unshared <= rest.len() && value_len <= rest.len())
        .then_some((shared, unshared, value_len, taken))
}

// One bit for each kind that may lie in a block.
const POINT_KINDS: u16 = 1 << Kind::Delete as u8
    | 1 << Kind::Put as u8
    | 1 << Kind::Merge as u8
    | 1 << Kind::PutExpiring as u8
    | 1 << Kind::PutSeparated as u8
    | 1 << Kind::PutSeparatedExpiring as u8
    | 1 << Kind::PutExpiringMillis as u8
    | 1 << Kind::PutSeparatedExpiringMillis as u8;

/// Whether the byte is a kind that lies in blocks: range deletes lie elsewhere, and folded
/// operands only in memtables.
#[inline(always)]
pub fn is_point_kind(byte: u8) -> bool {
    byte < 16 && POINT_KINDS >> byte & 1 == 1
}

/// The bucket of the user key with that hash.
#[inline]
pub fn bucket_of(hash: u64, bucket_count: usize) -> usize {
    // A product of two numbers below 2^32, shifted back: below the number of buckets.
    (((hash & 0xffff_ffff) * bucket_count as u64) >> 32) as usize
}
