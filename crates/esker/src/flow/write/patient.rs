//! A pool for models: whoever waits, waits until the signal comes, and for ever if it does not.

use std::time::Duration;

use crate::env::pool::{Job, Pool, Priority};
use crate::env::signal::Signal;

/// No threads, and no timeouts: a writer that nobody wakes is a deadlock, which ends the model.
#[derive(Debug)]
pub struct Patient;

impl Pool for Patient {
    fn spawn(&self, _: Priority, _: &'static str, _: Job) {
        panic!("no model spawns through the pool");
    }

    fn spawn_after(&self, _: Duration, _: Priority, _: &'static str, _: Job) {
        panic!("no model spawns through the pool");
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        signal.block(seen, timeout)
    }

    fn thread_count(&self) -> usize {
        1
    }
}
