//! How a replica waits, and how much it takes, as plain values.

use std::time::Duration;

use crate::limits::{ENTRY_BYTES_MAX, MESSAGE_BYTES_MAX, PROMISE_MAX};

/// Settings of all groups of a shard.
#[derive(Clone, Debug)]
pub struct Options {
    /// What election timeouts follow from, besides group, replica and term.
    pub seed: u64,
    /// Another number each time the node is started.
    pub incarnation: u64,
    /// Ticks without a leader before a vote, at least; below twice as many.
    pub election_ticks: usize,
    /// Ticks between two heartbeats of a leader.
    pub heartbeat_ticks: usize,
    /// Bytes of entries in one message.
    pub message_bytes_max: u64,
    /// Messages with entries under way to one follower.
    pub inflight_messages_max: usize,
    /// Bytes of committed entries that a group hands out in one turn.
    pub apply_bytes_max: u64,
    /// Proposals of a group that wait for their entry.
    pub proposals_max: usize,
    /// Bytes of them.
    pub proposal_bytes_max: usize,
    /// Entries that a leader may have beyond what it has applied, before it takes no more.
    pub apply_lag_max: u64,
    /// Reads of a group that wait.
    pub reads_max: usize,
    /// Bytes of durable entries that a group keeps in memory.
    pub cache_bytes_max: usize,
    /// Entries that a leader keeps for a follower that is behind, or for an image under way.
    pub log_lag_max: u64,
    /// Ticks for which an image is offered while nobody takes it, and after which one that was sent
    /// and did not arrive counts as lost.
    pub image_ticks_max: u64,
    /// Entries that a learner may lack when it is made a voter.
    pub catch_up_max: u64,
    /// For how long a voter does not vote that confirms a read of this node's leaders. For four
    /// fifths of it they read without asking anybody. Whole milliseconds; zero has every read ask a
    /// majority.
    pub read_promise: Duration,
}

impl Options {
    /// Whether the settings fit one another, as [`Shard::new`](crate::Shard::new) insists.
    pub fn are_sound(&self) -> bool {
        self.heartbeat_ticks > 0
            && self.election_ticks > self.heartbeat_ticks
            && self.inflight_messages_max > 0
            && self.proposals_max > 0
            && self.proposal_bytes_max > 0
            && self.read_promise <= PROMISE_MAX
            && self.read_promise.subsec_nanos().is_multiple_of(1_000_000)
            && self.message_bytes_max + ENTRY_BYTES_MAX as u64 <= MESSAGE_BYTES_MAX as u64
    }
}

impl Default for Options {
    /// For ticks of 100 ms: a vote after 1 to 2 s without a leader, a heartbeat every 300 ms.
    fn default() -> Options {
        Options {
            seed: 0,
            incarnation: 0,
            election_ticks: 10,
            heartbeat_ticks: 3,
            message_bytes_max: 1 << 20,
            inflight_messages_max: 64,
            apply_bytes_max: 4 << 20,
            proposals_max: 4096,
            proposal_bytes_max: 16 << 20,
            apply_lag_max: 1 << 16,
            reads_max: 4096,
            cache_bytes_max: 256 << 10,
            log_lag_max: 1 << 17,
            image_ticks_max: 6000,
            catch_up_max: 256,
            read_promise: Duration::ZERO,
        }
    }
}
