//! The state machine of one replica: a hash of all it has applied, and its mark.

use std::collections::VecDeque;

use esker_raft::{Committed, Configuration, Effect, Mark, Point, Ticket};

use crate::sim::rng::{mix, mix_bytes};

/// A state, with what a machine says of it.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub mark: Mark,
    pub hash: u64,
}

/// One replica's state in memory, and what of it survives a crash.
#[derive(Default)]
pub struct Machine {
    pub live: State,
    pub flushed: State,
    /// Handed out and not applied.
    pub queue: VecDeque<Committed>,
}

impl Machine {
    pub fn new(mark: Mark) -> Machine {
        let state = State { mark, hash: 0 };
        Machine {
            live: state.clone(),
            flushed: state,
            queue: VecDeque::new(),
        }
    }

    /// Applies the next entry of the queue.
    pub fn apply(&mut self) -> Option<Committed> {
        let entry = self.queue.pop_front()?;
        self.live.hash = hash_after(self.live.hash, &entry);
        if let Effect::Configuration(configuration) = &entry.effect {
            self.live.mark.configuration = configuration.clone();
        }
        self.live.mark.applied = Point {
            index: entry.index,
            term: entry.term,
        };
        Some(entry)
    }

    /// What is applied survives from now on.
    pub fn flush(&mut self) {
        self.flushed = self.live.clone();
    }

    /// Memory is gone.
    pub fn crash(&mut self) {
        self.live = self.flushed.clone();
        self.queue.clear();
    }

    /// What an image of this state says that it holds.
    pub fn contents(&self) -> Vec<u8> {
        self.live.hash.to_le_bytes().to_vec()
    }

    /// The state becomes that of an image, durably.
    pub fn install(&mut self, ticket: &Ticket) {
        assert!(self.queue.is_empty(), "an image comes when all is applied");
        let hash = u64::from_le_bytes(ticket.contents[..].try_into().expect("eight bytes"));
        let point = Point {
            index: ticket.index,
            term: ticket.term,
        };
        let configuration: Configuration = ticket.configuration.clone();
        let mark = Mark {
            applied: point,
            begun: point,
            configuration,
        };
        self.live = State { mark, hash };
        self.flush();
    }
}

fn hash_after(hash: u64, entry: &Committed) -> u64 {
    let hash = mix(mix(hash, entry.index), entry.term);
    match &entry.effect {
        Effect::Nothing => hash,
        Effect::Write(payload) => mix_bytes(hash, payload),
        Effect::Configuration(configuration) => {
            let mut bytes = Vec::new();
            configuration.encode(&mut bytes);
            mix_bytes(hash, &bytes)
        }
    }
}
