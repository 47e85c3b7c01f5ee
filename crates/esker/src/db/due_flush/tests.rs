//! Tests of `due_flush`.

use super::*;
use crate::base::hooks::event_reasons::FlushReason;
use crate::db::handle::Db;
use crate::env::sim::SimWorld;

// So many keyspaces, each with about so many bytes in a sealed memtable.
fn sealed(db: &Db, count: usize, bytes: usize) -> Vec<DueFlush> {
    let due = (0..count).map(|number| {
        let keyspace = db.keyspace(&format!("{number}")).unwrap();
        for key in 0..bytes.div_ceil(1000) {
            keyspace.put(key.to_be_bytes(), [b'v'; 1000]).unwrap();
        }
        let core = keyspace.database().core();
        core.committer
            .paused(|active| active.seal(keyspace.parts().id, FlushReason::Manual));
        DueFlush::all(Arc::clone(keyspace.parts())).unwrap()
    });
    due.collect()
}

fn lens(groups: &[Vec<DueFlush>]) -> Vec<usize> {
    groups.iter().map(Vec::len).collect()
}

#[test]
fn small_flushes_go_together_up_to_a_number() {
    let world = SimWorld::new(1);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let mut due = sealed(&db, GROUP_KEYSPACES + 3, 1);
    let few = due.split_off(GROUP_KEYSPACES - 2);
    assert_eq!(lens(&in_groups(due)), [GROUP_KEYSPACES - 2]);
    assert_eq!(lens(&in_groups(few)), [5]);
    assert!(in_groups(None).is_empty());
}

#[test]
fn large_flushes_stay_alone_and_small_ones_within_their_bytes() {
    let world = SimWorld::new(2);
    let db = Db::builder("db").env(world.env()).open().unwrap();
    let groups = in_groups(sealed(&db, 4, GROUP_BYTES));
    assert_eq!(lens(&groups), [1, 1, 1, 1]);
    let other = Db::builder("other").env(world.env()).open().unwrap();
    let groups = in_groups(sealed(&other, 9, GROUP_BYTES / 4));
    assert!(groups.len() >= 3, "{:?}", lens(&groups));
    let sizes = groups
        .iter()
        .map(|group| group.iter().map(DueFlush::size_bytes).sum::<usize>());
    assert!(sizes.max().unwrap() <= GROUP_BYTES);
}
