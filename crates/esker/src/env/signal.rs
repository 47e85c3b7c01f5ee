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
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    raised_count: u64,
    /// Threads that wait. Mostly there are none: a call of the system that wakes nobody takes one
    /// to two microseconds, of the fifty that a synced write does.
    waiting_count: usize,
}

impl Signal {
    /// Wakes everybody who waits.
    pub fn raise(&self) {
        let has_waiting = {
            let mut state = self.state();
            state.raised_count += 1;
            state.waiting_count > 0
        };
        if has_waiting {
            self.changed.notify_all();
        }
    }

    /// How often the signal was raised so far.
    pub fn raised_count(&self) -> u64 {
        self.state().raised_count
    }

    /// Blocks this thread until the count passes `seen` or `timeout` is over; says whether it
    /// passed. Only for pools: everybody else waits through `Pool::wait`.
    pub fn block(&self, seen: u64, timeout: Duration) -> bool {
        let mut state = self.state();
        state.waiting_count += 1;
        let waited = self
            .changed
            .wait_timeout_while(state, timeout, |state| state.raised_count <= seen);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting_count -= 1;
        state.raised_count > seen
    }

    // Counters cannot be left half changed, so a poisoned lock is as good as any.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod loom_models;
