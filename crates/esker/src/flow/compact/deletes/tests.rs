//! Tests of `deletes`.

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::version::plain_file::record;

/// A file with that number, level, range of keys, entries and deletes among them.
fn file(
    number: u64,
    depth: usize,
    keys: [&str; 2],
    entry_count: u64,
    delete_count: u64,
) -> (usize, FileRecord) {
    let [smallest, largest] = keys.map(str::as_bytes);
    (
        depth,
        FileRecord {
            entry_count,
            delete_count,
            ..record(number, smallest, largest)
        },
    )
}

/// The numbers of what is picked while nobody has a snapshot, or one of that number.
fn picked(
    files: &[(usize, FileRecord)],
    snapshot: Option<u64>,
) -> Option<(CompactionKind, Vec<u64>)> {
    let levels = levels_of(files.iter().cloned());
    let options = CompactionOptions::default();
    look_at(&levels, &options, &[], |picker| {
        let picker = CompactionPicker {
            snapshots: snapshot.map(SeqNo::new).into_iter().collect(),
            oldest_snapshot: snapshot.map_or(picker.oldest_snapshot, SeqNo::new),
            ..*picker
        };
        let plan = picker.pick_deletes()?;
        assert!(plan.reason == CompactionReason::Deletes);
        Some((plan.kind, plan.numbers().map(|number| number.0).collect()))
    })
}

#[test]
fn a_run_of_deletes_goes_down_at_once() {
    // One run in level 0 is no reason to compact, unless it is mostly deletes above what it hides.
    let below = file(1, 6, ["a", "m"], 1_000, 0);
    let apart = file(2, 6, ["n", "z"], 1_000, 0);
    let deletes = file(3, 0, ["a", "k"], 600, 500);
    let tree = [below.clone(), apart.clone(), deletes];
    assert_eq!(
        picked(&tree, None),
        Some((CompactionKind::Merge, vec![3, 1]))
    );
    let puts = file(3, 0, ["a", "k"], 600, 200);
    assert_eq!(picked(&[below.clone(), apart.clone(), puts], None), None);
    let few = file(3, 0, ["a", "k"], 100, 100);
    assert_eq!(picked(&[below, apart, few], None), None);
}

#[test]
fn deletes_wait_where_too_much_would_be_rewritten_for_them() {
    // Two entries for each delete, and one more.
    let deletes = file(3, 0, ["a", "z"], 1_000, 1_000);
    let enough = [file(1, 6, ["b", "y"], 2_000, 0), deletes.clone()];
    assert_eq!(
        picked(&enough, None),
        Some((CompactionKind::Merge, vec![3, 1]))
    );
    let too_much = [file(1, 6, ["b", "y"], 2_001, 0), deletes];
    assert_eq!(picked(&too_much, None), None);
}

#[test]
fn deletes_that_a_snapshot_reads_around_stay() {
    // They could not be dropped: the entry that each one hides is still read.
    let deletes = file(3, 0, ["a", "k"], 600, 600);
    let newest = deletes.1.largest_seqno.get();
    let tree = [file(1, 6, ["a", "m"], 1_000, 0), deletes];
    assert_eq!(picked(&tree, Some(newest - 1)), None);
    assert!(picked(&tree, Some(newest)).is_some());
}

#[test]
fn a_file_of_deletes_is_sent_down_from_level_to_level_and_rewritten_at_the_bottom() {
    // Where nothing lies below it, it moves; at the bottom a rewrite drops its deletes.
    let heavy = |depth| file(3, depth, ["a", "k"], 600, 600);
    let below = file(1, 6, ["a", "m"], 100_000, 0);
    assert_eq!(
        picked(&[below.clone(), heavy(5)], None),
        Some((CompactionKind::Merge, vec![3, 1]))
    );
    assert_eq!(
        picked(&[below, heavy(4)], None),
        Some((CompactionKind::Move, vec![3]))
    );
    assert_eq!(
        picked(&[heavy(6)], None),
        Some((CompactionKind::Merge, vec![3]))
    );
}
