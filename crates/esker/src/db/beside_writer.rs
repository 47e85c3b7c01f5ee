//! How often a database is begun to be read that another process writes to.
//!
//! The writer removes and overwrites files while they are read, and a record that it is just
//! writing looks like damage: whoever reads beside it begins again with what the manifest says
//! then.

use crate::base::types::error::{Error, ErrorKind};

/// How often where the writer has overtaken the reader. It does so now and then, and one whose
/// memtables are small, so that it flushes some hundred times a second, ten times in a row.
const OVERTAKEN_TRIES_MAX: usize = 64;

/// How often where something seems to be damaged or missing.
pub const DAMAGED_TRIES_MAX: usize = 6;

/// How often in all, where it ended with `error`: once where that is no doing of the writer's.
pub fn tries_max(error: &Error) -> usize {
    match error.kind() {
        ErrorKind::Busy => OVERTAKEN_TRIES_MAX,
        ErrorKind::Corruption => DAMAGED_TRIES_MAX,
        // A segment that never held anything is given away without a word.
        _ if error.is_missing_file() => DAMAGED_TRIES_MAX,
        _ => 1,
    }
}
