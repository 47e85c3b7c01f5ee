//! Reads that need no log entry: a majority confirms the leader, then all it had is applied.
//!
//! All reads that a group is asked for in one turn share one round (ReadIndex of `raft`, its safe
//! kind). `raft` drops such a request silently when the leader has committed nothing in its term,
//! or changes (trap 5), so rounds that stay without an answer are sent again, and end after a
//! while. Each round has a name that was never used before: replica, the replica's incarnation,
//! number. An answer that was meant for a replica before its restart would otherwise be taken for
//! one of now.
//! Reads that are confirmed wait as long at most: a state machine whose disk is full may never go
//! on, and whoever leads by then can serve them.
//!
//! Never the lease-based kind of `raft` (trap 4: a leader that is cut off outlives the next one by
//! up to an election timeout). Leases of our own are what rounds bring (`lease.rs`): while there is
//! one, reads get their index without a round.

use std::collections::BTreeMap;

use crate::codec::Put;
use crate::ids::{ReplicaId, Token};
use crate::lease::Begun;

/// The reads of one group, from being asked for to being served.
#[derive(Debug)]
pub(crate) struct Reads {
    replica: ReplicaId,
    incarnation: u64,
    next: u64,
    queued: Vec<Token>,
    is_round_wanted: bool,
    rounds: BTreeMap<u64, Round>,
    /// Those confirmed, by the index that must be applied first.
    confirmed: BTreeMap<u64, Confirmed>,
    count: usize,
}

#[derive(Debug)]
struct Round {
    tokens: Vec<Token>,
    clock: Begun,
    begun: u64,
    asked: u64,
}

/// Reads that wait for nothing but what is to be applied, and since when the first one does.
#[derive(Debug)]
struct Confirmed {
    tokens: Vec<Token>,
    since: u64,
}

/// How long a round waits, in ticks, and how long what it has confirmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) retry_ticks: u64,
    pub(crate) ticks_max: u64,
}

impl Reads {
    /// `incarnation` is another one each time the replica is started.
    pub(crate) fn new(replica: ReplicaId, incarnation: u64) -> Reads {
        Reads {
            replica,
            incarnation,
            next: 0,
            queued: Vec::new(),
            is_round_wanted: false,
            rounds: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            count: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn queue(&mut self, token: Token) {
        self.count += 1;
        self.queued.push(token);
    }

    /// Whether nobody waits, and no round is under way.
    pub(crate) fn are_idle(&self) -> bool {
        self.count == 0 && self.rounds.is_empty()
    }

    /// Whether reads wait for nothing but what is to be applied.
    pub(crate) fn are_confirmed(&self) -> bool {
        !self.confirmed.is_empty()
    }

    /// Whether reads wait for a round to be begun.
    pub(crate) fn are_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// A round is to be begun even if no read waits for it, unless one is under way.
    pub(crate) fn want_round(&mut self) {
        self.is_round_wanted = self.rounds.is_empty();
    }

    /// Reads that wait for a round see everything up to `index` without one.
    pub(crate) fn settle(&mut self, now: u64, index: u64) {
        let tokens = std::mem::take(&mut self.queued);
        self.confirm(now, index, tokens);
    }

    fn confirm(&mut self, now: u64, index: u64, tokens: Vec<Token>) {
        if tokens.is_empty() {
            return;
        }
        let new = || Confirmed {
            tokens: Vec::new(),
            since: now,
        };
        let confirmed = self.confirmed.entry(index).or_insert_with(new);
        confirmed.tokens.extend(tokens);
    }

    /// Begins one round for all that wait for one. Returns its name.
    pub(crate) fn start(&mut self, now: u64, clock: Begun) -> Option<Vec<u8>> {
        // Only who leads gains by a round that nobody waits for.
        let is_wanted = std::mem::take(&mut self.is_round_wanted) && clock.term.is_some();
        if self.queued.is_empty() && !is_wanted {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let tokens = std::mem::take(&mut self.queued);
        let (begun, asked) = (now, now);
        self.rounds.insert(
            number,
            Round {
                tokens,
                clock,
                begun,
                asked,
            },
        );
        Some(self.name(number))
    }

    /// The rounds to send again, and the reads that have waited for too long: also those that are
    /// confirmed, where the state machine does not go on. Another replica may serve them.
    pub(crate) fn tick(&mut self, now: u64, patience: Patience) -> (Vec<Vec<u8>>, Vec<Token>) {
        let mut names = Vec::new();
        let mut failed = Vec::new();
        self.rounds.retain(|_, round| {
            let is_late = now - round.begun > patience.ticks_max;
            if is_late {
                failed.append(&mut round.tokens);
            }
            !is_late
        });
        self.confirmed.retain(|_, confirmed| {
            let is_late = now - confirmed.since > patience.ticks_max;
            if is_late {
                failed.append(&mut confirmed.tokens);
            }
            !is_late
        });
        for (&number, round) in &mut self.rounds {
            if now - round.asked >= patience.retry_ticks {
                round.asked = now;
                names.push(number);
            }
        }
        self.count -= failed.len();
        (
            names.into_iter().map(|number| self.name(number)).collect(),
            failed,
        )
    }

    /// `raft` answers the round of that name: reads of it see everything up to `index`. Returns
    /// when it was begun.
    pub(crate) fn confirmed(&mut self, now: u64, name: &[u8], index: u64) -> Option<Begun> {
        let number = self
            .rounds
            .keys()
            .copied()
            .find(|&number| self.name(number) == name);
        // A round is answered twice when it was sent again.
        let round = self.rounds.remove(&number?)?;
        self.confirm(now, index, round.tokens);
        Some(round.clock)
    }

    /// Takes out the reads that may be served, now that everything up to `applied` is applied.
    pub(crate) fn served(&mut self, applied: u64) -> Vec<(Token, u64)> {
        let mut served = Vec::new();
        while let Some(first) = self.confirmed.first_entry() {
            if *first.key() > applied {
                break;
            }
            let index = *first.key();
            let tokens = first.remove().tokens.into_iter();
            served.extend(tokens.map(|token| (token, index)));
        }
        self.count -= served.len();
        served
    }

    /// Takes out all reads: the replica is going away.
    pub(crate) fn drain(&mut self) -> Vec<Token> {
        let mut all = std::mem::take(&mut self.queued);
        all.extend(
            std::mem::take(&mut self.rounds)
                .into_values()
                .flat_map(|round| round.tokens),
        );
        let confirmed = std::mem::take(&mut self.confirmed).into_values();
        all.extend(confirmed.flat_map(|confirmed| confirmed.tokens));
        self.count = 0;
        all
    }

    fn name(&self, number: u64) -> Vec<u8> {
        let mut name = Vec::with_capacity(24);
        name.put_u64(self.replica.0);
        name.put_u64(self.incarnation);
        name.put_u64(number);
        name
    }
}

#[cfg(test)]
mod tests;
