//! Turns the database read-only before the disk is full, and back when there is space again.
//!
//! Some free space is kept in reserve. Writers are refused when the disk drains into it, while
//! flushes may still use it: so nothing that was acknowledged is ever without a way to a file.

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;

/// Looks at the disk, and opens or closes the gate for lack of space.
///
/// Called before background work, and by writers that were refused: so the database resumes by
/// itself, without a timer.
pub fn look(core: &Core) -> Result<()> {
    let short = shortage(core)?;
    if short.is_none() {
        core.work.state().is_short_of_space = false;
    }
    if short.is_some() || core.gate.full().is_some() {
        core.gate.set_full(short);
        core.room.changed.raise();
    }
    Ok(())
}

/// Whether a compaction that rewrites `bytes` leaves the reserve alone.
pub fn has_room_for(core: &Core, bytes: u64) -> bool {
    match core.env.fs.free_bytes(&core.dir) {
        Ok(free) => free.saturating_sub(bytes) >= core.options.free_disk_min / 2,
        // If the disk does not answer, the compaction's own writes will tell.
        Err(_) => true,
    }
}

fn shortage(core: &Core) -> Result<Option<Error>> {
    let free = core.env.fs.free_bytes(&core.dir)?;
    let reserve = core.options.free_disk_min;
    if free < reserve {
        let message = format!(
            "{free} bytes are free and {reserve} are kept in reserve; writes resume by \
             themselves when there is space (setting disk.free_min)"
        );
        return Ok(Some(Error::new(ErrorKind::OutOfSpace, message)));
    }
    let limit = core.options.disk_limit;
    let used = used_bytes(core);
    if limit > 0 && used > limit {
        let message = format!(
            "the database takes {used} bytes and may take {limit} (setting disk_limit); delete \
             data and compact, or raise the limit"
        );
        return Ok(Some(Error::new(ErrorKind::OutOfSpace, message)));
    }
    Ok(None)
}

/// Bytes of the current version's files and of the log.
pub fn used_bytes(core: &Core) -> u64 {
    let version = core.history.current();
    let files: u64 = version
        .keyspaces
        .values()
        .map(|state| state.levels.total_size_bytes())
        .sum();
    let segment_count = core.committer.paused(|active| active.segment_count()) as u64;
    files + segment_count * core.options.wal_segment_bytes
}
