//! The first things a user does, on the real file system.

use esker::Expiry;
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Update};

#[test]
fn what_is_put_is_there_after_a_reopen() {
    // Put, overwrite, delete, scan; then the same again after closing.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let db = Db::open(&path).unwrap();
    for number in 0..1000 {
        db.put(format!("key{number:04}"), format!("value{number}"))
            .unwrap();
    }
    db.delete("key0500").unwrap();
    db.put("key0501", "other").unwrap();
    for round in 0..2 {
        let db = if round == 0 {
            db.clone()
        } else {
            db.close().unwrap();
            Db::open(&path).unwrap()
        };
        assert_eq!(db.get("key0000").unwrap().unwrap(), "value0");
        assert_eq!(db.get("key0501").unwrap().unwrap(), "other");
        assert!(db.get("key0500").unwrap().is_none());
        assert_eq!(db.iter().unwrap().count(), 999);
        assert_eq!(db.iter().unwrap().rev().count(), 999);
        let first = db
            .range("key0499".."key0502")
            .unwrap()
            .map(|entry| entry.unwrap().0);
        let keys: Vec<_> = first.collect();
        assert_eq!(keys.len(), 2);
    }
}

#[test]
fn a_large_fill_is_flushed_and_compacted() {
    // Small memory: many flushes, compactions and reads meanwhile.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let builder = Db::builder(&path)
        .env(Env::real(2))
        .set("memory_limit", "8MiB")
        .unwrap();
    let db = builder
        .set("compaction.base_level", "2MiB")
        .unwrap()
        .set("sst.file_size", "512KiB")
        .unwrap()
        .open()
        .unwrap();
    for number in 0u64..100_000 {
        let key = format!(
            "{:016}",
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 50_000
        );
        db.put(&key, format!("value {number} {}", "x".repeat(80)))
            .unwrap();
    }
    println!("{}", db.stats());
    db.compact::<&[u8]>(..).unwrap();
    println!("{}", db.stats());
    let count = db.iter().unwrap().filter(|entry| entry.is_ok()).count();
    db.close().unwrap();
    let db = Db::open(&path).unwrap();
    assert_eq!(db.iter().unwrap().count(), count);
}

#[test]
fn an_idle_keyspace_does_not_keep_the_log() {
    // One write to a quiet keyspace, then much to another: the log stays within its size.
    let dir = tempfile::tempdir().unwrap();
    let builder = Db::builder(dir.path().join("db")).env(Env::real(2));
    let builder = builder.set("wal.segment_size", "1MiB").unwrap();
    let builder = builder.set("wal.total_size", "4MiB").unwrap();
    let db = builder
        .set("memory_limit", "16MiB")
        .unwrap()
        .open()
        .unwrap();
    let quiet = db.keyspace("quiet").unwrap();
    quiet.put("key", "value").unwrap();
    for number in 0..20_000 {
        db.put(format!("key{number}"), [7; 1000]).unwrap();
    }
    db.flush().unwrap();
    let count = db.stats().wal_segment_count;
    assert!(count <= 5, "{count} segments of 1 MiB are kept");
    assert_eq!(quiet.get("key").unwrap().unwrap(), "value");
}

#[test]
fn a_default_time_to_live_is_for_puts_and_updates_not_for_merges() {
    // A merge is never read before it is written, so it cannot know whether it creates its key:
    // operands have no expiry. What is put or updated in the same keyspace goes in time.
    let world = SimWorld::new(1);
    let mut builder = Db::builder("db").env(world.env());
    for (name, text) in [("ttl", "10s"), ("merge_operator", "append:,")] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    db.merge("born", "1").unwrap();
    db.put("put", "base").unwrap();
    db.merge("put", "2").unwrap();
    let updated = db.update("updated", |_| Update::Set(b"new".to_vec()));
    updated.unwrap();
    let text = |key: &str| db.get(key).unwrap();
    for is_flushed in [false, true] {
        if is_flushed {
            db.compact::<&[u8]>(..).unwrap();
        }
        assert_eq!(text("born").unwrap(), "1");
        assert_eq!(text("put").unwrap(), "base,2");
        assert_eq!(text("updated").unwrap(), "new");
    }
    world.clock.advance(Duration::from_secs(10));
    for is_compacted in [false, true] {
        if is_compacted {
            db.compact::<&[u8]>(..).unwrap();
        }
        assert_eq!(text("born").unwrap(), "1");
        assert_eq!(text("put").unwrap(), "2");
        assert!(text("updated").is_none());
    }
}

#[test]
fn a_file_that_only_moved_waits_for_no_reader() {
    // A compaction of one file moves it to another level: the file itself stays, so nothing waits
    // to be removed, and no cursor that ends has to look after it.
    let world = SimWorld::new(1);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    db.put("key", "value").unwrap();
    db.flush().unwrap();
    db.compact::<&[u8]>(..).unwrap();
    let stats = db.stats();
    let moved = stats
        .counters
        .iter()
        .find(|(name, _, _)| *name == "esker_trivial_moves_total");
    assert_eq!(moved.unwrap().2, 1);
    assert_eq!(stats.pinned_file_count, 0);
    assert_eq!(db.get("key").unwrap().unwrap(), "value");
}

#[test]
fn expiries_are_told_by_every_way_of_reading() {
    // A value that ends, one that stays, one that lies apart and ends, a merge over one that ends:
    // read by key and by a cursor both ways, from memtables and from files, as a copy takes it.
    let dir = tempfile::tempdir().unwrap();
    let builder = Db::builder(dir.path().join("source")).set("merge_operator", "append");
    let db = builder.unwrap().open().unwrap();
    let end = Expiry::from_unix_s(4_000_000_000);
    let large = vec![7; 10_000];
    let mut batch = db.batch();
    batch.put_until(&db, "ends", "1", Some(end));
    batch.put_until(&db, "large", &large, Some(end));
    batch.put_until(&db, "merged", "1", Some(end));
    batch.put_until(&db, "past", "1", Some(Expiry::from_unix_s(1)));
    batch.put_until(&db, "stays", "1", None);
    batch.commit().unwrap();
    db.merge("merged", "2").unwrap();
    let expected = [
        ("ends", Some(end)),
        ("large", Some(end)),
        ("merged", None),
        ("stays", None),
    ];
    for _ in 0..2 {
        let mut cursor = db.cursor().unwrap();
        for (key, expiry) in expected {
            assert!(cursor.seek(key).unwrap() && cursor.key() == Some(key.as_bytes()));
            assert_eq!(cursor.expiry().unwrap(), expiry, "{key}");
            let valued = db.get_valued(key).unwrap().unwrap();
            assert_eq!(valued.expiry, expiry, "{key}");
            assert_eq!(Some(valued.value), db.get(key).unwrap());
        }
        assert!(cursor.seek_to_last().unwrap());
        for (key, expiry) in expected.iter().rev() {
            assert_eq!(cursor.key(), Some(key.as_bytes()));
            assert_eq!(cursor.expiry().unwrap(), *expiry, "{key} backwards");
            cursor.prev().unwrap();
        }
        assert!(db.get_valued("past").unwrap().is_none());
        db.flush().unwrap();
    }
    #[cfg(feature = "lz4")]
    assert_eq!(
        db.own_settings(),
        [("merge_operator".to_owned(), "append".to_owned())]
    );
}
