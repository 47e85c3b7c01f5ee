//! The fault sweep: every call of the file system fails in turn, and nothing worse comes of it.
//!
//! Of a workload, and of an opening after a kill with some more work behind it, each call is
//! failed: every second one once, and those between from then on, each in a run of its own. The
//! soak does both at every call, with more workloads. One run costs about 10 ms of one core in the
//! dev profile, all of them together about 20 s. What is not swept here: a second, other fault
//! behind the first, and the real file system (`tests/it/kill.rs`).

use std::iter::StepBy;
use std::ops::RangeFrom;
use std::sync::{Arc, Mutex};

use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs};
use esker::{Durability, ErrorKind, WriteOptions};

use crate::journal::{Journal, Loss};
use crate::seeds;
use crate::workload::{Stage, patient_env};

/// Writes of one run: enough for two segments, some flushes and a compaction.
const WRITES: usize = 70;

/// Writes of one run after an opening: the flushes that the opening asked for run among them.
const REOPENED_WRITES: usize = 12;

/// What goes wrong.
const FAULTS: [Fault; 4] = [
    Fault::Io,
    Fault::NoSpace,
    Fault::ShortWrite,
    Fault::LostSync,
];

/// One fault in one run.
#[derive(Clone, Copy, Debug)]
struct Trial {
    seed: u64,
    fault: Fault,
    is_sticky: bool,
    /// How many calls pass before the fault.
    skip: u64,
}

impl Trial {
    fn plan(self) -> Plan {
        let calls = match self.fault {
            Fault::ShortWrite => Calls::Of(CallClass::Write),
            Fault::LostSync => Calls::Of(CallClass::Sync),
            Fault::NoSpace => Calls::Mutating,
            _ => Calls::All,
        };
        if self.is_sticky {
            Plan::sticky(self.fault, calls, self.skip)
        } else {
            Plan::once(self.fault, calls, self.skip)
        }
    }

    // Whether the fault was met; or what was wrong.
    fn run(self) -> Result<bool, String> {
        let mut stage = Stage::new(self.seed);
        stage.is_strict = false;
        let faults = FaultFs::over_sim(&stage.sim, self.seed);
        faults.set_plans(vec![self.plan()]);
        let world = stage.world();
        let env = patient_env(&world, Arc::new(faults.clone()));
        if let Err(error) = stage.open_in(env.clone()) {
            check_kind(error.kind())?;
            faults.set_plans(Vec::new());
            if self.is_sticky || faults.hit_count() == 0 {
                return Ok(faults.hit_count() > 0);
            }
            // A database that was not created can be created.
            stage
                .open_in(env)
                .map_err(|error| format!("second open: {error}"))?;
        }
        play(&mut stage);
        let errors = std::mem::take(&mut stage.errors);
        errors.into_iter().try_for_each(check_kind)?;
        let is_met = faults.hit_count() > 0;
        faults.set_plans(Vec::new());
        if is_met {
            self.resumes(&mut stage)?;
        }
        self.outlives(stage)?;
        Ok(is_met)
    }

    // As `run`, for a database that a killed process left: the fault is met while it is opened,
    // or by the work that follows.
    fn run_on(self, left: &Stage) -> Result<bool, String> {
        let mut stage = again(left, self.seed);
        stage.is_strict = false;
        let faults = FaultFs::over_sim(&stage.sim, self.seed);
        faults.set_plans(vec![self.plan()]);
        let env = patient_env(&stage.world(), Arc::new(faults.clone()));
        match stage.open_in(env) {
            Err(error) => check_kind(error.kind())?,
            Ok(()) => {
                for _ in 0..REOPENED_WRITES {
                    stage.write(0);
                    stage.between();
                }
                stage.flush();
                stage.close();
            }
        }
        let errors = std::mem::take(&mut stage.errors);
        errors.into_iter().try_for_each(check_kind)?;
        faults.set_plans(Vec::new());
        self.outlives(stage)?;
        Ok(faults.hit_count() > 0)
    }

    // With the fault gone, reads go on; and writes do, or are refused for good.
    fn resumes(self, stage: &mut Stage) -> Result<(), String> {
        if stage.db.is_none() {
            return Ok(());
        }
        stage
            .compare(Loss::Kill)
            .map_err(|error| format!("reading on: {error}"))?;
        stage.write_as(Durability::Buffered, 0);
        let is_faulted = stage.db.as_ref().unwrap().stats().state == "faulted";
        match stage.errors.pop() {
            None => Ok(()),
            Some(ErrorKind::Faulted) if is_faulted => {
                stage.write_as(Durability::Buffered, 0);
                match stage.errors.pop() {
                    Some(ErrorKind::Faulted) => Ok(()),
                    other => Err(format!("after a fault a write gave {other:?}")),
                }
            }
            Some(kind) => Err(format!("writes did not resume: {kind:?}")),
        }
    }

    // Killed or without power, the store is intact afterwards.
    fn outlives(self, mut stage: Stage) -> Result<(), String> {
        stage.balance.check()?;
        let journal: Journal = stage.journal.lock().unwrap().clone();
        let image = stage.sim.crash_image(CrashMode::Sectors, self.skip);
        let clock = crate::workload::copy_of(&stage.clock);
        let dark = Stage::over(image, clock, Arc::new(Mutex::new(journal)), 0);
        stage.errors.clear();
        stage.die();
        stage
            .open()
            .map_err(|error| format!("reopening: {error}"))?;
        stage.compare(Loss::Kill)?;
        stage.close();
        if let Some(kind) = stage.errors.pop() {
            return Err(format!("closing gave {kind:?}"));
        }
        let mut dark = dark;
        dark.open()
            .map_err(|error| format!("opening after a power cut: {error}"))?;
        dark.compare(Loss::PowerCut)?;
        dark.leave();
        Ok(())
    }
}

fn play(stage: &mut Stage) {
    for turn in 0..WRITES {
        match turn {
            5 => stage.create("b", "uint64add"),
            30 => stage.create("c", "append:,"),
            55 => stage.drop_keyspace("c"),
            _ => {}
        }
        stage.write(if turn % 4 == 0 { 3_000 } else { 0 });
        stage.between();
    }
}

fn check_kind(kind: ErrorKind) -> Result<(), String> {
    match kind {
        ErrorKind::Io | ErrorKind::OutOfSpace | ErrorKind::Faulted => Ok(()),
        other => Err(format!("an error of kind {other:?}")),
    }
}

// Every second call of the workload fails, in a run of its own.
fn sweep(fault: Fault, is_sticky: bool) {
    for seed in seeds::from(1) {
        sweep_with(seed, fault, is_sticky, every_second(is_sticky), Trial::run);
    }
}

// Which calls: where one fails once, the next one fails for ever.
fn every_second(is_sticky: bool) -> StepBy<RangeFrom<u64>> {
    (u64::from(is_sticky)..).step_by(2)
}

// What a killed process left, not opened; the journal knows what is still there.
fn left_by_a_kill(seed: u64) -> Stage {
    let mut killed = Stage::new(seed);
    killed.open().unwrap();
    play(&mut killed);
    let mut found = again(&killed, seed);
    found.open().unwrap();
    let present = found.compare(Loss::Kill).unwrap();
    found.settle(&present);
    killed.journal = Arc::clone(&found.journal);
    found.leave();
    killed
}

// A disk with the same on it, and a journal that goes its own way.
fn again(left: &Stage, seed: u64) -> Stage {
    let journal = left.journal.lock().unwrap().clone();
    let image = left.sim.crash_image(CrashMode::KeepAll, 0);
    let clock = crate::workload::copy_of(&left.clock);
    Stage::over(image, clock, Arc::new(Mutex::new(journal)), seed)
}

// Every second call of an opening after a kill fails, in a run of its own.
fn sweep_reopening(fault: Fault, is_sticky: bool) {
    for seed in seeds::from(1) {
        let left = left_by_a_kill(seed);
        let skips = every_second(is_sticky);
        sweep_with(seed, fault, is_sticky, skips, |trial| trial.run_on(&left));
        left.leave();
    }
}

fn sweep_with(
    seed: u64,
    fault: Fault,
    is_sticky: bool,
    skips: impl Iterator<Item = u64>,
    run: impl Fn(Trial) -> Result<bool, String>,
) {
    let began = std::time::Instant::now();
    let mut trial_count = 0;
    for skip in skips {
        let trial = Trial {
            seed,
            fault,
            is_sticky,
            skip,
        };
        match run(trial) {
            Ok(true) => trial_count += 1,
            Ok(false) => break,
            Err(error) => panic!("{error}; {trial:?}"),
        }
    }
    assert!(trial_count > 10, "hardly a call was there to fail");
    println!(
        "{fault:?}, sticky {is_sticky}: {trial_count} faults survived in {:?}",
        began.elapsed()
    );
}

#[test]
fn any_call_may_fail_once() {
    // A read, a write, a sync, a look at the directory: each in turn.
    sweep(Fault::Io, false);
}

#[test]
fn any_call_may_fail_for_ever() {
    // From some call on, nothing works any more.
    sweep(Fault::Io, true);
}

#[test]
fn any_call_may_find_the_disk_full_once() {
    // Somebody else took the last block, and gave it back.
    sweep(Fault::NoSpace, false);
}

#[test]
fn any_call_may_find_the_disk_full_for_ever() {
    // From some call on, nothing can be changed any more.
    sweep(Fault::NoSpace, true);
}

#[test]
fn any_write_may_be_cut_short() {
    // A part of the bytes is there, and the caller is told that it failed; once, or each time.
    for is_sticky in [false, true] {
        sweep(Fault::ShortWrite, is_sticky);
    }
}

#[test]
fn any_sync_may_fail_and_lose_what_it_should_keep() {
    // After it the page cache says that all is well.
    for is_sticky in [false, true] {
        sweep(Fault::LostSync, is_sticky);
    }
}

#[test]
fn any_call_of_an_opening_may_fail() {
    // A killed process left logs, a manifest and sorted files: the log is read back, segments
    // are adopted, and what lies about is cleared away. Whatever fails of that, once or for
    // ever, an opening without faults finds everything.
    for is_sticky in [false, true] {
        sweep_reopening(Fault::Io, is_sticky);
    }
}

#[test]
fn any_change_of_an_opening_may_fail() {
    // As before: no space, torn writes, lost syncs.
    for is_sticky in [false, true] {
        sweep_reopening(Fault::NoSpace, is_sticky);
        sweep_reopening(Fault::ShortWrite, is_sticky);
        sweep_reopening(Fault::LostSync, is_sticky);
    }
}

#[test]
#[ignore = "soak: many workloads"]
fn soak_fault_sweep() {
    for seed in 100..100 + seeds::count().max(20) {
        for is_sticky in [false, true] {
            for fault in FAULTS {
                sweep_with(seed, fault, is_sticky, 0.., Trial::run);
            }
        }
    }
    for seed in 200..200 + seeds::count().max(4) {
        let left = left_by_a_kill(seed);
        for is_sticky in [false, true] {
            for fault in FAULTS {
                sweep_with(seed, fault, is_sticky, 0.., |trial| trial.run_on(&left));
            }
        }
        left.leave();
    }
}

#[test]
fn a_full_disk_refuses_writes_and_lets_them_pass_again() {
    // Space runs out under load: writes are refused before anything breaks, reads go on, and
    // with space again writes pass without reopening.
    for seed in seeds::from(7) {
        let mut stage = Stage::new(seed);
        stage.open().unwrap();
        play(&mut stage);
        stage.is_strict = false;
        for round in 0..4u64 {
            // More than is kept in reserve, so that it is met under way.
            stage.sim.set_free_bytes((65 << 20) + (round << 17));
            let mut refused_at = None;
            for turn in 0..400 {
                let error_count = stage.errors.len();
                stage.write(4_000);
                if stage.errors.len() > error_count {
                    let state = stage.db.as_ref().unwrap().stats().state;
                    assert_eq!(state, "out of space", "seed {seed}");
                }
                stage.between();
                if !stage.errors.is_empty() {
                    refused_at.get_or_insert(turn);
                    if turn > refused_at.unwrap() + 20 {
                        break;
                    }
                }
            }
            let refused = std::mem::take(&mut stage.errors);
            assert!(refused_at.is_some(), "the disk was never full, seed {seed}");
            let is_full = |kind: &ErrorKind| *kind == ErrorKind::OutOfSpace;
            assert!(refused.iter().all(is_full), "{refused:?}, seed {seed}");
            stage.compare(Loss::Kill).unwrap();
            stage.sim.set_free_bytes(1 << 40);
            for _ in 0..20 {
                stage.write(0);
                stage.between();
            }
            assert_eq!(stage.errors, [], "writes did not resume, seed {seed}");
        }
        stage.close();
        stage.open().unwrap();
        stage.compare(Loss::PowerCut).unwrap();
        stage.leave();
    }
}

#[test]
fn a_disk_full_to_the_last_byte_breaks_nothing() {
    // No reserve is left at all when it is noticed: flushes fail, files cannot be made.
    for seed in seeds::from(11) {
        let mut stage = Stage::new(seed);
        stage.open().unwrap();
        play(&mut stage);
        stage.is_strict = false;
        stage.sim.set_free_bytes(seed % 7 * 5_000);
        for _ in 0..60 {
            stage.write(4_000);
            stage.between();
        }
        let errors = std::mem::take(&mut stage.errors);
        let is_full = |kind: &ErrorKind| *kind == ErrorKind::OutOfSpace;
        assert!(errors.iter().all(is_full), "{errors:?}, seed {seed}");
        assert!(!errors.is_empty());
        stage.compare(Loss::Kill).unwrap();
        stage.sim.set_free_bytes(1 << 40);
        for _ in 0..20 {
            stage.write(0);
            stage.between();
        }
        assert_eq!(stage.errors, [], "writes did not resume, seed {seed}");
        stage.is_strict = true;
        stage.kill();
        stage.leave();
    }
}

#[test]
fn the_first_cause_is_kept_until_reopening() {
    // A sync fails, then everything works again: nothing is believed until reopening.
    let mut stage = Stage::new(3);
    let faults = FaultFs::over_sim(&stage.sim, 3);
    let env = patient_env(&stage.world(), Arc::new(faults.clone()));
    stage.open_in(env).unwrap();
    stage.write_as(Durability::Buffered, 0);
    faults.set_plans(vec![Plan::once(
        Fault::LostSync,
        Calls::Of(CallClass::Sync),
        0,
    )]);
    let db = stage.db.clone().unwrap();
    let sync = WriteOptions {
        durability: Some(Durability::Sync),
        ..WriteOptions::default()
    };
    let synced = db.with_write(sync);
    let first = synced.put("a", "1").unwrap_err();
    assert_eq!(first.kind(), ErrorKind::Faulted, "{first}");
    for _ in 0..3 {
        for error in [db.put("b", "2").unwrap_err(), db.sync().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Faulted);
            let text = format!("{error:?} {error}");
            assert!(text.contains("simulated failure of the medium"), "{text}");
        }
    }
    assert_eq!(db.stats().state, "faulted");
    stage.compare(Loss::Kill).unwrap_err();
    drop((db, synced));
    stage.die();
    stage.open().unwrap();
    stage.write_as(Durability::Sync, 0);
    stage.leave();
}
