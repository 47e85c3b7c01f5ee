//! Runs in which everything goes wrong that may, and nothing may come of it.

use std::ops::Range;

use crate::seeds;
use crate::whole::plan::Plan;
use crate::whole::run::{Report, run, violation};

#[test]
fn a_calm_cluster_grows_from_one_node_and_is_whole() {
    for seed in 0..3 {
        let report = run(Plan::calm(seed));
        assert!(
            report.acknowledged > 100 && report.reads > 100,
            "{report:?}"
        );
        assert!(report.changes > 3, "{report:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_cluster() {
    for seed in 20..22 {
        assert_eq!(run(Plan::stormy(seed)), run(Plan::stormy(seed)));
    }
    assert_ne!(run(Plan::stormy(20)).trace, run(Plan::stormy(21)).trace);
}

// In two halves, so that two processors have something to do.
#[test]
fn every_promise_holds_in_a_whole_cluster() {
    storms(seeds::from(100, 150));
}

#[test]
fn every_promise_holds_in_another_whole_cluster() {
    storms(seeds::from(100_000, 150));
}

#[test]
#[ignore = "many minutes: part of make soak"]
fn soak_every_promise_holds_in_thousands_of_whole_clusters() {
    storms(seeds::from(200_000, 2500));
}

#[test]
#[ignore = "many minutes: part of make soak"]
fn soak_every_promise_holds_in_thousands_of_other_whole_clusters() {
    storms(seeds::from(300_000, 2500));
}

fn storms(seeds: Range<u64>) {
    let mut sum = Report::default();
    let count = seeds.end - seeds.start;
    let mut failed = Vec::new();
    for seed in seeds {
        let mut report = None;
        let plan = Plan::stormy(seed);
        let kept = &mut report;
        let message = violation_of(plan, kept);
        match message {
            Some(message) => {
                println!("seed {seed}: {message:.2000}");
                failed.push(seed);
            }
            None => sum.add(&report.unwrap_or_default()),
        }
    }
    println!("{count} clusters: {sum:?}");
    assert_eq!(failed, [], "seeds that failed");
    // A storm in which nothing happens would prove nothing.
    assert!(sum.acknowledged > 50 * count && sum.reads > 50 * count);
    assert!(sum.images > 2 * count && sum.changes > 5 * count && sum.elections > 10 * count);
    assert!(sum.leased > count && sum.wipes > count / 20 && sum.compared > 50 * count);
    assert!(sum.made_anew > count / 20);
    assert_eq!(sum.too_hard, 0, "histories too hard to judge");
}

fn violation_of(plan: Plan, report: &mut Option<Report>) -> Option<String> {
    let ran = std::panic::catch_unwind(|| run(plan.clone()));
    match ran {
        Ok(ran) => {
            *report = Some(ran);
            None
        }
        // Once more for its words: the same seed is the same run.
        Err(_) => violation(plan),
    }
}
