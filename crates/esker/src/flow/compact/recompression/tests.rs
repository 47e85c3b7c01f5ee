//! Tests of `recompression`.

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::CompactionOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::KeyspaceId;
use crate::flow::compact::test_tree::{levels_of, look_at};
use crate::store::version::levels::LevelsEdit;
use crate::store::version::plain_file;

fn record(number: u64, is_searchable: bool) -> FileRecord {
    let key = |last: &str| format!("{number:03}{last}").into_bytes();
    FileRecord {
        is_searchable,
        raw_bytes: 3_000,
        ..plain_file::record(number, &key("a"), &key("z"))
    }
}

const MIB: u64 = 1 << 20;

/// Of so many bytes of keys and values, in half as many.
fn large(number: u64, is_searchable: bool, raw_bytes: u64) -> FileRecord {
    FileRecord {
        raw_bytes,
        size_bytes: raw_bytes / 2,
        ..record(number, is_searchable)
    }
}

/// Files of these depths: number, and whether they are searchable.
fn levels(files: &[(usize, u64, bool)]) -> Levels {
    let files = files.iter();
    levels_of(files.map(|(depth, number, is_searchable)| (*depth, record(*number, *is_searchable))))
}

fn plan_of(levels: &Levels, busy: &[u64]) -> Option<Plan> {
    let options = CompactionOptions::default();
    look_at(levels, &options, busy, |picker| {
        let picker = CompactionPicker {
            snapshots: Vec::new(),
            is_joining_useful: false,
            ..*picker
        };
        picker.pick_recompression(false)
    })
}

/// As `plan_of`, and files may be joined.
fn joined(levels: &Levels, busy: &[u64]) -> Option<Vec<u64>> {
    let options = CompactionOptions::default();
    let plan = look_at(levels, &options, busy, |picker| {
        picker.pick_recompression(false)
    })?;
    assert!(plan.is_joining());
    Some(plan.numbers().map(|number| number.0).collect())
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
    // Two files of blocks have 64 MiB.
    let of = |raw_bytes: u64, searchable_count: u64| {
        let file = |number: u64| large(number, number <= searchable_count, raw_bytes);
        levels_of((1..20).map(|number| (4, file(number))))
    };
    assert_eq!(picked(&of(20 * MIB, 1), &[]), Some((4, vec![2, 3, 4])));
    assert_eq!(
        picked(&of(20 * MIB, 1), &[2, 3, 4]),
        Some((4, vec![5, 6, 7]))
    );
    assert_eq!(picked(&of(200 * MIB, 1), &[]), Some((4, vec![2])));
    // The first one keeps the dictionary.
    assert_eq!(picked(&of(20 * MIB, 0), &[]), Some((4, vec![1])));
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
    let options = KeyspaceOptions::default();
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
    let options = KeyspaceOptions::default();
    let runs = options.compaction.l0_trigger as u64 * 2;
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

/// Two runs of so many MiB in level 0, of two files each, above a file of the bottom.
fn above(run_mib: u64, is_searchable: bool) -> Levels {
    let half = |number: u64, ends: [&str; 2]| FileRecord {
        smallest: Bytes::copy_of(ends[0].as_bytes()),
        largest: Bytes::copy_of(ends[1].as_bytes()),
        ..large(number, false, run_mib * MIB / 2)
    };
    let below = FileRecord {
        smallest: Bytes::copy_of(b"a"),
        largest: Bytes::copy_of(b"z"),
        ..large(1, is_searchable, 100 * MIB)
    };
    let added = [
        (6, 0, below),
        (0, 2, half(2, ["a", "l"])),
        (0, 2, half(3, ["m", "z"])),
        (0, 4, half(4, ["a", "l"])),
        (0, 4, half(5, ["m", "z"])),
    ];
    let added = added.map(|(depth, run, file)| (Level::new(depth).unwrap(), run, Arc::new(file)));
    let edit = LevelsEdit {
        removed: Vec::new(),
        added: added.into(),
    };
    Levels::default()
        .edited(&Comparator::Bytewise, edit)
        .unwrap()
}

#[test]
fn level_0_comes_down_by_the_piece_onto_what_is_compressed() {
    // All of it where that is a piece; else the oldest run, or what fits of its files. What has
    // to be merged and is not compressed is merged in blocks first.
    let options = KeyspaceOptions::default();
    let chosen = |tree: &Levels| {
        let plan = plan_of(tree, &[]).unwrap();
        let numbers: Vec<u64> = plan.numbers().map(|number| number.0).collect();
        (numbers, effort(&plan, tree, &options))
    };
    let best = Some(Effort::Best);
    assert_eq!(chosen(&above(32, true)), (vec![4, 5, 2, 3, 1], best));
    assert_eq!(chosen(&above(50, true)), (vec![2, 3, 1], best));
    assert_eq!(chosen(&above(100, true)), (vec![2, 1], best));
    let l0 = above(100, true);
    let l0 = l0.l0().iter().flat_map(|run| {
        let files = run.files().iter();
        files.map(|file| (Level::ZERO, run.id(), Arc::clone(file)))
    });
    let edit = LevelsEdit {
        removed: Vec::new(),
        added: l0.collect(),
    };
    let alone = Levels::default()
        .edited(&Comparator::Bytewise, edit)
        .unwrap();
    assert_eq!(chosen(&alone), (vec![4, 5, 2, 3], None));
}

#[test]
fn small_neighbours_that_are_compressed_become_one_file() {
    // Twice as large as the largest of them at the least, and no larger than such a file is.
    let of = |sizes: &[u64]| {
        let files = sizes.iter().zip(1..);
        levels_of(files.map(|(mib, number)| (6, large(number, true, 2 * mib * MIB))))
    };
    assert_eq!(joined(&of(&[10, 10]), &[]), Some(vec![1, 2]));
    assert_eq!(joined(&of(&[10, 10]), &[2]), None);
    assert_eq!(joined(&of(&[10, 9]), &[]), None);
    assert_eq!(joined(&of(&[31, 1, 1]), &[]), Some(vec![2, 3]));
    assert_eq!(joined(&of(&[40, 20, 40, 20, 20]), &[]), Some(vec![4, 5]));
    assert_eq!(joined(&of(&[30; 9]), &[]), Some(vec![1, 2, 3, 4]));
    assert_eq!(joined(&of(&[32, 32]), &[]), None);
    // Blocks come first.
    let mixed = levels(&[(6, 1, true), (6, 2, true), (6, 3, false)]);
    assert_eq!(picked(&mixed, &[]), Some((6, vec![3])));
    assert_eq!(joined(&mixed, &[3]), Some(vec![1, 2]));
}

#[test]
fn who_asks_for_a_compaction_gets_it_by_the_piece() {
    // One piece behind the other, each from where the last one ended; a large run moves down before
    // that, and what has to be merged first is merged in blocks.
    let options = CompactionOptions::default();
    let look = |levels: &Levels, pick: &dyn Fn(&CompactionPicker<'_>) -> Option<Plan>| {
        look_at(levels, &options, &[], |picker| {
            pick(&CompactionPicker {
                snapshots: Vec::new(),
                is_searchable_wanted: true,
                ..*picker
            })
        })
    };
    let numbers = |plan: &Plan| -> Vec<u64> { plan.numbers().map(|number| number.0).collect() };
    let all = |picker: &CompactionPicker<'_>| picker.pick_range(&KeyRange::ALL);
    let bottom = levels_of((1..=7).map(|number| (6, large(number, number == 4, 20 * MIB))));
    let behind = |left: Remainder, plan: &Plan, is_phrased: bool| {
        let claim = plan.claim(&Comparator::Bytewise);
        left.behind(plan, claim.as_ref().map(|claim| &claim.reach), is_phrased)
    };
    // With or without a dictionary, which may go meanwhile.
    for is_phrased in [true, false] {
        let mut plan = look(&bottom, &all).unwrap();
        let mut left = Remainder {
            is_merged: true,
            ..Remainder::of(KeyRange::ALL)
        };
        let mut taken = Vec::new();
        loop {
            assert_eq!(plan.reason, CompactionReason::Manual);
            taken.push(numbers(&plan));
            left = behind(left, &plan, is_phrased).unwrap();
            match look(&bottom, &|picker| picker.pick_rest(&left)) {
                Some(next) => plan = next,
                None => break,
            }
        }
        assert_eq!(taken, [vec![1, 2, 3], vec![5, 6, 7]]);
    }

    let options = KeyspaceOptions::default();
    let left = Remainder::of(KeyRange::ALL);
    let begun = Remainder {
        is_begun: true,
        ..left.clone()
    };
    let run = levels_of([(0, large(1, false, 20 * MIB))]);
    let merge = look(&run, &all).unwrap();
    assert_eq!(
        (merge.kind, merge.output.index()),
        (CompactionKind::Merge, 6)
    );
    assert_eq!(behind(left.clone(), &merge, true), None);
    let apart = above(100, false);
    let merge = look(&apart, &all).unwrap();
    assert_eq!(numbers(&merge), [4, 5, 2, 3, 1]);
    assert_eq!(effort(&merge, &apart, &options), None);
    let merged = Remainder {
        is_merged: true,
        ..begun.clone()
    };
    assert_eq!(behind(left.clone(), &merge, false), Some(merged));
    // One run of two files.
    let l0 = apart.l0().iter().take(1).flat_map(|run| {
        let files = run.files().iter();
        files.map(|file| (Level::ZERO, run.id(), Arc::clone(file)))
    });
    let edit = LevelsEdit {
        removed: Vec::new(),
        added: l0.collect(),
    };
    let run = Levels::default()
        .edited(&Comparator::Bytewise, edit)
        .unwrap();
    let moved = look(&run, &all).unwrap();
    assert_eq!(moved.kind, CompactionKind::Move);
    assert_eq!(behind(left, &moved, false), Some(begun));
}
