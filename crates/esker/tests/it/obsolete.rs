//! What nobody sees any more goes when somebody asks for a compaction.

use std::time::Duration;

use esker::env::sim::SimWorld;
use esker::{Db, Readable};

#[test]
#[ignore = "issue 25: a run alone at its level is taken for merged, whatever it still holds"]
fn what_a_snapshot_kept_goes_when_somebody_compacts_after_it() {
    // Both versions of each value are there as long as the snapshot is; after it one of them.
    let world = SimWorld::new(3);
    let builder = Db::builder("/db")
        .env(world.env())
        .set("compression", "none");
    let db = builder.unwrap().open().unwrap();
    let fill = |byte: u8| {
        for number in 0..500 {
            db.put(format!("{number:04}"), vec![byte; 1000]).unwrap();
        }
    };
    let bytes = || db.files().iter().map(|file| file.size_bytes).sum::<u64>();
    fill(1);
    let snapshot = db.snapshot();
    fill(2);
    db.compact::<&[u8]>(..).unwrap();
    assert!(bytes() > 900_000);
    drop(snapshot);
    db.compact::<&[u8]>(..).unwrap();
    assert!(bytes() < 600_000, "{}", bytes());
}

#[test]
#[ignore = "issue 25: a run alone at its level is taken for merged, whatever it still holds"]
fn what_has_expired_goes_when_somebody_compacts() {
    // It was merged before it had expired: the next compaction has it to take out.
    let world = SimWorld::new(4);
    let builder = Db::builder("/db")
        .env(world.env())
        .set("compression", "none");
    let db = builder.unwrap().open().unwrap();
    for number in 0..500 {
        db.put_with_ttl(
            format!("{number:04}"),
            vec![1; 1000],
            Duration::from_secs(10),
        )
        .unwrap();
    }
    db.put("stays", "here").unwrap();
    db.compact::<&[u8]>(..).unwrap();
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(db.iter().unwrap().count(), 1);
    db.compact::<&[u8]>(..).unwrap();
    let bytes = db.files().iter().map(|file| file.size_bytes).sum::<u64>();
    assert!(bytes < 100_000, "{bytes}");
}

#[test]
#[ignore = "issue 25: pointers that a snapshot kept keep their values for ever after it"]
fn values_that_a_snapshot_kept_go_after_it() {
    // Large values: half of what lies in the value log is overwritten, and nobody sees it.
    let world = SimWorld::new(5);
    let mut builder = Db::builder("/db").env(world.env());
    for (name, text) in [
        ("value_log.threshold", "1000B"),
        ("value_log.segment_size", "1MiB"),
        ("max_space_amp", "1.2"),
    ] {
        builder = builder.set(name, text).unwrap();
    }
    let db = builder.open().unwrap();
    let fill = |byte: u8| {
        for number in 0..2000 {
            db.put(format!("{number:04}"), vec![byte; 5000]).unwrap();
        }
    };
    fill(1);
    let snapshot = db.snapshot();
    fill(2);
    db.compact::<&[u8]>(..).unwrap();
    drop(snapshot);
    world.pool.run_all();
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(3));
        world.pool.run_all();
    }
    db.compact::<&[u8]>(..).unwrap();
    let bytes = db.stats().disk_bytes;
    assert!(
        bytes < 13_000_000,
        "{bytes} bytes for ten millions of values"
    );
}
