//! Tests of `intra_l0`. A small run has up to 1000 bytes, and eight of them are many.

use super::*;
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::ids::FileNumber;
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::version::file::FileRecord;
use crate::store::version::levels::Levels;
use crate::store::version::plain_file::record;

const OPTIONS: CompactionOptions = CompactionOptions {
    l0_trigger: 2,
    base_level_bytes: 32_000,
    level_growth: 10,
    subcompactions_max: 1,
    is_automatic: true,
};

/// Runs of level 0 of these sizes, the oldest first; their numbers are those of their places, from
/// 1 on, and all have the same keys. Below them lies file 100.
fn tree(sizes: &[u64]) -> Levels {
    let upper = sizes.iter().zip(1..).map(|(&size_bytes, number)| {
        let record = FileRecord {
            size_bytes,
            ..record(number, b"a", b"z")
        };
        (0, record)
    });
    let lower = FileRecord {
        number: FileNumber(100),
        ..record(0, b"a", b"z")
    };
    levels_of(upper.chain([(6, lower)]))
}

/// The runs that are merged within level 0, newest first, while the files of these numbers are
/// busy.
fn merged(levels: &Levels, busy: &[u64]) -> Vec<u64> {
    let plan = look_at(levels, &OPTIONS, busy, |picker| {
        picker.pick_intra_l0(SeqNo::MAX)
    });
    let plan = plan.iter().inspect(|plan| {
        assert_eq!(
            (plan.output, plan.kind),
            (Level::ZERO, CompactionKind::Merge)
        );
    });
    plan.flat_map(Plan::numbers)
        .map(|number| number.0)
        .collect()
}

#[test]
fn what_came_while_level_0_is_merged_is_merged_within_it_once_it_is_many() {
    let none: Vec<u64> = Vec::new();
    assert_eq!(merged(&tree(&[500; 10]), &[1, 2, 3]), none);
    let eight = [11, 10, 9, 8, 7, 6, 5, 4];
    assert_eq!(merged(&tree(&[500; 11]), &[1, 2, 3]), eight);
}

#[test]
fn large_runs_stay_as_they_are() {
    let mut sizes = [500; 9];
    assert_eq!(merged(&tree(&sizes), &[]).len(), 9);
    sizes[4] = 1_001;
    assert!(merged(&tree(&sizes), &[]).is_empty());
}

#[test]
fn what_was_merged_is_not_written_again_for_less_than_itself() {
    let mut sizes = [50; 9];
    sizes[0] = 401;
    assert_eq!(merged(&tree(&sizes), &[]), [9, 8, 7, 6, 5, 4, 3, 2]);
    sizes[0] = 400;
    assert_eq!(merged(&tree(&sizes), &[]).len(), 9);
}

#[test]
fn no_more_is_merged_within_level_0_than_a_merge_down_can_wait_for() {
    // The rest waits for the next time: it is newer.
    let levels = tree(&[700; 14]);
    assert_eq!(merged(&levels, &[]), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn numbers_of_runs_that_stay_and_of_those_to_come_lie_apart_from_what_is_merged() {
    // Runs that do not overlap may mix their numbers. The run of all eight overlaps the ninth.
    let apart = |number: u64, keys: [&[u8]; 2]| (0, record(number, keys[0], keys[1]));
    let mut files: Vec<_> = (2..10).map(|number| apart(number, [b"a", b"c"])).collect();
    let large = FileRecord {
        size_bytes: 2_000,
        largest_seqno: SeqNo::new(1_000),
        ..record(1, b"x", b"z")
    };
    files.push((0, large));
    let mixed = levels_of(files.clone());
    assert!(merged(&mixed, &[]).is_empty());
    files.pop();
    let levels = levels_of(files);
    assert_eq!(merged(&levels, &[]).len(), 8);
    // Nor may a memtable hold anything older than the newest of them.
    let flushed_at = |seqno: u64| {
        look_at(&levels, &OPTIONS, &[], |picker| {
            picker.pick_intra_l0(SeqNo::new(seqno)).is_some()
        })
    };
    assert_eq!((flushed_at(98), flushed_at(99)), (false, true));
}

#[test]
fn what_is_older_is_merged_down_meanwhile_if_it_is_worth_it() {
    let picked = |sizes: &[u64], busy: &[u64]| {
        let plan = look_at(&tree(sizes), &OPTIONS, busy, |picker| picker.pick());
        let plan = plan
            .iter()
            .inspect(|plan| assert_eq!(plan.output.index(), 6));
        let numbers = plan.flat_map(Plan::numbers).map(|number| number.0);
        numbers.collect::<Vec<_>>()
    };
    let none: Vec<u64> = Vec::new();
    assert_eq!(picked(&[500; 5], &[3, 4]), [2, 1, 100]);
    assert_eq!(picked(&[500; 5], &[2, 3]), none);
    assert_eq!(picked(&[500; 5], &[1, 2]), none);
    assert_eq!(picked(&[500; 5], &[3, 100]), none);
}
