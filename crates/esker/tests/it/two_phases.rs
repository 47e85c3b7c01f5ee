//! Two phases: each is wholly prepared, wholly there or wholly gone, as its owner was told.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::{CrashMode, SimFs, SimWorld};
use esker::{
    Db, Durability, ErrorKind, Isolation, PreparedTransaction, RepairOptions, TransactionOptions,
    WriteOptions, checkpoint_beside_in, repair_in,
};

use crate::stored_bytes::flip;
use crate::watched_fs::{Eye, Lie, WatchedFs};

pub const DIR: &str = "db";

/// Long enough to lie apart.
const LARGE_BYTES: usize = 3000;

pub fn open_at(env: &Env, dir: &str) -> esker::Result<Db> {
    let builder = Db::builder(dir).env(env.clone());
    let settings = [
        ("memtable.size", "16KiB"),
        ("wal.segment_size", "64KiB"),
        ("value_log.threshold", "1000B"),
        ("memory_limit", "4MiB"),
    ];
    let mut builder = builder.set("durability", "sync")?;
    for (name, text) in settings {
        builder = builder.set(name, text)?;
    }
    builder.open()
}

pub fn open(env: &Env) -> Db {
    open_at(env, DIR).unwrap()
}

fn value_of(id: &str, len: usize) -> Vec<u8> {
    id.bytes().cycle().take(len).collect()
}

/// Two keyspaces, three writes: small, large, and a range delete over nothing of others.
pub fn prepare_held(db: &Db, id: &str) -> esker::Result<PreparedTransaction> {
    let other = db.keyspace("other")?;
    let mut tx = db.begin();
    tx.put(db, format!("{id}:small"), value_of(id, 20))?;
    tx.put(&other, format!("{id}:large"), value_of(id, LARGE_BYTES))?;
    tx.delete_range(&other, format!("{id}:r"), format!("{id}:s"))?;
    tx.prepare(id)
}

/// The same, and nobody holds it.
pub fn prepare(db: &Db, id: &str) -> esker::Result<()> {
    prepare_held(db, id).map(drop)
}

/// Whether the writes of that transaction are there: all of them, or none.
pub fn is_visible(db: &Db, id: &str) -> bool {
    let small = db.get(format!("{id}:small")).unwrap();
    let other = db.existing_keyspace("other");
    let large = other.and_then(|other| other.get(format!("{id}:large")).unwrap());
    assert_eq!(small.is_some(), large.is_some(), "half of {id}");
    if let (Some(small), Some(large)) = (small, large) {
        assert!(small == value_of(id, 20) && large == value_of(id, LARGE_BYTES));
        return true;
    }
    false
}

pub fn ids(db: &Db) -> Vec<String> {
    let prepared = db.prepared().into_iter();
    prepared
        .map(|one| String::from_utf8(one.id.to_vec()).unwrap())
        .collect()
}

// Enough for some segments of the log and some memtables.
pub fn fill(db: &Db, round: usize) {
    for number in 0..60 {
        let key = format!("fill:{round:03}:{number:03}");
        db.with_write(WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        })
        .put(key, [b'f'; 900])
        .unwrap();
    }
}

pub fn log_segments(env: &Env, dir: &str) -> Vec<String> {
    let mut names = env.fs.list(Path::new(dir)).unwrap();
    names.retain(|name| name.ends_with(".wal"));
    names.sort();
    names
}

#[test]
fn what_is_prepared_is_seen_by_nobody_and_claimed() {
    // Another write to any of its keys would be lost, or lose it: so it is refused, however it
    // comes.
    let world = SimWorld::new(1);
    let db = open(&world.env());
    let other = db.keyspace("other").unwrap();
    other.put("a:r5", "kept").unwrap();
    prepare(&db, "a").unwrap();
    assert!(!is_visible(&db, "a"));
    let refused_as = |kind: ErrorKind, done: esker::Result<()>| {
        let error = done.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("prepared transaction \"a\""));
    };
    // Who is in no transaction waits, in vain.
    let refused = |done| refused_as(ErrorKind::LockTimeout, done);
    refused(db.put("a:small", "1"));
    refused(db.delete("a:small"));
    refused(db.delete_range("a".."b"));
    refused(other.put("a:r7", "in its range"));
    refused(other.delete_range("a:ra".."a:rb"));
    refused(
        db.batch()
            .put(&db, "x", "1")
            .put(&db, "a:small", "1")
            .commit(),
    );
    assert!(!db.contains_key("x").unwrap());
    let mut tx = db.begin();
    tx.put(&db, "a:small", "1").unwrap();
    refused_as(ErrorKind::Conflict, tx.commit());
    let mut tx = db.begin();
    tx.put(&db, "a:small", "1").unwrap();
    refused_as(ErrorKind::Conflict, tx.prepare("b").map(drop));
    // Beside its keys nobody is hindered; not in another keyspace either.
    other.put("a:small", "1").unwrap();
    db.put("a:r7", "1").unwrap();
    let error = db.drop_keyspace("other").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("prepared transaction \"a\""));
    let mut tx = db.begin();
    tx.put(&db, "y", "1").unwrap();
    let error = tx.prepare("a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "an id that is in use");
    let before = db.snapshot();
    db.commit_prepared("a").unwrap();
    assert!(is_visible(&db, "a") && !other.contains_key("a:r5").unwrap());
    assert!(!before.contains_key("a:small").unwrap());
    db.put("a:small", "2").unwrap();
    for id in ["a", "never"] {
        let error = db.commit_prepared(id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    // An id is free again.
    prepare(&db, "a").unwrap();
    db.rollback_prepared("a").unwrap();
    assert_eq!(&db.get("a:small").unwrap().unwrap()[..], b"2");
    assert!(ids(&db).is_empty());
    db.drop_keyspace("other").unwrap();
    db.close().unwrap();
}

#[test]
fn an_id_has_up_to_256_bytes_and_a_transaction_may_write_nothing() {
    let world = SimWorld::new(2);
    let db = open(&world.env());
    for id in [vec![], vec![b'i'; 257]] {
        let error = db.begin().prepare(id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    let long = vec![0xff; 256];
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    drop(tx.prepare(&long).unwrap());
    drop(db.begin().prepare("nothing").unwrap());
    db.close().unwrap();
    let db = open(&world.env());
    let prepared = db.prepared();
    assert_eq!(prepared.len(), 2);
    assert_eq!((&*prepared[1].id, prepared[1].entries), (&long[..], 1));
    assert_eq!((prepared[0].entries, prepared[0].keyspaces.len()), (0, 0));
    db.commit_prepared("nothing").unwrap();
    db.put("b", "2").unwrap();
    db.commit_prepared(&long).unwrap();
    db.close().unwrap();
    let db = open(&world.env());
    assert!(db.contains_key("a").unwrap() && db.contains_key("b").unwrap());
    assert!(db.prepared().is_empty());
}

#[test]
fn what_a_prepared_transaction_read_is_claimed_by_its_isolation() {
    // Else, while it is undecided, another could commit what rests on the opposite: a write skew.
    for (isolation, is_claimed) in [
        (Isolation::Snapshot, false),
        (Isolation::Serializable, true),
    ] {
        let world = SimWorld::new(3);
        let db = open(&world.env());
        for key in ["read", "scanned", "for update"] {
            db.put(key, "1").unwrap();
        }
        let mut tx = db.begin_with(TransactionOptions {
            isolation,
            ..TransactionOptions::default()
        });
        tx.get("read").unwrap();
        tx.get_for_update(&db, "for update").unwrap();
        assert_eq!(tx.range("s".."t").unwrap().count(), 1);
        tx.put(&db, "mine", "1").unwrap();
        drop(tx.prepare("one").unwrap());
        // The claims are in the record.
        db.close().unwrap();
        let db = open(&world.env());
        let kind = |key: &str| db.put(key, "2").err().map(|error| error.kind());
        let told = is_claimed.then_some(ErrorKind::LockTimeout);
        assert_eq!(kind("for update"), Some(ErrorKind::LockTimeout));
        assert_eq!(
            (kind("read"), kind("scanned"), kind("sx")),
            (told, told, told)
        );
        assert_eq!(kind("u"), None);
        db.rollback_prepared("one").unwrap();
        assert_eq!((kind("read"), kind("for update")), (None, None));
    }
}

#[test]
fn a_conflict_is_told_when_it_is_prepared() {
    let world = SimWorld::new(4);
    let db = open(&world.env());
    db.put("a", "1").unwrap();
    let mut tx = db.begin();
    tx.put(&db, "a", "2").unwrap();
    db.put("a", "3").unwrap();
    assert_eq!(tx.prepare("t").unwrap_err().kind(), ErrorKind::Conflict);
    assert!(ids(&db).is_empty());
    // And who read before it was committed is told at his own commit.
    let mut late = db.begin();
    late.get("a").unwrap();
    late.put(&db, "a", "5").unwrap();
    let mut tx = db.begin();
    tx.put(&db, "a", "4").unwrap();
    tx.prepare("t").unwrap().commit().unwrap();
    assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn segments_that_only_a_prepare_needs_are_given_back() {
    // One that nobody decides on for days must not keep the log of all that time: it is copied.
    let world = SimWorld::new(5);
    let env = world.env();
    let db = open(&env);
    prepare(&db, "slow").unwrap();
    prepare(&db, "never").unwrap();
    for round in 0..30 {
        fill(&db, round);
    }
    db.flush_all().unwrap();
    let segments = log_segments(&env, DIR);
    assert!(segments.len() < 12, "{segments:?}");
    assert_eq!(ids(&db), ["never", "slow"]);
    std::mem::forget(db);
    let world = world.after_crash(CrashMode::LoseUnsynced, 5);
    let env = world.env();
    let db = open(&env);
    assert_eq!(ids(&db), ["never", "slow"]);
    db.commit_prepared("slow").unwrap();
    db.compact::<&str>(..).unwrap();
    db.close().unwrap();
    let db = open(&env);
    assert!(is_visible(&db, "slow") && !is_visible(&db, "never"));
    assert_eq!(ids(&db), ["never"]);
    assert!(db.verify().unwrap().is_whole());
    db.close().unwrap();
    // A closed log is small, whatever was copied in its life.
    let bytes = log_segments(&env, DIR).into_iter().map(|name| {
        let path = Path::new(DIR).join(name);
        env.fs.file_size(&path).unwrap()
    });
    assert!(bytes.sum::<u64>() < 2000);
}

#[test]
fn copies_of_a_database_have_what_is_prepared() {
    let world = SimWorld::new(6);
    let env = world.env();
    let db = open(&env);
    prepare(&db, "a").unwrap();
    prepare(&db, "b").unwrap();
    prepare(&db, "c").unwrap();
    db.commit_prepared("b").unwrap();
    fill(&db, 0);
    db.checkpoint("checkpoint").unwrap();
    db.sync().unwrap();
    checkpoint_beside_in(&env, Path::new(DIR), Path::new("beside"), &[]).unwrap();
    // The copies live without it.
    db.rollback_prepared("a").unwrap();
    db.commit_prepared("c").unwrap();
    db.compact::<&str>(..).unwrap();
    db.close().unwrap();
    for dir in ["checkpoint", "beside"] {
        let copy = open_at(&env, dir).unwrap();
        assert_eq!(ids(&copy), ["a", "c"], "{dir}");
        assert!(is_visible(&copy, "b") && !is_visible(&copy, "a"));
        copy.commit_prepared("a").unwrap();
        copy.rollback_prepared("c").unwrap();
        assert!(is_visible(&copy, "a") && copy.verify().unwrap().is_whole());
        copy.close().unwrap();
        let copy = open_at(&env, dir).unwrap();
        assert!(is_visible(&copy, "a") && !is_visible(&copy, "c") && ids(&copy).is_empty());
    }
}

#[test]
fn a_reader_beside_the_owner_lists_and_ends_nothing() {
    let world = SimWorld::new(7);
    let env = world.env();
    let db = open(&env);
    prepare(&db, "a").unwrap();
    let reader = Db::builder(DIR).env(env.clone()).read_only(true).open();
    let reader = reader.unwrap();
    assert_eq!(ids(&reader), ["a"]);
    assert!(reader.commit_prepared("a").is_err() && reader.rollback_prepared("a").is_err());
    drop(reader);
    db.commit_prepared("a").unwrap();
    assert!(is_visible(&db, "a"));
}

#[test]
fn a_repair_keeps_what_is_prepared_and_says_where_it_is_in_doubt() {
    // Behind the damage lies perhaps what ended it: nobody can tell, and its owner has to know.
    let world = SimWorld::new(8);
    let env = world.env();
    let db = open(&env);
    prepare(&db, "a").unwrap();
    db.put("one", "1").unwrap();
    db.put("two", "2").unwrap();
    prepare(&db, "b").unwrap();
    db.put("three", "3").unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    let options = RepairOptions { dry_run: true };
    let report = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    assert!(report.is_whole(), "{report}");
    assert!(report.log.prepared.iter().all(|kept| !kept.is_in_doubt));
    assert_eq!(report.log.prepared.len(), 2);
    let name = log_segments(&env, DIR).pop().unwrap();
    let path = Path::new(DIR).join(name);
    let bytes = crate::stored_bytes::read(&*env.fs, &path);
    let at = bytes.windows(3).position(|text| text == b"one").unwrap();
    flip(&*env.fs, &path, at as u64);
    assert_eq!(
        open_at(&env, DIR).err().unwrap().kind(),
        ErrorKind::Corruption
    );
    let dry = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    let report = repair_in(&env, Path::new(DIR), RepairOptions::default(), &[]).unwrap();
    assert_eq!(dry.log, report.log);
    let kept = report.log.prepared.iter();
    let kept: Vec<_> = kept.map(|kept| (&kept.id[..], kept.is_in_doubt)).collect();
    assert_eq!(kept, [(&b"a"[..], true), (b"b", false)]);
    assert!(report.to_string().contains("prepared transaction \"a\""));
    let db = open(&env);
    assert_eq!(ids(&db), ["a", "b"]);
    db.commit_prepared("a").unwrap();
    db.rollback_prepared("b").unwrap();
    assert!(is_visible(&db, "a") && db.contains_key("three").unwrap());
    assert!(!db.contains_key("one").unwrap());
    db.close().unwrap();
}

/// What the owner of a transaction was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Preparing,
    Prepared,
    Committing,
    Committed,
    /// The same, without a sync.
    CommittedUnsynced,
    RollingBack,
    RolledBack,
}

type Journal = Arc<Mutex<BTreeMap<String, Told>>>;

struct Owner<'a> {
    db: &'a Db,
    journal: Journal,
}

impl Owner<'_> {
    fn note(&self, id: &str, told: Told) {
        self.journal.lock().unwrap().insert(id.into(), told);
    }

    fn prepare(&self, id: &str) {
        self.note(id, Told::Preparing);
        prepare(self.db, id).unwrap();
        self.note(id, Told::Prepared);
    }

    fn commit(&self, id: &str) {
        self.note(id, Told::Committing);
        self.db.commit_prepared(id).unwrap();
        self.note(id, Told::Committed);
    }

    fn rollback(&self, id: &str) {
        self.note(id, Told::RollingBack);
        self.db.rollback_prepared(id).unwrap();
        self.note(id, Told::RolledBack);
    }

    fn commit_unsynced(&self, id: &str) {
        self.note(id, Told::Preparing);
        let other = self.db.keyspace("other").unwrap();
        let mut tx = self.db.begin();
        tx.put(self.db, format!("{id}:small"), value_of(id, 20))
            .unwrap();
        let large = value_of(id, LARGE_BYTES);
        tx.put(&other, format!("{id}:large"), large).unwrap();
        let prepared = tx.prepare(id).unwrap();
        self.note(id, Told::Prepared);
        self.note(id, Told::CommittedUnsynced);
        let unsynced = WriteOptions {
            durability: Some(Durability::Buffered),
            ..WriteOptions::default()
        };
        prepared.commit_with(unsynced).unwrap();
    }
}

// Everything that moves a prepare, or what it needs: rotations, flushes, copies, collection of
// values, a checkpoint, dropped keyspaces, closing and opening.
fn story(env: &Env, journal: &Journal) {
    let db = open(env);
    let owner = Owner {
        db: &db,
        journal: Arc::clone(journal),
    };
    owner.prepare("a");
    owner.prepare("b");
    owner.commit("a");
    owner.prepare("c");
    owner.rollback("c");
    fill(&db, 0);
    fill(&db, 1);
    owner.commit_unsynced("d");
    db.flush_all().unwrap();
    owner.prepare("e");
    fill(&db, 2);
    fill(&db, 3);
    db.flush_all().unwrap();
    owner.commit("b");
    owner.prepare("f");
    db.compact::<&str>(..).unwrap();
    db.checkpoint("copy").unwrap();
    let gone = db.keyspace("gone").unwrap();
    let mut tx = db.begin();
    tx.put(&gone, "k", "v").unwrap();
    let unsynced = WriteOptions {
        durability: Some(Durability::Buffered),
        ..WriteOptions::default()
    };
    tx.prepare("g").unwrap().commit_with(unsynced).unwrap();
    db.drop_keyspace("gone").unwrap();
    owner.prepare("h");
    db.close().unwrap();
    let db = open(env);
    let owner = Owner {
        db: &db,
        journal: Arc::clone(journal),
    };
    owner.rollback("e");
    owner.prepare("i");
    owner.commit("h");
    fill(&db, 4);
    fill(&db, 5);
    db.flush_all().unwrap();
    owner.commit("i");
    db.close().unwrap();
}

fn check(db: &Db, journal: &BTreeMap<String, Told>) -> Result<(), String> {
    let prepared = ids(db);
    for id in ["a", "b", "c", "d", "e", "f", "h", "i"] {
        let told = journal.get(id).copied();
        let now = (prepared.iter().any(|one| one == id), is_visible(db, id));
        let (is_prepared, is_there) = now;
        let is_right = match told {
            None | Some(Told::RolledBack) => now == (false, false),
            Some(Told::Preparing | Told::RollingBack) => !is_there,
            Some(Told::Prepared) => now == (true, false),
            Some(Told::Committing | Told::CommittedUnsynced) => is_prepared != is_there,
            Some(Told::Committed) => now == (false, true),
        };
        if !is_right {
            return Err(format!(
                "{id} was told {told:?}, and is {now:?} (prepared, there)"
            ));
        }
    }
    Ok(())
}

// Opened after the crash, once more after a crash of that opening, and lived in to the end.
fn survive(image: &SimFs, journal: &BTreeMap<String, Told>, call: u64) -> Result<(), String> {
    let world = SimWorld::with_disk(image.clone(), Arc::default(), call);
    let failed = |error: esker::Error| format!("opening: {error}");
    let db = open_at(&world.env(), DIR).map_err(failed)?;
    check(&db, journal)?;
    let listed = ids(&db);
    let mode = match call % 2 {
        0 => CrashMode::LoseUnsynced,
        _ => CrashMode::Pages,
    };
    // What was listed is durable, and stays listed.
    let world = world.after_crash(mode, call);
    // Its disk is gone, so nothing comes of its closing.
    drop(db);
    let db = open_at(&world.env(), DIR).map_err(failed)?;
    check(&db, journal)?;
    if ids(&db) != listed {
        return Err(format!("{listed:?} were listed, and then {:?}", ids(&db)));
    }
    for (index, id) in listed.iter().enumerate() {
        match index % 2 {
            0 => db.commit_prepared(id).unwrap(),
            _ => db.rollback_prepared(id).unwrap(),
        }
        if id != "g" && is_visible(&db, id) != index.is_multiple_of(2) {
            return Err(format!("{id} did not end as it should"));
        }
    }
    db.compact::<&str>(..).unwrap();
    let report = db.verify().unwrap();
    if !report.is_whole() {
        return Err(format!("not whole: {report:?}"));
    }
    db.close().unwrap();
    let db = open_at(&world.env(), DIR).map_err(failed)?;
    match ids(&db).is_empty() {
        true => Ok(()),
        false => Err("something is prepared for ever".into()),
    }
}

fn sweep(mode: CrashMode, step: u64) {
    let journal = Journal::default();
    let first = Arc::new(Mutex::new(None));
    let crash_count = Arc::new(Mutex::new(0));
    let world = SimWorld::new(9);
    let eye: Eye = {
        let (journal, first) = (Arc::clone(&journal), Arc::clone(&first));
        let (calls, crash_count) = (Mutex::new(0), Arc::clone(&crash_count));
        Arc::new(move |sim, doing| {
            let call = {
                let mut calls = calls.lock().unwrap();
                *calls += 1;
                *calls
            };
            if call % step != 0 || first.lock().unwrap().is_some() {
                return;
            }
            *crash_count.lock().unwrap() += 1;
            let image = sim.crash_image(mode, call);
            if let Err(error) = survive(&image, &journal.lock().unwrap(), call) {
                let text = format!("{error}; crashed before call {call} ({doing}), {mode:?}");
                *first.lock().unwrap() = Some(text);
            }
        })
    };
    let watched = WatchedFs::new(&world.fs, Some(eye), Lie::None);
    story(&world.env_with(Arc::new(watched)), &journal);
    let error = first.lock().unwrap().take();
    assert_eq!(error, None);
    let crash_count = *crash_count.lock().unwrap();
    assert!(crash_count > 100, "only {crash_count} crashes");
}

#[test]
fn whatever_call_the_power_fails_at_each_is_as_its_owner_was_told() {
    // What was not synced is lost.
    sweep(CrashMode::LoseUnsynced, 3);
}

#[test]
fn and_so_it_is_when_pages_survive_as_they_like() {
    // Later pages without earlier ones: an end of the log that is torn in every way.
    sweep(CrashMode::Pages, 4);
    sweep(CrashMode::Prefix, 8);
}

#[test]
fn what_is_read_of_another_that_is_prepared_cannot_be_prepared() {
    // Its claim says that nobody changes what it relies on, and the other one's commit would.
    for isolation in [Isolation::Serializable, Isolation::Snapshot] {
        let world = SimWorld::new(20);
        let db = open(&world.env());
        let mut first = db.begin();
        first.put(&db, "x", "new").unwrap();
        drop(first.prepare("first").unwrap());
        let mut tx = db.begin_with(TransactionOptions {
            isolation,
            ..TransactionOptions::default()
        });
        match isolation {
            Isolation::Serializable => assert!(tx.get("x").unwrap().is_none()),
            _ => assert!(tx.get_for_update(&db, "x").unwrap().is_none()),
        }
        tx.put(&db, "z", "new").unwrap();
        let refused = tx.prepare("second").map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.to_string().contains("first"), "{refused}");
    }
}

#[test]
fn a_range_that_was_read_meets_what_another_writes_into_it() {
    let world = SimWorld::new(27);
    let db = open(&world.env());
    let serializable = || {
        db.begin_with(TransactionOptions {
            isolation: Isolation::Serializable,
            ..TransactionOptions::default()
        })
    };
    let mut first = db.begin();
    first.put(&db, "m", "new").unwrap();
    first.delete_range(&db, "p", "r").unwrap();
    drop(first.prepare("first").unwrap());
    let prepared = |from: &str, to: &str| {
        let mut tx = serializable();
        assert_eq!(tx.range(from..to).unwrap().count(), 0);
        tx.put(&db, "z", "new").unwrap();
        let prepared = tx.prepare("second");
        prepared
            .and_then(|prepared| prepared.rollback())
            .err()
            .map(|error| error.kind())
    };
    assert_eq!(prepared("l", "n"), Some(ErrorKind::Conflict));
    assert_eq!(prepared("q", "s"), Some(ErrorKind::Conflict));
    assert_eq!(prepared("a", "m"), None);
    assert_eq!(prepared("r", "t"), None);
}

#[test]
fn an_end_survives_what_it_was_told_to() {
    let world = SimWorld::new(29);
    let db = open(&world.env());
    let until = |durability| WriteOptions {
        durability: Some(durability),
        ..WriteOptions::default()
    };
    let prepared = |id: &str| {
        let mut tx = db.begin();
        tx.put(&db, id, "1").unwrap();
        tx.prepare(id).unwrap()
    };
    drop(prepared("a"));
    let b = prepared("b");
    let (c, _d) = (prepared("c"), prepared("d"));
    db.commit_prepared_with("a", until(Durability::Buffered))
        .unwrap();
    b.rollback_with(until(Durability::Sync)).unwrap();
    c.rollback_with(until(Durability::Buffered)).unwrap();
    db.rollback_prepared_with("d", until(Durability::Buffered))
        .unwrap();
    let world = world.after_crash(CrashMode::LoseUnsynced, 29);
    let db = open(&world.env());
    assert_eq!(ids(&db), ["c", "d"]);
    assert!(db.contains_key("a").unwrap() && !db.contains_key("b").unwrap());
    db.rollback_prepared_with("d", until(Durability::Sync))
        .unwrap();
    let db = open(&world.after_crash(CrashMode::LoseUnsynced, 30).env());
    assert_eq!(ids(&db), ["c"]);
}

#[test]
fn what_is_prepared_shows_in_the_statistics_also_after_an_opening() {
    let world = SimWorld::new(31);
    let db = open(&world.env());
    prepare(&db, "a").unwrap();
    world.clock.advance(Duration::from_secs(5));
    db.close().unwrap();
    let db = open(&world.env());
    let stats = db.stats();
    assert_eq!(stats.prepared, db.prepared());
    let one = &stats.prepared[0];
    assert_eq!((&*one.id, one.entries, one.claim_count), (&b"a"[..], 3, 3));
    assert_eq!(one.age, Duration::from_secs(5));
    db.rollback_prepared("a").unwrap();
    assert!(db.stats().prepared.is_empty());
}

#[test]
fn what_was_rolled_back_before_a_close_stays_so() {
    // Nothing of it went into a memtable, so no flush syncs the log for it.
    let open = |world: &SimWorld| Db::builder(DIR).env(world.env()).open().unwrap();
    let world = SimWorld::new(22);
    let db = open(&world);
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    tx.prepare("t").unwrap().rollback().unwrap();
    db.close().unwrap();
    let world = world.after_crash(CrashMode::LoseUnsynced, 22);
    assert!(ids(&open(&world)).is_empty());
}

#[test]
fn a_key_too_long_to_be_written_may_be_read_before_a_prepare() {
    let world = SimWorld::new(21);
    let db = open(&world.env());
    let mut tx = db.begin_with(TransactionOptions {
        isolation: Isolation::Serializable,
        ..TransactionOptions::default()
    });
    let long = vec![b'k'; 70_000];
    tx.get_for_update(&db, &long).unwrap();
    assert_eq!(tx.range(&long[..]..).unwrap().count(), 0);
    tx.put(&db, "a", "1").unwrap();
    tx.prepare("t").unwrap().commit().unwrap();
    assert_eq!(db.get("a").unwrap().unwrap(), "1");
}

#[test]
fn a_large_prepare_is_not_copied_by_each_flush() {
    let world = SimWorld::new(26);
    let env = world.env();
    let db = open(&env);
    let mut tx = db.begin();
    for number in 0..300 {
        tx.put(&db, format!("k{number}"), [b'v'; 900]).unwrap();
    }
    drop(tx.prepare("large").unwrap());
    let size = |name: &String| env.fs.file_size(&Path::new(DIR).join(name)).unwrap();
    let giant = || {
        let mut names = log_segments(&env, DIR).into_iter();
        names.find(|name| size(name) > 250_000)
    };
    db.put("a", "0").unwrap();
    db.flush_all().unwrap();
    let first = giant();
    for number in 0..4 {
        db.put("a", format!("{number}")).unwrap();
        db.flush_all().unwrap();
    }
    assert_eq!(giant(), first);
}

#[test]
fn prepares_go_on_once_there_is_space_again() {
    let world = SimWorld::new(28);
    let db = open(&world.env());
    world.fs.set_free_bytes(0);
    let prepare = |number: usize| {
        let mut tx = db.begin();
        tx.put(&db, format!("k{number}"), [b'v'; 900])?;
        tx.prepare(format!("t{number}")).map(drop)
    };
    let refused = (0..10_000).map(prepare).find_map(Result::err);
    assert_eq!(refused.unwrap().kind(), ErrorKind::OutOfSpace);
    world.fs.set_free_bytes(1 << 30);
    prepare(10_000).unwrap();
}

#[test]
fn a_repair_leaves_out_what_is_prepared_in_a_dropped_keyspace() {
    // Damage hides that it was committed, and no opening would take a prepare without its keyspace.
    let world = SimWorld::new(23);
    let env = world.env();
    let db = open(&env);
    db.put("one", "1").unwrap();
    let gone = db.keyspace("gone").unwrap();
    let mut tx = db.begin();
    tx.put(&gone, "k", "v").unwrap();
    tx.prepare("the id").unwrap().commit().unwrap();
    db.drop_keyspace("gone").unwrap();
    db.put("two", "2").unwrap();
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    let last = log_segments(&env, DIR).pop().unwrap();
    let path = Path::new(DIR).join(last);
    let bytes = crate::stored_bytes::read(&*env.fs, &path);
    let commit = bytes
        .windows(6)
        .rposition(|text| text == b"the id")
        .unwrap();
    flip(&*env.fs, &path, commit as u64);
    let options = RepairOptions::default();
    let report = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    let mut gaps = report.log.gaps.iter();
    assert!(gaps.any(|gap| gap.cause.contains("the id")), "{report:?}");
    let db = open(&env);
    assert!(ids(&db).is_empty());
    assert_eq!(db.get("one").unwrap().unwrap(), "1");
}

#[test]
fn a_repair_leaves_out_a_prepare_whose_large_value_is_lost() {
    let world = SimWorld::new(24);
    let env = world.env();
    let db = open(&env);
    db.put("one", "1").unwrap();
    let mut tx = db.begin();
    tx.put(&db, "large", vec![7; 20_000]).unwrap();
    drop(tx.prepare("a").unwrap());
    std::mem::forget(db);
    let world = world.after_kill();
    let env = world.env();
    for name in env.fs.list(Path::new(DIR)).unwrap() {
        if name.ends_with(".vlog") {
            env.fs.remove_file(&Path::new(DIR).join(name)).unwrap();
        }
    }
    let options = RepairOptions::default();
    let report = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    assert!(!report.log.gaps.is_empty(), "{report:?}");
    let again = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    assert!(again.log.gaps.is_empty(), "{again:?}");
    let db = open(&env);
    assert!(ids(&db).is_empty());
    assert_eq!(db.get("one").unwrap().unwrap(), "1");
}
