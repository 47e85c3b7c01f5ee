//! Live snapshots, oldest first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::seqno::SeqNo;

/// The snapshots that somebody holds. Any thread may call anything.
#[derive(Debug, Default)]
pub struct Snapshots {
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    /// By the number at which they read and a ticket: several may read at the same number.
    taken: BTreeMap<(SeqNo, u64), Duration>,
    next_ticket: u64,
}

/// Names one registered snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The number at which it reads.
    pub seqno: SeqNo,
    ticket: u64,
}

/// One live snapshot, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSnapshot {
    /// The number at which it reads.
    pub seqno: SeqNo,
    /// When it was taken, by the monotonic clock.
    pub taken_at: Duration,
}

/// A registered snapshot that is forgotten when this goes.
#[derive(Debug)]
pub struct Pin<'a> {
    snapshots: &'a Snapshots,
    ticket: Ticket,
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.snapshots.release(self.ticket);
    }
}

impl Snapshots {
    /// Registers a snapshot that reads at `seqno`.
    pub fn take(&self, seqno: SeqNo, now: Duration) -> Ticket {
        let mut live = self.live();
        let ticket = Ticket {
            seqno,
            ticket: live.next_ticket,
        };
        live.next_ticket += 1;
        live.taken.insert((seqno, ticket.ticket), now);
        ticket
    }

    /// Registers a snapshot that reads at `seqno` for as long as the guard lives.
    pub fn pin(&self, seqno: SeqNo, now: Duration) -> Pin<'_> {
        Pin {
            snapshots: self,
            ticket: self.take(seqno, now),
        }
    }

    /// Forgets a snapshot; returns the number of the newest that is left.
    pub fn release(&self, ticket: Ticket) -> SeqNo {
        let mut live = self.live();
        live.taken.remove(&(ticket.seqno, ticket.ticket));
        live.taken
            .keys()
            .next_back()
            .map_or(SeqNo::ZERO, |(seqno, _)| *seqno)
    }

    /// The numbers at which live snapshots read, ascending, each once.
    pub fn seqnos(&self) -> Vec<SeqNo> {
        let mut seqnos: Vec<SeqNo> = self.live().taken.keys().map(|(seqno, _)| *seqno).collect();
        seqnos.dedup();
        seqnos
    }

    /// Every live snapshot, oldest first.
    pub fn list(&self) -> Vec<LiveSnapshot> {
        let live = self.live();
        let snapshots = live.taken.iter();
        snapshots
            .map(|((seqno, _), at)| LiveSnapshot {
                seqno: *seqno,
                taken_at: *at,
            })
            .collect()
    }

    // Every change is one insertion or removal.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
