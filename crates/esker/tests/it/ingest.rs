//! Files from elsewhere: taken in at one moment, above what is there, or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use esker::internals::env::bundle::Env;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimFs, SimWorld};
use esker::{
    Comparator, Compression, CustomComparator, Db, ErrorKind, IngestOptions, Keyspace,
    KeyspaceOptions, Place, RepairOptions, SstWriter, Transfer, WriteOptions, merge, repair_in,
};

use crate::stored_bytes::flip;
use crate::watched_fs::{Eye, Lie, WatchedFs};

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(env: &Env) -> Db {
    let builder = Db::builder("/db").env(env.clone());
    let builder = builder.set("merge_operator", "append:,").unwrap();
    builder.open().unwrap()
}

fn entries(keyspace: &Keyspace) -> Entries {
    let entries = keyspace.iter().unwrap().map(|entry| entry.unwrap());
    entries
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

fn options() -> KeyspaceOptions {
    let mut options = KeyspaceOptions::default().merge_operator(merge::append(","));
    options.sst.file_size_bytes = 2 << 10;
    options
}

fn key(number: u32) -> Vec<u8> {
    format!("k{number:04}").into_bytes()
}

// A set of values of 40 bytes under every `step`th key of a range.
fn write_puts(env: &Env, dir: &str, numbers: std::ops::Range<u32>, step: usize, value: &str) {
    let mut writer = SstWriter::create_in(env, Path::new(dir), options()).unwrap();
    for number in numbers.step_by(step) {
        writer.put(key(number), value.repeat(40)).unwrap();
    }
    writer.finish().unwrap();
}

fn listing(env: &Env, dir: &str) -> Vec<String> {
    let mut names = env.fs.list(Path::new(dir)).unwrap();
    names.sort();
    names
}

#[test]
fn every_kind_of_entry_falls_upon_what_is_there_as_if_it_were_written_now() {
    // Files of either kind over memtables, level 0 and deeper levels; through compactions,
    // reopenings and a verification the answers stay those of plain writes.
    let compressions = [Compression::Searchable, options().sst.compression];
    for (seed, compression) in (0..).zip(compressions.into_iter().cycle().take(6)) {
        let world = SimWorld::new(seed);
        let env = world.env();
        let (db, plain) = (open(&env), {
            let builder = Db::builder("/plain").env(env.clone());
            builder
                .set("merge_operator", "append:,")
                .unwrap()
                .open()
                .unwrap()
        });
        let both = |write: &dyn Fn(&Db)| [&db, &plain].into_iter().for_each(write);
        for number in 0..300 {
            both(&|db| db.put(key(number), format!("old{number}")).unwrap());
        }
        match seed % 3 {
            0 => {}
            1 => db.flush().unwrap(),
            _ => db.compact::<&[u8]>(..).unwrap(),
        }
        both(&|db| db.merge(key(7), "operand").unwrap());
        both(&|db| db.delete(key(8)).unwrap());

        let mut made = options();
        made.sst.compression = compression;
        let mut writer = SstWriter::create_in(&env, Path::new("/set"), made).unwrap();
        writer.delete_range(key(100), key(150)).unwrap();
        plain.delete_range(key(100)..key(150)).unwrap();
        writer.delete_range(key(120), key(170)).unwrap();
        plain.delete_range(key(120)..key(170)).unwrap();
        for number in 0..400 {
            match number % 5 {
                0 => {
                    writer.put(key(number), [7; 90]).unwrap();
                    plain.put(key(number), [7; 90]).unwrap();
                }
                1 => {
                    writer.delete(key(number)).unwrap();
                    plain.delete(key(number)).unwrap();
                }
                2 => {
                    writer.merge(key(number), "more").unwrap();
                    plain.merge(key(number), "more").unwrap();
                }
                3 => {
                    writer
                        .put_until(key(number), "short", esker::Expiry::from_unix_s(1))
                        .unwrap();
                    plain
                        .put_until(key(number), "short", Some(esker::Expiry::from_unix_s(1)))
                        .unwrap();
                }
                _ => {}
            }
        }
        writer.finish().unwrap();
        let taken = db.ingest("/set", &IngestOptions::default()).unwrap();
        assert_eq!(taken.entry_count, 320);
        assert_eq!(entries(&db), entries(&plain));
        both(&|db| db.put(key(12), "later").unwrap());
        both(&|db| db.merge(key(17), "later").unwrap());
        assert_eq!(entries(&db), entries(&plain));
        for number in 0..400 {
            assert_eq!(
                db.get(key(number)).unwrap(),
                plain.get(key(number)).unwrap()
            );
        }
        assert!(db.verify().unwrap().is_whole());
        db.close().unwrap();
        let db = open(&env);
        assert_eq!(entries(&db), entries(&plain));
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(entries(&db), entries(&plain));
        let mut backwards: Vec<_> = db
            .iter()
            .unwrap()
            .rev()
            .map(|entry| entry.unwrap())
            .collect();
        backwards.reverse();
        assert_eq!(backwards.len(), entries(&plain).len());
    }
}

#[test]
fn what_began_before_does_not_see_it_and_what_depends_on_it_is_refused() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env);
    for number in 0..100 {
        db.put(key(number), "old").unwrap();
    }
    let before = entries(&db);
    let (snapshot, iterator) = (db.snapshot(), db.iter().unwrap());
    // One read a key that comes, one a range, one neither, one swaps.
    let (mut reader, mut ranger, mut other) = (db.begin(), db.begin(), db.begin());
    reader.get_for_update(&db, key(10)).unwrap();
    reader.put(&db, "x", "1").unwrap();
    for entry in ranger.of(&db).iter().unwrap() {
        entry.unwrap();
    }
    ranger.put(&db, "y", "1").unwrap();
    other.get_for_update(&db, key(11)).unwrap();
    other.put(&db, "z", "1").unwrap();
    write_puts(&env, "/set", 0..200, 10, "n");
    db.ingest("/set", &IngestOptions::default()).unwrap();
    assert_eq!(reader.commit().unwrap_err().kind(), ErrorKind::Conflict);
    other.commit().unwrap();
    let old: Entries = iterator
        .map(|entry| entry.unwrap())
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect();
    assert_eq!(old, before);
    db.compact::<&[u8]>(..).unwrap();
    let of_snapshot = snapshot.of(&db);
    let old: Entries = of_snapshot
        .iter()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect();
    assert_eq!(old, before);
    assert_eq!(db.get(key(190)).unwrap().unwrap().len(), 40);
    drop(ranger);
}

#[test]
fn a_serializable_transaction_over_a_range_is_refused_if_files_came_into_it() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env);
    db.put("a", "1").unwrap();
    for (dir, numbers, is_refused) in [("/in", 5..6, true), ("/out", 500..501, false)] {
        let serializable = esker::TransactionOptions {
            isolation: esker::Isolation::Serializable,
            ..esker::TransactionOptions::default()
        };
        let mut tx = db.begin_with(serializable);
        let range = key(0)..key(100);
        assert_eq!(tx.of(&db).range(range).unwrap().count(), 0);
        tx.put(&db, "sum", "0").unwrap();
        write_puts(&env, dir, numbers, 1, "n");
        db.ingest(dir, &IngestOptions::default()).unwrap();
        let kind = tx.commit().err().map(|error| error.kind());
        assert_eq!(kind, is_refused.then_some(ErrorKind::Conflict), "{dir}");
        db.delete_range(key(0)..key(1000)).unwrap();
    }
}

#[test]
fn sets_for_several_keyspaces_are_seen_at_one_moment() {
    // Readers take snapshots all the time while pairs of sets come in and somebody writes: the two
    // keyspaces are equal in each, and no write is lost.
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path().join("db")).unwrap();
    let (left, right) = (db.keyspace("left").unwrap(), db.keyspace("right").unwrap());
    let is_done = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (db, left, right, is_done) = (
            db.clone(),
            left.clone(),
            right.clone(),
            Arc::clone(&is_done),
        );
        move || {
            let mut seen = 0;
            while !is_done.load(Ordering::Relaxed) {
                let snapshot = db.snapshot();
                let numbers = [&right, &left].map(|keyspace| {
                    let at = snapshot.of(keyspace);
                    at.get("round").unwrap().map(|value| value.to_vec())
                });
                assert_eq!(numbers[0], numbers[1]);
                seen += 1;
            }
            seen
        }
    });
    let writer = std::thread::spawn({
        let (db, left, is_done) = (db.clone(), left.clone(), Arc::clone(&is_done));
        move || {
            let mut number = 0_u32;
            while !is_done.load(Ordering::Relaxed) {
                let mut batch = db.batch();
                batch.put(&db, "count", number.to_be_bytes());
                batch.put(&left, format!("w{number}"), "1");
                batch.commit().unwrap();
                number += 1;
            }
            number
        }
    });
    for round in 0..20_u32 {
        let sets = ["left", "right"].map(|name| dir.path().join(format!("{name}{round}")));
        for set in &sets {
            let mut files = SstWriter::create(set, KeyspaceOptions::default()).unwrap();
            files.put("round", round.to_be_bytes()).unwrap();
            files.finish().unwrap();
        }
        let moved = IngestOptions::default().transfer(Transfer::Move);
        let parts = [(&left, &sets[0]), (&right, &sets[1])];
        db.ingest_all(&parts, &moved).unwrap();
        assert_eq!(left.get("round").unwrap().unwrap(), round.to_be_bytes());
        assert!(std::fs::read_dir(&sets[0]).unwrap().next().is_none());
    }
    is_done.store(true, Ordering::Relaxed);
    assert!(reader.join().unwrap() > 0);
    let written = writer.join().unwrap();
    assert_eq!(left.iter().unwrap().count(), written as usize + 1);
    assert_eq!(
        db.get("count").unwrap().unwrap(),
        (written - 1).to_be_bytes()
    );
    assert!(db.verify().unwrap().is_whole());
}

struct Backwards;

impl CustomComparator for Backwards {
    fn name(&self) -> &str {
        "backwards"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
        right.cmp(left)
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_changed() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = {
        let builder = Db::builder("/db").env(env.clone());
        let builder = builder.known_comparator(Comparator::Custom(Arc::new(Backwards)));
        builder
            .set("merge_operator", "append:,")
            .unwrap()
            .open()
            .unwrap()
    };
    db.put(key(3), "old").unwrap();
    db.flush().unwrap();
    let (before, files) = (entries(&db), listing(&env, "/db"));
    let refuse = |dir: &str, kind: ErrorKind, text: &str| {
        let error = db.ingest(dir, &IngestOptions::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{dir}: {error}");
        assert!(error.to_string().contains(text), "{dir}: {error}");
        assert_eq!(entries(&db), before);
        assert_eq!(listing(&env, "/db"), files, "{dir}");
    };
    refuse("/nowhere", ErrorKind::Invalid, "no finished set");
    let create = |dir: &str, options| SstWriter::create_in(&env, Path::new(dir), options).unwrap();

    let mut other = options();
    other.comparator = Comparator::Custom(Arc::new(Backwards));
    let mut writer = create("/order", other);
    writer.put("b", "1").unwrap();
    writer.put("a", "1").unwrap();
    writer.finish().unwrap();
    refuse("/order", ErrorKind::Invalid, "order");

    let mut writer = create("/operator", options().merge_operator(merge::uint64_add()));
    writer.merge("b", "1").unwrap();
    writer.finish().unwrap();
    refuse("/operator", ErrorKind::Invalid, "uint64add");

    write_puts(&env, "/missing", 0..300, 1, "m");
    env.fs
        .remove_file(Path::new("/missing/000002.sst"))
        .unwrap();
    refuse("/missing", ErrorKind::Corruption, "missing");

    // One file in the place of another: all checksums hold.
    write_puts(&env, "/swapped", 0..300, 1, "m");
    let path = |name: &str| PathBuf::from("/swapped").join(name);
    env.fs
        .rename(&path("000001.sst"), &path("000003.sst"))
        .unwrap();
    refuse("/swapped", ErrorKind::Corruption, "");

    // A bit anywhere in a file or in the list.
    write_puts(&env, "/damaged", 0..40, 1, "m");
    for name in ["000001.sst", "FILES"] {
        let path = Path::new("/damaged").join(name);
        let size = env.fs.file_size(&path).unwrap();
        for offset in (0..size).step_by(7) {
            flip(&*env.fs, &path, offset);
            // One in the version of a footer makes a file of a newer format. Every other one is met
            // by who copies while he checks.
            let transfers = [Transfer::Link, Transfer::Copy];
            let transfer = transfers[usize::from(offset % 2 == 1)];
            let options = IngestOptions::default().transfer(transfer);
            let error = db.ingest("/damaged", &options).unwrap_err();
            let is_told = [ErrorKind::Corruption, ErrorKind::Unsupported].contains(&error.kind());
            assert!(is_told, "{name} {offset}: {error}");
            assert_eq!(entries(&db), before);
            assert_eq!(listing(&env, "/db"), files);
            flip(&*env.fs, &path, offset);
        }
    }
    // Twice the same keyspace in one call: an export, or from below.
    let refuse_twice = |dir: &str, options: IngestOptions| {
        let twice = [(&*db, "/damaged"), (&*db, dir)];
        let error = db.ingest_all(&twice, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert_eq!(entries(&db), before);
        assert_eq!(listing(&env, "/db"), files);
    };
    refuse_twice("/damaged", IngestOptions::default().place(Place::Below));
    db.export("/export").unwrap();
    refuse_twice("/export", IngestOptions::default());
    db.ingest("/damaged", &IngestOptions::default()).unwrap();
    assert_eq!(entries(&db).len(), 40);
}

#[test]
fn the_database_and_the_set_live_on_by_themselves() {
    // The same set into two databases and twice into one; what one of them removes the others
    // keep. Copies, checkpoints and who only reads know such files.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut writer = SstWriter::create(path("set"), options()).unwrap();
    for number in 0..500 {
        writer.put(key(number), [5; 40]).unwrap();
    }
    writer.finish().unwrap();
    let dbs = ["one", "two"].map(|name| Db::open(path(name)).unwrap());
    for db in &dbs {
        db.ingest(path("set"), &IngestOptions::default()).unwrap();
        db.put(key(3), "own").unwrap();
        db.ingest(
            path("set"),
            &IngestOptions::default().transfer(Transfer::Copy),
        )
        .unwrap();
        assert_eq!(db.get(key(3)).unwrap().unwrap(), [5; 40]);
    }
    dbs[0].checkpoint(path("copy")).unwrap();
    let whole = entries(&dbs[0]);
    dbs[0].delete_range(key(0)..key(250)).unwrap();
    dbs[0].compact::<&[u8]>(..).unwrap();
    dbs[0].close().unwrap();
    assert_eq!(entries(&dbs[1]), whole);
    assert_eq!(entries(&Db::open(path("copy")).unwrap()), whole);
    let read_only = Db::open_read_only(path("copy")).unwrap();
    assert!(read_only.verify().unwrap().is_whole());
    assert_eq!(entries(&read_only), whole);
    std::fs::remove_dir_all(path("set")).unwrap();
    assert!(dbs[1].verify().unwrap().is_whole());
    assert_eq!(entries(&dbs[1]), whole);
}

#[test]
fn a_repair_keeps_files_from_elsewhere_in_their_place_or_sets_them_aside() {
    // With the manifest they are known, damaged ones too. Without it nobody knows how old they are
    // here: they go to `lost`, and never under what they were put over.
    for is_manifest_lost in [false, true] {
        let world = SimWorld::new(1);
        let env = world.env();
        let db = open(&env);
        for number in 0..200 {
            db.put(key(number), "old").unwrap();
        }
        write_puts(&env, "/set", 0..200, 2, "n");
        db.ingest("/set", &IngestOptions::default()).unwrap();
        let whole = entries(&db);
        db.close().unwrap();
        if is_manifest_lost {
            let manifest = listing(&env, "/db").into_iter();
            for name in manifest.filter(|name| name.starts_with("MANIFEST")) {
                env.fs.remove_file(&Path::new("/db").join(name)).unwrap();
            }
            env.fs.remove_file(Path::new("/db/CURRENT")).unwrap();
        }
        let report = repair_in(&env, Path::new("/db"), RepairOptions::default(), &[]).unwrap();
        let repaired = {
            let builder = Db::builder("/db").env(env.clone());
            builder
                .set("merge_operator", "append:,")
                .unwrap()
                .open()
                .unwrap()
        };
        if is_manifest_lost {
            assert!(report.is_lossy());
            let kept = entries(&repaired);
            assert!(kept.values().all(|value| value == b"old"), "{report}");
        } else {
            assert_eq!(entries(&repaired), whole);
        }
    }
}

#[test]
fn who_closes_waits_for_an_ingest() {
    // And only then lets go of the directory: whoever opens it next takes the same numbers.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut writer = SstWriter::create(path("set"), options()).unwrap();
    for number in 0..600 {
        writer.put(key(number), [9; 900]).unwrap();
    }
    writer.finish().unwrap();
    let is_begun = Arc::new(AtomicBool::new(false));
    for round in 0..12 {
        let db = Db::open(path("db")).unwrap();
        is_begun.store(false, Ordering::SeqCst);
        let taking = std::thread::spawn({
            let (db, set, is_begun) = (db.clone(), path("set"), Arc::clone(&is_begun));
            move || {
                let copied = IngestOptions::default().transfer(Transfer::Copy);
                is_begun.store(true, Ordering::SeqCst);
                db.ingest(set, &copied.verify(round % 2 == 0)).is_ok()
            }
        });
        while !is_begun.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        (0..round * 200).for_each(|number| drop(db.get(key(number)).unwrap()));
        db.close().unwrap();
        let next = Db::open(path("db")).unwrap();
        next.put("own", "1").unwrap();
        next.flush().unwrap();
        taking.join().unwrap();
        assert!(next.verify().unwrap().is_whole());
        next.close().unwrap();
    }
}

#[test]
fn an_ingest_that_fails_takes_no_keyspace_away() {
    // Another thread makes the keyspace of that name again and again, and fills it.
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let ships = Db::open(path("maker")).unwrap().keyspace("ships").unwrap();
    ships.put("a", "1").unwrap();
    ships.export(path("set")).unwrap();
    let all = IngestOptions::default();
    let db = Db::open(path("db")).unwrap();
    for name in std::fs::read_dir(path("set")).unwrap() {
        let file = name.unwrap().path();
        if file.extension().is_some_and(|end| end == "sst") {
            std::fs::remove_file(file).unwrap();
        }
    }
    let error = db.ingest_by_name(path("set"), &all).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    // It was checked before one was made.
    assert_eq!(db.keyspaces(), ["default"]);
    let failing = std::thread::spawn({
        let (db, set) = (db.clone(), path("set"));
        move || {
            for _ in 0..100 {
                db.ingest_by_name(&set, &all).unwrap_err();
            }
        }
    });
    for number in 0..1000_u32 {
        let ships = db.keyspace("ships").unwrap();
        ships.put(number.to_be_bytes(), "x").unwrap();
    }
    failing.join().unwrap();
    assert_eq!(db.keyspace("ships").unwrap().iter().unwrap().count(), 1000);
}

#[test]
fn exports_go_round_as_often_as_one_likes() {
    // One key keeps its first number, so each export spans all numbers so far, and each ingest
    // doubles them: until such files are written anew.
    let world = SimWorld::new(1);
    let env = world.env();
    let builder = Db::builder("/db").env(env.clone());
    let db = builder.set("compaction.automatic", "false").unwrap();
    let db = db.open().unwrap();
    db.put("first", "1").unwrap();
    db.flush().unwrap();
    for round in 0..64 {
        let dir = format!("/s{round}");
        db.put("last", "x").unwrap();
        db.export(&dir).unwrap();
        let target = db.keyspace(&format!("c{round}")).unwrap();
        let taken = target.ingest(&dir, &IngestOptions::default());
        taken.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(entries(&target).len(), 2);
    }
    assert!(db.verify().unwrap().is_whole());
    db.close().unwrap();
    let db = open(&env);
    db.put("after", "1").unwrap();
    assert_eq!(entries(&db.keyspace("c63").unwrap()).len(), 2);
}

#[test]
fn what_is_prepared_keeps_its_keys_from_files() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env);
    let mut tx = db.begin();
    tx.put(&db, key(40), "prepared").unwrap();
    drop(tx.prepare("one").unwrap());
    let before = (entries(&db), listing(&env, "/db"));
    write_puts(&env, "/last", 30..41, 1, "n");
    write_puts(&env, "/first", 40..50, 1, "n");
    write_puts(&env, "/apart", 41..50, 1, "n");
    let all = IngestOptions::default();
    for dir in ["/first", "/last"] {
        let error = db.ingest(dir, &all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert_eq!((entries(&db), listing(&env, "/db")), before);
    }
    db.ingest("/apart", &all).unwrap();
    db.commit_prepared("one").unwrap();
    db.ingest("/last", &all).unwrap();
    assert_eq!(db.get(key(40)).unwrap().unwrap().len(), 40);
}

#[test]
fn an_export_of_several_levels_comes_below_data_that_lies_elsewhere() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env);
    let from = db.keyspace("from").unwrap();
    for number in 0..300 {
        from.put(key(number), [1; 50]).unwrap();
    }
    from.compact::<&[u8]>(..).unwrap();
    for number in 100..110 {
        from.put(key(number), [2; 50]).unwrap();
    }
    // From level 0 to a level in between: the runs of the export mix their numbers.
    from.flush().unwrap();
    from.put(key(290), [3; 50]).unwrap();
    from.flush().unwrap();
    from.export("/set").unwrap();
    db.put("a", "elsewhere").unwrap();
    db.put(key(105), "own").unwrap();
    let below = IngestOptions::default().place(Place::Below);
    let taken = db.ingest("/set", &below).unwrap();
    // What came is what is told.
    assert_eq!(taken.entry_count, 299);
    assert_eq!(db.get(key(105)).unwrap().unwrap(), "own");
    assert_eq!(db.get(key(290)).unwrap().unwrap(), [3; 50]);
    assert_eq!(entries(&db).len(), 301);
    assert_eq!(db.ingest("/set", &below).unwrap().entry_count, 0);
    // And into one that has nothing near.
    let apart = db.keyspace("apart").unwrap();
    apart.put("a", "elsewhere").unwrap();
    apart.ingest("/set", &below).unwrap();
    assert_eq!(entries(&apart).len(), 301);
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn sets_for_one_keyspace_come_one_above_the_other_at_one_moment() {
    for seed in 0..6 {
        let world = SimWorld::new(seed);
        let env = world.env();
        let (db, plain) = (open(&env), {
            let builder = Db::builder("/plain").env(env.clone());
            let builder = builder.set("merge_operator", "append:,").unwrap();
            builder.open().unwrap()
        });
        if seed % 2 == 0 {
            for number in 0..40 {
                for db in [&db, &plain] {
                    db.put(key(number), "old").unwrap();
                }
            }
        }
        let dirs = ["/one", "/two", "/three"];
        for (place, dir) in (0..).zip(dirs) {
            let mut writer = SstWriter::create_in(&env, Path::new(dir), options()).unwrap();
            let deleted = (key(place * 7), key(place * 7 + 9));
            writer.delete_range(&deleted.0, &deleted.1).unwrap();
            plain.delete_range(deleted.0..deleted.1).unwrap();
            for number in 0..60 {
                let value = format!("{place}.{number}");
                match (number * 7 + place * 3 + seed as u32) % 5 {
                    0 | 1 => {
                        writer.put(key(number), &value).unwrap();
                        plain.put(key(number), &value).unwrap();
                    }
                    2 => {
                        writer.delete(key(number)).unwrap();
                        plain.delete(key(number)).unwrap();
                    }
                    3 => {
                        writer.merge(key(number), &value).unwrap();
                        plain.merge(key(number), &value).unwrap();
                    }
                    _ => {}
                }
            }
            writer.finish().unwrap();
        }
        let before = db.snapshot();
        let seen_before: Vec<_> = before.iter().unwrap().map(|entry| entry.unwrap()).collect();
        let sets = dirs.map(|dir| (&*db, dir));
        let moved = IngestOptions::default().transfer(Transfer::Move);
        db.ingest_all(&sets, &moved).unwrap();
        assert!(dirs.iter().all(|dir| listing(&env, dir).is_empty()));
        let unseen: Vec<_> = before.iter().unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(unseen, seen_before);
        drop(before);
        assert_eq!(entries(&db), entries(&plain), "seed {seed}");
        for db in [&db, &plain] {
            db.put(key(3), "later").unwrap();
            db.merge(key(5), "later").unwrap();
        }
        assert_eq!(entries(&db), entries(&plain));
        db.close().unwrap();
        let db = open(&env);
        assert_eq!(entries(&db), entries(&plain));
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(entries(&db), entries(&plain));
        assert!(db.verify().unwrap().is_whole());
    }
}

#[test]
fn a_set_of_several_keyspaces_is_moved_whole() {
    let world = SimWorld::new(1);
    let env = world.env();
    let db = open(&env);
    let other = db.keyspace("other").unwrap();
    for keyspace in [&*db, &other] {
        keyspace.put("a", "1").unwrap();
    }
    db.export_all(&[&db, &other], "/set").unwrap();
    let there = Db::builder("/there").env(env.clone()).open().unwrap();
    let moved = IngestOptions::default().transfer(Transfer::Move);
    there.ingest_by_name("/set", &moved).unwrap();
    assert!(listing(&env, "/set").is_empty());
    assert_eq!(entries(&there.keyspace("other").unwrap()).len(), 1);
}

#[test]
fn a_file_that_is_replaced_behind_the_check_is_not_taken_in() {
    let world = SimWorld::new(1);
    write_puts(&world.env(), "/set", 0..200, 1, "n");
    write_puts(&world.env(), "/strange", 0..200, 1, "x");
    let eye: Eye = Arc::new(|sim: &SimFs, doing: &str| {
        let strange = Path::new("/strange/000002.sst");
        if doing.starts_with("link") && sim.exists(strange).unwrap() {
            sim.rename(strange, Path::new("/set/000001.sst")).unwrap();
        }
    });
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let env = world.env_with(Arc::new(watched));
    let db = open(&env);
    let files = listing(&env, "/db");
    let error = db.ingest("/set", &IngestOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    assert_eq!(listing(&env, "/db"), files);
    assert!(
        !world.fs.exists(Path::new("/strange/000002.sst")).unwrap(),
        "it was replaced"
    );
}

#[test]
fn what_is_copied_is_what_was_checked() {
    // A bit of a file turns over when its copy begins, or when that of the next file does: it is
    // refused, or what was there before is in the database.
    for turn in 0..2 {
        let world = SimWorld::new(1);
        write_puts(&world.env(), "/set", 0..200, 1, "n");
        let count = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&count);
        let eye: Eye = Arc::new(move |sim: &SimFs, doing: &str| {
            let is_copy = doing.starts_with("create") && doing.ends_with(".sst");
            if is_copy && seen.fetch_add(1, Ordering::SeqCst) == turn {
                flip(sim, Path::new("/set/000001.sst"), 100);
            }
        });
        let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
        let env = world.env_with(Arc::new(watched));
        let db = open(&env);
        let files = listing(&env, "/db");
        let copied = IngestOptions::default().transfer(Transfer::Copy);
        let taken = db.ingest("/set", &copied);
        assert!(count.load(Ordering::SeqCst) > turn, "it was copied");
        match &taken {
            Ok(_) => assert_eq!(entries(&db).len(), 200, "{turn}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "{turn}: {error}");
                assert_eq!(listing(&env, "/db"), files, "{turn}");
            }
        }
        assert!(taken.is_ok() || turn == 0);
        assert!(db.verify().unwrap().is_whole(), "{turn}");
    }
}

#[test]
fn a_writer_that_cannot_list_its_files_leaves_nothing() {
    for skip in 0.. {
        let world = SimWorld::new(1);
        let faults = FaultFs::over_sim(&world.fs, 1);
        let env = world.env_with(Arc::new(faults.clone()));
        let mut writer = SstWriter::create_in(&env, Path::new("/set"), options()).unwrap();
        for number in 0..100 {
            writer.put(key(number), [1; 50]).unwrap();
        }
        faults.set_plans(vec![Plan::once(Fault::Io, Calls::All, skip)]);
        let finished = writer.finish();
        if faults.hit_count() == 0 {
            finished.unwrap();
            break;
        }
        faults.set_plans(Vec::new());
        assert!(finished.is_err());
        assert!(listing(&env, "/set").is_empty(), "call {skip}");
    }
}

#[test]
fn a_set_that_somebody_carried_there_is_made_durable_before_it_counts() {
    // As a copying tool leaves it: in the page cache, nothing synced.
    let world = SimWorld::new(1);
    let env = world.env();
    write_puts(&env, "/made", 0..100, 1, "n");
    env.fs.create_dir_all(Path::new("/set")).unwrap();
    for name in listing(&env, "/made") {
        let from = env.fs.open_read(&Path::new("/made").join(&name)).unwrap();
        let mut bytes = vec![0; from.size_bytes() as usize];
        from.read_at(0, &mut bytes).unwrap();
        let mut to = env.fs.create(&Path::new("/set").join(&name)).unwrap();
        to.append(&bytes).unwrap();
    }
    let db = open(&env);
    db.ingest("/set", &IngestOptions::default()).unwrap();
    let whole = entries(&db);
    let image = world.fs.crash_image(CrashMode::LoseUnsynced, 1);
    let dark = SimWorld::with_disk(image, Arc::default(), 1);
    let db = open(&dark.env());
    assert_eq!(entries(&db), whole);
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn what_changes_behind_the_check_is_not_taken_in_by_name_either() {
    // A bit of a file turns over when its second name is made: the keyspaces it is for are there,
    // or none is.
    for is_there in [false, true] {
        let world = SimWorld::new(1);
        let maker = Db::builder("/maker").env(world.env()).open().unwrap();
        let ships = maker.keyspace("ships").unwrap();
        for number in 0..200 {
            ships.put(key(number), [7; 90]).unwrap();
        }
        ships.export("/set").unwrap();
        let is_turned = Arc::new(AtomicBool::new(false));
        let turned = Arc::clone(&is_turned);
        let eye: Eye = Arc::new(move |sim: &SimFs, doing: &str| {
            let is_link = doing.starts_with("link") && doing.ends_with(".sst");
            if is_link && !turned.swap(true, Ordering::SeqCst) {
                let names = sim.list(Path::new("/set")).unwrap();
                let name = names.iter().find(|name| name.ends_with(".sst")).unwrap();
                flip(sim, &Path::new("/set").join(name), 100);
            }
        });
        let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
        let env = world.env_with(Arc::new(watched));
        let db = open(&env);
        if is_there {
            db.keyspace("ships").unwrap();
        }
        let before = (db.keyspaces(), listing(&env, "/db"));
        let error = db
            .ingest_by_name("/set", &IngestOptions::default())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert!(is_turned.load(Ordering::SeqCst), "it was linked");
        assert_eq!((db.keyspaces(), listing(&env, "/db")), before);
    }
}

#[test]
fn nobody_elsewhere_waits_while_a_set_is_written_anew() {
    // Each time that it was, somebody has written to what it was held against: at last it is done
    // under a lock of the keyspace, and then only who was prepared before can.
    let world = SimWorld::new(1);
    let opened: Arc<OnceLock<(Db, Keyspace)>> = Arc::default();
    let (seen, count) = (Arc::clone(&opened), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&count);
    let eye: Eye = Arc::new(move |_: &SimFs, doing: &str| {
        // What is written anew for an ingest is given a new name, and nothing else is.
        if !(doing.starts_with("rename") && doing.ends_with(".sst")) {
            return;
        }
        let (db, apart) = seen.get().unwrap();
        let mut batch = db.batch();
        batch.put(apart, "a", "1");
        let at_once = WriteOptions {
            no_wait: true,
            ..WriteOptions::default()
        };
        batch.commit_with(at_once).unwrap();
        match counted.fetch_add(1, Ordering::SeqCst) {
            round @ 0..2 => db.put(key(10 + round as u32), "own").unwrap(),
            2 => db.commit_prepared("one").unwrap(),
            _ => {}
        }
    });
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let db = open(&world.env_with(Arc::new(watched)));
    let apart = db.keyspace("apart").unwrap();
    write_puts(&world.env(), "/set", 0..30, 1, "n");
    db.put(key(5), "own").unwrap();
    let mut tx = db.begin();
    tx.put(&db, key(20), "prepared").unwrap();
    drop(tx.prepare("one").unwrap());
    opened.set((db.clone(), apart)).ok().unwrap();
    let below = IngestOptions::default().place(Place::Below);
    assert_eq!(db.ingest("/set", &below).unwrap().entry_count, 26);
    assert_eq!(count.load(Ordering::SeqCst), 4);
    for (number, value) in [(5, "own"), (10, "own"), (11, "own"), (20, "prepared")] {
        assert_eq!(db.get(key(number)).unwrap().unwrap(), value);
    }
    assert_eq!(entries(&db).len(), 30);
    assert!(db.verify().unwrap().is_whole());
}
