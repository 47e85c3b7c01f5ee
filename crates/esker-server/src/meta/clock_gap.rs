//! How far the clock of a node is from that of the leader of meta, and whether that is no chance.

use crate::meta::limits::{CLOCKS_APART_MS, CLOCKS_SURE_MS};

/// What reports have told of the clock of one node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockGap {
    ahead_ms: i64,
    /// Since when it is too far away, in time that was watched.
    since_ms: Option<u64>,
    is_sure: bool,
}

impl ClockGap {
    /// A report has come, of so many milliseconds later than now.
    pub(crate) fn hear(&mut self, ahead_ms: i64, watched_ms: u64) {
        // What is told as apart is told as mended once it is clearly so: nobody wants to read of
        // a clock that is just there each minute.
        let limit_ms = match self.is_sure {
            true => CLOCKS_APART_MS / 2,
            false => CLOCKS_APART_MS,
        };
        self.ahead_ms = ahead_ms;
        self.since_ms = match ahead_ms.unsigned_abs() >= limit_ms {
            true => self.since_ms.or(Some(watched_ms)),
            false => None,
        };
        // After a pause of this process reports are read that were sent long ago, all at once.
        let since_ms = self.since_ms.filter(|_| !self.is_sure);
        self.is_sure &= self.since_ms.is_some();
        self.is_sure |= since_ms.is_some_and(|since| watched_ms >= since + CLOCKS_SURE_MS);
    }

    /// By how much it is ahead, if it is too far away for sure.
    pub(crate) fn apart_ms(&self) -> Option<i64> {
        self.is_sure.then_some(self.ahead_ms)
    }
}

#[cfg(test)]
mod tests;
