//! What a node tells whoever runs it: one sentence a line, with time and level.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is lost or stopped, and a person must look.
    Error,
    /// Something is not as it should be, and goes on.
    Warning,
    /// Something happened.
    Note,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Level::Error => "ERROR",
            Level::Warning => "WARN",
            Level::Note => "INFO",
        })
    }
}

/// Where lines go. Copies go to the same place; any thread may write.
#[derive(Clone)]
pub struct LogLines(Arc<Write>);

type Write = dyn Fn(Level, &str) + Send + Sync;

impl LogLines {
    /// Each line is given to `write`, which adds the time and must not wait.
    pub fn new(write: impl Fn(Level, &str) + Send + Sync + 'static) -> LogLines {
        LogLines(Arc::new(write))
    }

    /// Lines that nobody reads.
    pub fn silent() -> LogLines {
        LogLines::new(|_, _| {})
    }

    /// Writes a line.
    pub fn write(&self, level: Level, sentence: &str) {
        (self.0)(level, sentence);
    }
}

impl fmt::Debug for LogLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LogLines")
    }
}

/// Counts what strangers can cause at will, and says when a line of it is due: for the first, and
/// then whenever the count has doubled. So a flood costs a few dozen lines, and none is unseen.
#[derive(Debug, Default)]
pub struct Seldom(AtomicU64);

impl Seldom {
    /// One more; the count so far if a line is due.
    pub fn count(&self) -> Option<u64> {
        // Nothing else hangs on the number, so its order among other writes does not matter.
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        count.is_power_of_two().then_some(count)
    }

    /// How often it has happened.
    pub fn total(&self) -> u64 {
        // As above.
        self.0.load(Ordering::Relaxed)
    }
}

/// The moment `unix_ms` as people write it: `2026-11-25T20:19:16.042Z`.
pub fn utc(unix_ms: u64) -> String {
    let (days, of_day) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    // Hinnant's way from days to a date: years begin with March, so the leap day is their last.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = match month_from_march {
        0..10 => month_from_march + 3,
        _ => month_from_march - 9,
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, millis) = (of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests;
