//! What a node tells whoever runs it: one sentence a line, with time and level.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many of something, in words.
pub fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

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

#[cfg(test)]
mod tests;
