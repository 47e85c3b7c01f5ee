//! Damage to the log of a database that was not closed: told, and nothing intact is thrown away.

use std::path::{Path, PathBuf};

use esker::internals::db::inspect::wal::{WalItem, wal_in};
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::world::SimWorld;
use esker::{Db, Durability, ErrorKind, RepairOptions, WriteOptions, repair_in};

const DIR: &str = "/db";

/// Puts of a test: some kilobytes of log.
const PUTS: u32 = 300;

fn open(world: &SimWorld) -> esker::Result<Db> {
    let builder = Db::builder(DIR).env(world.env());
    builder.set("wal.segment_size", "64KiB")?.open()
}

fn key(number: u32) -> Vec<u8> {
    format!("key {number:05}").into_bytes()
}

fn count(db: &Db) -> usize {
    let entries: esker::Result<Vec<_>> = db.iter().unwrap().collect();
    entries.unwrap().len()
}

/// The segment with writes in it, and where the last of them ends.
fn written(world: &SimWorld) -> (PathBuf, u64) {
    for name in world.fs.list(Path::new(DIR)).unwrap() {
        let path = Path::new(DIR).join(name);
        let Ok(items) = wal_in(&world.env(), &path) else {
            continue;
        };
        let batches = items.filter_map(|item| match item.unwrap() {
            WalItem::Batch(batch) => Some(batch.offset + batch.len_bytes),
            _ => None,
        });
        if let Some(end) = batches.max() {
            return (path, end);
        }
    }
    panic!("a log with writes in it");
}

fn flip(world: &SimWorld, path: &Path, offset: u64) {
    let file = world.fs.open_read(path).unwrap();
    let mut byte = [0];
    file.read_at(offset, &mut byte).unwrap();
    let mut log = world.fs.open_log(path, file.size_bytes()).unwrap();
    log.write_at(offset, &[byte[0] ^ 0x10]).unwrap();
}

/// A killed process's disk, after `write` was done to an open database.
fn killed_after(write: impl FnOnce(&Db)) -> SimWorld {
    let world = SimWorld::new(7);
    let db = open(&world).unwrap();
    write(&db);
    let next = world.after_kill();
    drop(db);
    next
}

fn fill(db: &Db) {
    for number in 0..PUTS {
        db.put(key(number), [b'v'; 40]).unwrap();
    }
}

/// Damages the log at many places, each on a disk of its own, and looks at what opening says.
fn damage_everywhere(world: &SimWorld, check: impl Fn(u64, SimWorld)) {
    let (path, end) = written(world);
    for offset in (0..end).step_by(89) {
        let disk = world
            .fs
            .crash_image(esker::internals::env::sim::CrashMode::KeepAll, offset);
        let damaged = SimWorld::with_disk(disk, world.clock.clone(), offset);
        flip(&damaged, &path, offset);
        check(offset, damaged);
    }
}

fn assert_refused(offset: u64, damaged: &SimWorld) {
    let error = open(damaged).err().unwrap_or_else(|| {
        panic!("a flip at {offset} passed unseen");
    });
    assert_eq!(error.kind(), ErrorKind::Corruption, "offset {offset}");
    let text = error.to_string();
    assert!(text.contains(".wal") && text.contains("repair"), "{text}");
}

#[test]
fn what_was_synced_is_guarded_though_nothing_was_written_behind() {
    // A process syncs, and is killed: no bit of what it was told is durable changes in silence.
    let world = killed_after(|db| {
        fill(db);
        db.sync().unwrap();
    });
    damage_everywhere(&world, |offset, damaged| assert_refused(offset, &damaged));
    assert_eq!(count(&open(&world).unwrap()), PUTS as usize);
}

#[test]
fn a_sync_put_is_guarded_though_nothing_was_written_behind() {
    // The log lies idle behind a write that was durable when it was acknowledged.
    let world = killed_after(|db| {
        fill(db);
        let sync = WriteOptions {
            durability: Some(Durability::Sync),
            no_wait: false,
        };
        db.with_write(sync).put(b"last", b"value").unwrap();
    });
    damage_everywhere(&world, |offset, damaged| assert_refused(offset, &damaged));
}

#[test]
fn what_a_recovery_found_is_guarded_from_then_on() {
    // Nothing was ever synced, and the process was killed twice: the second opening may rely on
    // what the first one found.
    let world = killed_after(fill);
    let db = open(&world).unwrap();
    let next = world.after_kill();
    drop(db);
    damage_everywhere(&next, |offset, damaged| assert_refused(offset, &damaged));
}

#[test]
fn a_sync_that_has_nothing_to_do_writes_nothing() {
    // One mark for one sync: an idle database does not grow by being synced.
    let world = SimWorld::new(7);
    let db = open(&world).unwrap();
    fill(&db);
    db.sync().unwrap();
    let calls = world.fs.call_count();
    for _ in 0..10 {
        db.sync().unwrap();
    }
    assert_eq!(world.fs.call_count(), calls);
}

#[test]
fn a_sync_put_costs_one_flush_of_the_device() {
    // The mark behind it is written, and nobody waits for it.
    let world = SimWorld::new(7);
    let db = open(&world).unwrap();
    let sync = WriteOptions {
        durability: Some(Durability::Sync),
        no_wait: false,
    };
    let keyspace = db.with_write(sync);
    keyspace.put(b"first", b"begins a segment").unwrap();
    let calls = world.fs.call_count();
    for number in 0..10 {
        keyspace.put(key(number), b"value").unwrap();
    }
    // The record, the sync, the mark.
    assert_eq!(world.fs.call_count(), calls + 10 * 3);
}

#[test]
fn intact_records_behind_damage_are_told_and_kept_aside() {
    // Nothing was synced, so the log has to end at the damage; but nobody hides what lay behind.
    let world = killed_after(fill);
    damage_everywhere(&world, |offset, damaged| {
        let (path, _) = written(&world);
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let lost = Path::new(DIR).join("lost/torn").join(&name);

        let reader = Db::builder(DIR).env(damaged.env()).read_only(true);
        let reader = reader.open().unwrap();
        let left = count(&reader);
        assert!(left < PUTS as usize, "a flip at {offset} passed unseen");
        let stats = reader.stats();
        assert!(stats.torn_bytes > 0, "offset {offset}");
        // The last record has nothing behind it: that is how a killed process may leave a log.
        let is_last = left + 1 == PUTS as usize;
        let report = reader.verify().unwrap();
        assert_eq!(report.is_whole(), is_last, "offset {offset}: {report}");
        assert!(is_last || report.damages[0].file == name, "{report}");
        assert!(
            !damaged.fs.exists(&lost).unwrap(),
            "a reader writes nothing"
        );
        drop(reader);

        let db = open(&damaged).unwrap();
        assert_eq!(db.stats().torn_bytes, stats.torn_bytes);
        db.put(b"more", b"is written").unwrap();
        assert_eq!(count(&db), left + 1);
        assert!(db.verify().unwrap().is_whole());
        db.close().unwrap();
        let kept = match damaged.fs.exists(&lost).unwrap() {
            true => wal_in(&damaged.env(), &lost).unwrap(),
            false if is_last => return,
            false => panic!("a flip at {offset} threw records away"),
        };
        let batches = kept.filter(|item| matches!(item, Ok(WalItem::Batch(_))));
        // The damage took the record it hit; if that was the head, there is none.
        let found = batches.count();
        assert!(
            found + 1 >= PUTS as usize,
            "{found} of {PUTS} are in {lost:?}"
        );
        assert_eq!(db_after(&damaged), left + 1);
    });
}

#[test]
fn repair_ends_a_log_where_an_opening_would() {
    // Nothing was synced: what lies behind the damage may be what a power cut let through. To save
    // it would be to keep later writes without earlier ones, and the state be no prefix.
    let world = killed_after(fill);
    damage_everywhere(&world, |offset, damaged| {
        let reader = Db::builder(DIR).env(damaged.env()).read_only(true);
        let reader = reader.open().unwrap();
        let (left, torn) = (count(&reader), reader.stats().torn_records);
        drop(reader);
        let report = |dry_run| {
            let options = RepairOptions { dry_run };
            repair_in(&damaged.env(), Path::new(DIR), options, &[]).unwrap()
        };
        let dry = report(true);
        let wet = report(false);
        assert_eq!(dry.log, wet.log, "offset {offset}");
        assert_eq!(wet.is_lossy(), torn > 0, "offset {offset}: {wet}");
        assert!(wet.log.gaps.iter().all(|gap| gap.batches_behind == 0));

        let reader = Db::builder(DIR).env(damaged.env()).read_only(true);
        let reader = reader.open().unwrap();
        assert_eq!(count(&reader), left, "offset {offset}: {wet}");
        let verified = reader.verify().unwrap();
        assert!(verified.is_whole(), "offset {offset}: {verified}");
        drop(reader);
        assert_eq!(db_after(&damaged), left, "offset {offset}");
    });
}

#[test]
fn what_repair_saves_from_behind_a_hole_is_listed_as_such() {
    // Here a later record proves that what is damaged was durable, and an opening refuses.
    let world = killed_after(|db| {
        fill(db);
        db.sync().unwrap();
    });
    damage_everywhere(&world, |offset, damaged| {
        let options = RepairOptions { dry_run: false };
        let report = repair_in(&damaged.env(), Path::new(DIR), options, &[]).unwrap();
        let behind: u64 = report.log.gaps.iter().map(|gap| gap.batches_behind).sum();
        let entries: u64 = report.log.gaps.iter().map(|gap| gap.entries_behind).sum();
        assert_eq!(behind, entries, "{report}");
        let left = db_after(&damaged);
        assert!(left + 1 >= PUTS as usize, "offset {offset}: {report}");
        let db = open(&damaged).unwrap();
        let is_lost = |number: &u32| db.get(key(*number)).unwrap().is_none();
        match (0..PUTS).find(is_lost) {
            Some(lost) => assert_eq!(behind, u64::from(PUTS - lost - 1), "{report}"),
            // The damage took the head of the segment, or nothing.
            None => assert!([0, u64::from(PUTS)].contains(&behind), "{report}"),
        }
        let told = report.to_string();
        assert!(
            behind == 0 || told.contains("intact batches behind it"),
            "{told}"
        );
    });
}

// Opened once more: the cut holds, and nothing is wrong any more.
fn db_after(world: &SimWorld) -> usize {
    let db = open(world).unwrap();
    assert!(db.verify().unwrap().is_whole());
    assert_eq!(db.stats().torn_bytes, 0);
    count(&db)
}
