//! Large values of an unlogged keyspace lie in segments that hold nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::db::inspect::vlog::vlog_in;
use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker::{Db, IngestOptions, Keyspace};

use crate::marks::{builder_in, unlogged};
use crate::seeds;

const DIR: &str = "/db";

const ROWS: usize = 120;
const VALUE_BYTES: usize = 3_000;

/// What may lie in segments beside the values: heads of records and of segments, keys.
const BESIDE_BYTES: u64 = 8_000;

fn open(world: &SimWorld) -> Db {
    builder_in(world.env()).open().unwrap()
}

fn replica(db: &Db, name: &str) -> Keyspace {
    db.keyspace_with(name, unlogged()).unwrap()
}

// No two are alike; the key says whose it is, and the value which.
fn row(name: &str, number: usize, round: u64) -> (String, Vec<u8>) {
    let seed = round << 32 | (number as u64) << 8 | u64::from(name.as_bytes()[0]);
    let value = Random::new(seed).bytes(VALUE_BYTES);
    (format!("{name}-{number:04}"), value)
}

fn fill(keyspaces: &[(&str, &Keyspace)], rows: usize, round: u64) {
    for number in 0..rows {
        for (name, keyspace) in keyspaces {
            let (key, value) = row(name, number, round);
            keyspace.put(key, value).unwrap();
        }
    }
}

fn check(keyspace: &Keyspace, name: &str, rows: usize, round: u64) {
    for number in 0..rows {
        let (key, value) = row(name, number, round);
        assert!(keyspace.get(&key).unwrap().unwrap() == value, "{key}");
    }
}

fn segments(fs: &dyn Fs, dir: &str) -> Vec<String> {
    let mut names = fs.list(Path::new(dir)).unwrap();
    names.retain(|name| name.ends_with(".vlog"));
    names.sort();
    names
}

fn segment_bytes(fs: &dyn Fs, dir: &str) -> u64 {
    let names = segments(fs, dir);
    let sizes = names
        .iter()
        .map(|name| fs.file_size(&Path::new(dir).join(name)));
    sizes.map(Result::unwrap).sum()
}

// Whose values lie in a segment, as their keys tell.
fn owners(world: &SimWorld, dir: &str, name: &str) -> BTreeSet<String> {
    let contents = vlog_in(&world.env(), &Path::new(dir).join(name)).unwrap();
    let keys = contents.values.iter().map(|value| value.key.to_vec());
    let keys = keys.map(|key| String::from_utf8(key).unwrap());
    keys.map(|key| key.split('-').next().unwrap().to_string())
        .collect()
}

fn assert_apart(world: &SimWorld) {
    for name in segments(&*world.env().fs, DIR) {
        let owners = owners(world, DIR, &name);
        let is_apart = owners.len() <= 1 || owners.iter().all(|owner| owner.starts_with("logged"));
        assert!(is_apart, "{name} has values of {owners:?}");
    }
}

#[test]
fn no_segment_has_values_of_an_unlogged_keyspace_and_of_another() {
    // Through flushes of values and of memtables, compactions, closings and kills.
    for seed in seeds::from(1) {
        let mut world = SimWorld::new(seed);
        let mut random = Random::new(seed);
        for life in 0..3 {
            let db = open(&world);
            let all = ["a", "b", "logged one", "logged two"].map(|name| {
                let keyspace = match name.starts_with("logged") {
                    true => db.keyspace(name).unwrap(),
                    false => replica(&db, name),
                };
                (name, keyspace)
            });
            for _ in 0..400 {
                let (name, keyspace) = &all[random.below(4) as usize];
                let (key, value) = row(name, random.below(100) as usize, life);
                keyspace.put(key, value).unwrap();
                match random.below(60) {
                    0 => keyspace.flush().unwrap(),
                    1 => keyspace.compact::<&[u8]>(..).unwrap(),
                    2 => db.flush_all().unwrap(),
                    3..10 => drop(world.pool.run_one()),
                    _ => {}
                }
            }
            assert_apart(&world);
            assert!(db.verify().unwrap().is_whole());
            match life {
                0 => db.close().unwrap(),
                _ => {
                    let killed = world.fs.kill();
                    world = SimWorld::with_disk(killed, world.clock.clone(), seed + life);
                }
            }
        }
        let db = open(&world);
        assert!(db.verify().unwrap().is_whole());
        assert_apart(&world);
    }
}

#[test]
fn a_drop_gives_the_bytes_of_its_values_back_at_once() {
    // Flushed or not, and the segment that is being written to as well.
    for is_flushed in [true, false] {
        let world = SimWorld::new(3);
        let db = open(&world);
        let (a, b) = (replica(&db, "a"), replica(&db, "b"));
        fill(&[("a", &a), ("b", &b)], ROWS, 0);
        if is_flushed {
            db.flush_all().unwrap();
        }
        // A job under way reads files and memtables as any reader does.
        world.pool.run_all();
        let fs = world.env().fs;
        assert!(segment_bytes(&*fs, DIR) > (ROWS * VALUE_BYTES) as u64);
        drop(a);
        db.drop_keyspace("a").unwrap();
        for name in segments(&*fs, DIR) {
            assert!(!owners(&world, DIR, &name).contains("a"), "{name}");
        }
        check(&b, "b", ROWS, 0);
        db.flush_all().unwrap();
        world.pool.run_all();
        drop(b);
        db.drop_keyspace("b").unwrap();
        assert_eq!(segments(&*fs, DIR), [""; 0]);
        db.close().unwrap();
    }
}

#[test]
fn a_reader_of_a_dropped_keyspace_keeps_its_values() {
    // They go when he has gone, and the next flush looks.
    let world = SimWorld::new(4);
    let db = open(&world);
    let a = replica(&db, "a");
    fill(&[("a", &a)], ROWS, 0);
    a.flush().unwrap();
    fill(&[("a", &a)], 10, 1);
    world.pool.run_all();
    db.drop_keyspace("a").unwrap();
    let entries = a.iter().unwrap().map(Result::unwrap);
    for (number, (key, value)) in entries.enumerate() {
        let (expected, bytes) = row("a", number, u64::from(number < 10));
        assert!(
            key[..] == *expected.as_bytes() && value[..] == bytes[..],
            "{expected}"
        );
    }
    drop(a);
    db.put("k", "v").unwrap();
    db.flush_all().unwrap();
    world.pool.run_all();
    assert_eq!(segments(&*world.env().fs, DIR), [""; 0]);
}

#[test]
fn what_is_deleted_is_given_back_while_others_are_written_to() {
    // Without a rest, and without another write to the keyspace: a compaction finds it dead.
    let world = SimWorld::new(15);
    let db = open(&world);
    let (a, b) = (replica(&db, "a"), replica(&db, "b"));
    fill(&[("a", &a)], ROWS, 0);
    a.flush().unwrap();
    a.delete_range("a-".."b").unwrap();
    a.flush().unwrap();
    a.compact::<&[u8]>(..).unwrap();
    for round in 0..5 {
        fill(&[("b", &b)], 10, round);
        b.flush().unwrap();
        while world.pool.run_one() {}
    }
    for name in segments(&*world.env().fs, DIR) {
        assert!(!owners(&world, DIR, &name).contains("a"), "{name}");
    }
}

#[test]
fn an_export_has_the_values_of_its_keyspace_alone() {
    let world = SimWorld::new(5);
    let db = open(&world);
    let (a, b) = (replica(&db, "a"), replica(&db, "b"));
    for number in 0..ROWS {
        // Ten of the other beside each.
        fill(&[("b", &b)], 10, number as u64);
        let (key, value) = row("a", number, 0);
        a.put(key, value).unwrap();
    }
    a.export("/export").unwrap();
    let fs = world.env().fs;
    let names = segments(&*fs, "/export");
    assert!(!names.is_empty());
    for name in &names {
        let owners = owners(&world, "/export", name);
        assert_eq!(owners, BTreeSet::from(["a".to_string()]), "{name}");
    }
    let bytes = segment_bytes(&*fs, "/export");
    let values = (ROWS * VALUE_BYTES) as u64;
    assert!((values..values + BESIDE_BYTES).contains(&bytes), "{bytes}");
    // What is written behind it goes elsewhere, and the set is whole.
    fill(&[("a", &a)], ROWS, 1);
    a.flush().unwrap();
    assert_eq!(segment_bytes(&*fs, "/export"), bytes);
    let other = db.keyspace("other").unwrap();
    other.ingest("/export", &IngestOptions::default()).unwrap();
    check(&other, "a", ROWS, 0);
    check(&a, "a", ROWS, 1);
}

#[test]
fn what_was_flushed_survives_a_power_cut_and_nothing_else_is_needed() {
    // Another keyspace's flush, and a sync of the log, say nothing of its values.
    for (seed, mode) in (0..).zip(CrashMode::ALL) {
        let world = SimWorld::new(seed);
        let db = open(&world);
        let (a, b) = (replica(&db, "a"), replica(&db, "b"));
        fill(&[("a", &a), ("b", &b)], ROWS, 0);
        a.flush().unwrap();
        world.pool.run_all();
        db.put("k", "v").unwrap();
        let disk = world.fs.crash(mode, seed);
        let cut = SimWorld::with_disk(disk, world.clock.clone(), seed);
        let db = open(&cut);
        check(&replica(&db, "a"), "a", ROWS, 0);
        assert!(db.verify().unwrap().is_whole(), "{mode:?}");
        fill(&[("b", &replica(&db, "b"))], ROWS, 1);
        db.flush_all().unwrap();
        check(&replica(&db, "b"), "b", ROWS, 1);
    }
}

#[test]
fn whichever_call_of_a_flush_fails_what_files_point_to_is_there() {
    // Behind a power cut either nothing of it is there or all, and where the database went on, all.
    for fault in [Fault::Io, Fault::NoSpace, Fault::NoFiles, Fault::LostSync] {
        let mut skip = 0;
        while is_borne(fault, skip) {
            skip += 1;
        }
        // More than make two sorted files and their edit.
        assert!(skip > 12, "{fault:?}: {skip}");
    }
}

// Whether the call was met.
fn is_borne(fault: Fault, skip: u64) -> bool {
    let world = SimWorld::new(skip);
    let faults = FaultFs::over_sim(&world.fs, skip);
    let builder = builder_in(world.env_with(Arc::new(faults.clone())));
    let db = builder.open().unwrap();
    let (a, b) = (replica(&db, "a"), replica(&db, "b"));
    world.pool.run_all();
    fill(&[("a", &a), ("b", &b)], 20, 0);
    a.flush_soon().unwrap();
    b.flush_soon().unwrap();
    faults.set_plans(vec![Plan::once(fault, Calls::Mutating, skip)]);
    world.pool.run_all();
    let is_met = faults.hit_count() > 0;
    faults.set_plans(Vec::new());
    let is_faulted = db.stats().state == "faulted";
    if !is_faulted {
        db.flush_all().unwrap();
    }
    let disk = world.fs.crash(CrashMode::LoseUnsynced, skip);
    let cut = SimWorld::with_disk(disk, world.clock.clone(), skip);
    let db = open(&cut);
    assert!(db.verify().unwrap().is_whole(), "{fault:?} at {skip}");
    for name in ["a", "b"] {
        let keyspace = replica(&db, name);
        let count = keyspace.iter().unwrap().count();
        assert!(count == 20 || (is_faulted && count == 0), "{count}");
        check(&keyspace, name, count, 0);
    }
    is_met
}

#[test]
fn what_is_overwritten_behind_a_flush_goes_to_the_segment_that_is_open() {
    // The flush needs it all the same: each would have a segment of its own for it.
    let world = SimWorld::new(6);
    let db = open(&world);
    let a = replica(&db, "a");
    let fs = world.env().fs;
    let mut seen = BTreeSet::new();
    fill(&[("a", &a)], 1, 0);
    for round in 1..=20 {
        a.flush_soon().unwrap();
        fill(&[("a", &a)], 1, round);
        world.pool.run_all();
        seen.extend(segments(&*fs, DIR));
        check(&a, "a", 1, round);
    }
    // Each has room for five of them.
    assert!(seen.len() <= 6, "{seen:?}");
}

#[test]
fn a_rest_leaves_segments_open_that_take_little() {
    // Who writes a little to many between two rests would else have a segment for each value.
    let world = SimWorld::new(10);
    let db = open(&world);
    let names: Vec<String> = (0..100).map(|number| format!("{number:02}")).collect();
    let all: Vec<_> = names.iter().map(|name| replica(&db, name)).collect();
    for round in 0..10 {
        for (name, keyspace) in names.iter().zip(&all) {
            let (key, value) = row(name, round, 0);
            keyspace.put(key, value).unwrap();
        }
        db.flush_all().unwrap();
        for _ in 0..5 {
            world.clock.advance(Duration::from_secs(1));
            world.pool.run_all();
        }
    }
    // Each has room for five values.
    let count = segments(&*world.env().fs, DIR).len();
    assert!(count <= 200, "{count}");
    for (name, keyspace) in names.iter().zip(&all) {
        check(keyspace, name, 10, 0);
    }
}

#[test]
fn many_keyspaces_that_are_overwritten_stay_within_the_disk_limit() {
    // Nothing is given back of a segment that is written to, and each of them has one.
    let world = SimWorld::new(7);
    let mut builder = Db::builder(DIR).env(world.env());
    for (name, text) in [
        ("disk_limit", "16MiB"),
        ("value_log.segment_size", "1MiB"),
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "128KiB"),
        ("memory_limit", "4MiB"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let all = names.map(|name| (name, replica(&db, name)));
    let all: Vec<_> = all
        .iter()
        .map(|(name, keyspace)| (*name, keyspace))
        .collect();
    for round in 0..20 {
        fill(&all, 80, round);
    }
    for (name, keyspace) in all {
        check(keyspace, name, 80, 19);
    }
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn what_is_allocated_stays_within_the_disk_limit() {
    // Also for many that are small and overwritten: a segment is as large as what lives. What waits
    // in memory when the limit is reached is written all the same.
    let world = SimWorld::new(8);
    let mut builder = Db::builder(DIR).env(world.env());
    for (name, text) in [
        ("disk_limit", "16MiB"),
        ("value_log.segment_size", "1MiB"),
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "128KiB"),
        ("memory_limit", "4MiB"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let names: Vec<String> = (0..64).map(|number| format!("{number:02}")).collect();
    let all: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), replica(&db, name)))
        .collect();
    let all: Vec<_> = all
        .iter()
        .map(|(name, keyspace)| (*name, keyspace))
        .collect();
    let fs = world.env().fs;
    for round in 0..16 {
        fill(&all, 20, round);
        let bytes = segment_bytes(&*fs, DIR);
        assert!(bytes <= (16 << 20) + (2 << 20), "round {round}: {bytes}");
    }
}
