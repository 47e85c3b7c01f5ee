//! How large segments are that one keyspace has for itself.

/// A new own segment has room for one of so many bytes that its keyspace has on the disk: what of
/// these segments is allocated and not used is then within what `max_space_amp` allows, and their
/// number grows by the logarithm of what is written until they are as large as any.
const SHARE: u64 = 4;

/// The part of what the database may take that all live ones have together, beside their smallest
/// sizes: as much as the one that is shared. Nothing is given back of them while they are live.
const LIVE_PART: u64 = 16;

/// The first own segments of a keyspace have one of so many bytes of others, unless its values ask
/// for more: with 64 MiB a quarter of a MiB, and less in a database that may not grow to much.
const FIRST_SHARE: u64 = 256;

/// Bytes of the first ones at the least.
const BYTES_MIN: u64 = 16 << 10;

/// What the sizes follow from.
#[derive(Clone, Copy, Debug)]
pub struct OwnSizes {
    /// Bytes of other segments.
    pub segment_bytes: u64,
    /// Bytes that the database may take; 0 for as many as there are.
    pub disk_limit: u64,
}

impl OwnSizes {
    /// Bytes of the smallest ones.
    pub fn first_bytes(&self) -> u64 {
        (self.segment_bytes / FIRST_SHARE).max(BYTES_MIN)
    }

    /// Bytes of the next one of a keyspace that has `held_bytes`, where `count` keyspaces have own
    /// ones.
    pub fn next_bytes(&self, held_bytes: u64, count: usize) -> u64 {
        let part = match self.disk_limit {
            0 => u64::MAX,
            limit => limit / LIVE_PART / count.max(1) as u64,
        };
        let share = (held_bytes / SHARE).min(part);
        share.max(self.first_bytes()).min(self.segment_bytes)
    }

    /// Bytes of all live ones together from which on they are too many for a database that is near
    /// its limit: keyspaces, then, for there is no smaller size.
    pub fn live_bytes_max(&self) -> u64 {
        self.disk_limit / (LIVE_PART / 2)
    }
}
