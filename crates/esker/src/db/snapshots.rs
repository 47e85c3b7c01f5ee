//! Live snapshots, oldest first.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    taken: BTreeMap<(SeqNo, u64), Taken>,
    next_ticket: u64,
}

/// When a snapshot was taken, by the monotonic clock, and by whom.
#[derive(Debug)]
struct Taken {
    at: Duration,
    owner: SnapshotOwner,
}

/// Who holds a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotOwner {
    /// Somebody who gave no name.
    Unnamed,
    /// Who gave that name.
    Named(Arc<str>),
    /// A compare-and-swap or an update, between its read and its write.
    AtomicChange,
    /// A transaction.
    Transaction,
    /// Files that are being taken in.
    Ingest,
}

/// Names one registered snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The number at which it reads.
    pub seqno: SeqNo,
    ticket: u64,
}

/// One live snapshot, for statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSnapshot {
    /// The number at which it reads.
    pub seqno: SeqNo,
    /// When it was taken, by the monotonic clock.
    pub taken_at: Duration,
    /// Who holds it.
    pub owner: SnapshotOwner,
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
    pub fn take(&self, seqno: SeqNo, now: Duration, owner: SnapshotOwner) -> Ticket {
        let mut live = self.live();
        let ticket = Ticket {
            seqno,
            ticket: live.next_ticket,
        };
        live.next_ticket += 1;
        let taken = Taken { at: now, owner };
        live.taken.insert((seqno, ticket.ticket), taken);
        ticket
    }

    /// Registers a snapshot that reads at `seqno` for as long as the guard lives.
    pub fn pin(&self, seqno: SeqNo, now: Duration, owner: SnapshotOwner) -> Pin<'_> {
        Pin {
            snapshots: self,
            ticket: self.take(seqno, now, owner),
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
            .map(|((seqno, _), taken)| LiveSnapshot {
                seqno: *seqno,
                taken_at: taken.at,
                owner: taken.owner.clone(),
            })
            .collect()
    }

    // Every change is one insertion or removal.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for SnapshotOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotOwner::Unnamed => write!(f, "a snapshot without a name"),
            SnapshotOwner::Named(name) => write!(f, "{name:?}"),
            SnapshotOwner::AtomicChange => write!(f, "an atomic change"),
            SnapshotOwner::Transaction => write!(f, "a transaction"),
            SnapshotOwner::Ingest => write!(f, "files that are being taken in"),
        }
    }
}

#[cfg(test)]
mod tests;
