//! Large values: apart from the tree, and as safe and as visible as small ones.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use esker::internals::base::hooks::merge_builtin::builtin;
use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::sim::fault_plan::{CallClass, Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimFs, SimWorld};
use esker::{Db, Durability, ErrorKind, Readable, Update, WriteOptions};

const DIR: &str = "/db";

/// From here on values lie apart.
const THRESHOLD: usize = 1_000;

fn open(world: &SimWorld, fs: Arc<dyn Fs>) -> esker::Result<Db> {
    let mut builder = Db::builder(DIR).env(world.env_with(fs));
    for (name, text) in [
        ("value_log.threshold", "1000B"),
        ("value_log.segment_size", "64KiB"),
        ("wal.segment_size", "64KiB"),
        ("wal.total_size", "512KiB"),
        ("memory_limit", "4MiB"),
        ("memtable.size", "64KiB"),
        ("merge_operator", "append:,"),
        ("compaction.automatic", "false"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    builder.open()
}

fn plain(world: &SimWorld) -> Db {
    open(world, world.env().fs).unwrap()
}

fn value(seed: usize, len: usize) -> Vec<u8> {
    Random::new(seed as u64).bytes(len)
}

fn files(fs: &SimFs, ending: &str) -> Vec<String> {
    let mut names = fs.list(Path::new(DIR)).unwrap();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

fn bytes_of(fs: &SimFs, names: &[String]) -> u64 {
    let sizes = names
        .iter()
        .map(|name| fs.file_size(&Path::new(DIR).join(name)).unwrap());
    sizes.sum()
}

fn written_as(durability: Durability) -> WriteOptions {
    WriteOptions {
        durability: Some(durability),
        no_wait: false,
    }
}

/// Lengths around the threshold and around a segment, and some megabytes.
const LENGTHS: [usize; 12] = [
    0,
    1,
    THRESHOLD - 1,
    THRESHOLD,
    THRESHOLD + 1,
    4_096,
    30_000,
    65_400,
    65_536,
    70_000,
    1 << 20,
    8 << 20,
];

fn check_all(db: &impl Readable) {
    let keys: Vec<String> = (0..LENGTHS.len())
        .map(|index| format!("{index:02}"))
        .collect();
    let many = db.multi_get(&keys).unwrap();
    let mut cursor = db.cursor().unwrap();
    for (index, len) in LENGTHS.into_iter().enumerate() {
        let expected = value(index, len);
        assert!(db.get(&keys[index]).unwrap().unwrap() == expected, "{len}");
        assert!(many[index].as_ref().unwrap() == &expected, "{len}");
        assert!(db.contains_key(&keys[index]).unwrap());
        assert!(cursor.seek(&keys[index]).unwrap());
        assert!(cursor.value().unwrap().unwrap() == expected, "{len}");
    }
    let forward: Vec<_> = db.iter().unwrap().map(|entry| entry.unwrap()).collect();
    let mut backward: Vec<_> = db
        .iter()
        .unwrap()
        .rev()
        .map(|entry| entry.unwrap())
        .collect();
    backward.reverse();
    assert!(forward == backward && forward.len() == LENGTHS.len());
    for ((key, found), index) in forward.iter().zip(0..) {
        assert_eq!(key, format!("{index:02}").as_bytes());
        assert!(*found == value(index, LENGTHS[index]));
    }
}

#[test]
fn values_of_every_length_are_read_back_everywhere() {
    // From memory, from files, after compaction, a kill and a close; at every durability.
    let world = SimWorld::new(1);
    let db = plain(&world);
    for (index, len) in LENGTHS.into_iter().enumerate() {
        let level = [Durability::Buffered, Durability::Sync, Durability::Memory][index % 3];
        let options = written_as(level);
        let keyspace = db.with_write(options);
        keyspace
            .put(format!("{index:02}"), value(index, len))
            .unwrap();
    }
    check_all(&*db);
    let snapshot = db.snapshot();
    db.flush().unwrap();
    check_all(&*db);
    db.compact::<&[u8]>(..).unwrap();
    check_all(&*db);
    for index in 0..LENGTHS.len() {
        db.put(format!("{index:02}"), "other").unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    check_all(&snapshot);
    for (index, len) in LENGTHS.into_iter().enumerate() {
        db.put(format!("{index:02}"), value(index, len)).unwrap();
    }
    drop(snapshot);
    drop(db);
    let db = plain(&world);
    check_all(&*db);
    assert!(db.verify().unwrap().is_whole());
    let killed = SimWorld::with_disk(world.fs.kill(), Arc::clone(&world.clock), 2);
    let db = plain(&killed);
    check_all(&*db);
    db.close().unwrap();
    check_all(&*plain(&killed));
}

#[test]
fn flush_and_compaction_move_pointers_only() {
    // A hundred large values: sorted files stay tiny, and the value log stays as it was written.
    let world = SimWorld::new(2);
    let db = plain(&world);
    for round in 0..4 {
        for index in 0..25 {
            let key = format!("{round}{index:02}");
            db.put(key, value(index, 10_000)).unwrap();
        }
        db.flush().unwrap();
    }
    let written = db.stats().counters;
    let of = |name: &str| written.iter().find(|(known, ..)| *known == name).unwrap().2;
    assert_eq!(of("esker_value_log_bytes_total"), 100 * 10_000);
    assert!(of("esker_wal_bytes_total") < 20_000);
    assert!(of("esker_flush_bytes_total") < 20_000);
    let before = files(&world.fs, ".vlog");
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(files(&world.fs, ".vlog"), before);
    assert!(bytes_of(&world.fs, &files(&world.fs, ".sst")) < 20_000);
    db.close().unwrap();
    let bytes = bytes_of(&world.fs, &files(&world.fs, ".vlog"));
    assert!((1_000_000..1_070_000).contains(&bytes), "{bytes}");
}

#[test]
fn everything_that_changes_a_value_works_on_large_ones() {
    // Compare and swap, update, merge, expiry, deletes and range deletes, batches with small ones.
    let world = SimWorld::new(3);
    world.clock.set_unix_time(Duration::from_secs(1_000));
    let db = plain(&world);
    let (first, second) = (value(1, 5_000), value(2, 6_000));
    db.put("a", &first).unwrap();
    assert!(!db.compare_and_swap("a", Some(b"else"), Some(b"x")).unwrap());
    assert!(
        db.compare_and_swap("a", Some(&first), Some(&second))
            .unwrap()
    );
    let after = db.update("a", |present| {
        assert!(present == Some(&second[..]));
        Update::Set(first.clone())
    });
    assert!(after.unwrap().unwrap() == first);
    db.merge("a", "tail").unwrap();
    let folded = [&first[..], b",tail"].concat();
    assert!(db.get("a").unwrap().unwrap() == folded);
    db.flush().unwrap();
    assert!(db.get("a").unwrap().unwrap() == folded);
    db.compact::<&[u8]>(..).unwrap();
    assert!(db.get("a").unwrap().unwrap() == folded);
    db.put_with_ttl("b", &first, Duration::from_secs(10))
        .unwrap();
    db.merge("b", "more").unwrap();
    db.put_with_ttl("c", &second, Duration::from_secs(10))
        .unwrap();
    assert!(db.get("c").unwrap().unwrap() == second);
    db.flush().unwrap();
    world.clock.advance(Duration::from_secs(9));
    assert!(db.get("c").unwrap().unwrap() == second);
    assert!(db.get("b").unwrap().unwrap() == [&first[..], b",more"].concat());
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(db.get("c").unwrap(), None);
    assert_eq!(db.get("b").unwrap().unwrap(), b"more");
    db.compact::<&[u8]>(..).unwrap();
    assert_eq!(db.get("c").unwrap(), None);
    assert_eq!(db.get("b").unwrap().unwrap(), b"more");
    let other = db.keyspace("other").unwrap();
    let mut batch = db.batch();
    for index in 0..20_usize {
        let len = if index % 2 == 0 { 10 } else { 7_000 };
        let target = if index % 3 == 0 { &other } else { &*db };
        batch.put(target, format!("d{index:02}"), value(index, len));
    }
    batch.delete(&db, "d01");
    batch.commit().unwrap();
    assert_eq!(db.get("d01").unwrap(), None);
    assert!(other.get("d09").unwrap().unwrap() == value(9, 7_000));
    db.delete_range("d".."d08").unwrap();
    assert_eq!(db.prefix("d").unwrap().count(), 8);
    db.flush_all().unwrap();
    assert!(db.get("d19").unwrap().unwrap() == value(19, 7_000));
    let _rule = builtin("append");
}

#[test]
fn replay_does_not_read_synced_values() {
    // Thirty values in two segments behind a sync, and one that was not: that one is looked at,
    // by reading the head of its segment and the value.
    let world = SimWorld::new(4);
    let db = plain(&world);
    for index in 0..30 {
        db.put(format!("{index:03}"), value(index, 3_000)).unwrap();
    }
    db.sync().unwrap();
    db.put("last", value(99, 3_000)).unwrap();
    let killed = SimWorld::with_disk(world.fs.kill(), Arc::clone(&world.clock), 4);
    let faults = FaultFs::over_sim(&killed.fs, 4);
    let plan = Plan::sticky(Fault::BitFlip, Calls::Of(CallClass::Read), 2);
    faults.set_plans(vec![plan.in_files(".vlog")]);
    let db = open(&killed, Arc::new(faults.clone())).unwrap();
    assert_eq!(faults.hit_count(), 0);
    faults.set_plans(Vec::new());
    assert!(db.get("000").unwrap().unwrap() == value(0, 3_000));
    assert!(db.get("last").unwrap().unwrap() == value(99, 3_000));
}

#[test]
fn a_torn_value_is_a_torn_tail() {
    // The record survives the power cut and its value does not: the batch is dropped whole, with
    // what came after it; and it stays dropped when the log goes on behind it.
    let mut torn_count = 0;
    for seed in 0..40 {
        let world = SimWorld::new(seed);
        let db = plain(&world);
        db.with_write(written_as(Durability::Sync))
            .put("synced", value(1, 5_000))
            .unwrap();
        let mut batch = db.batch();
        batch.put(&db, "small", "with it");
        batch.put(&db, "torn", value(2, 9_000));
        batch.commit().unwrap();
        db.put("after", "that").unwrap();
        let image = world.fs.crash(CrashMode::Sectors, seed);
        for life in 0..3 {
            let fs = image.crash_image(CrashMode::KeepAll, 0);
            let world = SimWorld::with_disk(fs, Arc::clone(&world.clock), seed);
            let db = plain(&world);
            assert!(db.get("synced").unwrap().unwrap() == value(1, 5_000));
            let torn = db.get("torn").unwrap();
            assert_eq!(torn.is_some(), db.get("small").unwrap().is_some());
            assert!(torn.is_some() || db.get("after").unwrap().is_none());
            assert!(torn.as_ref().is_none_or(|torn| *torn == value(2, 9_000)));
            torn_count += usize::from(torn.is_none());
            let keyspace = db.with_write(written_as(Durability::Sync));
            keyspace
                .put(format!("life{life}"), value(life, 2_000))
                .unwrap();
            let again = SimWorld::with_disk(world.fs.kill(), Arc::clone(&world.clock), seed);
            let db = plain(&again);
            assert_eq!(db.get("torn").unwrap().is_some(), torn.is_some());
            assert!(db.get(format!("life{life}")).unwrap().is_some());
        }
    }
    assert!(torn_count > 0);
}

#[test]
fn what_nobody_points_to_is_removed() {
    // Overwritten, deleted and dropped; not while a snapshot or an iterator sees it.
    let world = SimWorld::new(5);
    let db = plain(&world);
    let other = db.keyspace("other").unwrap();
    for index in 0..40 {
        db.put(format!("{index:02}"), value(index, 10_000)).unwrap();
        other
            .put(format!("{index:02}"), value(index, 10_000))
            .unwrap();
    }
    db.flush_all().unwrap();
    let full = bytes_of(&world.fs, &files(&world.fs, ".vlog"));
    assert!(full >= 800_000);
    let snapshot = db.snapshot();
    let mut iterator = db.iter().unwrap();
    assert!(iterator.next().unwrap().unwrap().1 == value(0, 10_000));
    for index in 0..40 {
        db.delete(format!("{index:02}")).unwrap();
    }
    db.drop_keyspace("other").unwrap();
    drop(other);
    db.compact::<&[u8]>(..).unwrap();
    assert!(snapshot.get("39").unwrap().unwrap() == value(39, 10_000));
    drop(snapshot);
    db.put("x", "y").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    let rest: Vec<_> = iterator.by_ref().map(|entry| entry.unwrap()).collect();
    assert_eq!(rest.len(), 39);
    assert!(rest[38].1 == value(39, 10_000));
    drop(iterator);
    world.pool.run_all();
    db.put("z", value(1, 2_000)).unwrap();
    db.compact::<&[u8]>(..).unwrap();
    world.pool.run_all();
    let left = bytes_of(&world.fs, &files(&world.fs, ".vlog"));
    assert!(left <= 2 * (64 << 10), "{left} of {full}");
}

#[test]
fn a_checkpoint_has_its_values_and_goes_its_own_way() {
    // Both databases go on with the segments they share.
    let world = SimWorld::new(6);
    let db = plain(&world);
    for index in 0..20 {
        db.put(format!("{index:02}"), value(index, 9_000)).unwrap();
    }
    db.checkpoint("/copy").unwrap();
    for index in 0..20 {
        db.put(format!("{index:02}"), value(100 + index, 9_000))
            .unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    let copy = Db::builder("/copy").env(world.env()).open().unwrap();
    for index in 0..20 {
        let key = format!("{index:02}");
        assert!(copy.get(&key).unwrap().unwrap() == value(index, 9_000));
        assert!(db.get(&key).unwrap().unwrap() == value(100 + index, 9_000));
        copy.delete(&key).unwrap();
    }
    copy.compact::<&[u8]>(..).unwrap();
    assert!(copy.verify().unwrap().is_whole());
    assert!(db.verify().unwrap().is_whole());
}

#[test]
fn a_damaged_value_is_told_with_its_place_and_harms_no_other() {
    // Reading it, verifying it; its neighbours are read, and compaction does not stop at it.
    let world = SimWorld::new(7);
    let db = plain(&world);
    for index in 0..10 {
        db.put(format!("{index:02}"), value(index, 5_000)).unwrap();
    }
    // Nothing is in memory behind this.
    db.close().unwrap();
    let db = plain(&world);
    let name = files(&world.fs, ".vlog").remove(0);
    let path = Path::new(DIR).join(&name);
    let size = world.fs.file_size(&path).unwrap();
    let mut file = world.fs.open_log(&path, size).unwrap();
    file.write_at(40 + 3 * 5_020 + 2_500, b"damage").unwrap();
    let error = db.get("03").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert_eq!(error.file(), Some(&name[..]));
    assert!(error.offset().is_some());
    let report = db.verify().unwrap();
    assert_eq!(report.damages.len(), 1);
    assert_eq!(report.damages[0].file, name);
    db.merge("03", "operand").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert!(db.get("03").is_err());
    assert!(db.contains_key("03").unwrap());
    for index in (0..10).filter(|index| *index != 3) {
        assert!(db.get(format!("{index:02}")).unwrap().unwrap() == value(index, 5_000));
    }
}

fn collecting(world: &SimWorld, fs: Arc<dyn Fs>) -> Db {
    let mut builder = Db::builder(DIR).env(world.env_with(fs));
    for (name, text) in [
        ("value_log.threshold", "1000B"),
        ("value_log.segment_size", "64KiB"),
        ("max_space_amp", "1.3"),
        ("memory_limit", "4MiB"),
        ("memtable.size", "64KiB"),
        ("sst.file_size", "16KiB"),
        ("compaction.base_level", "64KiB"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    builder.open().unwrap()
}

fn space_amp(db: &Db) -> f64 {
    let values = db.stats().values;
    values.size_bytes as f64 / values.live_bytes.max(1) as f64
}

#[test]
fn space_comes_back_by_itself() {
    // Everything is overwritten three times, in random order; nobody asks for a compaction.
    let world = SimWorld::new(8);
    let db = collecting(&world, world.env().fs);
    let mut random = Random::new(8);
    let mut latest = vec![0; 300];
    for round in 0..1_200_usize {
        let index = match round {
            0..300 => round,
            _ => usize::try_from(random.below(300)).unwrap(),
        };
        latest[index] = round;
        db.put(format!("{index:03}"), value(round, 4_000 + index))
            .unwrap();
        if round % 7 == 0 {
            world.pool.run_all();
        }
    }
    db.flush().unwrap();
    world.pool.run_all();
    let stats = db.stats();
    let moved = stats.counters.iter();
    let moved = moved.filter(|(name, ..)| *name == "esker_value_log_moved_bytes_total");
    let moved: u64 = moved.map(|(.., value)| value).sum();
    assert!(moved > 0, "{}", stats.values);
    // One segment's worth may always be dead, of about twenty that are live.
    assert!(space_amp(&db) < 1.4, "{}", stats.values);
    let values = &stats.values;
    let parts = values.live_bytes + values.dead_bytes + values.pinned_bytes + values.recent_bytes;
    assert_eq!(parts, values.size_bytes);
    for (index, round) in latest.iter().enumerate() {
        let found = db.get(format!("{index:03}")).unwrap().unwrap();
        assert!(found == value(*round, 4_000 + index));
    }
    assert!(db.verify().unwrap().is_whole());
    db.close().unwrap();
    let db = collecting(&world, world.env().fs);
    assert!(db.verify().unwrap().is_whole());
    assert!(space_amp(&db) < 1.4);
}

#[test]
fn a_snapshot_keeps_its_values_while_others_are_collected() {
    // The segments that it needs are emptied under it, and what it sees moves along.
    let world = SimWorld::new(9);
    let db = collecting(&world, world.env().fs);
    for index in 0..100 {
        db.put(format!("{index:03}"), value(index, 4_000)).unwrap();
    }
    let snapshot = db.snapshot();
    let mut cursor = snapshot.cursor().unwrap();
    assert!(cursor.seek_to_first().unwrap());
    for round in 1..6 {
        for index in (0..100).filter(|index| index % 4 > 0) {
            db.put(format!("{index:03}"), value(round * 1_000 + index, 4_000))
                .unwrap();
        }
        db.flush().unwrap();
        world.pool.run_all();
    }
    for index in 0..100 {
        let found = snapshot.get(format!("{index:03}")).unwrap().unwrap();
        assert!(found == value(index, 4_000));
        assert!(cursor.value().unwrap().unwrap() == value(index, 4_000));
        assert_eq!(cursor.next().unwrap(), index < 99);
    }
    drop((cursor, snapshot));
    world.pool.run_all();
    db.put("more", value(1, 4_000)).unwrap();
    db.compact::<&[u8]>(..).unwrap();
    world.pool.run_all();
    assert!(space_amp(&db) < 1.7, "{}", db.stats().values);
}

#[test]
fn a_crash_in_the_middle_of_collecting_loses_nothing() {
    // The power fails at every twentieth call; what was flushed is there, and it goes on.
    let world = SimWorld::new(10);
    let db = collecting(&world, world.env().fs);
    for index in 0..120 {
        db.put(format!("{index:03}"), value(index, 3_000)).unwrap();
    }
    for index in (0..120).filter(|index| index % 3 > 0) {
        db.delete(format!("{index:03}")).unwrap();
    }
    db.flush().unwrap();
    let images: Arc<std::sync::Mutex<Vec<SimFs>>> = Arc::default();
    let (seen, mut calls) = (Arc::clone(&images), 0);
    let first = world.fs.call_count();
    while world.pool.run_one() {
        let count = world.fs.call_count() - first;
        if count / 20 > calls {
            calls = count / 20;
            for mode in CrashMode::ALL {
                let image = world.fs.crash_image(mode, count);
                seen.lock().unwrap().push(image);
            }
        }
    }
    let before = db.stats().values;
    assert!(
        before.dead_bytes <= before.live_bytes / 3 + (64 << 10),
        "{before}"
    );
    for (seed, image) in images.lock().unwrap().drain(..).enumerate() {
        let world = SimWorld::with_disk(image, Arc::clone(&world.clock), seed as u64);
        let db = collecting(&world, world.env().fs);
        world.pool.run_all();
        for index in 0..120 {
            let found = db.get(format!("{index:03}")).unwrap();
            let expected = (index % 3 == 0).then(|| value(index, 3_000));
            assert!(found.as_deref() == expected.as_deref());
        }
        assert!(db.verify().unwrap().is_whole());
        let after = db.stats().values;
        assert!(
            after.dead_bytes <= after.live_bytes / 3 + (64 << 10),
            "{after}"
        );
    }
}

#[test]
fn in_memory_only_what_is_overwritten_is_never_written() {
    // A hundred values, each overwritten nine times before the flush: the value log gets the last
    // ones, and those that a snapshot sees.
    let world = SimWorld::new(11);
    let db = plain(&world);
    let keyspace = db.with_write(written_as(Durability::Memory));
    keyspace.put("seen", value(7, 5_000)).unwrap();
    let snapshot = db.snapshot();
    for round in 0..10 {
        for index in 0..10 {
            let key = format!("{index:02}");
            keyspace
                .put(&key, value(round * 100 + index, 5_000))
                .unwrap();
            assert!(db.get(&key).unwrap().unwrap() == value(round * 100 + index, 5_000));
        }
    }
    keyspace.delete("seen").unwrap();
    keyspace.put("gone", value(8, 5_000)).unwrap();
    keyspace.delete("gone").unwrap();
    db.flush().unwrap();
    db.compact::<&[u8]>(..).unwrap();
    assert!(snapshot.get("seen").unwrap().unwrap() == value(7, 5_000));
    for index in 0..10 {
        let found = db.get(format!("{index:02}")).unwrap().unwrap();
        assert!(found == value(900 + index, 5_000));
    }
    let values = db.stats().values;
    // Memtables of 64 KiB hold about a dozen of them: some were flushed before the last round.
    assert!(values.live_bytes < 12 * 5_100, "{values}");
    assert!(bytes_of(&world.fs, &files(&world.fs, ".sst")) < 10_000);
    let durable = world.fs.crash(CrashMode::LoseUnsynced, 1);
    let world = SimWorld::with_disk(durable, Arc::clone(&world.clock), 1);
    let db = plain(&world);
    assert!(db.get("09").unwrap().unwrap() == value(909, 5_000));
}

#[test]
fn a_cursor_over_one_file_keeps_the_segments_it_points_into() {
    // The file stays readable because it is open; its values must not go while it is.
    let world = SimWorld::new(12);
    let db = plain(&world);
    for index in 0..20 {
        db.put(format!("{index:02}"), value(index, 9_000)).unwrap();
    }
    db.flush().unwrap();
    db.compact::<&[u8]>(..).unwrap();
    let mut cursor = db.cursor().unwrap();
    assert!(cursor.seek_to_first().unwrap());
    for index in 0..20 {
        db.delete(format!("{index:02}")).unwrap();
    }
    db.compact::<&[u8]>(..).unwrap();
    world.pool.run_all();
    for index in 0..20 {
        assert!(cursor.value().unwrap().unwrap() == value(index, 9_000));
        assert_eq!(cursor.next().unwrap(), index < 19);
    }
    drop(cursor);
    world.pool.run_all();
    assert!(files(&world.fs, ".vlog").len() <= 1);
}

#[test]
fn a_reader_beside_the_writer_removes_nothing() {
    // It knows an older version, in which newer segments have no name.
    let world = SimWorld::new(13);
    let db = plain(&world);
    db.put("a", value(1, 5_000)).unwrap();
    db.flush().unwrap();
    let reader = Db::builder(DIR).read_only(true).env(world.env());
    let reader = reader
        .set("merge_operator", "append:,")
        .unwrap()
        .open()
        .unwrap();
    for index in 0..30 {
        db.put(format!("{index:02}"), value(index, 9_000)).unwrap();
    }
    db.flush().unwrap();
    assert!(reader.get("a").unwrap().unwrap() == value(1, 5_000));
    drop(reader.iter().unwrap());
    reader.close().unwrap();
    drop(reader);
    for index in 0..30 {
        assert!(db.get(format!("{index:02}")).unwrap().unwrap() == value(index, 9_000));
    }
    assert!(db.verify().unwrap().is_whole());
}
