//! Turns the database read-only before the disk is full, and back when there is space again.
//!
//! Some free space is kept in reserve. Writers are refused when the disk drains into it, while
//! flushes may still use it: so nothing that was acknowledged is ever without a way to a file.

use crate::base::hooks::event_reasons::{BackgroundJob, FlushReason};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;
use crate::db::job_events::note_failure;
use crate::store::vlog::live_bytes::ValueLiveBytes;

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
    }
    Ok(())
}

/// Looks at the disk if writers are refused for lack of space: something may have given some back.
pub fn resume(core: &Core) {
    if core.gate.full().is_some()
        && let Err(error) = look(core)
    {
        note_failure(core, BackgroundJob::Space, &error);
    }
}

/// The part of `disk_limit` beyond which space is taken back more eagerly than asked: what is dead
/// within `max_space_amp`, twice (known, and hidden in the tree), might be more than the rest.
const PRESSED_SHARE: f64 = 0.8;

/// How many times its live bytes the value log may have then at the least: the least that can be
/// set. Moving values costs the more the less may be dead: all of a segment's live bytes for its
/// dead ones.
const PRESSED_SPACE_AMP: f64 = 1.05;

/// The part of what `disk_limit` leaves beside live values that may be dead then. As much may be
/// hidden in the tree, and the rest is for what is written while space is taken back.
const PRESSED_DEAD_SHARE: f64 = 0.3;

/// Whether the database takes more than `disk_limit`; the disk itself may have room.
pub fn is_beyond_limit(core: &Core) -> bool {
    let limit = core.settings.load().db.disk_limit;
    limit > 0 && used_bytes(core) > limit
}

/// How many times its live bytes the value log may have now.
pub fn max_space_amp(core: &Core) -> f64 {
    let settings = core.settings.load();
    let asked = settings.db.max_space_amp;
    if !is_pressed(core) {
        return asked;
    }
    let version = core.history.current();
    let states = version.keyspaces.values();
    let values = states.map(|state| state.levels.values());
    let live_bytes: u64 = values.map(ValueLiveBytes::total_bytes).sum();
    let left_bytes = settings.db.disk_limit.saturating_sub(live_bytes);
    let affordable = 1.0 + PRESSED_DEAD_SHARE * left_bytes as f64 / live_bytes.max(1) as f64;
    asked.min(affordable.max(PRESSED_SPACE_AMP))
}

/// Whether the database takes so much of `disk_limit` that space is taken back eagerly.
pub fn is_pressed(core: &Core) -> bool {
    let limit = core.settings.load().db.disk_limit;
    limit > 0 && used_bytes(core) as f64 > limit as f64 * PRESSED_SHARE
}

/// Seals the memtables that name large values: their flush finds out what they overwrote, and what
/// that takes can be given back then. Says whether there were any.
pub fn seal_values(core: &Core) -> bool {
    // Nothing is given back of a segment that is written to, and of these there may be many.
    // But with each flush of values they would be as small as what it has of their keyspaces.
    if core.values.has_many_own() || is_beyond_limit(core) {
        core.values.seal_all_own();
    }
    core.committer.paused(|active| {
        let mut is_sealed = false;
        for id in active.keyspaces() {
            let table = active.table(id).map(|table| table.writer.table());
            let has_values = table.is_ok_and(|table| table.values().bytes() > 0);
            is_sealed |= has_values && active.seal(id, FlushReason::Values);
        }
        is_sealed
    })
}

/// Bytes that a compaction may write and still leave half of the reserve for flushes.
pub fn room_for_compaction(core: &Core) -> u64 {
    let free = core.env.fs.free_bytes(&core.dir);
    // If the disk does not answer, the compaction's own writes will tell.
    free.map_or(u64::MAX, |free| {
        free.saturating_sub(core.settings.load().db.free_disk_min / 2)
    })
}

fn shortage(core: &Core) -> Result<Option<Error>> {
    let free = core.env.fs.free_bytes(&core.dir)?;
    let settings = core.settings.load();
    let reserve = settings.db.free_disk_min;
    if free < reserve {
        let message = format!(
            "{free} bytes are free and {reserve} are kept in reserve (setting disk.free_min); \
             make space on the disk, compact, or drop a keyspace: writes resume by themselves"
        );
        return Ok(Some(Error::new(ErrorKind::OutOfSpace, message)));
    }
    let limit = settings.db.disk_limit;
    if limit == 0 {
        // What follows goes over all keyspaces, takes the lock of all writers, and is asked by
        // every flush.
        return Ok(None);
    }
    let used = used_bytes(core);
    if used > limit {
        let message = format!(
            "the database takes {used} bytes and may take {limit} (setting disk_limit); compact, \
             which frees what was overwritten, deleted or has expired, or drop a keyspace: writes \
             resume by themselves; or set a larger limit"
        );
        return Ok(Some(Error::new(ErrorKind::OutOfSpace, message)));
    }
    Ok(None)
}

/// Bytes of the current version's files, of the log and of the value log.
pub fn used_bytes(core: &Core) -> u64 {
    let version = core.history.current();
    let files: u64 = version
        .keyspaces
        .values()
        .map(|state| state.levels.total_size_bytes())
        .sum();
    let log = core
        .committer
        .paused(|active| active.used_segments().size_bytes());
    let values: u64 = core
        .values
        .segments()
        .iter()
        .map(|segment| segment.size_bytes)
        .sum();
    files + values + core.values.unused_bytes() + log
}
