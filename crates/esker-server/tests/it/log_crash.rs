//! The shared log through power cuts and faults at every call.

use std::path::Path;
use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker_server::disk_log::{DiskLog, DiskLogOptions, Opened};

use crate::log_model::{Model, Work};

/// Small segments, so that they change all the time.
const OPTIONS: DiskLogOptions = DiskLogOptions {
    segment_bytes: 256 << 10,
};

const DIR: &str = "/raft";

fn open(env: &Env) -> esker::Result<(DiskLog, Opened)> {
    DiskLog::open(env, Path::new(DIR), OPTIONS)
}

fn reopen(world: &SimWorld, work: &mut Work, told: &str) -> DiskLog {
    let (log, opened) = open(&world.env()).unwrap();
    assert!(opened.loss.is_none(), "{told}: {:?}", opened.loss);
    work.settle(Model::seen(log.reader()), told);
    log
}

fn steps(work: &mut Work, log: &mut DiskLog, count: usize) -> esker::Result<()> {
    (0..count).try_for_each(|_| work.step(log))
}

#[test]
fn a_log_holds_what_it_was_told_and_does_so_after_it_is_closed() {
    for seed in 0..20 {
        let world = SimWorld::new(seed);
        let mut work = Work::new(Model::default(), seed);
        let mut log = open(&world.env()).unwrap().0;
        for round in 0..4 {
            for _ in 0..60 {
                work.step(&mut log).unwrap();
                assert!(Model::seen(log.reader()) == *work.now(), "seed {seed}");
            }
            log.sync().unwrap();
            work.durable = work.history.len() - 1;
            drop(log);
            log = reopen(&world, &mut work, &format!("seed {seed}, round {round}"));
        }
    }
}

#[test]
fn whatever_call_the_power_fails_at_nothing_durable_is_lost() {
    // Twice in a row: the second time on what the first one left, recovery included.
    for (seed, mode) in (0..).zip(CrashMode::ALL) {
        let mut cuts = 0;
        for skip in (0..).step_by(3) {
            let told = format!("{mode:?}, power off at call {skip}");
            let world = SimWorld::new(seed);
            let faults = FaultFs::over_sim(&world.fs, seed);
            faults.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
            let env = world.env_with(Arc::new(faults.clone()));
            let mut work = Work::new(Model::default(), seed);
            let ran = open(&env).and_then(|(mut log, _)| steps(&mut work, &mut log, 60));
            if ran.is_ok() && !faults.is_off() {
                break;
            }
            cuts += 1;
            let world = world.after_crash(mode, skip);
            let again = FaultFs::over_sim(&world.fs, seed);
            let second = 1 + skip * 7 % 23;
            again.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, second)]);
            let env = world.env_with(Arc::new(again.clone()));
            if let Ok((mut log, opened)) = open(&env) {
                assert!(opened.loss.is_none(), "{told}: {:?}", opened.loss);
                work.settle(Model::seen(log.reader()), &told);
                let _off = steps(&mut work, &mut log, 30);
            }
            let world = world.after_crash(mode, skip + 1);
            let mut log = reopen(&world, &mut work, &format!("{told}, then at {second}"));
            steps(&mut work, &mut log, 20).unwrap();
            assert!(Model::seen(log.reader()) == *work.now(), "{told}");
        }
        assert!(cuts > 20, "only {cuts} power cuts");
    }
}

#[test]
fn whatever_call_fails_what_was_durable_stays_and_nothing_else_is_shown() {
    let faults_of = [
        (Fault::Io, Calls::Mutating),
        (Fault::NoSpace, Calls::Mutating),
        (Fault::ShortWrite, Calls::Mutating),
        (Fault::LostSync, Calls::Mutating),
        (Fault::NoFiles, Calls::All),
    ];
    for (seed, (fault, calls)) in (0..).zip(faults_of) {
        let mut hits = 0;
        for skip in (0..).step_by(2) {
            let told = format!("{fault:?} at call {skip}");
            let world = SimWorld::new(seed);
            let faults = FaultFs::over_sim(&world.fs, seed);
            faults.set_plans(vec![Plan::once(fault, calls, skip)]);
            let env = world.env_with(Arc::new(faults.clone()));
            let mut work = Work::new(Model::default(), 70 + seed);
            let opened = open(&env);
            let mut log = opened.map(|(log, _)| log);
            let ran = match &mut log {
                Ok(log) => steps(&mut work, log, 60),
                Err(_) => Ok(()),
            };
            if faults.hit_count() == 0 {
                break;
            }
            hits += 1;
            if let (Ok(log), Err(error)) = (&mut log, &ran) {
                // For want of space or files it goes on, else it takes nothing more.
                let goes_on = error.is_shortage();
                assert_eq!(log.sync().is_ok(), goes_on, "{told}: {error}");
                assert_eq!(log.append(&[]).is_ok(), goes_on, "{told}: {error}");
            }
            drop(log);
            let mode = CrashMode::ALL[skip as usize / 2 % CrashMode::ALL.len()];
            let world = world.after_crash(mode, skip);
            let mut log = reopen(&world, &mut work, &told);
            steps(&mut work, &mut log, 10).unwrap();
        }
        assert!(hits > 20, "{fault:?}: only {hits}");
    }
}

// Lives that end by kills and power cuts, each upon what the one before left.
fn live_many(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut world = SimWorld::new(seed);
        let mut work = Work::new(Model::default(), seed);
        let mut log = open(&world.env()).unwrap().0;
        for life in 0..8 {
            let count = match life % 4 {
                3 => 0,
                _ => (seed as usize * 31 + life * 17) % 80,
            };
            steps(&mut work, &mut log, count).unwrap();
            drop(log);
            let mode = CrashMode::ALL[(seed as usize + life) % CrashMode::ALL.len()];
            world = match life % 3 {
                0 => {
                    work.durable = work.history.len() - 1;
                    world.after_kill()
                }
                _ => world.after_crash(mode, seed * 8 + life as u64),
            };
            let told = format!("seed {seed}, life {life}, {mode:?}");
            log = reopen(&world, &mut work, &told);
        }
    }
}

#[test]
fn a_log_lives_through_kills_and_power_cuts_in_a_row() {
    live_many(0..150);
}

#[test]
#[ignore = "minutes: for make soak"]
fn soak_many_lives_of_a_log() {
    live_many(1000..6000);
}
