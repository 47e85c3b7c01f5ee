//! Tests of compactions for the sake of the value log.

use super::*;
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::comparator::Comparator;
use crate::flow::compact::test_tree::look_at;
use crate::store::version::levels::Levels;
use crate::store::version::plain_file::record;

const LIMITS: ValueLimits = ValueLimits {
    max_space_amp: 1.5,
    spare_bytes: 100,
};

/// A file between two keys that points to so many bytes of segments.
fn add(
    levels: Levels,
    depth: usize,
    number: u64,
    keys: [&str; 2],
    values: &[(u64, u64)],
) -> Levels {
    let [smallest, largest] = keys.map(str::as_bytes);
    let values = values.iter();
    let values = values.map(|(segment, bytes)| (FileNumber(*segment), *bytes));
    let record = FileRecord {
        values: values.collect(),
        ..record(number, smallest, largest)
    };
    let level = Level::new(depth).unwrap();
    levels
        .with(&Comparator::Bytewise, level, number, Arc::new(record))
        .unwrap()
}

fn picked(
    levels: &Levels,
    busy: &[u64],
    pick: impl FnOnce(&CompactionPicker<'_>) -> Option<Plan>,
) -> Option<(usize, Vec<u64>)> {
    let plan = look_at(levels, &CompactionOptions::default(), busy, pick)?;
    assert_eq!(plan.reason, CompactionReason::Values);
    let numbers = plan.numbers().map(|number| number.0).collect();
    Some((plan.output.index(), numbers))
}

#[test]
fn upper_levels_are_merged_when_they_may_hide_too_much() {
    // Half of the deepest level is the limit, and one segment's worth is always allowed.
    let hidden = |levels: &Levels| picked(levels, &[], |at| at.pick_hidden(&LIMITS));
    let deep = add(Levels::default(), 6, 1, ["a", "z"], &[(1, 1_000)]);
    assert_eq!(hidden(&deep), None);
    let few = add(deep.clone(), 0, 2, ["a", "z"], &[(2, 500)]);
    assert_eq!(hidden(&few), None);
    let many = add(few.clone(), 0, 3, ["a", "z"], &[(2, 1)]);
    assert_eq!(hidden(&many), Some((6, vec![3, 2, 1])));
    let young = add(Levels::default(), 0, 2, ["a", "z"], &[(2, 100)]);
    assert_eq!(hidden(&young), None);
    // Below level 0 the file with the most goes down.
    let inner = add(deep, 5, 4, ["a", "c"], &[(2, 300)]);
    let inner = add(inner, 5, 5, ["d", "f"], &[(2, 400)]);
    assert_eq!(hidden(&inner), Some((6, vec![5, 1])));
}

#[test]
fn a_collection_rewrites_the_file_with_the_most_values_to_move() {
    // In its place; level 0 goes down with all of it; busy files wait.
    let victims = Arc::new(BTreeSet::from([FileNumber(1), FileNumber(2)]));
    let levels = add(Levels::default(), 6, 1, ["a", "c"], &[(1, 10), (3, 900)]);
    let levels = add(levels, 6, 2, ["d", "f"], &[(1, 10), (2, 10)]);
    let levels = add(levels, 6, 3, ["g", "i"], &[(3, 900)]);
    let collect = |levels: &Levels, busy: &[u64]| {
        picked(levels, busy, |at| {
            let plan = at.pick_collection(&victims)?;
            assert!(plan.moved_bytes() > 0);
            assert_eq!(
                plan.space_needed_bytes(),
                plan.size_bytes() + plan.moved_bytes()
            );
            Some(plan)
        })
    };
    assert_eq!(collect(&levels, &[]), Some((6, vec![2])));
    assert_eq!(collect(&levels, &[2]), Some((6, vec![1])));
    assert_eq!(collect(&levels, &[1, 2]), None);
    let levels = add(levels, 0, 4, ["a", "b"], &[(2, 50)]);
    assert_eq!(collect(&levels, &[]), Some((6, vec![4, 1])));
}
