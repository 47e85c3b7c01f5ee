//! The fault sweep: every call of the file system fails in turn, and nothing worse comes of it.

use std::sync::Arc;

use esker::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::env::sim::{CrashMode, FaultFs};
use esker::{Durability, ErrorKind, WriteOptions};

use crate::journal::{Journal, Loss};
use crate::seeds;
use crate::workload::{Stage, patient_env};

/// Writes of one run: enough for two segments, some flushes and a compaction.
const WRITES: usize = 70;

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
        let journal: Journal = stage.journal.lock().unwrap().clone();
        let image = stage.sim.crash_image(CrashMode::Sectors, self.skip);
        let clock = crate::workload::copy_of(&stage.clock);
        let dark = Stage::over(image, clock, Arc::new(std::sync::Mutex::new(journal)), 0);
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

// One call in `step` fails.
fn sweep(fault: Fault, is_sticky: bool, step: u64) {
    let began = std::time::Instant::now();
    let mut trial_count = 0;
    for seed in seeds::from(1) {
        let mut skip = seed % step;
        loop {
            let trial = Trial {
                seed,
                fault,
                is_sticky,
                skip,
            };
            match trial.run() {
                Ok(true) => trial_count += 1,
                Ok(false) => break,
                Err(error) => panic!("{error}; {trial:?}"),
            }
            skip += step;
        }
    }
    println!(
        "{fault:?}, sticky {is_sticky}: {trial_count} faults survived in {:?}",
        began.elapsed()
    );
}

// An odd prime, so that of calls that come in twos both are met.
const SAMPLE: u64 = 5;

#[test]
fn any_call_may_fail_once() {
    // A read, a write, a sync, a look at the directory: each in turn.
    sweep(Fault::Io, false, SAMPLE);
}

#[test]
fn any_call_may_fail_for_ever() {
    // From some call on, nothing works any more.
    sweep(Fault::Io, true, SAMPLE);
}

#[test]
fn any_call_may_find_the_disk_full() {
    // Once, and from then on.
    for is_sticky in [false, true] {
        sweep(Fault::NoSpace, is_sticky, SAMPLE);
    }
}

#[test]
fn any_write_may_be_cut_short() {
    // A part of the bytes is there, and the caller is told that it failed.
    sweep(Fault::ShortWrite, false, 3);
}

#[test]
fn any_sync_may_fail_and_lose_what_it_should_keep() {
    // After it the page cache says that all is well.
    sweep(Fault::LostSync, false, 1);
}

#[test]
#[ignore = "soak: every call fails in every way"]
fn soak_fault_sweep() {
    for fault in [
        Fault::Io,
        Fault::NoSpace,
        Fault::ShortWrite,
        Fault::LostSync,
    ] {
        for is_sticky in [false, true] {
            sweep(fault, is_sticky, 1);
        }
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
                stage.write(4_000);
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
            assert_eq!(stage.db.as_ref().unwrap().stats().state, "out of space");
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
