//! Ends between two seconds: kept to the millisecond, and refused by who does not know them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use esker::internals::db::inspect::manifest::manifest_in;
use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, FaultFs, SimWorld};
use esker::internals::store::version::edit::Change;
use esker::internals::store::version::format::MILLIS_FORMAT;
use esker::{
    Db, Durability, ErrorKind, Expiry, IngestOptions, KeyspaceOptions, RepairOptions, SstWriter,
    Update, WriteOptions, checkpoint_beside_in, repair_in,
};

use crate::stored_bytes::read;
use crate::watched_fs::{Eye, Lie, WatchedFs};

const DIR: &str = "db";

/// A moment between two seconds, far away.
const END: Expiry = Expiry::from_unix_ms(4_000_000_000_250);

/// Values from this length on lie in the value log.
const LARGE: usize = 2_000;

fn open(env: &Env) -> Db {
    let builder = Db::builder(DIR).env(env.clone());
    let builder = builder.set("value_log.threshold", "1000B").unwrap();
    builder.open().unwrap()
}

/// The format that the manifest says.
fn format_of(env: &Env) -> u32 {
    format_in(env, DIR)
}

fn format_in(env: &Env, dir: &str) -> u32 {
    let current = read(&*env.fs, &Path::new(dir).join("CURRENT"));
    let current = String::from_utf8(current).unwrap();
    let name = current.split(' ').next().unwrap();
    let contents = manifest_in(env, &Path::new(dir).join(name)).unwrap();
    let mut format = contents.head.unwrap().format_version;
    for change in contents.edits.iter().flat_map(|edit| &edit.changes) {
        if let Change::SetFormat { version } = change {
            format = format.max(*version);
        }
    }
    format
}

/// The version of the list of a set of files.
fn list_version(env: &Env, dir: &str) -> u32 {
    let list = env.fs.open_read(&Path::new(dir).join("FILES")).unwrap();
    let mut version = [0; 4];
    list.read_at(8, &mut version).unwrap();
    u32::from_le_bytes(version)
}

fn files(env: &Env, end: &str) -> Vec<PathBuf> {
    let names = env.fs.list(Path::new(DIR)).unwrap();
    let names = names.into_iter().filter(|name| name.ends_with(end));
    names.map(|name| Path::new(DIR).join(name)).collect()
}

fn count(db: &Db) -> usize {
    let forward = db.iter().unwrap().count();
    assert_eq!(db.iter().unwrap().rev().count(), forward);
    forward
}

#[test]
fn a_value_lives_to_its_last_millisecond() {
    // A small and a large one, in a memtable, in a file, and merged: there one millisecond before
    // their end, and gone with it, for every way of reading.
    for place in 0..3 {
        let world = SimWorld::new(place);
        world.clock.advance(Duration::from_millis(300));
        let db = open(&world.env());
        let ttl = Duration::from_millis(1_450);
        db.put_with_ttl("small", "1", ttl).unwrap();
        db.put_with_ttl("large", vec![7; LARGE], ttl).unwrap();
        db.put("stays", "1").unwrap();
        if place > 0 {
            db.flush().unwrap();
        }
        if place > 1 {
            db.compact::<&[u8]>(..).unwrap();
        }
        let end = db.expiry("small").unwrap().unwrap().unwrap();
        assert_eq!(end.unix_ms() % 1000, 750);
        assert_eq!(db.get_valued("large").unwrap().unwrap().expiry, Some(end));
        let before = db.snapshot();
        let mut cursor = db.cursor().unwrap();
        assert!(cursor.seek("small").unwrap());
        assert_eq!(cursor.expiry().unwrap(), Some(end));
        world.clock.advance(ttl - Duration::from_millis(1));
        assert_eq!(
            (count(&db), db.get("small").unwrap().unwrap().len()),
            (3, 1)
        );
        cursor.refresh().unwrap();
        assert!(cursor.seek("small").unwrap());
        world.clock.advance(Duration::from_millis(1));
        assert_eq!(count(&db), 1);
        cursor.refresh().unwrap();
        assert!(cursor.seek("small").unwrap() && cursor.key() == Some(b"stays"));
        for key in ["small", "large"] {
            assert_eq!(db.get(key).unwrap(), None);
            assert_eq!(before.get(key).unwrap(), None, "a snapshot sees no longer");
            assert_eq!(db.expiry(key).unwrap(), None);
            assert!(!db.contains_key(key).unwrap());
        }
        assert_eq!(db.multi_get(&["large", "small"]).unwrap(), [None, None]);
        drop((before, cursor));
        db.compact::<&[u8]>(..).unwrap();
        assert_eq!(count(&db), 1);
        assert!(db.verify().unwrap().damages.is_empty());
    }
}

#[test]
fn a_file_goes_whole_when_its_last_entry_has_ended() {
    // All end within one second: the file is there as long as one of them is, though the second of
    // all of them is the same; and it goes without being read.
    let world = SimWorld::new(4);
    let db = open(&world.env());
    let now = world.clock.unix_millis();
    for (number, part_ms) in [100, 899, 500].into_iter().enumerate() {
        let end = Expiry::from_unix_ms(now + 10_000 + part_ms);
        db.put_until(format!("k{number}"), "1", Some(end)).unwrap();
    }
    db.flush().unwrap();
    world.pool.run_all();
    let file = files(&world.env(), ".sst").remove(0);
    let is_there = || world.env().fs.exists(&file).unwrap();
    world.clock.advance(Duration::from_millis(10_898));
    db.put("other", "1").unwrap();
    db.flush().unwrap();
    world.pool.run_all();
    assert_eq!(db.get("k1").unwrap().as_deref(), Some(&b"1"[..]));
    assert!(is_there());
    world.clock.advance(Duration::from_millis(102));
    db.put("other", "2").unwrap();
    db.flush().unwrap();
    world.pool.run_all();
    assert!(!is_there());
    assert_eq!(count(&db), 1);
}

type Call = fn(&Db) -> esker::Result<()>;

/// Every call that writes an end with milliseconds, or has those be written that say no end.
const CALLS: [(&str, Call); 10] = [
    ("put_with_ttl", |db| db.put_with_ttl("k", "1", SHORT)),
    ("put_until", |db| db.put_until("k", "1", Some(END))),
    ("large", |db| db.put_until("k", vec![1; LARGE], Some(END))),
    ("set_expiry", |db| {
        db.set_expiry("there", Some(END)).map(drop)
    }),
    ("batch", |db| {
        let mut batch = db.batch();
        batch
            .put(db, "k", "1")
            .put_until(db, "l", "1", Some(END))
            .commit()
    }),
    ("transaction", |db| {
        db.transaction(|tx| tx.set_expiry(db, "there", Some(END)).map(drop))
    }),
    ("prepare", |db| {
        let mut tx = db.begin();
        tx.put_until(db, "k", "1", Some(END))?;
        tx.prepare("id")?.commit()
    }),
    ("ttl of a keyspace", |db| {
        let short = KeyspaceOptions::default().ttl(SHORT);
        db.keyspace_with("short", short)?.put("k", "1")
    }),
    ("ttl of one that is there", |db| {
        db.keyspace("other")?.set("ttl", "1500ms")
    }),
    ("ttl of all", |db| db.set("ttl", "0.25s")),
];

/// A time to live that is no whole number of seconds.
const SHORT: Duration = Duration::from_millis(1_500);

/// Whether a keyspace has such a time to live.
fn has_short_lives(db: &Db) -> bool {
    let names = ["default", "short", "other"];
    let mut open = names.iter().filter_map(|name| db.existing_keyspace(name));
    open.any(|keyspace| {
        let own = keyspace.own_settings();
        own.iter()
            .any(|(name, text)| name == "ttl" && text.ends_with("ms"))
    })
}

#[test]
fn the_format_is_raised_by_the_first_end_with_milliseconds_alone() {
    // Whole seconds, openings, flushes and merges leave it as it was. Once it is raised it stays,
    // and it is durable before the write is: an older Esker never comes to a kind that it does not
    // know.
    for (name, call) in CALLS {
        let world = SimWorld::new(5);
        let env = world.env();
        let db = open(&env);
        db.put_with_ttl("whole", "1", Duration::from_secs(100))
            .unwrap();
        db.put_until("there", "1", Some(Expiry::MAX)).unwrap();
        db.put_until("past", "1", Some(Expiry::from_unix_s(1)))
            .unwrap();
        db.compact::<&[u8]>(..).unwrap();
        db.close().unwrap();
        assert_eq!(format_of(&env), 1, "{name}");
        let db = open(&env);
        let unlogged = WriteOptions {
            durability: Some(Durability::Memory),
            ..WriteOptions::default()
        };
        assert_eq!(format_of(&env), 1, "{name}");
        call(&db).unwrap();
        db.put_until("unlogged", "1", Some(END)).unwrap();
        db.with_write(unlogged)
            .put_until("m", "1", Some(END))
            .unwrap();
        let after = world.after_crash(CrashMode::LoseUnsynced, 1);
        assert_eq!(format_of(&after.env()), 3, "{name}");
        drop(db);
        open(&after.env()).close().unwrap();
        assert_eq!(format_of(&after.env()), 3, "{name}");
    }
}

#[test]
fn an_opening_with_a_short_time_to_live_raises_the_format() {
    // Of a new database, and of one that is there; and the list of a set that has it says so. One
    // in whole seconds raises nothing, however it is spelled.
    let world = SimWorld::new(12);
    let env = world.env();
    let open = |dir: &str, ttl| {
        let builder = Db::builder(dir).env(env.clone()).ttl(ttl);
        builder.open().unwrap()
    };
    for (dir, ttls) in [("new", &[SHORT][..]), ("old", &[2 * SHORT, SHORT])] {
        // Before anything is put into it.
        for ttl in ttls {
            open(dir, *ttl).close().unwrap();
        }
        assert_eq!(format_in(&env, dir), 3);
        for ttl in ttls {
            let db = open(dir, *ttl);
            db.put("k", "1").unwrap();
            db.export(format!("{dir}{}", ttl.as_millis())).unwrap();
            db.close().unwrap();
        }
        let db = Db::builder(dir).env(env.clone()).open().unwrap();
        assert!(has_short_lives(&db));
        db.close().unwrap();
    }
    open("whole", 2 * SHORT).close().unwrap();
    assert_eq!(format_in(&env, "whole"), 1);
    assert_eq!(list_version(&env, "old3000"), 1);
    assert_eq!(list_version(&env, "new1500"), 2);
    // Also where it has no file.
    let empty = open("empty", SHORT);
    empty.export("none").unwrap();
    assert_eq!(list_version(&env, "none"), 2);
}

#[test]
fn what_cannot_raise_the_format_is_not_written() {
    // Each call of the file system fails in turn while the first such end is written: either the
    // format is raised, or nothing of the write is there. And at each the power may fail.
    for (name, call) in CALLS {
        for step in 0.. {
            let world = SimWorld::new(6);
            let db = open(&world.env());
            db.put_until("there", "1", Some(Expiry::MAX)).unwrap();
            db.sync().unwrap();
            db.close().unwrap();
            drop(db);
            let faults = Arc::new(FaultFs::over_sim(&world.fs, step));
            let db = open(&world.env_with(faults.clone()));
            faults.set_plans(vec![Plan::once(Fault::Io, Calls::Mutating, step)]);
            let written = call(&db);
            let has_failed = faults.hit_count() > 0;
            let (after, _killed) = (world.after_kill(), db);
            let crashed = world.after_crash(CrashMode::LoseUnsynced, step);
            for env in [after.env(), crashed.env()] {
                let raised = format_of(&env) == 3;
                let db = open(&env);
                let is_there = db.contains_key("k").unwrap()
                    || db.contains_key("l").unwrap()
                    || has_short_lives(&db)
                    || db.expiry("there").unwrap() == Some(Some(END));
                assert!(raised || !is_there, "{name} at {step}: {written:?}");
                assert!(db.verify().unwrap().damages.is_empty());
            }
            if !has_failed {
                break;
            }
        }
    }
}

#[test]
fn sets_of_files_carry_milliseconds_and_say_so() {
    // Written by hand and taken in as they are; exported, and written anew where large values are;
    // a set without such ends has a list as ever, and raises nothing beyond what sets need.
    let world = SimWorld::new(7);
    let env = world.env();
    let write = |dir: &str, end: Expiry| {
        let options = KeyspaceOptions::default();
        let mut writer = SstWriter::create_in(&env, Path::new(dir), options).unwrap();
        writer.put_until("a", "1", end).unwrap();
        writer.finish().unwrap();
        list_version(&env, dir)
    };
    assert_eq!(write("whole", Expiry::MAX), 1);
    assert_eq!(write("millis", END), 2);
    let db = open(&env);
    let options = IngestOptions::default();
    db.ingest("whole", &options).unwrap();
    assert_eq!(format_of(&env), 2);
    db.ingest("millis", &options).unwrap();
    assert_eq!(format_of(&env), 3);
    assert_eq!(db.expiry("a").unwrap(), Some(Some(END)));
    db.put_until("b", vec![1; LARGE], Some(END)).unwrap();
    db.export("all").unwrap();
    db.close().unwrap();
    let other = Db::builder("other").env(env.clone());
    let other = other
        .set("value_log.threshold", "1000B")
        .unwrap()
        .open()
        .unwrap();
    other.ingest("all", &options).unwrap();
    for key in ["a", "b"] {
        assert_eq!(other.expiry(key).unwrap(), Some(Some(END)), "{key}");
    }
    assert_eq!(other.get("b").unwrap().unwrap().len(), LARGE);
    assert!(other.verify().unwrap().damages.is_empty());
}

#[test]
fn a_repaired_database_says_what_is_in_it() {
    // Without its manifest, of sorted files, of a log, or of what is prepared there.
    for kind in 0..3 {
        let world = SimWorld::new(8);
        let env = world.env();
        let db = open(&env);
        db.put("stays", "1").unwrap();
        db.put_until("a", "1", Some(END)).unwrap();
        db.put_until("b", vec![1; LARGE], Some(END)).unwrap();
        match kind {
            0 => db.flush().unwrap(),
            1 => db.sync().unwrap(),
            _ => {
                db.delete("a").unwrap();
                db.delete("b").unwrap();
                db.compact::<&[u8]>(..).unwrap();
                let mut tx = db.begin();
                tx.put_until(&db, "a", "1", Some(END)).unwrap();
                tx.put_until(&db, "b", vec![1; LARGE], Some(END)).unwrap();
                drop(tx.prepare("id").unwrap());
                db.sync().unwrap();
            }
        }
        let (world, _killed) = (world.after_kill(), db);
        let env = world.env();
        for manifest in files(&env, "").iter().filter(|path| is_manifest(path)) {
            env.fs.remove_file(manifest).unwrap();
        }
        let options = RepairOptions { dry_run: false };
        repair_in(&env, Path::new(DIR), options, &[]).unwrap();
        assert_eq!(format_of(&env), 3, "{kind}");
        let db = open(&env);
        if kind == 2 {
            db.commit_prepared("id").unwrap();
        }
        for key in ["a", "b"] {
            assert_eq!(db.expiry(key).unwrap(), Some(Some(END)), "{kind} {key}");
        }
        assert_eq!(db.get("b").unwrap().unwrap().len(), LARGE);
    }
}

fn is_manifest(path: &Path) -> bool {
    path.to_string_lossy().contains("MANIFEST")
}

#[test]
fn who_may_not_write_is_told_so_as_ever() {
    // A database opened to be read has no format to raise.
    let world = SimWorld::new(9);
    open(&world.env()).close().unwrap();
    let builder = Db::builder(DIR).env(world.env());
    let db = builder.read_only(true).open().unwrap();
    let plain = db.put("k", "1").unwrap_err();
    let millis = db.put_until("k", "1", Some(END)).unwrap_err();
    assert_eq!(plain.kind(), millis.kind());
    assert_eq!(plain.kind(), ErrorKind::Invalid);
    assert_eq!(format_of(&world.env()), 1);
}

#[test]
fn times_of_the_system_are_rounded_up() {
    // A part of a millisecond counts as a whole one; what lies outside of 1970 to 2106 is at the
    // border.
    let epoch = SystemTime::UNIX_EPOCH;
    let at = |nanos| Expiry::from(epoch + Duration::from_nanos(nanos));
    assert_eq!(at(0).unix_ms(), 0);
    assert_eq!(at(1).unix_ms(), 1);
    assert_eq!(at(1_000_000).unix_ms(), 1);
    assert_eq!(at(1_000_001).unix_ms(), 2);
    assert_eq!(Expiry::from(epoch - Duration::from_secs(1)).unix_ms(), 0);
    assert_eq!(Expiry::from_unix_ms(u64::MAX), Expiry::MAX);
    assert_eq!(
        SystemTime::from(END),
        epoch + Duration::from_millis(END.unix_ms())
    );
}

#[test]
fn a_checkpoint_beside_the_writer_has_the_format_of_what_it_copied() {
    // The format is raised while the copy is under way, before the log is read.
    let world = SimWorld::new(1);
    let db = open(&world.env());
    db.put("whole", "1").unwrap();
    // A file is given its second name before the log is read.
    db.flush().unwrap();
    let (writer, is_done) = (db.clone(), AtomicBool::new(false));
    let eye: Eye = Arc::new(move |_, doing| {
        if doing.ends_with(".sst") && !is_done.swap(true, Ordering::SeqCst) {
            writer.put_until("millis", "1", Some(END)).unwrap();
        }
    });
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    let env = world.env_with(Arc::new(watched));
    checkpoint_beside_in(&env, Path::new(DIR), Path::new("copy"), &[]).unwrap();
    assert_eq!(format_in(&world.env(), "copy"), MILLIS_FORMAT);
    let copy = Db::builder("copy").env(world.env()).open().unwrap();
    let there = copy.contains_key("millis").unwrap();
    assert!(there, "else this test shows nothing");
}

#[test]
fn who_changes_a_value_that_ends_meanwhile_is_asked_again() {
    let world = SimWorld::new(1);
    let db = open(&world.env());
    let ttl = Duration::from_millis(250);
    db.put_with_ttl("lock", "mine", ttl).unwrap();
    let mut seen = Vec::new();
    let clock = Arc::clone(&world.clock);
    let after = db.update("lock", |current| {
        seen.push(current.map(<[u8]>::to_vec));
        clock.advance(ttl);
        match current {
            Some(_) => Update::Set(b"still mine".to_vec()),
            None => Update::Keep,
        }
    });
    assert_eq!(after.unwrap(), None);
    assert_eq!(seen, [Some(b"mine".to_vec()), None]);
    assert!(!db.contains_key("lock").unwrap());
}
