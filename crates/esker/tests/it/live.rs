//! Settings changed while the database is open.

use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker::internals::env::sim::SimWorld;
use esker::internals::env::sim::crash::CrashMode;
use esker::internals::env::sim::pool::{JobOrder, SimPool};
use esker::{Db, ErrorKind, KeyspaceOptions, merge};

fn open(env: &Env) -> Db {
    Db::builder("db").env(env.clone()).open().unwrap()
}

/// The value and the origin of a setting, as `stats` tells them.
fn told(db: &Db, name: &str) -> (String, &'static str) {
    let settings = db.stats().settings;
    let found = settings.iter().find(|(known, _, _)| *known == name);
    let (_, text, origin) = found.unwrap();
    (text.clone(), *origin)
}

#[test]
fn a_new_memory_limit_is_felt_at_once() {
    // Lowered, memtables shrink with it and the writes that follow keep to it; raised, they grow.
    let world = SimWorld::new(1);
    let db = open(&world.env());
    assert_eq!(told(&db, "memory_limit"), ("256MiB".into(), "default"));
    let before = told(&db, "memtable.size");
    db.set("memory_limit", "4MiB").unwrap();
    assert_eq!(told(&db, "memory_limit"), ("4MiB".into(), "user"));
    assert_eq!(told(&db, "memtable.size"), ("320KiB".into(), "automatic"));
    assert_eq!(db.stats().memory_limit, 4 << 20);
    for number in 0..3000 {
        db.put(format!("{number:08}"), "x".repeat(1000)).unwrap();
    }
    let held: u64 = db.stats().memory.iter().map(|(_, bytes)| bytes).sum();
    assert!(held <= 4 << 20, "{held}");
    assert!(db.stats().open_file_count > 0 || !db.files().is_empty());
    db.set("memory_limit", "256MiB").unwrap();
    assert_eq!(told(&db, "memtable.size"), before);
    assert_eq!(db.iter().unwrap().count(), 3000);
}

#[test]
fn a_new_durability_goes_for_the_next_write() {
    // The power is cut: what was written under the old level may be gone, the rest is there.
    let world = SimWorld::new(2);
    let db = open(&world.env());
    db.put("buffered", "1").unwrap();
    db.set("durability", "sync").unwrap();
    db.put("synced", "2").unwrap();
    let after = world.after_crash(CrashMode::LoseUnsynced, 2);
    drop(db);
    let db = open(&after.env());
    assert_eq!(db.get("synced").unwrap().unwrap(), "2");
    // Of the database, so it ends with it.
    assert_eq!(told(&db, "durability"), ("buffered".into(), "default"));
}

#[test]
fn a_keyspace_keeps_what_it_was_given() {
    // Set on a keyspace of its own, felt by the next put, and still there after opening again.
    let world = SimWorld::new(3);
    let mut db = open(&world.env());
    let other = db.keyspace("other").unwrap();
    other.put("for ever", "1").unwrap();
    other.set("ttl", "10s").unwrap();
    for round in 0..2 {
        let other = db.keyspace("other").unwrap();
        other.put("for a while", "2").unwrap();
        db.put("elsewhere", "3").unwrap();
        assert!(other.get("for a while").unwrap().is_some());
        world.clock.advance(Duration::from_secs(11));
        assert!(other.get("for a while").unwrap().is_none(), "round {round}");
        assert!(other.get("for ever").unwrap().is_some());
        assert!(db.get("elsewhere").unwrap().is_some());
        db.close().unwrap();
        db = open(&world.env());
    }
}

#[test]
fn what_is_set_on_the_database_goes_for_keyspaces_to_come() {
    // A keyspace that is there keeps its own; a later one begins with the new.
    let world = SimWorld::new(4);
    let db = open(&world.env());
    let older = db.keyspace("older").unwrap();
    db.set("ttl", "10s").unwrap();
    let newer = db.keyspace("newer").unwrap();
    for keyspace in [&older, &newer] {
        keyspace.put("key", "value").unwrap();
    }
    db.put("key", "value").unwrap();
    world.clock.advance(Duration::from_secs(11));
    assert!(older.get("key").unwrap().is_some());
    assert!(newer.get("key").unwrap().is_none());
    assert!(db.get("key").unwrap().is_none());
}

#[cfg_attr(
    not(all(feature = "lz4", feature = "snappy", feature = "zstd")),
    ignore = "needs every compressor"
)]
#[test]
fn the_compression_of_upper_levels_goes_along_unless_it_was_chosen() {
    // As when a database is opened with these settings.
    let world = SimWorld::new(5);
    let db = open(&world.env());
    db.set("compression", "none").unwrap();
    assert_eq!(told(&db, "sst.compression_upper").0, "none");
    db.set("sst.compression_upper", "snappy").unwrap();
    db.set("compression", "zstd").unwrap();
    assert_eq!(told(&db, "sst.compression_upper").0, "snappy");
}

#[test]
fn a_write_rate_holds_back_compactions_until_it_is_lifted() {
    // A megabyte at 100 kB/s takes the flush ten seconds of simulated time; lifted, none.
    let world = SimWorld::new(6);
    let db = open(&world.env());
    db.set("compression", "none").unwrap();
    let fill_and_flush = || {
        let began = world.clock.monotonic();
        for number in 0..1000 {
            db.put(format!("{number:08}"), "x".repeat(1000)).unwrap();
        }
        db.flush().unwrap();
        world.clock.monotonic() - began
    };
    db.set("compaction.rate_limit", "100000").unwrap();
    let took = fill_and_flush();
    assert!((8..=12).contains(&took.as_secs()), "{took:?}");
    db.set("compaction.rate_limit", "none").unwrap();
    assert!(fill_and_flush() < Duration::from_secs(1));
}

#[test]
fn a_refused_change_changes_nothing() {
    // Each with its reason; afterwards everything is as it was.
    let world = SimWorld::new(7);
    let db = open(&world.env());
    let other = db.keyspace("other").unwrap();
    let before = db.stats().settings;
    let refusals = [
        (db.set("memory_limt", "1GiB"), "`memory_limit` exists"),
        (
            db.set("background_threads", "3"),
            "when a database is opened",
        ),
        (db.set("memory_limit", "ten"), "memory_limit"),
        (
            db.set("memtable.size", "128MiB"),
            "a quarter of `memory_limit`",
        ),
        (db.set("wal.total_size", "16MiB"), "`wal.segment_size`"),
        (other.set("memory_limit", "1GiB"), "of the database"),
        (
            other.set("merge_operator", "append"),
            "when a database is opened",
        ),
    ];
    for (result, reason) in refusals {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(reason), "{error} / {reason}");
    }
    let now = db.stats().settings;
    assert_eq!(now, before);
    other.set("memtable.size", "64MiB").unwrap();
    let error = db.set("memory_limit", "128MiB").unwrap_err();
    assert!(error.to_string().contains("\"other\""), "{error}");
    db.drop_keyspace("other").unwrap();
    assert_eq!(
        other.set("ttl", "1s").unwrap_err().kind(),
        ErrorKind::Invalid
    );
    db.close().unwrap();
    let error = db.set("memory_limit", "128MiB").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}

#[test]
fn a_keyspace_that_compacts_no_more_by_itself_is_not_slowed_down_for_ever() {
    // It is slowed down for its debt; once nobody pays that off, there is nothing to wait for.
    let world = SimWorld::new(8);
    let clock = Arc::clone(&world.clock);
    let pool = Arc::new(SimPool::new(clock, world.seed, JobOrder::ByPriority, 2));
    let env = Env {
        pool: Arc::clone(&pool) as _,
        ..world.env()
    };
    let mut builder = Db::builder("/db").env(env);
    for (name, text) in [
        ("compaction.base_level", "64KiB"),
        ("sst.file_size", "64KiB"),
        ("compaction.l0_trigger", "1"),
        ("compression", "none"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let mut round = 0;
    while db.stats().keyspaces[0].write_rate.is_none() {
        for number in 0..20 {
            db.put(format!("{number:04}"), vec![round; 1000]).unwrap();
        }
        db.flush().unwrap();
        round += 1;
    }
    db.set("compaction.automatic", "false").unwrap();
    assert_eq!(db.stats().keyspaces[0].write_rate, None);
    pool.run_all();
    assert_eq!(db.stats().keyspaces[0].write_rate, None);
}

#[test]
fn a_keyspace_without_a_merge_operator_takes_one_for_good() {
    // Written without one; then somebody opens it with one, while a handle is held that was made
    // before. Both merge, also beneath a snapshot; the next opening has the operator, and no other
    // is taken. Who only reads cannot give any.
    let world = SimWorld::new(11);
    let db = open(&world.env());
    let before = db.keyspace("counts").unwrap();
    let one = 1_u64.to_le_bytes();
    before.put("a", one).unwrap();
    assert_eq!(
        before.merge("a", one).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let adding = || KeyspaceOptions::default().merge_operator(merge::uint64_add());
    let after = db.keyspace_with("counts", adding()).unwrap();
    before.merge("a", one).unwrap();
    after.merge("b", one).unwrap();
    let value = |key: &str| after.get(key).unwrap().map(|value| value.to_vec());
    assert_eq!(value("a"), Some(2_u64.to_le_bytes().to_vec()));
    assert_eq!(value("b"), Some(one.to_vec()));
    db.flush_all().unwrap();
    after.merge("a", one).unwrap();
    drop((before, after));
    db.close().unwrap();

    let db = open(&world.env());
    let counts = db.existing_keyspace("counts").unwrap();
    #[cfg(feature = "lz4")]
    assert_eq!(
        counts.own_settings(),
        [("merge_operator".to_owned(), "uint64add".to_owned())]
    );
    assert_eq!(counts.get("a").unwrap().unwrap(), 3_u64.to_le_bytes());
    let other = KeyspaceOptions::default().merge_operator(merge::put());
    let refused = db.keyspace_with("counts", other).err();
    assert_eq!(refused.unwrap().kind(), ErrorKind::Invalid);
    db.keyspace("plain").unwrap();
    drop(counts);
    db.close().unwrap();
    let builder = Db::builder("db").env(world.env()).read_only(true);
    let reader = builder.open().unwrap();
    assert!(reader.keyspace_with("counts", adding()).is_ok());
    assert!(reader.keyspace_with("plain", adding()).is_err());
}
