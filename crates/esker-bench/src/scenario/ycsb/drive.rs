//! Drives a phase: threads, status lines, and what all of it came to.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::console::Remarks;
use crate::fail::Outcome;
use crate::run::course::{Course, Finished, Tick};
use crate::run::execute::execute;
use crate::run::lane::Lane;
use crate::run::live::Live;
use crate::scenario::ycsb::chooser::RecordChooser;
use crate::scenario::ycsb::core_client::{CoreClient, Shared};
use crate::scenario::ycsb::meter::Tally;
use crate::scenario::ycsb::plan::Plan;
use crate::scenario::ycsb::status::{self, Progress};
use crate::scenario::ycsb::stopwatch::Stopwatch;
use crate::target::store::Store;

/// A phase that is over.
pub struct Driven {
    /// Threads, bytes, throughput over time, usage.
    pub finished: Finished,
    /// What was measured.
    pub tally: Tally,
}

/// Runs the phase.
pub fn drive(
    plan: &Plan,
    store: &dyn Store,
    shared: &Shared<'_>,
    remarks: &Remarks<'_>,
) -> Outcome<Driven> {
    let tallies: Vec<Mutex<Tally>> = (0..plan.threads).map(|_| Mutex::default()).collect();
    // A load is given a chooser too, and does not use it.
    let chooser = match plan.is_load {
        true => RecordChooser::uniform(&plan.workload),
        false => RecordChooser::new(&plan.workload),
    };
    let stall = || store.counters().stall.unwrap_or_default();
    let course = Course {
        threads: plan.threads,
        duration: plan.duration,
        target_rate: plan.target_rate,
        // Each operation has several times; the stopwatch keeps them.
        is_timed: false,
        stall: &stall,
        ..Course::plain()
    };
    let mut watcher = Watcher {
        plan,
        tallies: &tallies,
        remarks,
        total: Tally::default(),
        told_at: Duration::ZERO,
        told_ops: 0,
        is_begun: false,
    };
    let label = if plan.is_load { "load" } else { "run" };
    let mut live = (!plan.has_status).then(|| Live::new(remarks, label));
    let mut last = (Duration::ZERO, 0);
    let finished = execute(
        &course,
        &mut |tick| {
            // Threads keep their own bounds, because they are not all alike.
            let tick = Tick {
                ops_wanted: plan.operations,
                ..*tick
            };
            last = (tick.elapsed, tick.ops);
            watcher.tick(&tick);
            if let Some(live) = &mut live {
                live.tick(&tick);
            }
        },
        &|lane| {
            let stopwatch = Stopwatch::new(&tallies[lane.index()]);
            let seed = plan.seed_of(lane.index());
            let mut client = CoreClient::new(shared, chooser.clone(), stopwatch, seed);
            work(plan, &mut client, lane)
        },
    );
    if let Some(live) = live {
        live.end();
    }
    let finished = finished?;
    watcher.end_interval(last.0, last.1);
    Ok(Driven {
        finished,
        tally: watcher.total,
    })
}

/// One thread's share of the operations.
fn work(plan: &Plan, client: &mut CoreClient<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut left = plan.share(lane.index());
    while left > 0 && lane.go() {
        left -= 1;
        if !plan.is_load {
            client.run(lane.due());
        } else if !client.load(lane.due()) {
            break;
        }
        lane.add_bytes(client.take_bytes());
        lane.finish(0, 1);
    }
    Ok(())
}

/// Takes what was measured from the threads at each interval.
struct Watcher<'a, 'r> {
    plan: &'a Plan,
    tallies: &'a [Mutex<Tally>],
    remarks: &'a Remarks<'r>,
    total: Tally,
    told_at: Duration,
    told_ops: u64,
    is_begun: bool,
}

impl Watcher<'_, '_> {
    fn tick(&mut self, tick: &Tick) {
        let is_due = tick.elapsed >= self.told_at + self.plan.status_every;
        if self.plan.has_status && (is_due || !self.is_begun) {
            self.is_begun = true;
            self.end_interval(tick.elapsed, tick.ops);
        }
    }

    /// Takes all tallies, tells of them, and adds them to the whole.
    fn end_interval(&mut self, elapsed: Duration, ops: u64) {
        let mut interval = Tally::default();
        for tally in self.tallies {
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = std::mem::take(&mut *tally);
            drop(tally);
            interval.merge(&taken);
        }
        let since = elapsed.saturating_sub(self.told_at);
        if self.plan.has_status {
            let progress = Progress {
                elapsed,
                elapsed_since: since,
                ops,
                ops_since: ops.saturating_sub(self.told_ops),
                ops_left: self
                    .plan
                    .operations
                    .map_or(0, |all| all.saturating_sub(ops)),
            };
            let now = SystemTime::now();
            let line = status::line(&self.plan.label, now, &progress, &interval);
            // A line that cannot be told is no reason to stop measuring.
            let _ = self.remarks.line(&line);
        }
        self.total.merge(&interval);
        (self.told_at, self.told_ops) = (elapsed, ops);
    }
}
