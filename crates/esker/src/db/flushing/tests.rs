//! Tests of `flushing`.

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::db::handle::Db;
use crate::db::keyspace_handle::Keyspace;
use crate::env::sim::{CrashMode, SimWorld};

#[test]
fn a_group_is_recorded_without_those_that_were_dropped() {
    // Three keyspaces are being flushed together when one of them is dropped: the others are
    // flushed by one edit all the same, and nothing is left of its files.
    let world = SimWorld::new(1);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let all: Vec<Keyspace> = ["a", "b", "c"]
        .iter()
        .map(|name| {
            let keyspace = db.keyspace(name).unwrap();
            keyspace.put("key", *name).unwrap();
            keyspace
        })
        .collect();
    let core = Arc::clone(all[0].database().core());
    core.committer.paused(|active| {
        for id in active.keyspaces() {
            active.seal(id, FlushReason::Manual);
        }
    });
    let due = |keyspace: &Keyspace| DueFlush::all(Arc::clone(keyspace.parts())).unwrap();
    let group: Vec<DueFlush> = all.iter().map(due).collect();
    db.drop_keyspace("b").unwrap();
    flush_group(&core, &group).unwrap();
    let after = core.history.peek();
    let files = |keyspace: &Keyspace| {
        let state = after.keyspace(keyspace.parts().id);
        state.map(|state| state.levels.file_count())
    };
    assert_eq!(
        all.iter().map(files).collect::<Vec<_>>(),
        [Some(1), None, Some(1)]
    );
    assert_eq!(core.statistics.sum(Ticker::Flushes), 2);
    assert_eq!(core.obsolete_files.count(), 0, "its file was removed");

    let after = world.after_crash(CrashMode::LoseUnsynced, 1);
    let db = Db::builder("db").env(after.env()).open().unwrap();
    for name in ["a", "c"] {
        assert_eq!(
            db.keyspace(name).unwrap().get("key").unwrap().unwrap(),
            name
        );
    }
    assert!(!db.keyspaces().contains(&"b".to_string()));
}

// A database with so many keyspaces, each with that many entries of about 1 000 bytes in memory.
fn filled(world: &SimWorld, entry_counts: &[usize]) -> (Db, Vec<Keyspace>) {
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let fill = |(number, count): (usize, &usize)| {
        let keyspace = db.keyspace(&format!("{number:03}")).unwrap();
        for key in 0..*count {
            keyspace.put(key.to_be_bytes(), [b'v'; 1000]).unwrap();
        }
        keyspace
    };
    let all = entry_counts.iter().enumerate().map(fill).collect();
    (db, all)
}

fn sealed_count(keyspaces: &[Keyspace]) -> usize {
    let counts = keyspaces
        .iter()
        .map(|keyspace| keyspace.parts().current.sealed_count());
    counts.sum()
}

#[test]
fn room_is_made_by_one_large_memtable_or_several_small_ones() {
    let world = SimWorld::new(2);
    let (db, all) = filled(&world, &[40, 3, 3, 3]);
    let core = Arc::clone(all[0].database().core());
    assert!(core.committer.paused(|active| active.seal_largest()));
    assert_eq!(all[0].parts().current.sealed_count(), 1);
    assert_eq!(sealed_count(&all), 1);
    drop((db, core, all));

    let world = SimWorld::new(3);
    let (_db, all) = filled(&world, &[2; 80]);
    let core = Arc::clone(all[0].database().core());
    assert!(core.committer.paused(|active| active.seal_largest()));
    let sealed = sealed_count(&all);
    assert!((10..=20).contains(&sealed), "{sealed} of 80 are an eighth");
}

#[test]
fn all_that_pin_the_oldest_segment_are_sealed_together() {
    // One of them alone would give nothing back of the log.
    let world = SimWorld::new(4);
    let (_db, all) = filled(&world, &[2; 30]);
    let core = Arc::clone(all[0].database().core());
    let before = core.history.peek().first_log;
    assert!(core.committer.paused(|active| active.seal_oldest()));
    assert_eq!(sealed_count(&all), 30);
    assert!(
        !core.committer.paused(|active| active.seal_oldest()),
        "nothing is left"
    );
    crate::db::worker::wake(&core);
    world.pool.run_all();
    assert_eq!(sealed_count(&all), 0);
    assert!(core.history.peek().first_log >= before);
}
