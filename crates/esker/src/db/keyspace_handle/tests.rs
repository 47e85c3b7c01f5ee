//! Tests of `keyspace_handle`.

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::base::hooks::merge_builtin;
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::comparator::Comparator;
use crate::db::atomic_change::Update;
use crate::db::handle::Db;
use crate::db::statistics::KeyspaceStats;
use crate::env::sim::{CrashMode, SimWorld};

fn open(world: &SimWorld) -> Db {
    Db::builder("db").env(world.env()).open().unwrap()
}

#[test]
fn update_finds_a_delete_that_compaction_has_dropped() {
    // Between the read and the write of an update the key is deleted, and a compaction takes
    // the delete to the bottom, where a delete leaves no trace unless somebody still asks.
    let db = open(&SimWorld::new(1));
    db.put("key", "1").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    let mut seen = Vec::new();
    let after = db.update("key", |present| {
        seen.push(present.map(<[u8]>::to_vec));
        if seen.len() == 1 {
            db.delete("key").unwrap();
            db.compact::<&[u8]>(..).unwrap();
        }
        Update::Set(b"2".to_vec())
    });
    assert_eq!(after.unwrap().unwrap(), "2");
    assert_eq!(seen, [Some(b"1".to_vec()), None]);
    assert!(db.stats().snapshots.is_empty());
}

#[test]
fn update_reads_what_is_there_and_no_hole() {
    // The same with an overwrite: the second look sees it, and a `Keep` returns it.
    let db = open(&SimWorld::new(2));
    db.put("key", "1").unwrap();
    let mut look_count = 0;
    let after = db.update("key", |present| {
        look_count += 1;
        if look_count > 1 {
            return Update::Keep;
        }
        assert_eq!(present, Some(b"1".as_slice()));
        db.put("key", "2").unwrap();
        db.compact::<&[u8]>(..).unwrap();
        Update::Remove
    });
    assert_eq!(after.unwrap().unwrap(), "2");
}

#[test]
fn a_handle_of_a_dropped_keyspace_never_waits() {
    // Its memtable was sealed and will never be flushed: a flush must not wait for that.
    let world = SimWorld::new(3);
    let db = open(&world);
    let keyspace = db.keyspace("gone").unwrap();
    keyspace.put("key", "value").unwrap();
    keyspace
        .database
        .core()
        .committer
        .paused(|active| active.seal(keyspace.parts.id, FlushReason::Manual));
    db.drop_keyspace("gone").unwrap();
    assert!(keyspace.flush().is_err());
    assert!(keyspace.put("key", "other").is_err());
    assert_eq!(keyspace.get("key").unwrap().unwrap(), "value");
    world.pool.run_all();
    assert!(db.stats().failures.is_empty());
    db.close().unwrap();
}

#[test]
fn a_flush_without_output_for_a_dropped_keyspace_is_no_fault() {
    // All that was sealed is expired or deleted, so the edit of the flush adds no file and only
    // says how far the keyspace is flushed; the keyspace is dropped before it is installed.
    let world = SimWorld::new(4);
    let db = open(&world);
    let keyspace = db.keyspace("gone").unwrap();
    keyspace.put("key", "value").unwrap();
    let core = Arc::clone(keyspace.database.core());
    core.committer
        .paused(|active| active.seal(keyspace.parts.id, FlushReason::Manual));
    let parts = Arc::clone(&keyspace.parts);
    db.drop_keyspace("gone").unwrap();
    let edit = vec![crate::store::version::edit::Change::SetFlushed {
        keyspace: parts.id,
        seqno: core.committer.visible(),
    }];
    assert!(!crate::db::install::install(&core, edit, None).unwrap());
    db.put("key", "value").unwrap();
}

#[test]
fn settings_that_cannot_be_refuse_a_keyspace_and_harm_nothing() {
    // An order nobody gave at open, sizes that contradict each other, another order or operator
    // than the keyspace has: each is refused with its own words, and writes go on.
    struct Unheard;
    impl crate::base::types::comparator::CustomComparator for Unheard {
        fn name(&self) -> &str {
            "unheard"
        }
        fn compare(&self, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
            left.cmp(right)
        }
    }
    let db = open(&SimWorld::new(5));
    let unheard = || KeyspaceOptions {
        comparator: Comparator::Custom(Arc::new(Unheard)),
        ..KeyspaceOptions::default()
    };
    let refusal = |name: &str, options| match db.keyspace_with(name, options) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    assert!(refusal("new", unheard()).contains("unheard"));
    let mut contradicting = KeyspaceOptions::default();
    contradicting.compaction.base_level_bytes = 1 << 20;
    contradicting.sst.file_size_bytes = 1 << 30;
    assert!(refusal("new", contradicting).contains("sst.file_size"));
    db.keyspace("there").unwrap();
    assert!(refusal("there", unheard()).contains("bytewise"));
    // An operator is taken where there is none, and is kept then.
    let merged_by = |rule| KeyspaceOptions::default().merge_operator(rule);
    let summing = merged_by(merge_builtin::uint64_add());
    db.keyspace_with("there", summing).unwrap();
    let joining = merged_by(merge_builtin::append(","));
    assert!(refusal("there", joining).contains("uint64add"));
    db.put("key", "value").unwrap();
    assert_eq!(db.keyspaces(), ["default", "there"]);
}

#[test]
fn a_key_is_put_if_absent_and_deleted_if_present_once() {
    // The second put and the second delete change nothing, whether memtable or file has the key.
    let db = open(&SimWorld::new(6));
    for _ in 0..2 {
        assert!(db.put_if_absent("key", "1").unwrap());
        assert!(!db.put_if_absent("key", "2").unwrap());
        db.flush().unwrap();
        assert!(!db.put_if_absent("key", "3").unwrap());
        assert_eq!(db.get("key").unwrap().unwrap(), "1");
        assert!(db.delete_if_present("key").unwrap());
        assert!(!db.delete_if_present("key").unwrap());
        db.compact::<&[u8]>(..).unwrap();
        assert!(!db.delete_if_present("key").unwrap());
    }
    assert!(db.stats().snapshots.is_empty());
}

#[test]
fn a_large_value_that_is_there_is_neither_read_nor_written() {
    // Refused puts and a delete of a value of a mebibyte: nothing goes to the value log.
    let db = open(&SimWorld::new(7));
    let value = vec![7; 1 << 20];
    let written = || {
        let counters = db.stats().counters;
        let of = |name: &str| {
            counters
                .iter()
                .find(|(known, ..)| *known == name)
                .unwrap()
                .2
        };
        of("esker_value_log_bytes_total")
    };
    assert!(db.put_if_absent("key", &value).unwrap());
    let before = written();
    assert_eq!(before, 1 << 20);
    assert!(!db.put_if_absent("key", &value).unwrap());
    assert!(db.delete_if_present("key").unwrap());
    assert_eq!(written(), before);
    assert_eq!(db.get("key").unwrap(), None);
}

#[test]
fn a_flush_of_one_keyspace_leaves_the_others_and_their_log() {
    // One entry of `idle` stands in the first segment of a log in which `busy` fills the others.
    // The flush of `busy` makes files of that alone: `idle` stays in memory, and the log from its
    // entry on stays with it, so that a power cut right behind takes nothing. The flush of `idle`
    // lets the log go.
    let open = |world: &SimWorld| {
        let builder = Db::builder("db").env(world.env());
        let builder = builder.set("wal.segment_size", "64KiB").unwrap();
        builder.set("durability", "sync").unwrap().open().unwrap()
    };
    let of = |db: &Db, name: &str| -> KeyspaceStats {
        let mut all = db.stats().keyspaces.into_iter();
        all.find(|keyspace| keyspace.name == name).unwrap()
    };
    let fill = |db: &Db| {
        db.keyspace("idle").unwrap().put("key", "idle").unwrap();
        for number in 0..3000_u32 {
            db.keyspace("busy")
                .unwrap()
                .put(number.to_be_bytes(), [7; 1000])
                .unwrap();
        }
    };
    let world = SimWorld::new(8);
    let db = open(&world);
    fill(&db);
    let before = db.stats().wal_segment_count;
    assert!(before > 2, "{before} segments");
    let idle_bytes = of(&db, "idle").memtable_bytes;
    db.keyspace("busy").unwrap().flush().unwrap();
    let (idle, busy) = (of(&db, "idle"), of(&db, "busy"));
    assert_eq!((idle.memtable_bytes, idle.sealed_count), (idle_bytes, 0));
    assert!(idle.levels.is_empty() && busy.levels.len() == 1);
    assert_eq!(busy.levels[0].entry_count, 3000);
    assert_eq!(db.stats().wal_segment_count, before);

    let after = world.after_crash(CrashMode::LoseUnsynced, 1);
    let db = open(&after);
    assert_eq!(
        db.keyspace("idle").unwrap().get("key").unwrap().unwrap(),
        "idle"
    );
    assert_eq!(db.keyspace("busy").unwrap().iter().unwrap().count(), 3000);
    db.close().unwrap();

    // The other way round: what `idle` needs no more is let go, what `busy` needs is not.
    let world = SimWorld::new(9);
    let db = open(&world);
    fill(&db);
    db.keyspace("idle").unwrap().flush().unwrap();
    assert!(of(&db, "busy").levels.is_empty());
    assert_eq!(db.stats().wal_segment_count, before);
    db.keyspace("busy").unwrap().flush().unwrap();
    assert_eq!(db.stats().wal_segment_count, 1);
}
