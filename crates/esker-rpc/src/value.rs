//! The header of a value as a server stores it: when it ends and when it was written.
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 1 | version: 1 |
//! | 1 | 4 | expiry: wire second (since 2016), little-endian; 0 none |
//! | 5 | 8 | time tag, little-endian |
//! | 13 | the rest | the user's bytes |
//!
//! Valid if and only if the first byte is 1 and there are 13 bytes at least.
//!
//! The *time tag* orders writes of several clusters to one key: microseconds since 1970 times 256,
//! plus the number of the cluster times 2, plus 1 if the write was a delete. No client sees the
//! header.

use crate::time::WireSecond;

/// Version of the header.
pub const VERSION: u8 = 1;

/// Bytes of the header.
pub const HEADER_LEN: usize = 13;

const _: () = assert!(HEADER_LEN == 1 + 4 + 8);

/// Largest number of a cluster: seven bits of the time tag.
pub const CLUSTER_MAX: u8 = 127;

/// When a value was written, by which cluster, and whether that was a delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeTag(pub u64);

impl TimeTag {
    /// The tag of a write at `unix_us`, of which the lower 56 bits count. `cluster` is at most
    /// [`CLUSTER_MAX`].
    pub fn new(unix_us: u64, cluster: u8, is_delete: bool) -> TimeTag {
        assert!(cluster <= CLUSTER_MAX);
        TimeTag((unix_us << 8) | (u64::from(cluster) << 1) | u64::from(is_delete))
    }

    /// Microseconds since 1970.
    pub fn unix_us(self) -> u64 {
        self.0 >> 8
    }

    /// Number of the cluster.
    pub fn cluster(self) -> u8 {
        (self.0.to_le_bytes()[0]) >> 1
    }

    /// True if the write was a delete.
    pub fn is_delete(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A stored value, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredValue<'a> {
    /// When it ends.
    pub expiry: WireSecond,
    /// When it was written.
    pub time_tag: TimeTag,
    /// The user's bytes.
    pub user: &'a [u8],
}

impl<'a> StoredValue<'a> {
    /// Takes `bytes` apart; `None` if they are not valid.
    pub fn read(bytes: &'a [u8]) -> Option<StoredValue<'a>> {
        let (version, rest) = bytes.split_first()?;
        let (expiry, rest) = rest.split_first_chunk()?;
        let (time_tag, user) = rest.split_first_chunk()?;
        (*version == VERSION).then(|| StoredValue {
            expiry: WireSecond(u32::from_le_bytes(*expiry)),
            time_tag: TimeTag(u64::from_le_bytes(*time_tag)),
            user,
        })
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN + self.user.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.expiry.0.to_le_bytes());
        bytes.extend_from_slice(&self.time_tag.0.to_le_bytes());
        bytes.extend_from_slice(self.user);
        bytes
    }
}

#[cfg(test)]
mod tests;
