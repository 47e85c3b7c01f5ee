//! Tests of `passing`.

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::ids::FileNumber;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::sst::passing::Passing;
use crate::store::version::plain_file::record;

const LIMITS: ValueLimits = ValueLimits {
    max_space_amp: 1.2,
    spare_bytes: 100,
};

/// A file of 1000 bytes of entries, of which a snapshot at 7 holds so many.
fn file(number: u64, depth: usize, keys: [&str; 2], held_bytes: u64) -> (usize, FileRecord) {
    let [smallest, largest] = keys.map(str::as_bytes);
    let mut passing = Passing::default();
    if held_bytes > 0 {
        passing.hold(SeqNo::new(7), held_bytes, false);
    }
    let file = FileRecord {
        raw_bytes: 920,
        passing: Some(passing),
        ..record(number, smallest, largest)
    };
    (depth, file)
}

/// What `look` says of a tree of these files with these live snapshots.
fn with<T>(
    files: &[(usize, FileRecord)],
    snapshots: &[u64],
    look: impl FnOnce(&CompactionPicker<'_>) -> T,
) -> T {
    let levels = levels_of(files.iter().cloned());
    look_at(&levels, &CompactionOptions::default(), &[], |picker| {
        look(&CompactionPicker {
            snapshots: snapshots.iter().map(|seqno| SeqNo::new(*seqno)).collect(),
            now_unix_s: 1_000,
            ..*picker
        })
    })
}

/// The numbers of what is picked at rest.
fn picked(files: &[(usize, FileRecord)], snapshots: &[u64]) -> Option<Vec<u64>> {
    with(files, snapshots, |picker| {
        let plan = picker.pick_passed(&LIMITS, true)?;
        assert_eq!(plan.reason, CompactionReason::Passed);
        Some(plan.numbers().map(|number| number.0).collect())
    })
}

#[test]
fn a_quarter_that_has_passed_is_worth_a_rewrite_at_rest() {
    let tree = [
        file(1, 6, ["a", "c"], 249),
        file(2, 6, ["d", "f"], 250),
        file(3, 6, ["g", "i"], 0),
    ];
    assert_eq!(picked(&tree, &[]), Some(vec![2]));
    assert_eq!(picked(&tree, &[6, 8]), Some(vec![2]));
    assert_eq!(picked(&tree, &[7]), None, "the snapshot lives");
    assert_eq!(picked(&tree[..1], &[]), None);
    let busy = with(&tree, &[], |picker| {
        picker.pick_passed(&LIMITS, false).is_some()
    });
    assert!(!busy, "somebody writes");
}

#[test]
fn what_has_expired_is_worth_as_much() {
    // A thousand seconds past; the entries expire in two thousand.
    let expiring = |bytes: u64, first_s: u32, last_s: u32| {
        let (depth, mut file) = file(1, 6, ["a", "c"], 0);
        let passing = file.passing.get_or_insert_default();
        passing.expire(first_s, bytes / 2);
        passing.expire(last_s, bytes / 2);
        picked(&[(depth, file)], &[])
    };
    assert_eq!(expiring(500, 1, 2_000), Some(vec![1]));
    assert_eq!(expiring(400, 1, 2_000), None);
    assert_eq!(expiring(1_000, 1_001, 2_000), None);
}

#[test]
fn level_0_is_merged_down_where_that_is_worth_it() {
    // Alone it moves first; what it would be merged with counts as well.
    let upper = file(3, 0, ["a", "z"], 600);
    assert_eq!(picked(std::slice::from_ref(&upper), &[]), Some(vec![3]));
    let base = [file(1, 6, ["a", "c"], 0), file(2, 6, ["d", "f"], 0)];
    let tree = |count: usize| [std::slice::from_ref(&upper), &base[..count]].concat();
    assert_eq!(picked(&tree(1), &[]), Some(vec![3, 1]));
    assert_eq!(picked(&tree(2), &[]), None);
}

#[test]
fn what_lies_under_a_released_range_delete_is_worth_a_rewrite() {
    let (depth, mut covered) = file(1, 6, ["a", "c"], 30);
    covered.range_delete_count = 1;
    assert_eq!(picked(&[(depth, covered.clone())], &[]), Some(vec![1]));
    assert_eq!(picked(&[(depth, covered)], &[7]), None);
}

#[test]
fn large_values_that_have_passed_are_bounded_under_load_too() {
    // Of 10 000 bytes in the value log a fifth of what lives may be dead, or what is spared.
    let with_values = |held_bytes: u64, value_bytes: u64| {
        let (depth, mut file) = file(1, 6, ["a", "c"], held_bytes);
        file.values.add(FileNumber(9), value_bytes);
        with(&[(depth, file)], &[], |picker| {
            picker.pick_passed(&LIMITS, false).is_some()
        })
    };
    assert!(!with_values(1_600, 10_000));
    assert!(with_values(1_700, 10_000));
    assert!(!with_values(100, 300));
    assert!(with_values(101, 300));
}

#[test]
fn a_range_is_rewritten_from_the_first_to_the_last_file_with_something_to_lose() {
    let mut tree = vec![
        file(1, 6, ["a", "b"], 0),
        file(2, 6, ["c", "d"], 1),
        file(3, 6, ["e", "f"], 0),
        file(4, 6, ["g", "h"], 1),
        file(5, 6, ["i", "j"], 0),
    ];
    let picked = |tree: &[(usize, FileRecord)], snapshots: &[u64]| {
        with(tree, snapshots, |picker| {
            let plan = picker.pick_range(&KeyRange::new::<&[u8]>(..))?;
            assert_eq!(
                (plan.kind, plan.reason),
                (CompactionKind::Merge, CompactionReason::Manual)
            );
            Some(plan.numbers().map(|number| number.0).collect::<Vec<_>>())
        })
    };
    assert_eq!(picked(&tree, &[]), Some(vec![2, 3, 4]));
    assert_eq!(picked(&tree, &[7]), None);
    // A delete that no snapshot holds, and a file of which nothing is known.
    tree[0].1.delete_count = 1;
    assert_eq!(picked(&tree, &[7]), Some(vec![1]));
    tree[0].1.delete_count = 0;
    tree[4].1.passing = None;
    assert_eq!(picked(&tree, &[7]), Some(vec![5]));
    // A delete that one holds.
    tree[4].1.passing = tree[0].1.passing.clone();
    let passing = tree[2].1.passing.get_or_insert_default();
    passing.hold(SeqNo::new(7), 9, true);
    tree[2].1.delete_count = 1;
    assert_eq!(picked(&tree, &[7]), None);
}
