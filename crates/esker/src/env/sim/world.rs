//! One simulated machine: its disk, its clock, its background work.

use std::sync::Arc;

use crate::env::bundle::Env;
use crate::env::fs::Fs;
use crate::env::pages::HeapPages;
use crate::env::sim::clock::SimClock;
use crate::env::sim::crash::CrashMode;
use crate::env::sim::fs::SimFs;
use crate::env::sim::pool::{JobOrder, SimPool};
use crate::env::spare_pages::SparePages;

// Two, because with one some pairs of background jobs would never be met.
const THREAD_COUNT: usize = 2;

/// One simulated machine; the seed decides whatever the test does not.
#[derive(Clone, Debug)]
pub struct SimWorld {
    /// The disk.
    pub fs: Arc<SimFs>,
    /// The clock.
    pub clock: Arc<SimClock>,
    /// The background work, in any order of priorities.
    pub pool: Arc<SimPool>,
    /// What the dice were seeded with; print it when a test fails.
    pub seed: u64,
}

impl SimWorld {
    /// A machine with an empty disk.
    pub fn new(seed: u64) -> SimWorld {
        SimWorld::with_disk(SimFs::new(seed), Arc::new(SimClock::new()), seed)
    }

    /// A machine with that disk and clock, and no jobs.
    pub fn with_disk(fs: SimFs, clock: Arc<SimClock>, seed: u64) -> SimWorld {
        let order = JobOrder::AnyPriority;
        let pool = SimPool::new(Arc::clone(&clock), seed, order, THREAD_COUNT);
        SimWorld {
            fs: Arc::new(fs),
            clock,
            pool: Arc::new(pool),
            seed,
        }
    }

    /// What the engine gets.
    pub fn env(&self) -> Env {
        self.env_with(Arc::clone(&self.fs) as Arc<dyn Fs>)
    }

    /// What the engine gets, with another file system before the disk: one with faults.
    pub fn env_with(&self, fs: Arc<dyn Fs>) -> Env {
        Env {
            fs,
            clock: Arc::clone(&self.clock) as _,
            pool: Arc::clone(&self.pool) as _,
            pages: Arc::new(SparePages::new(Arc::new(HeapPages))),
        }
    }

    /// The machine after a power cut: jobs and locks are gone, time goes on.
    pub fn after_crash(&self, mode: CrashMode, seed: u64) -> SimWorld {
        let disk = self.fs.crash(mode, seed);
        SimWorld::with_disk(disk, Arc::clone(&self.clock), seed)
    }

    /// The machine after the process was killed and started anew.
    pub fn after_kill(&self) -> SimWorld {
        let disk = self.fs.kill();
        SimWorld::with_disk(disk, Arc::clone(&self.clock), self.seed)
    }
}

#[cfg(test)]
mod tests;
