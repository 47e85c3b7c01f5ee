//! Tests of `score`.

use super::*;
use crate::flow::compact::test_tree;
use crate::store::version::file::FileRecord;
use crate::store::version::plain_file::record;

const OPTIONS: CompactionOptions = CompactionOptions {
    l0_trigger: 4,
    base_level_bytes: 1_000,
    level_growth: 10,
    subcompactions_max: 1,
    is_automatic: true,
};

/// Levels with one file of each of these sizes: depth and bytes.
fn levels_of(sizes: &[(usize, u64)]) -> Levels {
    let files = sizes.iter().zip(1..);
    test_tree::levels_of(files.map(|(&(depth, size_bytes), number)| {
        let record = FileRecord {
            size_bytes,
            ..record(number, b"a", b"z")
        };
        (depth, record)
    }))
}

#[test]
fn targets_follow_from_the_bottom_up() {
    // The base is the bottom until that outgrows the base size, then the levels above it, each a
    // tenth; a filled level is never above the base.
    let of = |sizes: &[(usize, u64)]| {
        let targets = targets(&levels_of(sizes), &OPTIONS);
        (targets.base.index(), targets.bytes)
    };
    assert_eq!(of(&[]), (6, [0, 0, 0, 0, 0, 0, 1_000]));
    assert_eq!(of(&[(6, 900)]), (6, [0, 0, 0, 0, 0, 0, 1_000]));
    assert_eq!(of(&[(6, 9_000)]), (5, [0, 0, 0, 0, 0, 900, 9_000]));
    let large = of(&[(6, 90_000)]);
    assert_eq!(large, (4, [0, 0, 0, 0, 900, 9_000, 90_000]));
    assert_eq!(of(&[(4, 10), (6, 100)]), (4, [0, 0, 0, 0, 500, 500, 1_000]));
}

#[test]
fn scores_tell_what_is_too_large() {
    // Level 0 counts its runs and, from two on, its bytes; a sorted level its bytes; the deepest
    // one never asks for work.
    let of = |sizes: &[(usize, u64)]| {
        let levels = levels_of(sizes);
        scores(&levels, &targets(&levels, &OPTIONS), &OPTIONS)
    };
    assert_eq!(of(&[(0, 5_000)])[0], 0.25);
    assert_eq!(of(&[(0, 1_000), (0, 2_000)])[0], 3.0);
    assert_eq!(of(&[(0, 1), (0, 1), (0, 1), (0, 1)])[0], 1.0);
    let scores = of(&[(5, 1_800), (6, 9_000)]);
    assert_eq!((scores[5], scores[6]), (2.0, 0.0));
    assert!(of(&[(5, 1_000_000)])[5] <= 1.0);
}

#[test]
fn debt_is_what_should_have_been_moved() {
    // Five runs where four call for a compaction owe one run; a level at twice its target owes
    // the half.
    let of = |sizes: &[(usize, u64)]| {
        let levels = levels_of(sizes);
        debt_bytes(&levels, &targets(&levels, &OPTIONS), &OPTIONS)
    };
    assert_eq!(of(&[(0, 10), (0, 10), (0, 10), (0, 10)]), 0);
    assert_eq!(of(&[(0, 10), (0, 10), (0, 10), (0, 10), (0, 10)]), 10);
    assert_eq!(of(&[(5, 1_800), (6, 9_000)]), 900);
}
