//! Proposals that wait for their entry, found by its term and index.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::ids::{Point, Token};

/// What became of a proposal that no longer waits; a committed one is told with its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was never proposed: the lead ended in the same turn, or as much is uncommitted as may be.
    NotProposed,
    /// Another entry is committed in its place: it never will be.
    Overwritten,
    /// A change of the configuration that `raft` turned into nothing: it had no effect.
    Refused,
    /// Nobody here can say: the replica left, or got an image over it. It may be committed.
    Unknown,
}

/// The proposals of one group, in the order of their entries.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    queued: Vec<(Token, Bytes)>,
    queued_bytes: usize,
    waiting: BTreeMap<(u64, u64), Waiting>,
    bytes: usize,
    /// The largest term of an entry that was committed since it was looked for earlier ones.
    term: u64,
}

#[derive(Debug)]
struct Waiting {
    token: Token,
    bytes: usize,
}

impl Proposals {
    pub(crate) fn len(&self) -> usize {
        self.queued.len() + self.waiting.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.queued_bytes + self.bytes
    }

    /// Takes a write until the end of the turn.
    pub(crate) fn queue(&mut self, token: Token, payload: Bytes) {
        self.queued_bytes += payload.len();
        self.queued.push((token, payload));
    }

    /// The writes of this turn.
    pub(crate) fn take_queued(&mut self) -> Vec<(Token, Bytes)> {
        self.queued_bytes = 0;
        std::mem::take(&mut self.queued)
    }

    /// `token` waits for the entry at `point`.
    pub(crate) fn add(&mut self, point: Point, token: Token, bytes: usize) {
        self.bytes += bytes;
        let before = self
            .waiting
            .insert((point.index, point.term), Waiting { token, bytes });
        assert!(
            before.is_none(),
            "a leader appends at an index once in its term"
        );
    }

    /// The entry at `point` is committed. Returns who asked for it, and tells of all it rules out:
    /// others in its place and before, and, since terms never fall along a log, those of earlier
    /// terms wherever they are. Nobody may ever write behind it again.
    pub(crate) fn committed(
        &mut self,
        point: Point,
        mut ruled_out: impl FnMut(Token),
    ) -> Option<Token> {
        let mut found = None;
        while let Some(first) = self.waiting.first_entry() {
            let (index, term) = *first.key();
            if index > point.index {
                break;
            }
            let waiting = first.remove();
            self.bytes -= waiting.bytes;
            if (index, term) == (point.index, point.term) {
                found = Some(waiting.token);
            } else {
                ruled_out(waiting.token);
            }
        }
        if point.term > self.term {
            self.term = point.term;
            let earlier = self.waiting.keys().filter(|key| key.1 < point.term);
            for key in earlier.copied().collect::<Vec<_>>() {
                if let Some(waiting) = self.waiting.remove(&key) {
                    self.bytes -= waiting.bytes;
                    ruled_out(waiting.token);
                }
            }
        }
        found
    }

    /// Takes out those at or below `index`, of which nobody will hear.
    pub(crate) fn skipped(&mut self, index: u64) -> Vec<Token> {
        let later = self.waiting.split_off(&(index + 1, 0));
        let gone = std::mem::replace(&mut self.waiting, later);
        self.bytes = self.waiting.values().map(|waiting| waiting.bytes).sum();
        gone.into_values().map(|waiting| waiting.token).collect()
    }
}

#[cfg(test)]
mod tests;
