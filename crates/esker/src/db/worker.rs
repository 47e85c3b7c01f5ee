//! The background: looks for work, spawns it, and looks again whenever some of it ended.
//!
//! There is no loop, and no timer but such as end by themselves, as the wait of large values:
//! whoever makes work (a sealed memtable, a new version, a freed snapshot) wakes the background,
//! and each job that ends wakes it again. An idle database settles (`settling`), and then runs
//! nothing.

use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::event_reasons::{BackgroundJob, FlushReason};
use crate::base::stats::statistics::Ticker;
use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::user_code;
use crate::db::compaction;
use crate::db::core::Core;
use crate::db::due_flush::{DueFlush, in_groups};
use crate::db::file_deletion;
use crate::db::flush_asking;
use crate::db::flushing;
use crate::db::intra_l0;
use crate::db::job::{Booking, Job, run_guarded, spawn};
use crate::db::job_events::{doing, note_failure};
use crate::db::keyspace::KeyspaceParts;
use crate::db::running_compaction::{self, Running};
use crate::db::space;
use crate::db::training;
use crate::db::value_flushing;
use crate::db::work::WorkState;
use crate::db::write_control;
use crate::env::pool::Priority;
use crate::flow::sampling;
use crate::store::mem::memtable::Memtable;

/// What jobs that compact are called.
const COMPACTION: &str = "esker-compact";

/// Spawns every piece of work that is due and not under way.
pub fn wake(core: &Arc<Core>) {
    // Looking for work calls orders: one that has just panicked, and is being unwound through what
    // wakes us when it is dropped, would panic again, and end the process.
    if user_code::is_running() || std::thread::panicking() {
        return later(core, wake);
    }
    if core.gate.is_closed() {
        return;
    }
    spawn_flushes(core);
    if core.values.is_flush_due() && core.gate.full().is_none() {
        flush_values(core);
    }
    let looks = {
        let mut state = core.work.state();
        state.is_training_awaited = false;
        state.looks.training.take(&core.keyspaces)
    };
    for parts in looks.into_iter().filter(|parts| training::is_due(parts)) {
        // It may have to wait; and then it is due again, or not, when it has ended.
        let has_use = training::has_use_under_load(&parts);
        let mut state = core.work.state();
        state.looks.training.note(parts.id);
        if state.rest.is_loaded() && !has_use {
            state.rest.put_off();
            continue;
        }
        drop(state);
        spawn_training(core, parts);
    }
    while spawn_compaction(core, compaction::begin) {}
    spawn_compaction(core, intra_l0::begin);
}

/// As [`wake`], where readers may have paid for a merge in a keyspace.
pub fn look_after_reads(core: &Arc<Core>, id: KeyspaceId) {
    core.work.state().looks.compaction.note(id);
    wake(core);
}

/// As [`wake`], on a thread of the background.
pub fn wake_soon(core: &Arc<Core>) {
    later(core, wake);
}

// For who let go of something in a merge operator or an order, under whatever locks.
fn later(core: &Arc<Core>, look: fn(&Arc<Core>)) {
    let own = Arc::clone(core);
    let job = Box::new(move || look(&own));
    core.env.pool.spawn(Priority::Low, "esker-look", job);
}

/// A memtable was sealed: has it flushed.
pub fn memtable_sealed(core: &Arc<Core>) {
    write_control::set_memory(core);
    wake(core);
}

/// Has files removed that nobody reads any more: for a reader that kept some, and should not wait
/// for the disk itself. In an idle database nobody else would ever come to remove them.
pub fn tidy(core: &Arc<Core>) {
    if core.obsolete_files.count() == 0 && !core.values.has_dying() {
        return;
    }
    if user_code::is_running() {
        return later(core, tidy);
    }
    let job = Job {
        priority: Priority::Low,
        name: "esker-tidy",
        // The next open removes what a closed database leaves.
        book: |_: &mut WorkState| !core.gate.is_closed(),
        release: |_: &mut WorkState| {},
    };
    spawn(core, job, |core, _| file_deletion::remove_obsolete(core));
}

/// Deletes in a memtable from which on it is flushed for a scan that met them: stepping over as
/// many, and over what they hide, takes a scan about as long as their flush.
const DELETES_IN_THE_WAY: usize = 4096;

/// After a scan that passed over more than it found: has the live memtable of the keyspace flushed
/// if deletes are most of it, so that a compaction may bring them together with what they hide,
/// and the next scan costs what is left (RocksDB's `memtable_op_scan_flush_trigger`).
pub fn clear_way(core: &Arc<Core>, id: KeyspaceId) {
    let is_in_the_way = |table: &Memtable| {
        let deletes = table.delete_count();
        deletes >= DELETES_IN_THE_WAY && deletes * 2 >= table.entry_count()
    };
    let parts = core.keyspaces.by_id(id);
    let parts = parts.filter(|parts| parts.options().compaction.is_automatic);
    let is_due =
        parts.is_some_and(|parts| is_in_the_way(&parts.current.load().parts().memtables[0]));
    if !is_due {
        return;
    }
    let job = Job {
        priority: Priority::High,
        name: "esker-clear",
        book: |_: &mut WorkState| core.gate.check_upkeep().is_ok(),
        release: |_: &mut WorkState| {},
    };
    spawn(core, job, move |core, _| {
        let is_sealed = core.committer.paused(|active| {
            // Another scan may have come first.
            let live = active.table(id).map(|table| table.writer.table());
            live.is_ok_and(|live| is_in_the_way(live)) && active.seal(id, FlushReason::Deletes)
        });
        if is_sealed {
            memtable_sealed(core);
        }
    });
}

/// Has the next segment of the log prepared.
pub fn prepare_segment(core: &Arc<Core>) {
    let book = |state: &mut WorkState| {
        !core.gate.is_closed() && !std::mem::replace(&mut state.is_preparing, true)
    };
    let job = Job {
        priority: Priority::High,
        name: "esker-segment",
        book,
        release: |state: &mut WorkState| state.is_preparing = false,
    };
    spawn(core, job, |core, _| {
        look_at_space(core);
        let made = core.segments.prepare();
        if let Err(error) = made {
            // The write path makes its segment itself when there is no spare, and reports then.
            note_failure(core, BackgroundJob::PrepareWal, &error);
        }
        // Segments before the live one are complete: syncing them now makes a later sync short
        // and lets replay tell damage from a torn end.
        if let Err(error) = core.committer.sync_finished_segments() {
            core.gate.fail(&error);
            note_failure(core, BackgroundJob::SyncWal, &error);
        }
    });
}

/// Has large values written and made durable, and the log that points to them: so that there is
/// room for more, and that after a crash few of them must be read to be believed.
pub fn flush_values(core: &Arc<Core>) {
    let book = |state: &mut WorkState| {
        if core.gate.check_upkeep().is_err() {
            return false;
        }
        let is_under_way = std::mem::replace(&mut state.is_flushing_values, true);
        // What was written since it began may be too late for it.
        state.is_flush_wanted |= is_under_way;
        !is_under_way
    };
    let job = Job {
        priority: Priority::High,
        name: "esker-values",
        book,
        release: |state: &mut WorkState| state.is_flushing_values = false,
    };
    spawn(core, job, |core, booking| {
        look_at_space(core);
        let flushed = value_flushing::flush(core);
        booking.release();
        let is_wanted = std::mem::take(&mut core.work.state().is_flush_wanted);
        match flushed {
            // Their flush makes room, and looks here again when it ends.
            Ok(true) => memtable_sealed(core),
            Ok(false) if is_wanted && core.values.is_flush_due() => flush_values(core),
            Ok(false) => {}
            Err(error) => failed_flush(core, BackgroundJob::ValueFlush, &error, false),
        }
    });
}

/// Has large values flushed after a time, however few they are then.
pub fn watch_values(core: &Arc<Core>) {
    let interval_s = core.settings.load().db.value_flush_interval_s;
    if interval_s == 0 || core.values.watch().set_watched(true) {
        return;
    }
    // A database that is closed meanwhile is gone by then, and flushed what it had.
    let watched = Arc::downgrade(core);
    let job = move || {
        if let Some(core) = watched.upgrade() {
            core.values.watch().set_watched(false);
            if core.values.unflushed_bytes() > 0 {
                flush_values(&core);
            }
        }
    };
    let delay = Duration::from_secs(u64::from(interval_s));
    core.env
        .pool
        .spawn_after(delay, Priority::High, "esker-values", Box::new(job));
}

fn spawn_flushes(core: &Arc<Core>) {
    if core.own_log.is_there() {
        for parts in core.keyspaces.with_sealed() {
            flush_asking::ask_if_due(core, &parts, wake);
        }
    }
    let due_now = |parts| DueFlush::now(core, parts);
    let sealed = core.keyspaces.with_sealed().into_iter();
    let mut due: Vec<_> = sealed.filter_map(due_now).collect();
    if !due.is_empty() {
        let state = core.work.state();
        due.retain(|due| !state.flushing.contains(&due.parts.id));
    }
    for group in in_groups(due) {
        spawn_flush(core, group.into_iter().map(|due| due.parts).collect());
    }
}

// Whoever comes between and flushes one of them wakes us when that ends.
fn spawn_flush(core: &Arc<Core>, group: Vec<Arc<KeyspaceParts>>) {
    let ids: Vec<KeyspaceId> = group.iter().map(|parts| parts.id).collect();
    let booked = ids.clone();
    let job = Job {
        priority: Priority::High,
        name: "esker-flush",
        book: |state: &mut WorkState| {
            let is_free = booked.iter().all(|id| !state.flushing.contains(id));
            let may_begin = is_free && core.gate.check_upkeep().is_ok();
            if may_begin {
                state.flushing.extend(booked);
            }
            may_begin
        },
        release: move |state: &mut WorkState| {
            state.flushing.retain(|id| !ids.contains(id));
        },
    };
    spawn(core, job, move |core, booking| {
        look_at_space(core);
        let due_now = |parts| DueFlush::now(core, parts);
        let due: Vec<DueFlush> = group.into_iter().filter_map(due_now).collect();
        let flushed = flushing::flush_group(core, &due);
        if flushed.is_ok() {
            flush_asking::tell(core, &due, wake);
        }
        drop(due);
        booking.release();
        let is_done = flushed.is_ok();
        let shortage = flushed.as_ref().err().map(Error::again);
        let shortage = shortage.filter(|error| error.kind() == ErrorKind::OutOfFiles);
        let before = std::mem::replace(&mut core.work.state().flush_shortage, shortage);
        if let Err(error) = flushed {
            failed_flush(core, BackgroundJob::Flush, &error, before.is_some());
            // Counted behind the gate: who sees the count finds the cause there.
            core.work.state().failed_flush_count += 1;
        }
        file_deletion::remove_obsolete(core);
        if is_done {
            wake(core);
        }
    });
}

/// Looks whether writers are to be refused for lack of space.
///
/// Every new segment of the log, every one of the value log that a writer begins, and every flush
/// leads here, so that writers are refused when the disk drains into the reserve, and not only when
/// something has broken for lack of space. The background alone would come too late: while it
/// syncs, writers of large values fill the page cache with gigabytes.
pub fn look_at_space(core: &Core) {
    if let Err(error) = space::look(core) {
        note_failure(core, BackgroundJob::Space, &error);
    }
}

// What could not be written is still in memory, and is written when there is space; it holds memory
// and log, so what to do depends on why.
fn failed_flush(core: &Arc<Core>, job: BackgroundJob, error: &Error, was_short: bool) {
    match error.kind() {
        ErrorKind::OutOfSpace => core.gate.set_full(Some(error.again())),
        ErrorKind::OutOfFiles => wake_later(core),
        _ => core.gate.fail(error),
    }
    // Tried five times a second, it fails as often, and is told once.
    match was_short && error.kind() == ErrorKind::OutOfFiles {
        true => core.work.note_failure(doing(job), error),
        false => note_failure(core, job, error),
    }
}

/// After which the background looks again for work that could not open its files: who has them
/// open, in this process or another, tells nobody when he closes some.
const NO_FILES_PAUSE: Duration = Duration::from_millis(200);

fn wake_later(core: &Arc<Core>) {
    let pool = Arc::clone(&core.env.pool);
    let woken = Arc::downgrade(core);
    let job = move || {
        if let Some(core) = woken.upgrade() {
            wake(&core);
        }
    };
    pool.spawn_after(NO_FILES_PAUSE, Priority::High, "esker-wake", Box::new(job));
}

/// Has a dictionary trained for the keyspace's values, unless one is being trained or compactions
/// hold the memory for it; says whether. Each job that ends leads here again.
pub fn spawn_training(core: &Arc<Core>, parts: Arc<KeyspaceParts>) -> bool {
    let (trained, ended) = (Arc::clone(&parts), Arc::clone(&parts));
    let job = Job {
        priority: Priority::Low,
        name: "esker-train",
        book: |state: &mut WorkState| {
            let may_begin = state.compaction_count == 0 || core.memory_budget.may_train();
            if core.gate.check_upkeep().is_err() {
                return false;
            }
            if state.is_training || !may_begin {
                state.is_training_awaited = !state.is_training;
                return false;
            }
            state.is_training_awaited = false;
            state.is_training = !trained.dictionary_policy.set_training(true);
            state.is_training
        },
        release: move |state: &mut WorkState| {
            state.is_training = false;
            ended.dictionary_policy.set_training(false);
        },
    };
    spawn(core, job, move |core, booking| {
        if let Err(error) = training::train(core, &parts) {
            // Tried again it would fail again; a later one meets other files.
            parts
                .dictionary_policy
                .give_up(sampling::raw_bytes(&parts.current.view()));
            note_failure(core, BackgroundJob::Training, &error);
        }
        booking.release();
        core.work.state().looks.note(parts.id);
        write_control::set_memory(core);
        file_deletion::remove_obsolete(core);
        wake(core);
    })
}

/// Spawns one compaction if `begin` finds one to be due; says whether it did.
fn spawn_compaction(core: &Arc<Core>, begin: fn(&Arc<Core>) -> Option<Running>) -> bool {
    let Some(running) = begin(core) else {
        return false;
    };
    spawn_parts(core, running);
    // Its buffers are memory too: the cache gives way before they fill.
    write_control::set_memory(core);
    true
}

/// Runs the parts of a compaction on background threads; the last one installs the result.
pub fn spawn_parts(core: &Arc<Core>, running: Running) -> Arc<Running> {
    let running = Arc::new(running);
    let priority = running.priority();
    for index in 0..running.part_count() {
        let booking = Booking::of_counted(core);
        let core = Arc::clone(core);
        let pool = Arc::clone(&core.env.pool);
        let running = Arc::clone(&running);
        let job = move || {
            let _booking = booking;
            let run = || running.run_part(index);
            let result = run_guarded(&core, COMPACTION, run).and_then(|result| result);
            core.env.pages.trim_heap(running.part_bytes());
            if let Ok(part) = &result {
                running.note_part(&core, part);
            }
            if running.set_part(index, result) {
                let end = || end_compaction(&core, &running);
                // A panic was told, and what waits for the result has it already.
                run_guarded(&core, COMPACTION, end).ok();
            }
        };
        pool.spawn(priority, COMPACTION, Box::new(job));
    }
    running
}

// Has the files tried again that are left out until then.
fn try_again_after(core: &Arc<Core>, delay: Duration) {
    let left = Arc::downgrade(core);
    let job = move || {
        if let Some(core) = left.upgrade() {
            let now = core.env.clock.monotonic();
            {
                let mut state = core.work.state();
                let due = state.left_out.take_due(now);
                state.try_again(due);
            }
            wake(&core);
        }
    };
    let pool = &core.env.pool;
    pool.spawn_after(delay, Priority::Low, "esker-retry", Box::new(job));
}

fn end_compaction(core: &Arc<Core>, running: &Running) {
    let finish = || running.finish(core);
    let finished = run_guarded(core, COMPACTION, finish).and_then(|finished| finished);
    if let Some(delay) = running_compaction::end(core, running, &finished) {
        try_again_after(core, delay);
    }
    if let Err(error) = &finished {
        if !matches!(error.kind(), ErrorKind::Closed | ErrorKind::Busy) {
            core.statistics.add(Ticker::CompactionFailures, 1);
        }
        if error.kind() == ErrorKind::OutOfSpace {
            core.gate.set_full(Some(error.again()));
        }
        if !matches!(error.kind(), ErrorKind::Closed | ErrorKind::Busy) {
            note_failure(core, BackgroundJob::Compaction, error);
        }
    }
    running.note_end(&finished);
    // Without space the same work would fail again at once: the next flush, or a writer that
    // finds space, wakes the background instead.
    let may_go_on = finished.as_ref().err().map(Error::kind) != Some(ErrorKind::OutOfSpace);
    // Before anybody who waits for the result: the room that it gave is there then.
    let removed = run_guarded(core, COMPACTION, || file_deletion::remove_obsolete(core));
    running.set_result(finished.and(removed));
    write_control::set_rates_behind(core, running.keyspace_id());
    write_control::set_memory(core);
    if may_go_on {
        wake(core);
    }
}
