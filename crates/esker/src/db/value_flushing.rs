//! One flush of large values: what waits in memory is written, and what was written made durable.

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::db::core::Core;
use crate::db::job_events::JobEvents;
use crate::db::space;
use crate::db::write_control;
use crate::flow::values::flush::write_waiting;
use crate::flow::write::active::Active;

/// Writes values that wait, and syncs the value log and the log that points there. Says whether
/// memtables were sealed for it, which are to be flushed.
pub fn flush(core: &Core) -> Result<bool> {
    let mut events = JobEvents::value_flush(core);
    let flushed = write_and_sync(core);
    events.set_left(core.values.unflushed_bytes());
    match &flushed {
        Ok(_) => events.end(&Ok(())),
        Err(error) => events.end(&Err(error.again())),
    }
    flushed
}

fn write_and_sync(core: &Core) -> Result<bool> {
    let mut passed_bytes = 0;
    if core.values.pool().waiting_bytes() > 0 {
        for parts in core.keyspaces.all() {
            let view = parts.current.view();
            let write = || write_waiting(&core.values, &view);
            passed_bytes += core.committer.closing_own_segments(write)?;
        }
        // Before the sync, which takes longer: there is room by now.
        core.gate.changed.raise();
        write_control::set_memory(core);
    }
    // Not for what came in meanwhile, whose turn is next: the flush of its memtable would write it
    // beside that, and so twice.
    let is_clogged = passed_bytes >= core.values.watch().flush_bytes();
    let mut is_sealed = is_clogged && seal_waiting(core);
    // Near the limit what was overwritten is found out with every flush of values.
    is_sealed |= space::is_pressed(core) && space::seal_values(core);
    core.committer.sync_ended_values()?;
    core.committer.sync_log()?;
    Ok(is_sealed)
}

// What was passed over was overwritten or deleted. It goes with its memtable, which is flushed for
// that: the flush writes what a snapshot sees of it, and nobody ever writes the rest.
fn seal_waiting(core: &Core) -> bool {
    let waits = |active: &Active, id: KeyspaceId| {
        let table = active
            .table(id)
            .map(|table| table.writer.table().values().kept());
        table.is_ok_and(|kept| kept.iter().any(|waiting| waiting.unwritten().is_some()))
    };
    core.committer.paused(|active| {
        let mut is_sealed = false;
        for id in active.keyspaces() {
            is_sealed |= waits(active, id) && active.seal(id, FlushReason::Values);
        }
        is_sealed
    })
}
