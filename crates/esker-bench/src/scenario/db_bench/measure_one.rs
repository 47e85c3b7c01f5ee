//! Runs one benchmark on its threads, with everything that is told while it runs.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::console::Remarks;
use crate::fail::Outcome;
use crate::report::date;
use crate::run::course::{Course, Finished, Interval, LaneMoment};
use crate::run::execute::{Body, execute};
use crate::run::lane::Lane;
use crate::run::live::Live;
use crate::scenario::db_bench::operation::{Count, Does, Operation};
use crate::scenario::db_bench::rocksdb_stats;
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::{Bench, Numbers};
use crate::target::counters::Counters;

/// The engine is asked for stalls no more often than this: the answer costs it a little.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// Operations between two looks at the clock for `--stats_interval_seconds`.
const LOOK_EVERY_OPS: u64 = 1000;

/// Who listens while a benchmark runs.
pub struct Listeners<'a, 'b> {
    /// Progress and reports of threads.
    pub remarks: &'a Remarks<'b>,
    /// What the engine counts.
    pub counters: &'a (dyn Fn() -> Counters + Sync),
    /// When the store was opened.
    pub opened: Instant,
    /// The counters at the last reset.
    pub baseline: &'a Counters,
}

/// Threads of a benchmark, those beside them included.
pub fn thread_count(operation: &Operation, setup: &Setup) -> u64 {
    let threads = setup.given.count("threads");
    match operation.does {
        Does::Work {
            beside: Some(_), ..
        } => threads + 1,
        Does::Work { .. } if operation.name == "filluniquerandom" => 1,
        _ => threads,
    }
}

/// Runs `body` as the flags say.
pub fn run(
    operation: &Operation,
    setup: &Setup,
    numbers: &Numbers,
    listeners: Listeners<'_, '_>,
    body: &Body<'_>,
) -> Outcome<Finished> {
    let given = &setup.given;
    let (count, is_by_time, background) = match operation.does {
        Does::Work {
            count,
            is_by_time,
            beside,
            ..
        } => (
            bound(count, numbers),
            is_by_time,
            usize::from(beside.is_some()),
        ),
        _ => (None, false, 0),
    };
    let threads = usize::try_from(thread_count(operation, setup)).expect("at most 4097");
    let duration = given.count("duration");
    let is_timed_out = is_by_time && duration > 0;
    let rate = rate(operation, setup, threads);
    let asked = Mutex::new((None, Duration::ZERO));
    let stall = || stalled(listeners.counters, &asked);
    let tell = |moment: &LaneMoment| {
        let text = moment_text(moment, setup, &listeners);
        // A report that cannot be written is no reason to stop measuring.
        let _ = listeners.remarks.write(&text);
    };
    let course = Course {
        threads: threads - background,
        background,
        ops_per_lane: count.filter(|_| !is_timed_out),
        duration: is_timed_out.then(|| Duration::from_secs(duration)),
        warm_up: match count {
            Some(_) => Duration::from_secs(given.count("warm_up")),
            None => Duration::ZERO,
        },
        target_rate: Some(rate).filter(|rate| *rate > 0.0),
        is_timed: given.is("histogram") || !given.text("json").is_empty() || rate > 0.0,
        stall: &stall,
        interval: interval(setup, &tell),
        ..Course::plain()
    };
    let mut live = Live::new(listeners.remarks, operation.name);
    let finished = execute(&course, &mut |tick| live.tick(tick), body);
    live.end();
    finished
}

/// Operations a second that are asked for; 0 is as many as there can be.
fn rate(operation: &Operation, setup: &Setup, threads: usize) -> f64 {
    let rate = setup.given.number("target_rate");
    let read_rate = setup.given.count("benchmark_read_rate_limit") as f64 * threads as f64;
    match operation.is_write {
        false if rate == 0.0 => read_rate,
        _ => rate,
    }
}

fn bound(count: Count, numbers: &Numbers) -> Option<u64> {
    match count {
        Count::Writes => Some(numbers.writes),
        Count::Reads => Some(numbers.reads),
        Count::Deletes => Some(numbers.deletes),
        Count::Updates => Some(numbers.read_writes),
        Count::Own => None,
    }
}

fn stalled(
    counters: &dyn Fn() -> Counters,
    asked: &Mutex<(Option<Instant>, Duration)>,
) -> Duration {
    let Ok(mut asked) = asked.lock() else {
        return Duration::ZERO;
    };
    if asked.0.is_none_or(|at| at.elapsed() >= ASK_EVERY) {
        *asked = (Some(Instant::now()), counters().stall.unwrap_or_default());
    }
    asked.1
}

/// When each thread tells how far it is.
fn interval<'a>(setup: &Setup, tell: &'a (dyn Fn(&LaneMoment) + Sync)) -> Option<Interval<'a>> {
    let (ops, seconds) = (
        setup.given.count("stats_interval"),
        setup.given.count("stats_interval_seconds"),
    );
    match (ops, seconds) {
        (0, 0) => None,
        (0, seconds) => Some(Interval {
            ops: LOOK_EVERY_OPS,
            time_min: Duration::from_secs(seconds),
            tell,
        }),
        (ops, _) => Some(Interval {
            ops,
            time_min: Duration::ZERO,
            tell,
        }),
    }
}

/// RocksDB's report of one thread.
fn moment_text(moment: &LaneMoment, setup: &Setup, listeners: &Listeners<'_, '_>) -> String {
    let (all_s, since_s) = (
        moment.elapsed.as_secs_f64(),
        moment.elapsed_since.as_secs_f64(),
    );
    let mut text = format!(
        "{} ... thread {}: ({},{}) ops and ({:.1},{:.1}) ops/second in ({since_s:.6},{all_s:.6}) \
         seconds\n",
        date::stamp(date::unix_seconds()),
        moment.lane,
        moment.ops_since,
        moment.ops,
        moment.ops_since as f64 / since_s.max(1e-9),
        moment.ops as f64 / all_s.max(1e-9)
    );
    if moment.lane == 0 && setup.given.count("stats_per_interval") > 0 {
        let (counters, uptime) = ((listeners.counters)(), listeners.opened.elapsed());
        let since = moment.elapsed_since;
        text += &rocksdb_stats::stats(&counters, listeners.baseline, uptime, since);
        text.push('\n');
    }
    text
}

/// The body of a benchmark's threads.
pub fn body<'a>(
    operation: &Operation,
    bench: &'a Bench<'a>,
) -> impl Fn(&mut Lane<'_>) -> Outcome + Sync + 'a {
    let does = operation.does;
    move |lane| match does {
        Does::Work { method, beside, .. } => match beside.filter(|_| lane.is_background()) {
            Some(beside) => beside(bench, lane),
            None => method(bench, lane),
        },
        // Each thread of the dialect makes the call; one is enough to have it made.
        Does::Timed(call) if lane.index() == 0 => call(bench),
        _ => Ok(()),
    }
}
