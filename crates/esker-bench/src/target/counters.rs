//! What an engine tells about its own work.

use std::time::Duration;

/// What an engine tells about its work since it was opened. `None` where it does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Bytes of keys and values that were written by the user.
    pub user_bytes: Option<u64>,
    /// Bytes that the engine wrote: log, flushes, compactions.
    pub written_bytes: Option<u64>,
    /// Time for which writers were held back, all together.
    pub stall: Option<Duration>,
    /// Bytes that compaction should already have merged.
    pub debt_bytes: Option<u64>,
    /// Bytes of live files on disk.
    pub live_bytes: Option<u64>,
    /// Bytes of memory that the engine knows it holds.
    pub memory_bytes: Option<u64>,
    /// Its sorted files; 0 where there are none, or it does not say.
    pub file_count: u64,
    /// Everything it counts, by its own names.
    pub own: Vec<(String, u64)>,
}

impl Counters {
    /// A counter by its own name; 0 if there is none.
    pub fn own(&self, name: &str) -> u64 {
        let found = self.own.iter().find(|(own, _)| own == name);
        found.map_or(0, |(_, value)| *value)
    }
}
