//! What a user asks the background for, and waits for: flush, compact, close.

use std::convert::Infallible;
use std::sync::Arc;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::range::KeyRange;
use crate::base::types::user_code;
use crate::db::compaction;
use crate::db::core::Core;
use crate::db::due_flush::{DueFlush, in_groups};
use crate::db::file_deletion;
use crate::db::flush_asking::{self, refuse_parked};
use crate::db::flush_wait::wait_for_flush;
use crate::db::flushing;
use crate::db::job_events::note_closed;
use crate::db::keyspace::KeyspaceParts;
use crate::db::notifying;
use crate::db::running_compaction::Running;
use crate::db::settling;
use crate::db::space;
use crate::db::training;
use crate::db::worker;
use crate::db::write_control;
use crate::flow::compact::recompression::Remainder;
use crate::flow::current::Sealed;
use crate::flow::write::live_table::LiveTable;

/// Seals the memtable of a keyspace and returns when everything written to it before lies in
/// sorted files. Without space for writes too, as long as the reserve lasts: it gives back log.
pub fn flush(core: &Arc<Core>, parts: &KeyspaceParts) -> Result<()> {
    flush_until(core, parts, || Ok(()))
}

fn flush_until(
    core: &Arc<Core>,
    parts: &KeyspaceParts,
    check: impl Fn() -> Result<()>,
) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_upkeep()?;
    refuse_dropped(core, parts)?;
    core.committer
        .paused(|active| active.seal(parts.id, FlushReason::Manual));
    let until = core.committer.visible();
    wait_for_flush(core, || {
        refuse_dropped(core, parts)?;
        let sealed = parts.current.sealed();
        let is_done = sealed.iter().all(|sealed| sealed.last_seqno > until);
        if !is_done {
            check()?;
        }
        Ok(is_done.then_some(()))
    })
}

/// Seals the memtables of all keyspaces, and returns when everything written before lies in sorted
/// files, but for keyspaces that are dropped meanwhile. As [`flush`] without space.
pub fn flush_all(core: &Arc<Core>) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_upkeep()?;
    let until = core.committer.paused(|active| {
        for id in active.keyspaces() {
            active.seal(id, FlushReason::Manual);
        }
        active.last_seqno()
    });
    wait_for_flush(core, || {
        let all = core.keyspaces.with_sealed();
        let mut sealed = all.iter().flat_map(|parts| parts.current.sealed());
        let is_done = sealed.all(|sealed| sealed.last_seqno > until);
        Ok(is_done.then_some(()))
    })
}

/// Seals the memtable of a keyspace, has it flushed, and does not wait for that. Errors as
/// [`flush`].
pub fn flush_soon(core: &Arc<Core>, parts: &KeyspaceParts) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_upkeep()?;
    refuse_dropped(core, parts)?;
    core.committer
        .paused(|active| active.seal(parts.id, FlushReason::Manual));
    worker::memtable_sealed(core);
    Ok(())
}

/// As [`flush`], for who holds up others: `Busy` where the user's own log says that it is not
/// durable yet.
pub fn flush_unless_parked(core: &Arc<Core>, parts: &KeyspaceParts) -> Result<()> {
    flush_until(core, parts, || refuse_parked(core, parts))
}

// What was sealed of a dropped keyspace is never flushed: waiting for it would be for ever.
fn refuse_dropped(core: &Core, parts: &KeyspaceParts) -> Result<()> {
    match core.keyspaces.by_id(parts.id) {
        Some(_) => Ok(()),
        None => Err(Error::invalid("the keyspace was dropped")),
    }
}

/// Returns when everything that was written so far is on the medium: the log by a sync, and what
/// is in no log (`Memory`) by a flush of the memtables that hold it.
pub fn sync(core: &Arc<Core>) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_write()?;
    let until = core.committer.paused(|active| {
        for id in active.keyspaces() {
            if active.table(id).is_ok_and(LiveTable::has_unlogged) {
                active.seal(id, FlushReason::Manual);
            }
        }
        active.last_seqno()
    });
    let is_unlogged = |sealed: &Sealed| sealed.last_seqno <= until && sealed.table.has_unlogged();
    let all = core.keyspaces.with_sealed();
    let mut waiting = all.iter().flat_map(|parts| parts.current.sealed());
    if waiting.any(|sealed| is_unlogged(&sealed)) {
        wait_for_flush(core, || {
            let all = core.keyspaces.with_sealed();
            let mut waiting = all.iter().flat_map(|parts| parts.current.sealed());
            Ok((!waiting.any(|sealed| is_unlogged(&sealed))).then_some(()))
        })?;
    }
    core.committer.sync()
}

/// Flushes, then merges everything in `range` into one run without anything obsolete. Goes on
/// where writes are refused for lack of space, if what it writes surely fits: it may well be what
/// gives space back.
pub fn compact(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, range: &KeyRange) -> Result<()> {
    flush(core, parts)?;
    space::look(core)?;
    core.gate.check_upkeep()?;
    // As soon as there is memory for it.
    core.work.wait_for(&*core.env.pool, || {
        core.gate.check_upkeep()?;
        let is_due = training::is_due(parts);
        let is_begun = !is_due || worker::spawn_training(core, Arc::clone(parts));
        Ok::<_, Error>(is_begun.then_some(()))
    })?;
    // Else everything would be written once more when the dictionary is there.
    training::wait(core, parts)?;
    let turn = Manual::begin(core);
    let result = compact_when_free(core, parts, range);
    drop(turn);
    space::resume(core);
    worker::wake(core);
    result
}

/// A compaction that somebody asked for: none begins by itself until it is dropped, at its end or
/// by a panic of an order on the caller's thread.
struct Manual<'a> {
    core: &'a Arc<Core>,
}

impl<'a> Manual<'a> {
    fn begin(core: &'a Arc<Core>) -> Manual<'a> {
        core.work.state().manual_count += 1;
        Manual { core }
    }
}

impl Drop for Manual<'_> {
    fn drop(&mut self) {
        self.core.work.state().manual_count -= 1;
        if std::thread::panicking() {
            // Elsewhere: to look for work calls the order again.
            worker::wake_soon(self.core);
        }
    }
}

fn compact_when_free(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, range: &KeyRange) -> Result<()> {
    {
        // Who asks wants to know how it goes now, whatever failed before.
        let mut state = core.work.state();
        let all = state.left_out.take_all();
        state.try_again(all);
    }
    // So is the rule asked, even if one fails over it whose end this waits for.
    let mut begun = begin_when_free(core, || {
        parts.retained.begin_anew();
        compaction::begin_range(core, parts, range)
    })?;
    let mut left = Some(Remainder::of(range.clone()));
    while let Some(running) = begun.take() {
        left = left.and_then(|before| running.remainder(before));
        run_here(core, running)?;
        if let Some(remainder) = &left {
            begun = begin_when_free(core, || {
                // Or the rest would be written for nobody.
                refuse_dropped(core, parts)?;
                compaction::begin_rest(core, parts, remainder)
            })?;
        }
    }
    collect(core, parts)
}

// Automatic compactions are held back, so one that is in the way ends soon.
fn begin_when_free(
    core: &Arc<Core>,
    begin: impl Fn() -> Result<Option<Running>>,
) -> Result<Option<Running>> {
    core.work.wait_for(&*core.env.pool, || {
        core.gate.check_upkeep()?;
        match begin() {
            Err(busy) if busy.kind() == ErrorKind::Busy => Ok(None),
            begun => begun.map(Some),
        }
    })
}

// What the merge found overwritten may leave segments of the value log mostly dead.
fn collect(core: &Arc<Core>, parts: &KeyspaceParts) -> Result<()> {
    while let Some(running) = compaction::begin_collection(core, parts)? {
        run_here(core, running)?;
        file_deletion::remove_obsolete(core);
    }
    Ok(())
}

// The parts run on background threads; the caller only waits.
fn run_here(core: &Arc<Core>, running: Running) -> Result<()> {
    let ticket = worker::spawn_parts(core, running);
    core.work
        .wait_for(&*core.env.pool, || ticket.take_result().transpose())
}

/// Closes: refuses everything from now on, ends what runs in the background, puts all memtables
/// into sorted files so that the next open has no log to read, and gives up the directory.
/// Closing twice does nothing, and returns the same.
///
/// Errors: `Faulted` with the first cause when writes were refused for one: what was acknowledged
/// and is in no sorted file is in the log, for the next opening; those of a flush; `Busy` when a
/// user's own log was not durable within ten seconds, so that what only memory had of some unlogged
/// keyspaces was given up; `Invalid` in a process that forked from the one that opened it, where
/// nothing is done.
pub fn close(core: &Arc<Core>) -> Result<()> {
    core.gate.check_process()?;
    user_code::refuse()?;
    core.events.refuse_listener()?;
    core.durable_calls.refuse_call()?;
    core.own_log.refuse_call()?;
    settling::finish(core);
    if !core.gate.close() {
        return core.work.wait_for(&*core.env.pool, || {
            let told = core.work.state().closed.as_ref().map(again);
            told.transpose()
        });
    }
    // Whoever waits for one is told, and whoever holds some finds out.
    core.locks.close();
    core.committer.claims_ended.raise();
    let mut outcome = Outcome {
        core,
        result: Err(Error::new(
            ErrorKind::Faulted,
            "a thread panicked while it closed the database; open it again",
        )),
    };
    // With the log as it is: what follows may fail for reasons of its own. Under no lock, since
    // what is called may ask for any.
    notifying::end(core);
    outcome.result = close_once(core);
    let result = again(&outcome.result);
    note_closed(core, &result);
    core.events.finish();
    drop(outcome);
    // One of them may have the last handle.
    core.events.end();
    result
}

fn again(result: &Result<()>) -> Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(error) => Err(error.again()),
    }
}

/// How closing ended, told to whoever closes once more when it is dropped.
struct Outcome<'a> {
    core: &'a Core,
    result: Result<()>,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        let result = std::mem::replace(&mut self.result, Ok(()));
        self.core.work.state().closed = Some(result);
        self.core.work.ended.raise();
    }
}

fn close_once(core: &Arc<Core>) -> Result<()> {
    // Waits for a keyspace that is being created or dropped, or for a setting that is being
    // changed, and keeps later ones away.
    let _changing = core.keyspaces.change();
    // Who closes waits for what is left, so that goes as fast as it can.
    core.background_rate.set_rate(0);
    let Ok(()) = core.work.wait_for(&*core.env.pool, || {
        Ok::<_, Infallible>((core.work.state().job_count == 0).then_some(()))
    });
    let is_writer = core.lock.lock().is_ok_and(|lock| lock.is_some());
    let flushed = match core.gate.check_fault() {
        Ok(()) if is_writer => flush_at_end(core),
        other => other,
    };
    flush_asking::end(core);
    if is_writer {
        core.values.seal_live();
    }
    write_control::forget_rates(core);
    file_deletion::remove_obsolete(core);
    // Who synced what he wrote has left his mark in the log by then, or finds that it is closed.
    core.committer.paused(|_| ());
    if let Ok(mut lock) = core.lock.lock() {
        *lock = None;
    }
    // What ended the background meanwhile may have been a fault, too.
    flushed.and_then(|()| core.gate.check_fault())
}

// Leaves a log that holds nothing and takes next to nothing: what the last flush records as the
// first needed segment is the one that was begun before it.
fn flush_at_end(core: &Arc<Core>) -> Result<()> {
    // First, since it gives back space that the rest may need.
    core.segments.wind_down();
    let ended = core.committer.end_log();
    core.committer.paused(|active| {
        for id in active.keyspaces() {
            active.seal(id, FlushReason::ShutDown);
        }
    });
    let given_up = flush_asking::settle(core, worker::wake);
    let due = core
        .keyspaces
        .with_sealed()
        .into_iter()
        .filter_map(DueFlush::all);
    for group in in_groups(due) {
        flushing::flush_group(core, &group)?;
        flush_asking::tell(core, &group, worker::wake);
    }
    if core.committer.has_two_phases() {
        // No flush may have synced how the last of them ended, and nobody will be told again.
        core.committer.sync_log()?;
    }
    // What is prepared goes into the last segment, so that the others are not needed for it.
    let carried = core.committer.carry_prepared(None, true);
    flushing::release_log(core)?;
    write_control::set_memory(core);
    ended.and(carried)?;
    match given_up.is_empty() {
        true => Ok(()),
        false => Err(flush_asking::given_up(&given_up)),
    }
}
