//! How many ticks a replica waits for its leader before it asks for votes.
//!
//! `raft` draws this from the thread's randomness. Here it follows from seed, group, replica and
//! term, so that the same seed is the same run, and the replicas of a group are staggered: each
//! rank has a window of its own, so that two seldom ask at once. Ranks turn with group and term, so
//! that leaders spread over nodes and no replica comes first for ever.

use crate::ids::{GroupId, ReplicaId};

/// What a timeout follows from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) group: GroupId,
    pub(crate) replica: ReplicaId,
    pub(crate) term: u64,
    /// Where the replica stands among those who vote, and how many these are.
    pub(crate) rank: (usize, usize),
}

impl Draw {
    /// The rank as of this term, counted from 0.
    pub(crate) fn turned_rank(self) -> usize {
        let (rank, count) = (self.rank.0 as u64, self.rank.1.max(1) as u64);
        let turned = rank + mixed(self.seed ^ self.group.0) % count + self.term % count;
        usize::try_from(turned % count).expect("below the count")
    }

    /// Ticks from `election_ticks` to below twice as many.
    pub(crate) fn ticks(self, election_ticks: usize) -> usize {
        let window = (election_ticks / self.rank.1.max(1)).max(1);
        let noise =
            mixed(self.seed ^ mixed(self.group.0 ^ mixed(self.replica.0 ^ self.term << 32)));
        let noise = usize::try_from(noise % window as u64).expect("below the window");
        let ticks = election_ticks + self.turned_rank() * window + noise;
        ticks.min(2 * election_ticks - 1)
    }
}

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
pub(crate) fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests;
