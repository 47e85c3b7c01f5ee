//! The whole database in sorted files, as of one moment: what a copy is made of.
//!
//! Flushing one keyspace after the other would not do: a batch that is written meanwhile would be
//! in the files of one of its keyspaces and not of another. So all memtables are sealed at one
//! moment, and until they lie in files, no memtable that was sealed later is flushed. Writers are
//! not stopped; with little memory they may wait as long as these flushes take.

use std::sync::Arc;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::error::Result;
use crate::base::types::seqno::SeqNo;
use crate::db::core::Core;
use crate::db::flush_wait::wait_for_flush;
use crate::db::worker;
use crate::flow::write::prepared::HeldPrepare;
use crate::flow::write::preparing::held_prepares;
use crate::store::version::state::Version;

/// The whole database as of one moment.
pub struct FlushedMoment {
    /// Its files hold every write up to that moment, and none after it. They stay on the disk as
    /// long as this is held.
    pub version: Arc<Version>,
    /// What was prepared then.
    pub prepared: Vec<HeldPrepare>,
}

/// The database as of a moment that is not before this call.
///
/// Errors: those of writing; nothing was changed then that a flush would not have changed.
pub fn flush_barrier(core: &Arc<Core>) -> Result<FlushedMoment> {
    let _turn = Turn::take(core)?;
    let (until, prepared) = core.committer.paused(|active| {
        for id in active.keyspaces() {
            active.seal(id, FlushReason::Checkpoint);
        }
        core.work.set_flush_barrier(Some(active.last_seqno()));
        (active.last_seqno(), held_prepares(active))
    });
    let prepared = prepared?;
    let version = wait_for_flush(core, || {
        let flushed = is_flushed(core, until).then(|| core.history.current());
        // Asked after the version was taken: closing flushes what is held back as well.
        core.gate.check_write()?;
        Ok(flushed)
    })?;
    Ok(FlushedMoment { version, prepared })
}

// What waits for the user's own log is not waited for, which would hold up all others: the moment
// has of such a keyspace what was flushed, which is what came up to its mark.
fn is_flushed(core: &Core, until: SeqNo) -> bool {
    let now = core.env.clock.monotonic();
    core.keyspaces.with_sealed().iter().all(|parts| {
        let mut sealed = parts.current.sealed();
        if let Some(hold) = parts.hold.as_ref().filter(|hold| hold.is_parked(now)) {
            sealed.truncate(hold.cleared_count(&sealed));
        }
        sealed.iter().all(|sealed| sealed.last_seqno > until)
    })
}

/// One flush barrier at a time; when it ends, whatever was held back may be flushed again.
pub struct Turn<'a> {
    core: &'a Arc<Core>,
}

impl<'a> Turn<'a> {
    /// Waits for it. Errors: those of writing.
    pub fn take(core: &'a Arc<Core>) -> Result<Turn<'a>> {
        core.own_log.refuse_call()?;
        core.work.wait_for(&*core.env.pool, || {
            core.gate.check_write()?;
            let was_held = std::mem::replace(&mut core.work.state().is_barrier_held, true);
            Ok((!was_held).then(|| Turn { core }))
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.core.work.set_flush_barrier(None);
        self.core.work.state().is_barrier_held = false;
        self.core.work.ended.raise();
        worker::wake(self.core);
    }
}
