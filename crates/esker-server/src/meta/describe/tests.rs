//! What is told of partitions, of replicas above all that are not there.

use crate::meta::trial::{Trial, group, new_table};

use super::*;

fn secondaries(trial: &Trial) -> usize {
    let request = QueryConfigRequest {
        app_name: "t".to_owned(),
        ..QueryConfigRequest::default()
    };
    let told = partitions(&trial.state, &trial.live, &request);
    told.partitions[0].secondaries.len()
}

#[test]
fn a_voter_that_was_never_made_is_no_copy() {
    // A table is open once its partitions are led, and for that two of three are enough: the third
    // one's disk had no room from the beginning on.
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("t", 1, 3));
    let id = group(table.0, 0);
    assert_eq!(secondaries(&trial), 2);
    let led = trial.live.group(id).expect("a leader").node;
    let other = (1..=3).map(NodeId).find(|node| *node != led);
    let report = trial.reports.get_mut(&other.expect("three nodes"));
    let report = report.expect("a node that reports");
    report.replicas.retain(|one| one.group != id);
    trial.hear();
    assert_eq!(secondaries(&trial), 1);
}
