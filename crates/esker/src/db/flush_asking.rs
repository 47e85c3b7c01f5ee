//! Asks a user's own log before a flush, and tells it behind one.

use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::own_log::OwnLog;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;
use crate::db::due_flush::DueFlush;
use crate::db::job::run_guarded;
use crate::db::keyspace::KeyspaceParts;
use crate::db::write_control;
use crate::env::pool::Priority;

/// How long `close` waits at most until the user's own log is durable, and for what it is told.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// How long a keyspace that the log is durable for waits at most for answers about others, to be
/// flushed with them by one job: as long as some syncs take, and nobody waits for a slow log.
const GATHERING_MAX: Duration = Duration::from_millis(2);

/// How long who closes waits for an answer before he looks again by himself.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What looks for work in the background, which is above this file.
type Wake = fn(&Arc<Core>);

/// The log is durable further: a keyspace that waits for that goes on.
pub fn log_is_durable(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, wake: Wake) {
    let now = || core.env.clock.monotonic();
    if parts.hold.as_ref().is_some_and(|hold| hold.told(now())) {
        look_after(core, parts, wake);
    }
}

/// What was flushed is durable: has the own log told of it.
pub fn tell(core: &Arc<Core>, flushed: &[DueFlush], wake: Wake) {
    let held = flushed
        .iter()
        .filter_map(|due| Some((&due.parts, due.parts.hold.as_ref()?)));
    for (parts, hold) in held {
        // Of one that was dropped meanwhile nothing was installed.
        let version = core.history.current();
        let mark = version
            .keyspace(parts.id)
            .and_then(|state| state.mark.clone());
        if mark.is_some_and(|mark| hold.note_flushed(mark)) {
            look_after(core, parts, wake);
        }
    }
}

// Has the keyspace looked after by the job of the hooks: asked for, or told of.
fn look_after(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, wake: Wake) {
    if core.own_log.add(Arc::clone(parts)) {
        let own = Arc::clone(core);
        let job = move || {
            if run_guarded(&own, "esker-own-log", || run(&own, wake)).is_err() {
                own.own_log.give_up();
            }
        };
        let pool = &core.env.pool;
        pool.spawn(Priority::Hooks, "esker-own-log", Box::new(job));
    }
}

fn run(core: &Arc<Core>, wake: Wake) {
    while let Some((parts, log)) = core.own_log.next() {
        let is_due = call(core, &parts, &*log, wake);
        let is_last = !core.own_log.has_waiting();
        if is_due && core.own_log.gather() && !is_last {
            wake_in_time(core, wake);
        }
        if is_last && core.own_log.take_gathered() {
            wake(core);
        }
        core.own_log.answered.raise();
        // For who waits for a flush of others, or of this one.
        core.work.ended.raise();
    }
    core.own_log.answered.raise();
}

// The next question may take long, or never end: what is due until then is flushed all the same.
fn wake_in_time(core: &Arc<Core>, wake: Wake) {
    let gathered = Arc::downgrade(core);
    let job = move || {
        if let Some(core) = gathered.upgrade()
            && core.own_log.take_gathered()
        {
            wake(&core);
        }
    };
    let pool = &core.env.pool;
    pool.spawn_after(GATHERING_MAX, Priority::High, "esker-wake", Box::new(job));
}

// Looks after a keyspace; says whether something of it may be flushed now.
fn call(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, log: &dyn OwnLog, wake: Wake) -> bool {
    let Some(hold) = &parts.hold else {
        return false;
    };
    let name = &parts.name;
    let mark = hold.take_flushed();
    if core.keyspaces.by_id(parts.id).is_none() {
        // Another may have its name by now.
        return false;
    }
    if let Some(mark) = mark {
        core.own_log.call(|| log.flushed(name, &mark));
    }
    let sealed = parts.current.sealed();
    // What had a no has one still: nobody has told otherwise.
    let refused = hold.refused();
    let newer = sealed.iter().skip(hold.cleared_count(&sealed)).rev();
    let newer = newer.take_while(|one| one.mark != refused);
    let mut marks: Vec<Bytes> = newer.filter_map(|one| one.mark.clone()).collect();
    marks.dedup();
    marks.reverse();
    let Some(newest) = marks.last() else {
        hold.has_nothing_to_ask();
        return false;
    };
    let question = hold.ask(newest.clone(), core.env.clock.monotonic());
    let is_durable = |mark: &Bytes| {
        let answer = core.own_log.call(|| log.is_durable(name, mark));
        answer == Some(true)
    };
    let (cleared, refused) = newest_durable(&marks, is_durable);
    let (is_any, is_refused) = (cleared.is_some(), refused.is_some());
    if hold.answer(&question, cleared, refused) {
        look_after(core, parts, wake);
    }
    if is_refused {
        // Who waits for memory is told why.
        write_control::set_memory(core);
    }
    is_any
}

// Of marks, oldest first, the newest that the log is durable up to, and the newest of all if it is
// not. Where it is durable it is up to those before as well.
fn newest_durable(
    marks: &[Bytes],
    is_durable: impl Fn(&Bytes) -> bool,
) -> (Option<Bytes>, Option<Bytes>) {
    let Some((newest, older)) = marks.split_last() else {
        return (None, None);
    };
    // That one mostly, and then all is due.
    if is_durable(newest) {
        return (Some(newest.clone()), None);
    }
    let count = older.partition_point(is_durable);
    (older[..count].last().cloned(), Some(newest.clone()))
}

/// For closing, when all is sealed: has every keyspace asked for, and waits for the user as long as
/// closing may. Gives the names of those of which something is not flushed, and is given up.
pub fn settle(core: &Arc<Core>, wake: Wake) -> Vec<String> {
    let end = core.env.clock.monotonic() + CLOSE_MAX;
    loop {
        let seen = core.own_log.answered.raised_count();
        let left = end.saturating_sub(core.env.clock.monotonic());
        if !core.own_log.is_idle() && !left.is_zero() {
            // To go over all keyspaces for each answer would take the square of their number.
            core.env
                .pool
                .wait(&core.own_log.answered, seen, LOOK_AGAIN.min(left));
            continue;
        }
        let all = core.keyspaces.with_sealed().into_iter();
        let waiting: Vec<_> = all.filter(|parts| DueFlush::is_held_back(parts)).collect();
        for parts in &waiting {
            ask_if_due(core, parts, wake);
        }
        let now = core.env.clock.monotonic();
        if waiting.is_empty() || now >= end {
            return waiting.iter().map(|parts| parts.name.clone()).collect();
        }
        let most = LOOK_AGAIN.min(end - now);
        core.env.pool.wait(&core.own_log.answered, seen, most);
    }
}

/// Has the own log asked for the newest sealed memtable of a keyspace, if nobody has.
pub fn ask_if_due(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, wake: Wake) {
    let Some(hold) = &parts.hold else {
        return;
    };
    let newest = parts.current.newest_sealed();
    let now = || core.env.clock.monotonic();
    if newest.is_some_and(|newest| hold.wants_asking(&newest, now())) {
        look_after(core, parts, wake);
    }
}

/// For closing, at its end: what was flushed is told, as far as the user takes no longer than
/// closing may wait; then nobody is called any more.
pub fn end(core: &Core) {
    let end = core.env.clock.monotonic() + CLOSE_MAX;
    loop {
        let seen = core.own_log.answered.raised_count();
        let now = core.env.clock.monotonic();
        if core.own_log.is_idle() || now >= end {
            break;
        }
        let most = LOOK_AGAIN.min(end - now);
        core.env.pool.wait(&core.own_log.answered, seen, most);
    }
    core.own_log.end();
}

/// Why closing did not flush all: of these keyspaces the own log was not durable.
pub fn given_up(names: &[String]) -> Error {
    let message = format!(
        "the database is closed; the last writes to {names:?} were given up, since their own log \
         did not say that it is durable: apply it anew from `flushed_mark` on"
    );
    Error::new(ErrorKind::Busy, message)
}

/// `Busy` where what is sealed of a keyspace waits until the user's own log is durable.
pub fn refuse_parked(core: &Core, parts: &KeyspaceParts) -> Result<()> {
    let hold = parts.hold.as_ref();
    if !hold.is_some_and(|hold| hold.is_parked(core.env.clock.monotonic())) {
        return Ok(());
    }
    let message = format!(
        "what is in memory of keyspace {:?} waits until its own log is durable; try again then",
        parts.name
    );
    Err(Error::new(ErrorKind::Busy, message))
}
