//! A cell one side raises and the other waits on.
//!
//! A signal counts how often it was raised. A waiter first reads the count, then looks whether
//! what it waits for is already true, and only then waits for the count to pass what it read:
//! so a raise between looking and waiting is never lost. Waiting itself goes through
//! `env/pool`, because in a simulation "waiting" means running the background work.

use std::sync::PoisonError;
use std::time::Duration;

use crate::env::primitives::{Condvar, Mutex, MutexGuard};

/// A cell one side raises and any number of others wait on. Any thread may call anything.
#[derive(Debug, Default)]
pub struct Signal {
    raised_count: Mutex<u64>,
    changed: Condvar,
}

impl Signal {
    /// Wakes everybody who waits.
    pub fn raise(&self) {
        *self.count() += 1;
        self.changed.notify_all();
    }

    /// How often the signal was raised so far.
    pub fn raised_count(&self) -> u64 {
        *self.count()
    }

    /// Blocks this thread until the count passes `seen` or `timeout` is over; says whether it
    /// passed. Only for pools: everybody else waits through `Pool::wait`.
    pub fn block(&self, seen: u64, timeout: Duration) -> bool {
        let guard = self.count();
        let waited = self
            .changed
            .wait_timeout_while(guard, timeout, |count| *count <= seen);
        let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *guard > seen
    }

    // A counter cannot be left half changed, so a poisoned lock is as good as any.
    fn count(&self) -> MutexGuard<'_, u64> {
        self.raised_count
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod loom_models;
