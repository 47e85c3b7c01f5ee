//! The time, as stages are given it.

use std::sync::Arc;

use esker::internals::env::clock::Clock;

use crate::node::Now;

/// The clocks of the machine. Any thread may ask.
#[derive(Clone, Debug)]
pub(crate) struct Moments(pub(crate) Arc<dyn Clock>);

impl Moments {
    /// Now.
    pub(crate) fn now(&self) -> Now {
        let unix_us = self.0.unix_time().as_micros();
        Now {
            monotonic: self.0.monotonic(),
            unix_us: u64::try_from(unix_us).unwrap_or(u64::MAX),
        }
    }
}
