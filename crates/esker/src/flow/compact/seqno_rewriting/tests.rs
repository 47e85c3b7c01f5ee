//! Tests of `seqno_rewriting`.
//!
//! The record of file `n` says that its numbers go from `10 n` to `10 n + 9`.

use std::sync::Arc;

use super::*;
use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::types::ids::KeyspaceId;
use crate::flow::compact::plan::Input;
use crate::flow::compact::test_tree::levels_of;
use crate::store::version::plain_file::record;

/// A tree: number, depth and keys of each file.
type Tree<'a> = [(u64, usize, [&'a str; 2])];

/// The ceilings of some keys, in order, where the files of these numbers are merged.
fn ceilings(
    tree: &Tree<'_>,
    merged: &[u64],
    output: usize,
    snapshot: Option<u64>,
    keys: &[&str],
) -> Vec<u64> {
    let files = tree.iter().map(|(number, depth, [smallest, largest])| {
        let file = record(*number, smallest.as_bytes(), largest.as_bytes());
        (*depth, file)
    });
    let levels = levels_of(files);
    let inputs = levels
        .files()
        .filter(|(_, file)| merged.contains(&file.number.0));
    let plan = Plan {
        keyspace: KeyspaceId::DEFAULT,
        inputs: inputs
            .map(|(level, file)| Input {
                level,
                runs: vec![vec![Arc::clone(file)]],
            })
            .collect(),
        output: Level::new(output).unwrap(),
        kind: CompactionKind::Merge,
        reason: CompactionReason::Size,
        victims: Arc::default(),
    };
    let mut ceiling = SeqNoCeiling::new(&plan, &levels, snapshot.map(SeqNo::new));
    let keys = keys.iter();
    keys.map(|key| ceiling.of(&Comparator::Bytewise, key.as_bytes()).get())
        .collect()
}

#[test]
fn with_nothing_else_above_all_share_the_last_number_of_the_inputs() {
    let tree = [(3, 0, ["a", "z"]), (2, 0, ["a", "z"]), (1, 1, ["a", "z"])];
    let keys = ["a", "m", "z"];
    assert_eq!(ceilings(&tree, &[3, 2, 1], 1, None, &keys), [39; 3]);
    // No larger than what the oldest snapshot sees.
    assert_eq!(ceilings(&tree, &[3, 2, 1], 1, Some(25), &keys), [25; 3]);
    assert_eq!(ceilings(&tree, &[3, 2, 1], 1, Some(99), &keys), [39; 3]);
}

#[test]
fn what_lies_above_and_is_not_merged_stays_newer_where_it_lies() {
    // Files 4 and 5 push a neighbour down into file 1; what they hold began before file 6 ended.
    let tree = [
        (6, 1, ["f", "m"]),
        (4, 1, ["a", "c"]),
        (5, 1, ["p", "t"]),
        (1, 2, ["a", "z"]),
    ];
    let keys = ["a", "c", "d", "g", "o", "p", "t", "u"];
    let expected = [39, 39, 69, 69, 69, 49, 49, 69];
    assert_eq!(ceilings(&tree, &[6, 1], 2, None, &keys), expected);
    // One that is newer than every input says nothing.
    let expected = [39, 39, 59, 59, 59, 59, 59, 59];
    assert_eq!(ceilings(&tree, &[5, 1], 2, None, &keys), expected);
}

#[test]
fn runs_of_level_0_that_are_left_out_count_as_well() {
    // Newer ones say nothing; an older one would, if it were ever left out.
    let tree = [(3, 0, ["a", "z"]), (2, 0, ["a", "m"]), (1, 1, ["a", "z"])];
    assert_eq!(ceilings(&tree, &[2, 1], 1, None, &["b", "x"]), [29, 29]);
    assert_eq!(ceilings(&tree, &[3, 1], 1, None, &["b", "x"]), [19, 39]);
}

#[test]
fn within_level_0_nothing_is_raised() {
    let tree = [(3, 0, ["a", "z"]), (2, 0, ["a", "z"])];
    assert_eq!(ceilings(&tree, &[2], 0, None, &["b"]), [0]);
}
