//! The brain through many seeds, and bugs that they find.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are asked for more seeds by the environment"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::meta_sim::run::Run;
use crate::meta_sim::world::Bug;
use crate::symptom;

/// Seconds of each run in which things happen.
const TICKS: usize = 120;

fn seeds(count: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("ESKER_SEEDS").ok();
    0..asked.map_or(count, |text| text.parse().expect("ESKER_SEEDS is a number"))
}

#[test]
fn every_partition_is_whole_in_the_end_whatever_happens() {
    // Nodes crash, are cut off, wiped, damaged, drained and removed; tables come and go, get more
    // and fewer replicas, and are evened out; leaders of the meta group change, and the one before
    // goes on telling.
    let (mut commands, mut moves) = (0, 0);
    for seed in seeds(500) {
        let mut run = Run::new(seed, None);
        let done = catch_unwind(AssertUnwindSafe(|| run.go(TICKS)));
        assert!(done.is_ok(), "seed {seed}");
        commands += run.commands;
        moves += run.moves;
    }
    assert!(
        commands > 500 && moves > 500,
        "{commands} commands, {moves} moves"
    );
}

#[test]
fn a_table_is_made_where_there_is_room() {
    let seeds = seeds(300);
    let count = seeds.end - seeds.start;
    let mut full = 0;
    for seed in seeds {
        let mut run = Run::new(seed, None);
        let done = catch_unwind(AssertUnwindSafe(|| run.make_beside_full_disks()));
        let Ok(is_any_full) = done else {
            panic!("seed {seed}");
        };
        full += u64::from(is_any_full);
    }
    assert!(full > count / 2, "full disks in {full} of {count}");
}

#[test]
fn a_table_that_stays_where_there_is_no_room_is_found() {
    let failed = |seed| {
        symptom::of(|| {
            Run::new(seed, Some(Bug::MakesNothingAnew)).make_beside_full_disks();
        })
    };
    let symptoms = ["a table waits for room"];
    symptom::is_found(&Bug::MakesNothingAnew, 0..20, &symptoms, failed);
}

fn is_found(bug: Bug, symptoms: &[&str]) {
    let failed = |seed| symptom::of(|| Run::new(seed, Some(bug)).go(TICKS));
    symptom::is_found(&bug, 0..200, symptoms, failed);
}

macro_rules! planted {
    ($($name:ident $Bug:ident $symptoms:expr;)*) => {
        $(#[test]
        fn $name() {
            is_found(Bug::$Bug, &$symptoms);
        })*
    };
}

planted! {
    a_lost_replica_that_is_made_again_is_found MakesLostAgain ["it was made before"];
    a_replica_that_goes_too_early_is_found DestroysUnwished ["is a member and destroyed"];
    a_removal_before_the_new_one_votes_is_found RemovesFirst ["a copy too few"];
    replicas_on_a_node_that_leaves_are_found FillsDraining ["is not drained", "a copy too few"];
    a_table_that_is_never_forgotten_is_found NeverForgets ["a dropped table is still there"];
    a_lost_replica_that_is_never_replaced_is_found LeavesLost ["} Group { members", "is not on"];
    a_table_that_opens_too_early_is_found OpensEarly ["contains_key(&group.0)"];
    a_first_voter_that_is_made_twice_is_found SkipsMade ["} Group { members"];
    a_balance_that_goes_to_and_fro_is_found PingPong ["makes nothing more even"];
    a_move_that_removes_before_it_adds_is_found MovesByRemoving ["a copy too few"];
    a_move_without_a_new_copy_is_found DropsWithoutAdding ["without another one that comes"];
    a_balance_that_ignores_labels_is_found IgnoresLabels ["two on a host"];
    a_move_of_a_group_under_change_is_found MovesUnderChange ["is under change"];
    a_balance_that_never_comes_is_found NeverEvens ["not at rest"];
    a_node_that_is_let_go_too_early_is_found RemovesInUse ["counts on"];
}
