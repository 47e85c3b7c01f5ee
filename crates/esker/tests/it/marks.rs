//! Unlogged keyspaces and their marks: what they refuse, what keeps a mark, and what loses it.

use std::path::Path;

use esker::internals::db::inspect::manifest::manifest_in;
use esker::internals::env::bundle::Env;
use esker::internals::env::sim::{CrashMode, SimWorld};
use esker::internals::store::version::edit::Change;
use esker::{
    Builder, Db, Durability, ErrorKind, IngestOptions, Keyspace, KeyspaceOptions, RepairOptions,
    SstWriter, WriteOptions, repair_in,
};

/// Where the database lies.
const DIR: &str = "/db";

// Small, so that a few writes meet flushes, rotation and compactions.
const SETTINGS: [(&str, &str); 9] = [
    ("memtable.size", "16KiB"),
    ("wal.segment_size", "64KiB"),
    ("wal.total_size", "128KiB"),
    ("value_log.threshold", "600B"),
    ("value_log.segment_size", "64KiB"),
    ("compaction.l0_trigger", "2"),
    ("sst.file_size", "16KiB"),
    ("compaction.base_level", "64KiB"),
    ("memory_limit", "4MiB"),
];

/// A builder of the database.
pub fn builder_in(env: Env) -> Builder {
    let mut builder = Db::builder(DIR).env(env);
    for (name, text) in SETTINGS {
        builder = builder.set(name, text).unwrap();
    }
    builder
}

fn open(world: &SimWorld) -> Db {
    builder_in(world.env()).open().unwrap()
}

/// Settings of an unlogged keyspace.
pub fn unlogged() -> KeyspaceOptions {
    let mut options = KeyspaceOptions {
        is_unlogged: true,
        memtable_bytes: 16 << 10,
        value_threshold_bytes: 600,
        ..KeyspaceOptions::default()
    };
    options.sst.file_size_bytes = 16 << 10;
    options.compaction.l0_trigger = 2;
    options.compaction.base_level_bytes = 64 << 10;
    options
}

fn replica(db: &Db) -> Keyspace {
    db.keyspace_with("replica", unlogged()).unwrap()
}

fn put(db: &Db, replica: &Keyspace, key: &str, value: &str, mark: &str) {
    let mut batch = db.batch();
    batch.put(replica, key, value).mark(replica, mark);
    batch.commit().unwrap();
}

fn flushed(replica: &Keyspace) -> Option<String> {
    let mark = replica.flushed_mark().unwrap();
    mark.map(|mark| String::from_utf8(mark.to_vec()).unwrap())
}

// The format that the newest manifest tells.
fn format_of(world: &SimWorld) -> u32 {
    let env = world.env();
    let names = env.fs.list(Path::new(DIR)).unwrap();
    let newest = names
        .iter()
        .filter(|name| name.starts_with("MANIFEST"))
        .max();
    let path = Path::new(DIR).join(newest.unwrap());
    let found = manifest_in(&env, &path).unwrap();
    let changes = found.edits.iter().flat_map(|edit| &edit.changes);
    let raised = changes.filter_map(|change| match change {
        Change::SetFormat { version } => Some(*version),
        _ => None,
    });
    let first = found.head.unwrap().format_version;
    raised.max().unwrap_or(first)
}

#[test]
fn what_asks_for_the_log_is_refused() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    let refused = |result: esker::Result<()>, wanted: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(wanted), "{error}");
    };
    for durability in [Durability::Buffered, Durability::Sync] {
        let options = WriteOptions {
            durability: Some(durability),
            no_wait: false,
        };
        let more = replica.with_write(options);
        refused(more.put("a", "1"), "\"replica\" is unlogged");
        refused(more.delete_range("a".."b"), "is unlogged");
        let swapped = more.compare_and_swap("a", None, Some(&b"1"[..]));
        refused(swapped.map(drop), "is unlogged");
        let batch = db.batch().mark(&replica, "1").commit_with(options);
        refused(batch, "is unlogged");
        let mut tx = db.begin();
        tx.put(&replica, "a", "1").unwrap();
        refused(tx.commit_with(options), "is unlogged");
    }
    let memory = WriteOptions {
        durability: Some(Durability::Memory),
        no_wait: false,
    };
    // A large value, too, of which nothing stays behind.
    let mut both = db.batch();
    both.put(&db, "a", "1")
        .put(&replica, "a", vec![b'x'; 5_000]);
    refused(both.commit_with(memory), "to others beside it");
    refused(both.commit(), "to others beside it");
    assert!(db.stats().values.segment_count == 0);
    let mut marked = db.batch();
    marked.put(&db, "a", "1").mark(&replica, "1");
    refused(marked.commit(), "to others beside it");
    let mut tx = db.begin();
    tx.put(&replica, "a", "1").unwrap();
    tx.put(&db, "a", "1").unwrap();
    refused(tx.commit(), "to others beside it");
    let mut tx = db.begin();
    tx.put(&replica, "a", "1").unwrap();
    refused(tx.prepare("id").map(drop), "is prepared lies in the log");
    let mut tx = db.begin();
    tx.put(&db, "a", "1").unwrap();
    tx.get_for_update(&replica, "a").unwrap();
    refused(tx.prepare("id").map(drop), "is prepared lies in the log");
    assert!(db.prepared().is_empty());
    assert_eq!(
        db.iter().unwrap().count() + replica.iter().unwrap().count(),
        0
    );

    // What does not ask for it is written.
    replica.put("a", "1").unwrap();
    replica.with_write(memory).put("b", "1").unwrap();
    let mut tx = db.begin();
    tx.put(&replica, "c", "1").unwrap();
    tx.commit().unwrap();
    assert!(
        replica
            .compare_and_swap("d", None, Some(&b"1"[..]))
            .unwrap()
    );
    assert_eq!(replica.iter().unwrap().count(), 4);
}

#[test]
fn marks_are_of_unlogged_keyspaces_and_of_some_bytes() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let (one, two) = (replica(&db), db.keyspace_with("two", unlogged()).unwrap());
    let mut batch = db.batch();
    batch.mark(&db, "1");
    let error = batch.commit().unwrap_err();
    assert!(error.to_string().contains("has no mark"), "{error}");
    for len in [0, 513] {
        let mut batch = db.batch();
        batch.mark(&one, vec![b'm'; len]);
        assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::TooLarge);
    }
    let mut batch = db.batch();
    batch.mark(&one, "1").mark(&two, "1");
    assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::Invalid);
    let mut batch = db.batch();
    batch.put(&two, "a", "1").mark(&one, "1");
    assert_eq!(batch.commit().unwrap_err().kind(), ErrorKind::Invalid);
    batch.clear();
    // The last that is given counts; a batch that was cleared has none.
    batch.mark(&one, vec![b'm'; 512]).commit().unwrap();
    batch.mark(&one, "1").mark(&one, "2").commit().unwrap();
    batch.put(&two, "a", "1").commit().unwrap();
    assert_eq!(one.mark().unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(two.mark().unwrap(), None);
    db.drop_keyspace("replica").unwrap();
    assert!(one.mark().is_err() && one.flushed_mark().is_err());
    assert!(db.batch().mark(&one, "3").commit().is_err());
    db.close().unwrap();
    assert_eq!(two.mark().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn a_keyspace_is_unlogged_from_its_creation_on_or_never() {
    let world = SimWorld::new(1);
    let refused = Db::builder(DIR).env(world.env()).set("unlogged", "true");
    let error = refused.unwrap().open().err().unwrap();
    assert!(error.to_string().contains("create NAME"), "{error}");
    let db = open(&world);
    let replica = replica(&db);
    let logged = db.keyspace("logged").unwrap();
    assert!(db.keyspace_with("logged", unlogged()).is_err());
    assert!(
        db.keyspace_with("replica", KeyspaceOptions::default())
            .is_err()
    );
    for keyspace in [&replica, &logged] {
        assert!(keyspace.set("unlogged", "false").is_err());
        keyspace.set("ttl", "7d").unwrap();
    }
    assert!(
        replica
            .own_settings()
            .contains(&("unlogged".into(), "true".into()))
    );
    put(&db, &replica, "a", "1", "1");
    db.close().unwrap();
    let db = open(&world);
    let again = db.existing_keyspace("replica").unwrap();
    assert_eq!(again.mark().unwrap().as_deref(), Some(&b"1"[..]));
    assert!(db.keyspace_with("replica", unlogged()).is_ok());
    let error = again.with_write(WriteOptions {
        durability: Some(Durability::Sync),
        no_wait: false,
    });
    assert!(error.put("a", "2").is_err());
}

#[test]
fn only_the_creation_of_an_unlogged_keyspace_raises_the_format() {
    let world = SimWorld::new(1);
    let db = open(&world);
    db.keyspace("logged").unwrap();
    db.put("a", "1").unwrap();
    assert!(db.keyspace_with("logged", unlogged()).is_err());
    assert_eq!(format_of(&world), 1);
    replica(&db);
    assert_eq!(format_of(&world), 2);
    // Durably: whatever survives of the keyspace is of that format.
    let world = world.after_crash(CrashMode::LoseUnsynced, 1);
    assert_eq!(format_of(&world), 2);
    assert!(open(&world).existing_keyspace("replica").is_some());
}

#[test]
fn a_mark_alone_is_flushed() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    db.batch().mark(&replica, "1").commit().unwrap();
    assert_eq!(flushed(&replica), None);
    replica.flush().unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("1"));
    assert!(replica.files().is_empty());
    put(&db, &replica, "a", "1", "2");
    replica.flush().unwrap();
    let files = replica.files().len();
    db.batch().mark(&replica, "3").commit().unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("2"));
    // By whatever flushes what is in no log.
    db.sync().unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("3"));
    db.batch().mark(&replica, "4").commit().unwrap();
    db.flush_all().unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("4"));
    assert_eq!(replica.files().len(), files);
    db.batch().mark(&replica, "5").commit().unwrap();
    db.close().unwrap();
    let db = open(&world);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("5"));
}

#[test]
fn a_batch_that_fills_its_memtable_takes_its_own_mark_along() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    put(&db, &replica, "a", "1", "1");
    let mut batch = db.batch();
    for row in 0..200 {
        batch.put(&replica, format!("row {row}"), vec![b'x'; 200]);
    }
    batch.mark(&replica, "2").commit().unwrap();
    world.pool.run_all();
    assert_eq!(flushed(&replica).as_deref(), Some("2"));
    let world = world.after_crash(CrashMode::LoseUnsynced, 7);
    let db = open(&world);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(replica.iter().unwrap().count(), 201);
}

#[test]
fn an_unlogged_keyspace_pins_no_segment_of_the_log() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    db.put("begins", "the log").unwrap();
    put(&db, &replica, "stays", "in memory", "1");
    for turn in 0..12 {
        for row in 0..60 {
            db.put(format!("{turn} {row}"), vec![b'x'; 500]).unwrap();
        }
        put(&db, &replica, &format!("{turn}"), "1", &format!("{turn}"));
        db.flush().unwrap();
    }
    // Twelve segments' worth was logged and flushed; what holds the replica's entries is memory.
    assert!(db.stats().wal_segment_count <= 2, "{:?}", db.stats());
    assert_eq!(flushed(&replica), None);
    assert!(replica.get("stays").unwrap().is_some());
    // And none of it was logged.
    let before = counter(&db, "esker_wal_bytes_total");
    put(&db, &replica, "a", &"x".repeat(10_000), "99");
    replica.flush().unwrap();
    assert_eq!(counter(&db, "esker_wal_bytes_total"), before);
}

fn counter(db: &Db, name: &str) -> u64 {
    let counters = db.stats().counters;
    let found = counters.iter().find(|(known, _, _)| *known == name);
    found.unwrap_or_else(|| panic!("{counters:?}")).2
}

#[test]
fn whatever_makes_a_version_of_another_keeps_the_mark() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    let told = |replica: &Keyspace, mark: &str| {
        assert_eq!(flushed(replica).as_deref(), Some(mark));
        assert_eq!(replica.mark().unwrap().as_deref(), Some(mark.as_bytes()));
    };
    for row in 0..6 {
        put(&db, &replica, &format!("row {row}"), &"x".repeat(700), "1");
        replica.flush().unwrap();
    }
    replica.compact::<&[u8]>(..).unwrap();
    told(&replica, "1");
    replica.set("ttl", "7d").unwrap();
    told(&replica, "1");
    // A file of rows elsewhere is moved down as it is.
    put(&db, &replica, "z", "1", "2");
    replica.flush().unwrap();
    replica.compact("y"..).unwrap();
    told(&replica, "2");
    db.checkpoint("/copy").unwrap();
    let copy = Db::builder("/copy").env(world.env()).open().unwrap();
    let copied = copy.existing_keyspace("replica").unwrap();
    told(&copied, "2");
    assert!(copied.iter().unwrap().eq_by_key(&replica));
    replica.export("/set").unwrap();
    let mut options = unlogged();
    options.is_unlogged = false;
    let mut writer = SstWriter::create_in(&world.env(), Path::new("/other"), options).unwrap();
    writer.put("from elsewhere", "1").unwrap();
    writer.finish().unwrap();
    replica.ingest("/other", &IngestOptions::default()).unwrap();
    told(&replica, "2");
    assert!(replica.contains_key("from elsewhere").unwrap());
    db.close().unwrap();
    let db = open(&world);
    told(&db.existing_keyspace("replica").unwrap(), "2");
}

trait SameRows {
    fn eq_by_key(self, other: &Keyspace) -> bool;
}

impl<I: Iterator<Item = esker::Result<(esker::Bytes, esker::Bytes)>>> SameRows for I {
    fn eq_by_key(self, other: &Keyspace) -> bool {
        self.map(|row| row.unwrap())
            .eq(other.iter().unwrap().map(|row| row.unwrap()))
    }
}

#[test]
fn a_reader_beside_the_writer_sees_what_was_flushed() {
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    put(&db, &replica, "a", "1", "1");
    replica.flush().unwrap();
    put(&db, &replica, "b", "1", "2");
    db.put("logged", "1").unwrap();
    let builder = Db::builder(DIR).env(world.env()).read_only(true);
    let beside = builder.open().unwrap();
    let seen = beside.existing_keyspace("replica").unwrap();
    assert_eq!(seen.mark().unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(seen.flushed_mark().unwrap(), seen.mark().unwrap());
    assert_eq!(seen.iter().unwrap().count(), 1);
    assert!(beside.contains_key("logged").unwrap());
}

#[test]
fn an_ingest_keeps_a_mark_that_nothing_has_flushed_yet() {
    // A fresh memtable takes the place of the live one, which is empty but for the mark.
    let world = SimWorld::new(1);
    let db = open(&world);
    let replica = replica(&db);
    put(&db, &replica, "a", "1", "1");
    let mut options = unlogged();
    options.is_unlogged = false;
    let mut writer = SstWriter::create_in(&world.env(), Path::new("/set"), options).unwrap();
    writer.put("b", "1").unwrap();
    writer.finish().unwrap();
    db.batch().mark(&replica, "2").commit().unwrap();
    replica.ingest("/set", &IngestOptions::default()).unwrap();
    assert_eq!(replica.mark().unwrap().as_deref(), Some(&b"2"[..]));
    db.batch().mark(&replica, "3").commit().unwrap();
    db.sync().unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("3"));
    let world = world.after_crash(CrashMode::LoseUnsynced, 1);
    let db = open(&world);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(flushed(&replica).as_deref(), Some("3"));
    assert_eq!(replica.iter().unwrap().count(), 2);
}

// The database with a replica of two files, and another one; and the files of the first.
fn two_replicas(world: &SimWorld) -> Vec<u64> {
    let db = open(world);
    let (damaged, whole) = (replica(&db), db.keyspace_with("whole", unlogged()).unwrap());
    for (turn, mark) in ["1", "2"].into_iter().enumerate() {
        put(&db, &damaged, &format!("row {turn}"), "1", mark);
        put(&db, &whole, &format!("row {turn}"), "1", mark);
        damaged.flush().unwrap();
        whole.flush().unwrap();
    }
    let files = damaged.files().iter().map(|file| file.number).collect();
    db.close().unwrap();
    files
}

#[test]
fn a_repair_that_loses_something_takes_the_mark_away() {
    let world = SimWorld::new(1);
    let files = two_replicas(&world);
    let env = world.env();
    let file = Path::new(DIR).join(format!("{:06}.sst", files[0]));
    env.fs.remove_file(&file).unwrap();
    for dry_run in [true, false] {
        let report = repair_in(&env, Path::new(DIR), RepairOptions { dry_run }, &[]).unwrap();
        assert_eq!(report.forgotten_marks, ["replica"]);
        assert!(
            report
                .to_string()
                .contains("the mark of keyspace \"replica\"")
        );
        assert!(report.is_lossy() && !report.is_whole());
    }
    let db = open(&world);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(replica.mark().unwrap(), None);
    assert_eq!(replica.iter().unwrap().count(), 1);
    let whole = db.existing_keyspace("whole").unwrap();
    assert_eq!(flushed(&whole).as_deref(), Some("2"));
    // It is what it was but for that.
    put(&db, &replica, "row 0", "1", "3");
    assert!(
        db.batch()
            .put(&db, "a", "1")
            .put(&replica, "a", "1")
            .commit()
            .is_err()
    );
}

#[test]
fn a_repair_without_the_manifest_invents_no_mark() {
    let world = SimWorld::new(1);
    two_replicas(&world);
    let env = world.env();
    for name in env.fs.list(Path::new(DIR)).unwrap() {
        if name.starts_with("MANIFEST") {
            env.fs.remove_file(&Path::new(DIR).join(name)).unwrap();
        }
    }
    let options = RepairOptions { dry_run: false };
    let report = repair_in(&env, Path::new(DIR), options, &[]).unwrap();
    assert!(report.to_string().contains("were unlogged are logged"));
    let db = open(&world);
    let replica = db.existing_keyspace("replica").unwrap();
    assert_eq!(replica.mark().unwrap(), None);
    assert_eq!(replica.iter().unwrap().count(), 2);
    assert!(db.batch().mark(&replica, "1").commit().is_err());
}
