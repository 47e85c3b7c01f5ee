//! Reads that need no log entry: a majority confirms the leader, then all it had is applied.
//!
//! All reads that a group is asked for in one turn share one round (ReadIndex of `raft`, its safe
//! kind). `raft` drops such a request silently when the leader has committed nothing in its term,
//! or changes (trap 5), so rounds that stay without an answer are sent again, and end after a
//! while. Each round has a name that was never used before: replica, the replica's incarnation,
//! number. An answer that was meant for a replica before its restart would otherwise be taken for
//! one of now.
//!
//! Never the lease-based kind of `raft` (trap 4: a leader that is cut off outlives the next one by
//! up to an election timeout). Not here: leases of our own. They would give a read its index in
//! `start` without a round, and must not be built before `Group::peer_gone` is changed: it lets a
//! follower vote within an election timeout of hearing its leader.

use std::collections::BTreeMap;

use crate::codec::Put;
use crate::ids::{ReplicaId, Token};

/// The reads of one group, from being asked for to being served.
#[derive(Debug)]
pub(crate) struct Reads {
    replica: ReplicaId,
    incarnation: u64,
    next: u64,
    queued: Vec<Token>,
    rounds: BTreeMap<u64, Round>,
    /// Those confirmed, by the index that must be applied first.
    confirmed: BTreeMap<u64, Vec<Token>>,
    count: usize,
}

#[derive(Debug)]
struct Round {
    tokens: Vec<Token>,
    begun: u64,
    asked: u64,
}

/// How long a round waits, in ticks.
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

    /// Begins one round for all that wait for one. Returns its name.
    pub(crate) fn start(&mut self, now: u64) -> Option<Vec<u8>> {
        if self.queued.is_empty() {
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
                begun,
                asked,
            },
        );
        Some(self.name(number))
    }

    /// The rounds to send again, and the reads that have waited for too long.
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

    /// `raft` answers the round of that name: reads of it see everything up to `index`.
    pub(crate) fn confirmed(&mut self, name: &[u8], index: u64) {
        let number = self
            .rounds
            .keys()
            .copied()
            .find(|&number| self.name(number) == name);
        // A round is answered twice when it was sent again.
        if let Some(round) = number.and_then(|number| self.rounds.remove(&number)) {
            self.confirmed
                .entry(index)
                .or_default()
                .extend(round.tokens);
        }
    }

    /// Takes out the reads that may be served, now that everything up to `applied` is applied.
    pub(crate) fn served(&mut self, applied: u64) -> Vec<(Token, u64)> {
        let mut served = Vec::new();
        while let Some(first) = self.confirmed.first_entry() {
            if *first.key() > applied {
                break;
            }
            let index = *first.key();
            served.extend(first.remove().into_iter().map(|token| (token, index)));
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
        all.extend(std::mem::take(&mut self.confirmed).into_values().flatten());
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
