//! The powers of the outside world, bundled and handed down.

use std::sync::Arc;

use crate::env::clock::Clock;
use crate::env::fs::Fs;
use crate::env::pool::Pool;

/// Files, clocks and threads: everything the engine can do to the outside world.
#[derive(Clone, Debug)]
pub struct Env {
    /// Files and directories.
    pub fs: Arc<dyn Fs>,
    /// Monotonic and wall time.
    pub clock: Arc<dyn Clock>,
    /// Background threads.
    pub pool: Arc<dyn Pool>,
}
