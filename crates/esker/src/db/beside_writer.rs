//! How often a database is begun to be read that another process writes to.
//!
//! The writer removes and overwrites files while they are read, and a record that it is just
//! writing looks like damage: whoever reads beside it begins again with what the manifest says
//! then.

use crate::base::types::error::{Error, ErrorKind};

#[cfg(test)]
mod tests;

/// How often in all. The writer overtakes a reader now and then, and one whose memtables are small,
/// so that it flushes some hundred times a second, ten times in a row.
const TRIES_MAX: usize = 64;

/// How often in a row the same file may seem damaged or missing. Where it is another each time, it
/// is the writer that is faster: it gives a segment of the log that never held anything away
/// without a word in the manifest.
const ALIKE_TRIES_MAX: usize = 6;

/// The tries to read such a database.
#[derive(Debug, Default)]
pub struct Tries {
    count: usize,
    alike_count: usize,
    last: String,
}

impl Tries {
    /// Whether to begin again after a try that ended with `error`.
    pub fn again_after(&mut self, error: &Error) -> bool {
        let kind = error.kind();
        if kind == ErrorKind::Busy {
            return self.again();
        }
        if kind != ErrorKind::Corruption && !error.is_missing_file() {
            return false;
        }
        let text = error.to_string();
        let is_alike = text == self.last;
        self.alike_count = if is_alike { self.alike_count + 1 } else { 1 };
        self.last = text;
        self.again() && self.alike_count < ALIKE_TRIES_MAX
    }

    /// Whether to begin again after a try that found something else than the one before.
    pub fn again(&mut self) -> bool {
        self.count += 1;
        self.count < TRIES_MAX
    }
}
