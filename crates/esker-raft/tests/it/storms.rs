//! Runs in which everything goes wrong that may, and nothing may come of it.

use crate::seeds;
use crate::sim::plan::Plan;
use crate::sim::run::{Report, run};

/// 11933: a leader committed its own removal and was destroyed before anybody else knew, so that
/// the others waited for its vote for ever.
const ONCE_FAILED: &[u64] = &[11933];

#[test]
fn a_calm_group_of_one_and_of_three_makes_progress() {
    for seed in 0..6 {
        let mut plan = Plan::calm(seed);
        (plan.nodes, plan.groups) = (if seed % 2 == 0 { 1 } else { 3 }, 1);
        plan.first_voters = plan.nodes;
        let report = run(plan);
        assert!(
            report.acknowledged > 100 && report.reads > 100,
            "{report:?}"
        );
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 100..104 {
        assert_eq!(run(Plan::stormy(seed)), run(Plan::stormy(seed)));
    }
    assert_ne!(run(Plan::stormy(100)).trace, run(Plan::stormy(101)).trace);
}

#[test]
fn every_promise_holds_in_every_storm() {
    storms(seeds::from(0, 150));
}

#[test]
fn no_read_is_stale_whose_leader_was_stopped_or_cut_off_with_a_lease() {
    leased(seeds::from(0, 100));
}

#[test]
#[ignore = "minutes: part of make soak"]
fn soak_no_read_is_stale_whose_leader_was_stopped_or_cut_off_with_a_lease() {
    leased(seeds::from(20_000, 3000));
}

fn leased(seeds: std::ops::Range<u64>) {
    let (mut leases, count) = (0, seeds.end - seeds.start);
    for seed in seeds {
        leases += run(Plan::leased(seed)).leases;
    }
    assert!(leases > 50 * count, "{leases} leases");
}

#[test]
fn seeds_that_once_failed_hold() {
    for &seed in ONCE_FAILED {
        run(Plan::stormy(seed));
    }
}

#[test]
#[ignore = "minutes: part of make soak"]
fn soak_every_promise_holds_in_thousands_of_storms() {
    storms(seeds::from(10_000, 3000));
}

fn storms(seeds: std::ops::Range<u64>) {
    let mut sum = Report::default();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let report = run(Plan::stormy(seed));
        sum.applies += report.applies;
        sum.reads += report.reads;
        sum.leases += report.leases;
        sum.images += report.images;
        sum.changes += report.changes;
        sum.acknowledged += report.acknowledged;
    }
    println!("{count} storms: {sum:?}");
    // A storm in which nothing happens would prove nothing.
    assert!(sum.applies > 500 * count && sum.reads > 50 * count);
    assert!(sum.leases > 20 * count);
    assert!(sum.images > count && sum.changes > count);
}
