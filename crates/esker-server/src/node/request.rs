//! What callers ask of a node, and the one answer that each of them gets.

use std::time::Duration;

use esker_raft::{NodeId, Refusal};
use esker_rpc::message::data::KeyAnswer;

/// Names a request, for as long as it waits. Whoever asks draws it, and never twice in one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The time, as whoever calls has it: a node has no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Since some fixed moment; never goes back, and goes on while the machine sleeps.
    pub monotonic: Duration,
    /// Microseconds since 1970; may jump.
    pub unix_us: u64,
}

impl Now {
    /// Milliseconds since 1970; may jump.
    pub fn unix_ms(&self) -> u64 {
        self.unix_us / 1000
    }

    /// Seconds since 1970; may jump.
    pub fn unix_s(&self) -> u64 {
        self.unix_us / 1_000_000
    }
}

/// What became of a request. Every one gets exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was done.
    Done(Answer),
    /// It surely was not done and never will be: never proposed, or another entry is in its place.
    Undone,
    /// Nobody here can say whether it was or will be done. The client of a write is told so, or
    /// nothing where a second time would count.
    Unknown,
    /// As much waits as may wait, or the disk has no room: it was not done.
    Busy,
    /// Another node leads, or nobody that is known of: it was not done.
    NotLeader(Option<NodeId>),
    /// A change of the members, or a transfer, that a rule is against: it was not done.
    Refused(Refusal),
}

/// What a request that was done brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The answer to a call on keys, signed with its place.
    Key(KeyAnswer),
    /// The answer of the meta service's machine.
    Meta(Vec<u8>),
    /// There is nothing to say of a change of the members, or of a transfer that was begun.
    Nothing,
}
