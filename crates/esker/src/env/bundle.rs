//! The powers of the outside world, bundled and handed down.

use std::sync::Arc;

use crate::env::clock::Clock;
use crate::env::fs::Fs;
use crate::env::pages::Pages;
use crate::env::pool::Pool;
use crate::env::real::clock::RealClock;
use crate::env::real::fs::RealFs;
use crate::env::real::map::MappedPages;
use crate::env::real::pool::RealPool;
use crate::env::spare_pages::SparePages;

/// Files, clocks and threads: everything the engine can do to the outside world.
#[derive(Clone, Debug)]
pub struct Env {
    /// Files and directories.
    pub fs: Arc<dyn Fs>,
    /// Monotonic and wall time.
    pub clock: Arc<dyn Clock>,
    /// Background threads.
    pub pool: Arc<dyn Pool>,
    /// Memory in large pieces.
    pub pages: Arc<dyn Pages>,
}

impl Env {
    /// The world as it is, with up to `background_threads` threads, started when needed.
    ///
    /// # Panics
    /// When `background_threads` is 0.
    pub fn real(background_threads: usize) -> Env {
        Env {
            fs: Arc::new(RealFs),
            clock: Arc::new(RealClock::new()),
            pool: Arc::new(RealPool::new(background_threads)),
            pages: Arc::new(SparePages::new(Arc::new(MappedPages))),
        }
    }

    /// How many threads the machine runs at the same time.
    pub fn core_count() -> usize {
        RealPool::core_count()
    }
}
