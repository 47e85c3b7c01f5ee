//! Runs one benchmark on its threads, with everything that is told while it runs.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::console::Remarks;
use crate::fail::Outcome;
use crate::report::date;
use crate::run::course::{Course, Finished, Interval, LaneMoment};
use crate::run::execute::execute;
use crate::run::lane::Lane;
use crate::run::live::Live;
use crate::scenario::db_bench::operation::{Count, Does, Operation};
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::{Bench, Numbers};
use crate::target::store::Store;

/// The engine is asked for stalls no more often than this: the answer costs it a little.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// Threads of a benchmark, those beside them included.
pub fn thread_count(operation: &Operation, setup: &Setup) -> u64 {
    let beside = match operation.does {
        Does::Work { beside, .. } => u64::from(beside.is_some()),
        _ => 0,
    };
    setup.given.count("threads") + beside
}

/// Runs a benchmark as the flags say; progress and reports of threads go to `remarks`.
pub fn run(operation: &Operation, bench: &Bench<'_>, remarks: &Remarks<'_>) -> Outcome<Finished> {
    let (given, store) = (&bench.setup.given, bench.store);
    let (count, is_by_time) = match operation.does {
        Does::Work {
            count, is_by_time, ..
        } => (bound(count, &bench.numbers), is_by_time),
        _ => (None, false),
    };
    let threads = thread_count(operation, bench.setup) - given.count("threads");
    let background = usize::try_from(threads).expect("one at most");
    let duration = given.count("duration");
    let is_timed_out = is_by_time && duration > 0;
    let rate = given.number("target_rate");
    let asked = Mutex::new((None, Duration::ZERO));
    let stall = || stalled(store, &asked);
    let tell = |moment: &LaneMoment| {
        // A report that cannot be written is no reason to stop measuring.
        let _ = remarks.write(&moment_text(moment, bench));
    };
    let course = Course {
        threads: usize::try_from(given.count("threads")).expect("at most 4096"),
        background,
        ops_per_lane: count.filter(|_| !is_timed_out),
        duration: is_timed_out.then(|| Duration::from_secs(duration)),
        target_rate: Some(rate).filter(|rate| *rate > 0.0),
        is_timed: given.is("histogram") || !given.text("json").is_empty() || rate > 0.0,
        stall: &stall,
        interval: Some(given.count("stats_interval"))
            .filter(|ops| *ops > 0)
            .map(|ops| Interval { ops, tell: &tell }),
        ..Course::plain()
    };
    let mut live = Live::new(remarks, operation.name);
    let body = body(operation, bench);
    let finished = execute(&course, &mut |tick| live.tick(tick), &body);
    live.end();
    finished
}

fn bound(count: Count, numbers: &Numbers) -> Option<u64> {
    match count {
        Count::Writes => Some(numbers.writes),
        Count::Reads => Some(numbers.reads),
        Count::Deletes => Some(numbers.num),
        Count::Updates => Some(numbers.read_writes),
        Count::Own => None,
    }
}

fn stalled(store: &dyn Store, asked: &Mutex<(Option<Instant>, Duration)>) -> Duration {
    let Ok(mut asked) = asked.lock() else {
        return Duration::ZERO;
    };
    if asked.0.is_none_or(|at| at.elapsed() >= ASK_EVERY) {
        let stall = store.counters().stall.unwrap_or_default();
        *asked = (Some(Instant::now()), stall);
    }
    asked.1
}

/// RocksDB's report of one thread.
fn moment_text(moment: &LaneMoment, bench: &Bench<'_>) -> String {
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
    if moment.lane == 0 && bench.setup.given.count("stats_per_interval") > 0 {
        text += &bench.store.property("stats").unwrap_or_default();
        text.push('\n');
    }
    text
}

/// The body of a benchmark's threads.
fn body<'a>(
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
