//! Tests of when rows leave the disk.

use esker::Db;
use esker::internals::env::sim::SimWorld;
use esker_raft::{Mark, NodeId, ReplicaId};
use esker_rpc::value::{StoredValue, TimeTag};

use super::*;

const GROUP: GroupId = GroupId(1 << 32);

/// A unix second on both sides of which rows end.
const NOON_S: u64 = 1_700_000_000;

fn row(ends_unix_s: Option<u64>) -> Vec<u8> {
    let stored = StoredValue {
        expiry: ends_unix_s.map_or(WireSecond::NONE, WireSecond::of_unix),
        time_tag: TimeTag::new(1, 1, false),
        user: b"in port",
    };
    stored.to_bytes()
}

// Applies nothing at that second, and has everything in files, compacted.
fn pass(db: &Db, rows: &Keyspace, unix_s: u64) {
    let mark = ReplicaMark {
        raft: Mark::first(&[(ReplicaId(1), NodeId(1))]),
        clock_us: unix_s * 1_000_000,
    };
    let mut batch = db.batch();
    put_mark(&mut batch, (GROUP, rows), &mark);
    batch.commit().unwrap();
    rows.flush().unwrap();
    rows.compact::<&[u8]>(..).unwrap();
}

fn keys(rows: &Keyspace) -> Vec<Vec<u8>> {
    let found = rows.iter().unwrap().map(|row| row.unwrap().0.to_vec());
    found.collect()
}

#[test]
fn a_row_leaves_the_disk_once_it_has_ended_by_the_partitions_clock() {
    // The simulated machine's own clock is years away, and nobody asks it.
    let db = Db::builder("/db")
        .env(SimWorld::new(1).env())
        .open()
        .unwrap();
    let rows = db.keyspace_with("rows", keyspace_options(GROUP)).unwrap();
    let mut batch = db.batch();
    batch.put(&rows, "at noon", row(Some(NOON_S)));
    batch.put(&rows, "later", row(Some(NOON_S + 60)));
    batch.put(&rows, "never", row(None));
    batch.commit().unwrap();
    pass(&db, &rows, NOON_S - 1);
    assert_eq!(keys(&rows).len(), 3);
    pass(&db, &rows, NOON_S);
    assert_eq!(keys(&rows), [b"later".to_vec(), b"never".to_vec()]);
    pass(&db, &rows, NOON_S + 3600);
    assert_eq!(keys(&rows), [b"never".to_vec()]);
}

#[test]
fn rows_of_the_meta_group_have_no_end() {
    let db = Db::builder("/db")
        .env(SimWorld::new(1).env())
        .open()
        .unwrap();
    let rows = db.keyspace_with("meta", keyspace_options(META)).unwrap();
    let mut batch = db.batch();
    batch.put(&rows, "c", "x");
    let mark = ReplicaMark {
        raft: Mark::first(&[(ReplicaId(1), NodeId(1))]),
        clock_us: 0,
    };
    put_mark(&mut batch, (META, &rows), &mark);
    batch.commit().unwrap();
    rows.flush().unwrap();
    rows.compact::<&[u8]>(..).unwrap();
    assert_eq!(keys(&rows), [b"c".to_vec()]);
}
