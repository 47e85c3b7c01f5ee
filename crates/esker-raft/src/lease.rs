//! Leases: a leader reads without asking while a majority has promised not to vote.
//!
//! A heartbeat of a round of reads says for how long its leader wants to be left alone. A voter
//! that hears one promises that, from its own clock's moment on: until then it neither votes, for
//! whoever asks, nor campaigns. A round of reads that a majority confirmed was heard after it had
//! begun, so for four fifths of that time, counted from the round's beginning, nobody else leads,
//! and what this replica knows to be committed is all that was acknowledged. The fifth is for
//! clocks that do not run equally fast. Ticks do not count here: a leader that was stopped would
//! not notice.
//!
//! Whether leaders use this is a setting of each node; promises are kept by all. Rules:
//!
//! - A replica that starts again may have promised anything, and waits for the longest promise.
//! - The leader promises as well: after it stepped down it votes for nobody within its own lease.
//! - Whoever is told to campaign (the lead is handed over) is voted for at once. So a leader that
//!   has handed over once has no lease any more in its term: that word may arrive late.
//! - A round counts only in the term that it was begun in.
//! - Where a configuration is handed out the lease ends: a majority of other voters has promised
//!   nothing. Nobody hears of the change before that, and whoever leads next had a majority of
//!   this configuration or of the next one.

use std::time::Duration;

use raft::CAMPAIGN_TRANSFER;
use raft::eraftpb::{Message, MessageType};

use crate::limits::PROMISE_MAX;

/// The part of a promise that a leader counts on.
const COUNTED: (u32, u32) = (4, 5);

/// A lease that a leader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// It ends then, by the clock that turns are given.
    pub until: Duration,
    /// What has to be applied before the first read.
    pub index: u64,
}

/// What a voter has promised.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// Nobody knows: it starts again, and has not been told the time yet.
    Unknown,
    Until(Duration),
}

/// What one replica has promised as a voter, and counts on as a leader.
#[derive(Debug)]
pub(crate) struct Leases {
    /// What it asks of voters when it leads; zero for nothing.
    promise: Duration,
    bound: Bound,
    /// The lease, and the term that it is of.
    held: Option<(u64, Lease)>,
    /// The term in which it has handed the lead over, or has tried to.
    handed_over: u64,
    told: Option<Lease>,
    /// It may be a replica that its group goes on without, and takes no part before that is known.
    is_held: bool,
}

/// When a round of reads was begun, and in which term this replica led then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) at: Duration,
    pub(crate) term: Option<u64>,
}

impl Leases {
    /// Of a replica that has been here before, or has not.
    pub(crate) fn new(promise: Duration, was_here: bool) -> Leases {
        let bound = match was_here {
            true => Bound::Unknown,
            false => Bound::Until(Duration::ZERO),
        };
        Leases {
            promise,
            bound,
            held: None,
            handed_over: 0,
            told: None,
            is_held: false,
        }
    }

    /// It takes no part in its group, whatever anybody says, until it is freed.
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
    }

    pub(crate) fn free(&mut self) {
        self.is_held = false;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.is_held
    }

    /// What a heartbeat of this replica asks for, in milliseconds.
    pub(crate) fn asked_ms(&self) -> u64 {
        u64::try_from(self.promise.as_millis()).expect("settings are at most a second")
    }

    /// Takes note of a message that is no older than the term of this replica.
    pub(crate) fn hear(&mut self, message: &Message, clock: Duration) {
        if message.get_msg_type() == MessageType::MsgHeartbeat {
            let asked = Duration::from_millis(message.reject_hint).min(PROMISE_MAX);
            self.bind(clock + asked, clock);
        }
    }

    /// Whether a message asks for a vote that this replica has promised not to give.
    pub(crate) fn refuses(&mut self, message: &Message, clock: Duration) -> bool {
        let asks = matches!(
            message.get_msg_type(),
            MessageType::MsgRequestVote | MessageType::MsgRequestPreVote
        );
        asks && message.context != CAMPAIGN_TRANSFER && self.is_bound(clock)
    }

    /// Whether it may vote for nobody now, itself included.
    pub(crate) fn is_bound(&mut self, clock: Duration) -> bool {
        clock < self.bound(clock)
    }

    /// A majority has confirmed a round of reads, with everything up to `index` committed
    /// before. `term` is the one that this replica leads in.
    pub(crate) fn confirmed(&mut self, begun: Begun, (term, index): (u64, u64), clock: Duration) {
        if self.promise.is_zero() || begun.term != Some(term) || self.handed_over == term {
            return;
        }
        self.bind(begun.at + self.promise, clock);
        let until = begun.at + self.promise * COUNTED.0 / COUNTED.1;
        // The first index is behind the leader's first entry of its term, and so behind all that
        // others may have acknowledged before. What it acknowledged itself it has applied.
        let before = self.held.filter(|held| held.0 == term).map(|held| held.1);
        let lease = Lease {
            until: before.map_or(until, |lease| lease.until.max(until)),
            index: before.map_or(index, |lease| lease.index),
        };
        self.held = Some((term, lease));
    }

    /// The lease, while there is one in `term`.
    pub(crate) fn held(&self, term: u64, clock: Duration) -> Option<Lease> {
        let held = self.held.filter(|held| held.0 == term)?;
        (clock < held.1.until).then_some(held.1)
    }

    /// Whether it is time to have the lease confirmed again.
    pub(crate) fn is_ageing(&self, lease: Lease, clock: Duration) -> bool {
        clock + self.promise * COUNTED.0 / COUNTED.1 / 2 > lease.until
    }

    /// Whether rounds bring leases.
    pub(crate) fn are_used(&self, term: u64) -> bool {
        !self.promise.is_zero() && self.handed_over != term
    }

    /// The lead is being handed over.
    pub(crate) fn hand_over(&mut self, term: u64) {
        self.handed_over = term;
        self.held = None;
    }

    /// Other voters: whoever promised may be too few.
    pub(crate) fn forget(&mut self) {
        self.held = None;
    }

    /// What has changed since it was last told: the lease in `term`, none for who does not lead.
    pub(crate) fn news(&mut self, term: Option<u64>) -> Option<Option<Lease>> {
        self.held.take_if(|held| Some(held.0) != term);
        let lease = self.held.map(|held| held.1);
        let is_new = self.told != lease;
        self.told = lease;
        is_new.then_some(lease)
    }

    fn bind(&mut self, until: Duration, clock: Duration) {
        let bound = self.bound(clock).max(until);
        self.bound = Bound::Until(bound);
    }

    fn bound(&mut self, clock: Duration) -> Duration {
        match self.bound {
            Bound::Until(until) => until,
            Bound::Unknown => {
                let until = clock + PROMISE_MAX;
                self.bound = Bound::Until(until);
                until
            }
        }
    }
}

#[cfg(test)]
mod tests;
