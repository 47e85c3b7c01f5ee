//! Whether bytes go fast enough, on the whole.

use std::time::Duration;

use tokio::time::Instant;

/// Time that something large may take: a grace, and what its bytes earn as they go; and no pause
/// may be longer than the grace. A bound on pauses alone would let a byte now and then hold its
/// room for ever; one on the whole alone would have a socket's buffers earn a silent peer minutes.
#[derive(Debug)]
pub(crate) struct Pace {
    since: Instant,
    grace: Duration,
    bytes_s_min: usize,
    bytes: usize,
}

impl Pace {
    /// One that begins now. At `bytes_s_min` bytes a second or more the grace is not touched.
    pub(crate) fn new(grace: Duration, bytes_s_min: usize) -> Pace {
        Pace {
            since: Instant::now(),
            grace,
            bytes_s_min: bytes_s_min.max(1),
            bytes: 0,
        }
    }

    /// So many bytes more have gone.
    pub(crate) fn went(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// How long the next bytes may take to go.
    pub(crate) fn left(&self) -> Duration {
        let millis = self.bytes.saturating_mul(1000) / self.bytes_s_min;
        let earned = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        let granted = self.grace.saturating_add(earned);
        let left = granted.saturating_sub(self.since.elapsed());
        left.min(self.grace)
    }
}
