//! Tests of `leveled`.

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::version::plain_file::record;

/// A file with that number, level and range of keys.
fn file(number: u64, depth: usize, keys: [&str; 2]) -> (usize, FileRecord) {
    let [smallest, largest] = keys.map(str::as_bytes);
    let size_bytes = 100;
    (
        depth,
        FileRecord {
            size_bytes,
            ..record(number, smallest, largest)
        },
    )
}

fn with<T>(levels: &Levels, busy: &[u64], look: impl FnOnce(&CompactionPicker<'_>) -> T) -> T {
    let options = CompactionOptions {
        l0_trigger: 2,
        base_level_bytes: 1_000,
        ..CompactionOptions::default()
    };
    look_at(levels, &options, busy, look)
}

fn numbers(plan: &Plan) -> Vec<u64> {
    plan.numbers().map(|number| number.0).collect()
}

#[test]
fn a_range_waits_for_a_merge_that_spans_it() {
    // Two runs with a gap between them are being merged: the result may be one file over the
    // gap. A run that came into the gap meanwhile must not overtake it to the same level.
    let levels = levels_of(vec![
        file(1, 0, ["a", "c"]),
        file(2, 0, ["x", "z"]),
        file(3, 0, ["m", "n"]),
    ]);
    let range = KeyRange::new("m"..="n");
    with(&levels, &[1, 2], |picker| {
        assert!(picker.pick_range(&range).is_none());
        assert!(!picker.busy_files(&range).is_empty());
    });
    with(&levels, &[], |picker| {
        assert_eq!(numbers(&picker.pick_range(&range).unwrap()), [3]);
        assert!(picker.busy_files(&range).is_empty());
    });
}

#[test]
fn a_range_that_grows_into_a_running_merge_is_busy() {
    // The range itself touches one idle file only, but that file leads to one that is busy: not
    // "nothing to do".
    let levels = levels_of(vec![file(2, 0, ["a", "m"]), file(1, 6, ["k", "z"])]);
    let range = KeyRange::new("a"..="b");
    with(&levels, &[1], |picker| {
        assert!(picker.pick_range(&range).is_none());
        assert!(!picker.busy_files(&range).is_empty());
    });
}

#[test]
fn an_expired_file_is_dropped_only_if_it_hides_nothing() {
    // The older file below holds a key of the expired one: dropped whole, the expired entry
    // would let the older one live again.
    let (depth, record) = file(5, 5, ["c", "f"]);
    let newest_expiry_s = Some(0);
    let expired = (
        depth,
        FileRecord {
            newest_expiry_s,
            ..record
        },
    );
    let levels = levels_of(vec![expired.clone(), file(1, 6, ["f", "z"])]);
    with(&levels, &[], |picker| assert!(picker.pick().is_none()));
    let levels = levels_of(vec![expired, file(1, 6, ["g", "z"])]);
    with(&levels, &[], |picker| {
        let plan = picker.pick().unwrap();
        assert_eq!(
            (plan.kind, plan.reason),
            (CompactionKind::Drop, CompactionReason::Expiry)
        );
        assert_eq!(numbers(&plan), [5]);
    });
}

#[test]
fn a_run_of_level_0_moves_only_below_what_is_newer() {
    // The oldest run overlaps nothing: it moves. When a newer run overlaps it, all are merged.
    let levels = levels_of(vec![file(1, 0, ["a", "c"]), file(2, 0, ["d", "f"])]);
    with(&levels, &[], |picker| {
        let plan = picker.pick().unwrap();
        assert_eq!((plan.kind, numbers(&plan)), (CompactionKind::Move, vec![1]));
    });
    let levels = levels_of(vec![file(1, 0, ["a", "d"]), file(2, 0, ["d", "f"])]);
    with(&levels, &[], |picker| {
        let plan = picker.pick().unwrap();
        assert_eq!(
            (plan.kind, numbers(&plan)),
            (CompactionKind::Merge, vec![2, 1])
        );
    });
}
