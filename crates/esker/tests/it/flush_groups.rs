//! Flushes of many keyspaces at once: what they share, and what faults and crashes leave of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimFs, SimWorld};
use esker::{Db, Keyspace, OwnLog};

use crate::marks::{builder_in, unlogged};
use crate::watched_fs::{Eye, Lie, WatchedFs};

const COUNT: usize = 30;

/// A log that has everything.
struct Durable;

impl OwnLog for Durable {
    fn is_durable(&self, _: &str, _: &[u8]) -> bool {
        true
    }
}

fn name(number: usize) -> String {
    format!("replica {number:02}")
}

// A database with a row and its mark in memory of each of many unlogged keyspaces.
fn filled(world: &SimWorld, fs: Arc<dyn Fs>) -> (Db, Vec<Keyspace>) {
    let builder = builder_in(world.env_with(fs)).own_log(Arc::new(Durable));
    let db = builder.open().unwrap();
    let fill = |number| {
        let replica = db.keyspace_with(&name(number), unlogged()).unwrap();
        apply(&db, &replica, 1);
        replica
    };
    let all = (0..COUNT).map(fill).collect();
    world.pool.run_all();
    (db, all)
}

fn apply(db: &Db, replica: &Keyspace, row: u8) {
    let mut batch = db.batch();
    batch.put(replica, [row], [row]);
    batch.mark(replica, [row]);
    batch.commit().unwrap();
}

fn flushed(replica: &Keyspace) -> Option<u8> {
    replica.flushed_mark().unwrap().map(|mark| mark[0])
}

// Each keyspace has what its mark says; gives how many have something.
fn check(disk: &SimFs, world: &SimWorld) -> usize {
    let after = SimWorld::with_disk(disk.clone(), Arc::clone(&world.clock), 1);
    let db = builder_in(after.env()).open().unwrap();
    let rows = |number| {
        let replica = db.existing_keyspace(&name(number)).unwrap();
        // What cannot be read is no row.
        let rows = replica.iter().unwrap().map(Result::unwrap).count();
        assert_eq!(rows, flushed(&replica).map_or(0, usize::from), "{number}");
        rows
    };
    let sum = (0..COUNT).map(rows).sum();
    disk.power_off();
    sum
}

#[test]
fn what_is_due_together_shares_the_edit_and_the_sync_of_the_directory() {
    // Every keyspace is asked for on its own; the files of all are named by one edit behind one
    // sync of the directory. At each call of the disk a crash leaves all of them or none.
    let world = SimWorld::new(1);
    let counts: Arc<[AtomicU64; 4]> = Arc::default();
    let (is_on, clock) = (Arc::new(AtomicBool::new(false)), Arc::clone(&world.clock));
    let (counted, watched) = (Arc::clone(&counts), Arc::clone(&is_on));
    let eye: Eye = Arc::new(move |sim, doing| {
        if !watched.load(Ordering::SeqCst) {
            return;
        }
        let is_of = [
            doing.starts_with("sync MANIFEST"),
            doing.starts_with("sync directory"),
            doing.starts_with("sync") && doing.ends_with(".sst"),
        ];
        for (count, _) in counted.iter().zip(is_of).filter(|(_, is_it)| *is_it) {
            count.fetch_add(1, Ordering::SeqCst);
        }
        let call = counted[3].fetch_add(1, Ordering::SeqCst);
        for mode in CrashMode::ALL {
            let disk = sim.crash_image(mode, call);
            let world = SimWorld::with_disk(disk.clone(), Arc::clone(&clock), call);
            let sum = check(&disk, &world);
            assert!(sum == 0 || sum == COUNT, "{mode:?} before {doing}: {sum}");
        }
    });
    let fs = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let (db, all) = filled(&world, Arc::new(fs.clone()));
    for replica in &all {
        replica.flush_soon().unwrap();
    }
    is_on.store(true, Ordering::SeqCst);
    world.pool.run_all();
    is_on.store(false, Ordering::SeqCst);
    assert!(all.iter().all(|replica| flushed(replica) == Some(1)));
    let counts = [0, 1, 2].map(|place: usize| counts[place].load(Ordering::SeqCst));
    assert_eq!(counts, [1, 1, COUNT as u64]);
    // And behind the last call: what the edit names is there.
    for mode in CrashMode::ALL {
        assert_eq!(check(&world.fs.crash_image(mode, 1), &world), COUNT);
    }
    db.close().unwrap();
}

#[test]
fn a_fault_at_any_call_of_a_group_costs_none_of_them_anything() {
    for fault in [Fault::NoSpace, Fault::NoFiles, Fault::Io, Fault::LostSync] {
        let mut skip = 0;
        while is_borne(fault, skip) {
            skip += 1;
        }
        // Each file is made, written and synced; then the directory and the manifest are.
        assert!(skip > 3 * COUNT as u64, "{fault:?}: {skip} calls");
    }
}

// Whether the call was met.
fn is_borne(fault: Fault, skip: u64) -> bool {
    let world = SimWorld::new(skip);
    let faults = FaultFs::over_sim(&world.fs, skip);
    let (db, all) = filled(&world, Arc::new(faults.clone()));
    for replica in &all {
        replica.flush_soon().unwrap();
    }
    faults.set_plans(vec![Plan::once(fault, Calls::Mutating, skip)]);
    world.pool.run_all();
    let is_met = faults.hit_count() > 0;
    faults.set_plans(Vec::new());
    if db.stats().state != "faulted" {
        // For want of space or files: it is made up for, and nothing is left of the first try.
        db.flush_all().unwrap();
        assert!(all.iter().all(|replica| flushed(replica) == Some(1)));
        let names = world.fs.list("/db".as_ref()).unwrap();
        let files = names.iter().filter(|name| name.ends_with(".sst"));
        assert_eq!(files.count(), COUNT, "{fault:?} at {skip}");
    }
    let disk = world.fs.crash(CrashMode::LoseUnsynced, skip);
    let sum = check(&disk, &world);
    assert!(sum == 0 || sum == COUNT, "{fault:?} at {skip}: {sum}");
    is_met
}

#[test]
fn flushing_all_keyspaces_that_are_logged_shares_as_much() {
    let world = SimWorld::new(2);
    let counted = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&counted);
    let eye: Eye = Arc::new(move |_, doing| {
        let is_it = doing.starts_with("sync directory");
        count.fetch_add(u64::from(is_it), Ordering::SeqCst);
    });
    let fs = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let db = Db::builder("/db").env(world.env_with(Arc::new(fs))).open();
    let db = db.unwrap();
    for number in 0..COUNT {
        let keyspace = db.keyspace(&name(number)).unwrap();
        keyspace.put("a", "1").unwrap();
    }
    world.pool.run_all();
    let before = counted.load(Ordering::SeqCst);
    db.flush_all().unwrap();
    assert_eq!(counted.load(Ordering::SeqCst) - before, 1);
    db.close().unwrap();
}

/// A log that answers about one keyspace when it is let go, and about another when the one that was
/// asked for between the two is flushed.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    between: Mutex<Option<Keyspace>>,
}

#[derive(Default)]
struct State {
    is_asked: bool,
    is_let_go: bool,
    /// Whether the one between was flushed during the last question.
    is_flushed_meanwhile: Option<bool>,
}

impl OwnLog for Gate {
    fn is_durable(&self, keyspace: &str, _: &[u8]) -> bool {
        let mut state = self.state.lock().unwrap();
        if keyspace == name(0) {
            state.is_asked = true;
            self.changed.notify_all();
            state = self
                .changed
                .wait_while(state, |state| !state.is_let_go)
                .unwrap();
        }
        if keyspace == name(2) {
            let between = self.between.lock().unwrap().clone().unwrap();
            // Ten seconds at the most.
            for _ in 0..1000 {
                if flushed(&between) == Some(1) {
                    break;
                }
                let moment = Duration::from_millis(10);
                state = self.changed.wait_timeout(state, moment).unwrap().0;
            }
            state.is_flushed_meanwhile = Some(flushed(&between) == Some(1));
            self.changed.notify_all();
        }
        true
    }
}

#[test]
fn a_flush_does_not_wait_for_a_slow_answer_about_another_keyspace() {
    let dir = tempfile::tempdir().unwrap();
    let log = Arc::<Gate>::default();
    let own = Arc::<Gate>::clone(&log);
    let db = Db::builder(dir.path()).own_log(own).open().unwrap();
    let make = |number| db.keyspace_with(&name(number), unlogged()).unwrap();
    let all: Vec<Keyspace> = (0..3).map(make).collect();
    *log.between.lock().unwrap() = Some(all[1].clone());
    apply(&db, &all[0], 1);
    all[0].flush_soon().unwrap();
    let state = log.state.lock().unwrap();
    drop(
        log.changed
            .wait_while(state, |state| !state.is_asked)
            .unwrap(),
    );
    // These are asked for one after the other when the first question has its answer.
    for replica in &all[1..] {
        apply(&db, replica, 1);
        replica.flush_soon().unwrap();
    }
    let mut state = log.state.lock().unwrap();
    state.is_let_go = true;
    log.changed.notify_all();
    // Nothing else wakes the background until the last question has its answer.
    let is_open = |state: &mut State| state.is_flushed_meanwhile.is_none();
    let state = log.changed.wait_while(state, is_open).unwrap();
    assert_eq!(state.is_flushed_meanwhile, Some(true));
    drop(state);
    *log.between.lock().unwrap() = None;
    db.close().unwrap();
}
