//! Level 0 while it cannot be merged down.

use std::sync::Arc;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::pool::{JobOrder, SimPool};
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::{Db, Readable};

const KEY_COUNT: u32 = 100;

/// Runs of level 0 that call for a merge, and that are many.
const TRIGGER: usize = 4;
const CROWD: usize = 4 * TRIGGER;

/// A database with a pool where no merge runs before all flushes have, and until somebody has
/// nothing else to do: as if it took that long.
fn open(world: &SimWorld) -> (Db, Arc<SimPool>) {
    let clock = Arc::clone(&world.clock);
    let pool = Arc::new(SimPool::new(clock, world.seed, JobOrder::ByPriority, 2));
    let env = Env {
        pool: Arc::clone(&pool) as _,
        ..world.env()
    };
    (Db::builder("db").env(env).open().unwrap(), pool)
}

/// Writes every third key anew, or deletes it, and makes a run of that.
fn flush_round(db: &Db, round: u32) {
    for number in (round % 3..KEY_COUNT).step_by(3) {
        let key = number.to_be_bytes();
        match (number + round) % 7 {
            0 => db.delete(key).unwrap(),
            _ => db.put(key, round.to_be_bytes()).unwrap(),
        }
    }
    db.flush().unwrap();
}

/// What is to be read after so many rounds.
fn expected(number: u32, round_count: u32) -> Option<u32> {
    let last = (0..round_count).rev().find(|round| number % 3 == round % 3);
    last.filter(|round| !(number + round).is_multiple_of(7))
}

fn check(reader: &impl Readable, round_count: u32) {
    for number in 0..KEY_COUNT {
        let value = reader.get(number.to_be_bytes()).unwrap();
        let expected = expected(number, round_count).map(|round| round.to_be_bytes().to_vec());
        assert_eq!(value.map(|value| value.to_vec()), expected, "key {number}");
    }
}

/// Runs of level 0.
fn run_count(db: &Db) -> usize {
    let stats = db.stats();
    let upper = stats.keyspaces[0]
        .levels
        .iter()
        .find(|level| level.depth == 0);
    upper.map_or(0, |level| level.run_count)
}

#[test]
fn runs_that_come_while_level_0_is_merged_are_gathered() {
    let world = SimWorld::new(1);
    let (db, pool) = open(&world);
    let mut most = 0;
    for round in 0..200 {
        let snapshot = db.snapshot();
        flush_round(&db, round);
        check(&snapshot, round);
        check(&*db, round + 1);
        most = most.max(run_count(&db));
    }
    assert!((CROWD..2 * CROWD).contains(&most), "{most} runs");
    pool.run_all();
    check(&*db, 200);
    assert!(run_count(&db) < TRIGGER);
}

#[test]
fn a_snapshot_reads_what_it_read_before_its_runs_were_merged_within_level_0() {
    let world = SimWorld::new(2);
    let (db, pool) = open(&world);
    let mut snapshots = Vec::new();
    for round in 0..60 {
        flush_round(&db, round);
        snapshots.push((db.snapshot(), round + 1));
    }
    pool.run_all();
    for (snapshot, round_count) in &snapshots {
        check(snapshot, *round_count);
    }
}

/// Opens what a dead process left, and finds what was flushed, before and after all is settled.
fn check_survivor(world: &SimWorld, round_count: u32) {
    let (db, pool) = open(world);
    check(&*db, round_count);
    pool.run_all();
    check(&*db, round_count);
    assert!(run_count(&db) < TRIGGER);
}

#[test]
fn a_process_may_be_killed_before_or_after_runs_were_merged_within_level_0() {
    for round_count in 15..30 {
        let world = SimWorld::new(u64::from(round_count));
        let (db, _) = open(&world);
        for round in 0..round_count {
            flush_round(&db, round);
        }
        check_survivor(&world.after_kill(), round_count);
    }
}

#[test]
fn the_power_may_fail_at_any_step_of_a_merge_within_level_0() {
    // Of what was written since the last sync each mode keeps something else: half a file, a
    // manifest that does not know it yet, or all of it.
    let modes = [
        CrashMode::LoseUnsynced,
        CrashMode::KeepAll,
        CrashMode::Prefix,
        CrashMode::Sectors,
        CrashMode::Pages,
    ];
    for (mode, seed) in modes.into_iter().flat_map(|mode| [mode; 30]).zip(0_u64..) {
        let world = SimWorld::new(seed);
        let (db, pool) = open(&world);
        let round_count = 20 + u32::try_from(seed % 3).unwrap();
        for round in 0..round_count {
            flush_round(&db, round);
        }
        for _ in 0..seed % 5 {
            pool.run_one();
        }
        check_survivor(&world.after_crash(mode, seed), round_count);
    }
}
