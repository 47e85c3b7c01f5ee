//! Transactions under way, oldest first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The transactions that somebody holds. Any thread may call anything.
#[derive(Debug, Default)]
pub struct LiveTransactions {
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    /// When each began, by the monotonic clock.
    begun: BTreeMap<u64, Duration>,
    next: u64,
}

impl LiveTransactions {
    /// One begins; returns its number, by which [`LiveTransactions::end`] forgets it.
    pub fn begin(&self, now: Duration) -> u64 {
        let mut live = self.live();
        let number = live.next;
        live.next += 1;
        live.begun.insert(number, now);
        number
    }

    /// One has ended.
    pub fn end(&self, number: u64) {
        self.live().begun.remove(&number);
    }

    /// The number of each and when it began, oldest first.
    pub fn list(&self) -> Vec<(u64, Duration)> {
        let live = self.live();
        live.begun
            .iter()
            .map(|(&number, &at)| (number, at))
            .collect()
    }

    // Every change is one insertion or removal.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
