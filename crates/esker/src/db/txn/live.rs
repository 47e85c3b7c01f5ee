//! Transactions under way, oldest first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::options::call::Isolation;

/// The transactions that somebody holds. Any thread may call anything.
#[derive(Debug, Default)]
pub struct LiveTransactions {
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    begun: BTreeMap<u64, LiveTransaction>,
    next: u64,
}

/// One transaction under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTransaction {
    /// Its place among all that were begun since the database was opened.
    pub number: u64,
    /// How far it is kept apart from others.
    pub isolation: Isolation,
    /// When it began, by the monotonic clock.
    pub begun_at: Duration,
}

impl LiveTransactions {
    /// One begins; returns its number, by which [`LiveTransactions::end`] forgets it.
    pub fn begin(&self, isolation: Isolation, begun_at: Duration) -> u64 {
        let mut live = self.live();
        let number = live.next;
        live.next += 1;
        let one = LiveTransaction {
            number,
            isolation,
            begun_at,
        };
        live.begun.insert(number, one);
        number
    }

    /// One has ended.
    pub fn end(&self, number: u64) {
        self.live().begun.remove(&number);
    }

    /// All of them, oldest first.
    pub fn list(&self) -> Vec<LiveTransaction> {
        self.live().begun.values().copied().collect()
    }

    // Every change is one insertion or removal.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
