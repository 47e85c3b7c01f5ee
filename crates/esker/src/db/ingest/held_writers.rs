//! Writers that wait while files are taken in.

use std::sync::Arc;

use crate::db::core::Core;

/// Has writers wait for as long as it lives: one at a time. Reads, flushes and the log go on.
pub struct HeldWriters<'a> {
    core: &'a Arc<Core>,
}

impl<'a> HeldWriters<'a> {
    /// Has writers wait from now on; none is in the middle of a write when this returns. Only who
    /// has the turn of the flush barrier may ask for it.
    pub fn hold(core: &'a Arc<Core>) -> HeldWriters<'a> {
        core.committer.paused(|active| active.set_held(true));
        HeldWriters { core }
    }
}

impl Drop for HeldWriters<'_> {
    fn drop(&mut self) {
        self.core.committer.paused(|active| active.set_held(false));
        self.core.gate.changed.raise();
    }
}
