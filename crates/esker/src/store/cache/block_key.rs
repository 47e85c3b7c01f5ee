//! Which block: a file and a place in it.

use crate::base::types::ids::FileNumber;

/// Two odd numbers with half their bits set, so that a product depends on all bits of both
/// sides: the fractions of π and of e, as in Blowfish and its kin.
const MIX_FILE: u64 = 0x243f_6a88_85a3_08d3;
const MIX_OFFSET: u64 = 0xb7e1_5162_8aed_2a6b;

/// The highest bit of a place that is no offset. No file is so long.
const BY_KEY: u64 = 1 << 63;

/// A block's file and its offset there, in bytes; or a file and the hash of a key in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// The file.
    pub file: FileNumber,
    /// Where in the file the block begins.
    pub offset: u64,
}

impl BlockKey {
    /// What a file has of the user key with that `hash64`. Other keys may have the same.
    #[inline]
    pub fn of_user_key(file: FileNumber, hash: u64) -> BlockKey {
        BlockKey {
            file,
            offset: hash | BY_KEY,
        }
    }

    /// 64 bits that look random. File numbers and offsets come from us; who chooses user keys so
    /// that many have like bits here makes looking for some of them take longer.
    #[inline]
    pub fn hash(&self) -> u64 {
        let product = u128::from(self.file.0 ^ MIX_FILE) * u128::from(self.offset ^ MIX_OFFSET);
        let folded = (product >> 64) as u64 ^ product as u64;
        // Offsets are multiples of large powers of two; one more round spreads what they leave.
        let product = u128::from(folded) * u128::from(MIX_OFFSET);
        (product >> 64) as u64 ^ product as u64
    }
}
