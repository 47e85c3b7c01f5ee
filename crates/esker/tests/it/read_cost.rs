//! What is merged because readers, and not writers, would be better off.

use esker::Db;
use esker::internals::env::sim::SimWorld;

/// Seeks past one run that pay for the least of merges, which these databases are far below.
const SEEKS_DUE: usize = 32 << 10;

/// A database with some keys at the bottom, and newer values of them in a run of level 0.
fn layered(world: &SimWorld, is_automatic: &str) -> Db {
    let builder = Db::builder("db").env(world.env());
    let builder = builder.set("compaction.automatic", is_automatic).unwrap();
    let db = builder.open().unwrap();
    for round in 0..2_u32 {
        for number in 0..100_u32 {
            db.put(number.to_be_bytes(), round.to_be_bytes()).unwrap();
        }
        match round {
            0 => db.compact::<&[u8]>(..).unwrap(),
            _ => db.flush().unwrap(),
        }
    }
    world.pool.run_all();
    assert_eq!(depths(&db), [0, 6]);
    db
}

/// The levels that have files.
fn depths(db: &Db) -> Vec<usize> {
    let levels = &db.stats().keyspaces[0].levels;
    levels.iter().map(|level| level.depth).collect()
}

/// So many seeks by cursors that seek `each` times; then the background has its turn.
fn seek(world: &SimWorld, db: &Db, count: usize, each: usize) {
    for _ in 0..count / each {
        let mut cursor = db.cursor().unwrap();
        for _ in 0..each {
            assert!(cursor.seek(50_u32.to_be_bytes()).unwrap());
            assert_eq!(cursor.value().unwrap(), Some(&1_u32.to_be_bytes()[..]));
        }
    }
    world.pool.run_all();
}

#[test]
fn readers_who_have_paid_for_a_merge_get_it() {
    // Many cursors with a seek, or one with many; a few seeks short of it nothing happens.
    for each in [1, SEEKS_DUE / 64] {
        let world = SimWorld::new(1);
        let db = layered(&world, "true");
        seek(&world, &db, SEEKS_DUE - each, each);
        assert_eq!(depths(&db), [0, 6]);
        seek(&world, &db, each, each);
        assert_eq!(depths(&db), [6]);
        seek(&world, &db, 100, 1);
    }
}

#[test]
fn what_was_paid_counts_for_the_files_that_were_read() {
    // A flush changes them: who reads those has paid nothing yet.
    let world = SimWorld::new(2);
    let db = layered(&world, "true");
    seek(&world, &db, SEEKS_DUE - 100, 1);
    db.put(50_u32.to_be_bytes(), 1_u32.to_be_bytes()).unwrap();
    db.flush().unwrap();
    seek(&world, &db, 1_000, 1);
    assert_eq!(depths(&db), [0, 6]);
}

#[test]
fn nobody_merges_for_readers_where_compaction_is_left_to_the_user() {
    let world = SimWorld::new(3);
    let db = layered(&world, "false");
    seek(&world, &db, 2 * SEEKS_DUE, 64);
    assert_eq!(depths(&db), [0, 6]);
}
