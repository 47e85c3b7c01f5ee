//! Waiting until memtables that were sealed lie in sorted files.

use std::sync::Arc;

use crate::base::types::error::Result;
use crate::db::core::Core;
use crate::db::worker;

/// Has what is sealed flushed until `look` finds what it looks for.
///
/// Errors: those of `look`; `Invalid` in a call of the user's own log; `OutOfSpace`, `OutOfFiles`
/// when a flush failed for that since the call: whoever waits may know what to do about it; what
/// ended all writing.
pub fn wait_for_flush<T>(
    core: &Arc<Core>,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    core.own_log.refuse_call()?;
    let mut failed_count = core.work.state().failed_flush_count;
    core.work.wait_for(&*core.env.pool, || {
        if let Some(found) = look()? {
            // A write that failed meanwhile may be one of those that were to be flushed.
            core.gate.check_fault()?;
            return Ok(Some(found));
        }
        core.gate.check_upkeep()?;
        let now_failed_count = core.work.state().failed_flush_count;
        if now_failed_count > failed_count {
            // For lack of space, or the gate would have said so: tried again only if there is
            // some by now.
            core.gate.check_write()?;
            if let Some(shortage) = &core.work.state().flush_shortage {
                return Err(shortage.again());
            }
            failed_count = now_failed_count;
        }
        worker::wake(core);
        Ok(None)
    })
}
