//! Tests of `recompression`.

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::bytes::Bytes;
use crate::base::types::ids::KeyspaceId;
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::version::plain_file;

fn record(number: u64, is_searchable: bool) -> FileRecord {
    let key = |last: &str| format!("{number:03}{last}").into_bytes();
    FileRecord {
        is_searchable,
        raw_bytes: 3_000,
        ..plain_file::record(number, &key("a"), &key("z"))
    }
}

/// Files of these depths: number, and whether they are searchable.
fn levels(files: &[(usize, u64, bool)]) -> Levels {
    let files = files.iter();
    levels_of(files.map(|(depth, number, is_searchable)| (*depth, record(*number, *is_searchable))))
}

fn plan_of(levels: &Levels, busy: &[u64]) -> Option<Plan> {
    let options = CompactionOptions::default();
    look_at(levels, &options, busy, |picker| picker.pick_recompression())
}

fn picked(levels: &Levels, busy: &[u64]) -> Option<(usize, Vec<u64>)> {
    let plan = plan_of(levels, busy)?;
    assert_eq!(
        (plan.kind, plan.reason),
        (CompactionKind::Merge, CompactionReason::Recompression)
    );
    Some((
        plan.output.index(),
        plan.numbers().map(|number| number.0).collect(),
    ))
}

#[test]
fn neighbours_at_the_bottom_are_compressed_anew_together() {
    // Not those of other levels, not those that are compressed, not those that are busy, and not
    // too many at once.
    let tree = levels(&[
        (5, 1, false),
        (6, 2, true),
        (6, 3, false),
        (6, 4, false),
        (6, 5, true),
    ]);
    assert_eq!(picked(&tree, &[]), Some((6, vec![3, 4])));
    assert_eq!(picked(&tree, &[3]), Some((6, vec![4])));
    assert_eq!(picked(&tree, &[3, 4]), None);
    let many: Vec<_> = (1..20).map(|number| (4, number, false)).collect();
    assert_eq!(picked(&levels(&many), &[]), Some((4, vec![1, 2, 3, 4])));
    assert_eq!(picked(&Levels::default(), &[]), None);
}

#[test]
fn what_is_left_in_level_0_is_compressed_when_it_lies_above_the_bottom() {
    // It moves down where nothing is in its way, and is merged where that rewrites little; what
    // lies at the bottom in blocks comes first.
    let kind = |tree: &Levels, busy: &[u64]| plan_of(tree, busy).map(|plan| plan.kind);
    assert_eq!(
        kind(&levels(&[(0, 1, false)]), &[]),
        Some(CompactionKind::Move)
    );
    assert_eq!(kind(&levels(&[(0, 1, false)]), &[1]), None);
    let apart = levels(&[(0, 1, false), (6, 2, true)]);
    assert_eq!(kind(&apart, &[]), Some(CompactionKind::Move));
    let both = levels(&[(0, 1, false), (6, 2, false)]);
    assert_eq!(picked(&both, &[]), Some((6, vec![2])));
    let above_another = levels(&[(0, 1, false), (5, 2, false), (6, 3, true)]);
    assert_eq!(kind(&above_another, &[]), None);
    // One wide file above as many as it may rewrite, and above one more.
    let wide = |count: u64| {
        let wide = FileRecord {
            largest: Bytes::copy_of(b"999"),
            ..record(1, false)
        };
        let below = (2..2 + count).map(|number| (6, record(number, true)));
        levels_of(below.chain([(0, wide)]))
    };
    let merge = plan_of(&wide(4), &[]).unwrap();
    assert_eq!(
        (merge.kind, merge.reason),
        (CompactionKind::Merge, CompactionReason::Recompression)
    );
    assert_eq!(merge.numbers().count(), 5);
    assert_eq!(kind(&wide(5), &[]), None);
}

fn plan(inputs: &[(usize, u64, bool)], output: usize, reason: CompactionReason) -> Plan {
    let input = |(depth, number, is_searchable): &(usize, u64, bool)| Input {
        level: Level::new(*depth).unwrap(),
        runs: vec![vec![Arc::new(record(*number, *is_searchable))]],
    };
    Plan {
        keyspace: KeyspaceId::DEFAULT,
        inputs: inputs.iter().map(input).collect(),
        output: Level::new(output).unwrap(),
        kind: CompactionKind::Merge,
        reason,
        victims: Arc::default(),
    }
}

#[test]
fn only_what_has_nothing_below_it_is_searchable() {
    // By hand and when there is time with the better effort, in passing with the quicker one.
    let options = CompactionOptions::default();
    let tree = levels(&[(0, 1, false), (5, 2, false), (6, 3, true)]);
    let of = |plan: &Plan| effort(plan, &tree, &options);
    let inputs = [(5, 2, false), (6, 3, true)];
    assert_eq!(
        of(&plan(&inputs, 6, CompactionReason::Size)),
        Some(Effort::Fast)
    );
    assert_eq!(
        of(&plan(&inputs, 6, CompactionReason::Deletes)),
        Some(Effort::Fast)
    );
    assert_eq!(
        of(&plan(&inputs, 6, CompactionReason::Manual)),
        Some(Effort::Best)
    );
    assert_eq!(
        of(&plan(&inputs, 6, CompactionReason::Recompression)),
        Some(Effort::Best)
    );
    assert_eq!(of(&plan(&inputs, 5, CompactionReason::Size)), None);
    let moved = Plan {
        kind: CompactionKind::Move,
        ..plan(&inputs, 6, CompactionReason::Manual)
    };
    assert_eq!(of(&moved), None);
    let flat = levels(&[(0, 1, false)]);
    assert_eq!(
        effort(
            &plan(&[(0, 1, false)], 0, CompactionReason::Values),
            &flat,
            &options
        ),
        None
    );
}

#[test]
fn where_writers_are_far_ahead_blocks_are_made_first() {
    // Unless files that are compressed take part: what is in them is copied.
    let options = CompactionOptions::default();
    let runs = options.l0_trigger as u64 * 2;
    let l0: Vec<_> = (1..=runs).map(|number| (0, number, false)).collect();
    let tree = levels(&l0);
    assert_eq!(
        effort(&plan(&l0, 6, CompactionReason::Runs), &tree, &options),
        None
    );
    assert_eq!(
        effort(&plan(&l0, 6, CompactionReason::Manual), &tree, &options),
        Some(Effort::Best)
    );
    let mixed = [&l0[..], &[(6, 100, true)]].concat();
    let tree = levels(&mixed);
    assert_eq!(
        effort(&plan(&mixed, 6, CompactionReason::Runs), &tree, &options),
        Some(Effort::Fast)
    );
    let fewer = levels(&l0[1..]);
    assert_eq!(
        effort(&plan(&l0[1..], 6, CompactionReason::Runs), &fewer, &options),
        Some(Effort::Fast)
    );
}
