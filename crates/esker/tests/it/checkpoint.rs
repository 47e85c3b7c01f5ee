//! Checkpoints: whole or absent, whatever happens meanwhile; and verification.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::crash::CrashMode;
use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::world::SimWorld;
use esker::{Db, ErrorKind, checkpoint_beside_in};

use crate::stored_bytes::flip;

type Contents = BTreeMap<String, Vec<(Vec<u8>, Vec<u8>)>>;

fn open(env: &Env, path: &str) -> Db {
    Db::builder(path).env(env.clone()).open().unwrap()
}

fn contents(db: &Db) -> Contents {
    let names = db.keyspaces().into_iter();
    let read = |name: String| {
        let entries = db.keyspace(&name).unwrap().iter().unwrap();
        let pairs = entries.map(|entry| entry.unwrap());
        let pairs = pairs.map(|(key, value)| (key.to_vec(), value.to_vec()));
        (name, pairs.collect())
    };
    names.map(read).collect()
}

// Sorted files, memtables and deletes in three keyspaces.
fn fill(db: &Db) {
    let logs = db.keyspace("logs").unwrap();
    db.keyspace("empty").unwrap();
    for number in 0..40 {
        db.put(format!("key{number:03}"), "x".repeat(100)).unwrap();
        logs.put(format!("{number:03}"), format!("line {number}"))
            .unwrap();
    }
    db.flush().unwrap();
    db.delete_range("key010".."key020").unwrap();
    logs.delete("007").unwrap();
    db.put("key999", "last").unwrap();
}

#[test]
fn a_checkpoint_holds_everything_and_lives_on_its_own() {
    // Checkpoint, then change and compact the source, drop a keyspace: the copy does not care,
    // takes writes of its own, and the source does not see them.
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env, "db");
    fill(&db);
    let before = contents(&db);
    db.checkpoint("copy").unwrap();
    assert_eq!(contents(&db), before);

    db.drop_keyspace("logs").unwrap();
    for number in 0..40 {
        db.put(format!("key{number:03}"), "other").unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    let after = contents(&db);

    let copy = open(&env, "copy");
    assert_eq!(contents(&copy), before);
    assert!(copy.verify().unwrap().is_whole());
    copy.put("own", "write").unwrap();
    copy.compact::<&[u8]>(..).unwrap();
    copy.close().unwrap();
    assert_eq!(contents(&open(&env, "copy"))["default"].len(), 32);
    assert_eq!(contents(&db), after);
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn a_checkpoint_of_a_checkpoint_is_a_database() {
    // On the real file system, where links are links.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let db = Db::open(path("db")).unwrap();
    fill(&db);
    db.checkpoint(path("a/b/one")).unwrap();
    let one = Db::open(path("a/b/one")).unwrap();
    one.put("more", "here").unwrap();
    one.checkpoint(path("two")).unwrap();
    drop(one);
    std::fs::remove_dir_all(path("a")).unwrap();
    let two = Db::open_read_only(path("two")).unwrap();
    assert_eq!(two.get("more").unwrap().unwrap(), "here");
    two.delete("more").unwrap_err();
    assert_eq!(two.keyspaces(), ["default", "empty", "logs"]);
    assert!(two.verify().unwrap().is_whole());
    assert!(db.get("more").unwrap().is_none());
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn a_batch_is_in_a_checkpoint_whole_or_not_at_all() {
    // Batches over two keyspaces while checkpoints are made: in each copy both keyspaces hold
    // the same numbers, from the first on without a gap.
    let dir = tempfile::tempdir().unwrap();
    let builder = Db::builder(dir.path().join("db"));
    let small = builder.set("memtable.size", "64KiB").unwrap();
    let db = small.open().unwrap();
    let (left, right) = (db.keyspace("left").unwrap(), db.keyspace("right").unwrap());
    let is_done = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (db, left, right, is_done) = (
            db.clone(),
            left.clone(),
            right.clone(),
            Arc::clone(&is_done),
        );
        move || {
            let mut number = 0u32;
            while !is_done.load(Ordering::Relaxed) {
                let mut batch = db.batch();
                batch.put(&left, number.to_be_bytes(), [1; 40]);
                batch.put(&right, number.to_be_bytes(), [2; 400]);
                batch.commit().unwrap();
                number += 1;
            }
            number
        }
    });
    let copies: Vec<_> = (0..4)
        .map(|index| dir.path().join(format!("copy{index}")))
        .collect();
    for copy in &copies {
        db.checkpoint(copy).unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    let written = writer.join().unwrap();
    let mut before = 0;
    for copy in &copies {
        let copy = Db::open(copy).unwrap();
        let count = |name: &str| copy.keyspace(name).unwrap().iter().unwrap().count();
        assert_eq!(count("left"), count("right"));
        let last = count("left");
        let mut keys = copy.keyspace("left").unwrap().iter().unwrap();
        let last_key = keys.next_back().map(|entry| entry.unwrap().0.to_vec());
        assert_eq!(
            last_key,
            last.checked_sub(1)
                .map(|it| (it as u32).to_be_bytes().to_vec())
        );
        assert!(last >= before && last <= written as usize);
        before = last;
    }
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn a_target_that_is_not_empty_is_refused() {
    // A file in it, another database, the source itself, a file in its place.
    let world = SimWorld::new(2);
    let env = world.env();
    let db = open(&env, "db");
    env.fs.create_dir_all(Path::new("full")).unwrap();
    env.fs.create(Path::new("full/notes.txt")).unwrap();
    let error = db.checkpoint("full").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let message =
        "full is not empty: it has notes.txt; name a directory that is empty or not there";
    assert_eq!(error.message(), message);
    assert_eq!(env.fs.list(Path::new("full")).unwrap(), ["notes.txt"]);

    let error = db.checkpoint("db").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let error = db.checkpoint("full/notes.txt").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    env.fs.create_dir_all(Path::new("empty")).unwrap();
    db.checkpoint("empty").unwrap();
    assert_eq!(
        db.checkpoint("empty").unwrap_err().kind(),
        ErrorKind::Invalid
    );
    db.close().unwrap();
    assert_eq!(db.checkpoint("late").unwrap_err().kind(), ErrorKind::Closed);
    assert!(!env.fs.exists(Path::new("late")).unwrap());
}

#[test]
fn where_links_fail_files_are_copied() {
    // Every link fails; the copy is a database all the same.
    let world = SimWorld::new(3);
    let fault = FaultFs::over_sim(&world.fs, 3);
    let env = world.env_with(Arc::new(fault.clone()));
    let db = open(&env, "db");
    fill(&db);
    let before = contents(&db);
    db.flush_all().unwrap();
    // Of the calls on names of sorted files every other one is the copy's creation.
    let once = |skip| Plan::once(Fault::Io, Calls::Of(CallClass::Meta), skip).in_files(".sst");
    fault.set_plans((0..3).map(|index| once(index * 2)).collect());
    let hits = fault.hit_count();
    db.checkpoint("copy").unwrap();
    assert!(fault.hit_count() >= hits + 2);
    fault.set_plans(Vec::new());
    assert_eq!(contents(&open(&world.env(), "copy")), before);
}

// Opens both databases after a checkpoint that went wrong: the source is whole, the copy is
// whole or no database, and then it can be made again in the same place.
fn check_after(world: &SimWorld, before: &Contents, what: &str) {
    let env = world.env();
    let source = open(&env, "db");
    assert_eq!(&contents(&source), before, "the source, {what}");
    assert!(source.verify().unwrap().is_whole(), "the source, {what}");
    let is_there = env.fs.exists(Path::new("copy/CURRENT")).unwrap();
    let copy = Db::builder("copy")
        .env(env.clone())
        .create_if_missing(false);
    match copy.open() {
        Ok(copy) => {
            assert!(is_there);
            assert_eq!(&contents(&copy), before, "the copy, {what}");
            assert!(copy.verify().unwrap().is_whole(), "the copy, {what}");
        }
        Err(error) => {
            assert!(!is_there, "{what}: {error}");
            // What was begun is no database, and no hindrance.
            source
                .checkpoint("copy")
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let copy = open(&env, "copy");
            assert_eq!(&contents(&copy), before, "the second copy, {what}");
            assert!(!env.fs.exists(Path::new("copy/CHECKPOINT.tmp")).unwrap());
        }
    }
}

/// Makes a checkpoint of the database in `db`, in `copy`.
type Make = fn(&Db, &Env) -> esker::Result<()>;

// By the database, and beside it without its knowing.
const MAKERS: [Make; 2] = [
    |db, _| db.checkpoint("copy"),
    |_, env| checkpoint_beside_in(env, Path::new("db"), Path::new("copy"), &[]),
];

#[test]
fn a_crash_at_any_call_leaves_the_source_whole_and_the_copy_whole_or_absent() {
    // The power goes at every call of a checkpoint in turn, and every way of losing what was not
    // synced is tried.
    MAKERS.into_iter().for_each(crash_at_every_call);
}

fn crash_at_every_call(make: Make) {
    let mut skip = 0;
    loop {
        let world = SimWorld::new(skip);
        let fault = FaultFs::over_sim(&world.fs, skip);
        let env = world.env_with(Arc::new(fault.clone()));
        let db = open(&env, "db");
        fill(&db);
        db.sync().unwrap();
        let before = contents(&db);
        fault.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
        let made = make(&db, &env);
        assert_eq!(made.is_err(), fault.is_off(), "call {skip}: {made:?}");
        let mixed = [CrashMode::Prefix, CrashMode::Sectors, CrashMode::Pages][skip as usize % 3];
        for mode in [CrashMode::LoseUnsynced, CrashMode::KeepAll, mixed] {
            let image = world.fs.crash_image(mode, skip);
            let after = SimWorld::with_disk(image, Arc::clone(&world.clock), 0);
            check_after(&after, &before, &format!("{mode:?} at call {skip}"));
        }
        if !fault.is_off() {
            break;
        }
        skip += 1;
    }
    // Beside a writer nothing is flushed, which takes calls too.
    assert!(skip > 15, "only {skip} calls were met");
}

#[test]
fn a_failed_call_leaves_nothing_that_looks_like_a_database() {
    // Every call fails once: the checkpoint is made all the same, or it is an error and the
    // directory is gone; either way the source goes on.
    for make in MAKERS {
        fail_at_every_call(make, Fault::Io);
        fail_at_every_call(make, Fault::NoSpace);
    }
}

fn fail_at_every_call(make: Make, fault_kind: Fault) {
    let mut skip = 0;
    loop {
        let world = SimWorld::new(skip);
        let fault = FaultFs::over_sim(&world.fs, skip);
        let env = world.env_with(Arc::new(fault.clone()));
        let db = open(&env, "db");
        fill(&db);
        db.flush_all().unwrap();
        let before = contents(&db);
        let hits = fault.hit_count();
        fault.set_plans(vec![Plan::once(fault_kind, Calls::All, skip)]);
        let made = make(&db, &env);
        let is_hit = fault.hit_count() > hits;
        fault.set_plans(Vec::new());
        match &made {
            Ok(()) => assert_eq!(contents(&open(&world.env(), "copy")), before),
            Err(_) => {
                let is_there = world.fs.exists(Path::new("copy")).unwrap();
                assert!(is_hit && !is_there, "call {skip}: {made:?}");
            }
        }
        db.put("after", "all").unwrap();
        assert_eq!(db.get("after").unwrap().unwrap(), "all");
        if !is_hit {
            break;
        }
        skip += 1;
    }
    assert!(skip > 15, "only {skip} calls were met");
}

#[test]
fn verify_names_every_damaged_file_and_goes_on() {
    // One byte in each of two sorted files: both are named, and everything else is read.
    let world = SimWorld::new(4);
    let env = world.env();
    let db = open(&env, "db");
    fill(&db);
    db.flush_all().unwrap();
    db.put("in the log", "one").unwrap();
    db.sync().unwrap();
    db.put("in the log", "two").unwrap();
    let whole = db.verify().unwrap();
    assert!(whole.is_whole(), "{whole}");
    assert!(whole.entries >= 80 && whole.files >= 5, "{whole}");
    let mut damaged = Vec::new();
    for name in env.fs.list(Path::new("db")).unwrap() {
        let path = Path::new("db").join(&name);
        if name.ends_with(".sst") && damaged.len() < 2 {
            flip(&*env.fs, &path, 20);
            damaged.push(name);
        }
    }
    let report = db.verify().unwrap();
    let mut found: Vec<_> = report
        .damages
        .iter()
        .map(|damage| damage.file.clone())
        .collect();
    found.sort();
    damaged.sort();
    assert_eq!(found, damaged, "{report}");
    assert_eq!(report.files, whole.files);
}

#[test]
fn what_cannot_be_opened_for_want_of_descriptors_is_not_called_damaged() {
    // Whoever has too few is told that, whatever file it was; with enough all is whole.
    let world = SimWorld::new(5);
    let fault = FaultFs::over_sim(&world.fs, 5);
    let env = world.env_with(Arc::new(fault.clone()));
    let db = open(&env, "db");
    fill(&db);
    db.put("large", "x".repeat(10_000)).unwrap();
    db.flush_all().unwrap();
    db.put("in the log", "one").unwrap();
    for part in [".sst", ".vlog", ".wal", "MANIFEST"] {
        let plan = Plan::sticky(Fault::NoFiles, Calls::All, 0).in_files(part);
        fault.set_plans(vec![plan]);
        let error = db.verify().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfFiles, "{part}: {error}");
        fault.set_plans(Vec::new());
        assert!(db.verify().unwrap().is_whole());
    }
}

#[test]
fn a_used_database_has_one_manifest() {
    // The first edit of each life begins a manifest; the one before goes with that, in the source
    // and in the copy, whatever made the edit.
    let world = SimWorld::new(1);
    let env = world.env();
    let manifests = |path: &str| {
        let names = env.fs.list(Path::new(path)).unwrap();
        names
            .iter()
            .filter(|name| name.starts_with("MANIFEST"))
            .count()
    };
    fill(&open(&env, "db"));
    assert_eq!(manifests("db"), 1);
    let db = open(&env, "db");
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(manifests("db"), 1);
    db.close().unwrap();
    assert_eq!(manifests("db"), 1);
    let db = open(&env, "db");
    db.put("more", "rows").unwrap();
    db.checkpoint("copy").unwrap();
    assert_eq!(manifests("db"), 1);
    drop(db);
    fill(&open(&env, "copy"));
    assert_eq!((manifests("db"), manifests("copy")), (1, 1));
}
