//! A pool of a simulated world that panics when somebody waits for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker::internals::env::pool::{Job, Pool, Priority};
use esker::internals::env::signal::Signal;

/// Waits without any work left after which nothing will ever end them.
const IDLE_WAITS_MAX: u64 = 10_000;

/// A pool that panics when somebody waits for ever.
#[derive(Debug)]
pub struct Watched {
    inner: Arc<dyn Pool>,
    idle_waits: AtomicU64,
}

impl Watched {
    pub fn new(inner: Arc<dyn Pool>) -> Watched {
        Watched {
            inner,
            idle_waits: AtomicU64::new(0),
        }
    }

    /// From here on waits are counted anew.
    pub fn begin(&self) {
        self.idle_waits.store(0, Ordering::Relaxed);
    }
}

impl Pool for Watched {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        self.inner.spawn(priority, name, job);
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        self.inner.spawn_after(delay, priority, name, job);
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        let is_raised = self.inner.wait(signal, seen, timeout);
        if !is_raised {
            let idle = self.idle_waits.fetch_add(1, Ordering::Relaxed);
            assert!(idle < IDLE_WAITS_MAX, "a wait that nothing ends");
        }
        is_raised
    }

    fn thread_count(&self) -> usize {
        self.inner.thread_count()
    }
}
