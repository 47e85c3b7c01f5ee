//! Rest: once nobody writes any more, what the limits of space allow under load is put right.
//!
//! Under load a segment's worth of dead values is always allowed, memtables and level 0 may hide
//! some more, and all that is looked at only when something else is to be done. A while after the
//! last write memtables are flushed where they and their log may hold more than the limit, level 0
//! is merged where it may hide as much, files are rewritten that snapshots had made keep much, or
//! of which much has expired, and values are moved until `max_space_amp` holds as it is written.
//! Then there is no job and no timer: a timer is there only from a write, or from the end of a
//! snapshot for which something was kept, until it was settled.
//!
//! Each of these begins with space that is worth a part of the whole database: so who writes in
//! bursts, with a rest after each, pays no more for it than that part.
//!
//! The same looks tell when much is no longer being written. Until then nothing is compressed that
//! a merge is about to rewrite anyway, and no dictionary is trained for it: under load these took
//! half of the processor from who wrote.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::ids::Level;
use crate::base::types::seqno::SeqNo;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::dead_space::SETTLED_DEAD_BYTES;
use crate::db::job::{Booking, run_guarded};
use crate::db::keyspace_time;
use crate::db::rest::Next;
use crate::db::space;
use crate::db::worker;
use crate::env::pool::Priority;
use crate::store::sst::passing::Passing;
use crate::store::version::state::KeyspaceState;

/// Without a write for so long, and without a job, a database is at rest: long enough that whoever
/// writes in bursts is not met between two of them by merges, short enough for "within seconds".
const QUIET: Duration = Duration::from_secs(2);

/// What the looks are called.
const NAME: &str = "esker-rest";

/// Times that it is settled before it is left as it is: readers may hold what is dead, and values
/// that cannot be read are not moved. One is enough but where values waited in memory.
const ROUNDS_MAX: u32 = 3;

/// How long `close` goes on with it at most; the rest is done after the next opening.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// Something was written that may leave space to give back: has the database looked at once it is
/// at rest. Under load the limits of load hold again.
pub fn watch(core: &Arc<Core>) {
    let is_first = core.work.state().rest.note_write();
    if is_first {
        look_later(core, ROUNDS_MAX);
    }
}

/// As [`watch`], where a memtable or a segment of the log became full.
pub fn watch_load(core: &Arc<Core>) {
    let is_first = core.work.state().rest.note_load();
    if is_first {
        look_later(core, ROUNDS_MAX);
    }
}

/// A database was opened: what an earlier process left is put right once it is at rest.
pub fn opened(core: &Arc<Core>) {
    if core.gate.check_upkeep().is_ok() && (is_over(core, 0) || has_passed(core)) {
        watch(core);
    }
}

/// A snapshot that read at `seqno` was released: what was kept for it alone is given back once the
/// database is at rest.
pub fn released(core: &Arc<Core>, seqno: SeqNo) {
    if user_code::is_running() {
        // Under whatever locks: elsewhere, then.
        let own = Arc::clone(core);
        let job = Box::new(move || released(&own, seqno));
        return core.env.pool.spawn(Priority::Low, "esker-look", job);
    }
    if core.work.state().rest.is_looked_after() {
        // Whoever looks for work sees it at once, or when the time has come.
        return;
    }
    let is_held =
        |_: &KeyspaceState, passing: &Passing| passing.held().any(|(holder, _)| holder == seqno);
    if core.gate.check_upkeep().is_ok() && has_file(core, is_held) {
        watch(core);
    }
}

/// Settles at once, for who closes the database and waits, and only if it is beyond the limit.
pub fn finish(core: &Arc<Core>) {
    let end = core.env.clock.monotonic() + CLOSE_MAX;
    for _ in 0..ROUNDS_MAX {
        if core.gate.check_upkeep().is_err() || !is_over(core, 0) {
            return;
        }
        if has_automatic(core) {
            core.work.state().rest.settle_at_close();
            begin(core, true);
        }
        let Ok(()) = core.work.wait_for(&*core.env.pool, || {
            let is_done = core.work.state().job_count == 0
                || core.env.clock.monotonic() >= end
                || !is_over(core, 0);
            Ok::<_, Infallible>(is_done.then_some(()))
        });
    }
}

fn look_later(core: &Arc<Core>, rounds_left: u32) {
    let seen = core.committer.visible();
    // A database that is closed meanwhile is gone by then.
    let watched = Arc::downgrade(core);
    let job = move || {
        if let Some(core) = watched.upgrade() {
            look(&core, seen, rounds_left);
        }
    };
    core.env
        .pool
        .spawn_after(QUIET, Priority::Low, NAME, Box::new(job));
}

fn look(core: &Arc<Core>, seen: SeqNo, rounds_left: u32) {
    // On the books, as any job, so that who closes the database waits for what is done here; but
    // only once nothing else is, or it would wait for itself.
    let (booking, was_put_off) = {
        let mut state = core.work.state();
        let is_possible = core.gate.check_upkeep().is_ok();
        let is_busy = state.job_count > 0 || state.manual_count > 0 || state.is_barrier_held;
        let is_at_rest = !is_busy && core.committer.visible() == seen;
        if is_possible && !is_at_rest {
            let may_begin = state.rest.note_unrest();
            drop(state);
            look_later(core, rounds_left);
            return wake_if(core, may_begin);
        }
        if !is_possible || rounds_left == 0 {
            let may_begin = state.rest.stop();
            drop(state);
            return wake_if(core, may_begin);
        }
        let was_put_off = state.rest.begin_look();
        state.job_count += 1;
        (Booking::of_counted(core), was_put_off)
    };
    let looked = run_guarded(core, NAME, || {
        let log_bytes = core
            .committer
            .paused(|active| active.used_segments().size_bytes());
        let was_over = is_over(core, log_bytes);
        let has_automatic = has_automatic(core);
        // What was put off comes before it is settled, which would have level 0 merged at once and
        // with the lesser effort.
        match has_automatic && !was_put_off && core.work.state().rest.settle() {
            true => begin(core, was_over),
            false => wake_if(core, was_put_off),
        }
        was_over || was_put_off
    });
    // A panic was told, and ended all that could be settled.
    let was_over = looked.unwrap_or(false);
    let next = core.work.state().rest.end_look(was_over);
    match next {
        Next::Sleep => {}
        // Values that waited in memory have a segment by then that is not full.
        Next::LookAgain => look_later(core, rounds_left - u32::from(!was_put_off)),
        Next::WatchAnew => look_later(core, ROUNDS_MAX),
    }
    drop(booking);
}

fn wake_if(core: &Arc<Core>, is_due: bool) {
    if is_due {
        worker::wake(core);
    }
}

fn has_automatic(core: &Core) -> bool {
    let mut keyspaces = core.keyspaces.all().into_iter();
    keyspaces.any(|parts| parts.options().compaction.is_automatic)
}

// What is due by the limits of rest is spawned; each job that ends looks for the next, as always.
fn begin(core: &Arc<Core>, is_over: bool) {
    if is_over {
        core.committer.paused(|active| {
            for id in active.keyspaces() {
                active.seal(id, FlushReason::Settling);
            }
        });
        core.values.seal_live();
    }
    worker::memtable_sealed(core);
}

// Whether a sorted file has something in it that only snapshots held that are gone, or that has
// expired.
fn has_passed(core: &Core) -> bool {
    let snapshots = core.snapshots.seqnos();
    has_file(core, |state, passing| {
        let now_unix_s = keyspace_time::of_state(core, state) / 1000;
        passing.released_bytes(&snapshots) + passing.expired_bytes(now_unix_s) > 0
    })
}

fn has_file(core: &Core, is_meant: impl Fn(&KeyspaceState, &Passing) -> bool) -> bool {
    let version = core.history.peek();
    let mut states = version.keyspaces.values();
    states.any(|state| {
        let mut files = state.levels.files();
        files.any(|(_, file)| {
            let passing = file.passing.as_ref();
            passing.is_some_and(|passing| is_meant(state, passing))
        })
    })
}

/// Whether the value log, and so much of the log, take more than the limit leaves beside what
/// sorted files hold and point to, if all that only memtables point to were dead.
fn is_over(core: &Core, log_bytes: u64) -> bool {
    let segments = core.values.segments();
    let used_bytes: u64 = segments.iter().map(|segment| segment.size_bytes).sum();
    let size_bytes = used_bytes + core.values.spare_bytes();
    let version = core.history.peek();
    let live_bytes = version.live_values().total_bytes();
    let levels = version.keyspaces.values().map(|state| &state.levels);
    let tree_bytes: u64 = levels
        .flat_map(|levels| Level::all().map(|level| levels.size_bytes(level)))
        .sum();
    let part = space::max_space_amp(core) - 1.0;
    let allowed = ((live_bytes + tree_bytes) as f64 * part) as u64;
    size_bytes.saturating_sub(live_bytes) + log_bytes > allowed.max(SETTLED_DEAD_BYTES)
}
