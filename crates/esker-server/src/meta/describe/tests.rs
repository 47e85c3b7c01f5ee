//! What is told of partitions, of replicas above all that are not there.

use crate::meta::balance::plan;
use crate::meta::rows::TableStatus;
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

/// How many moves are told to be under way, which is what a balance says as well.
fn under_way(trial: &Trial) -> usize {
    let told = cluster(&trial.state, &trial.live);
    let place = told
        .keys
        .iter()
        .position(|key| key == "balance_operation_count");
    let told = told.values[place.expect("its line")].parse::<usize>();
    let planned = plan(&trial.state, &trial.live).under_way;
    assert_eq!(told, Ok(planned));
    planned
}

#[test]
fn leads_that_are_handed_over_are_under_way() {
    let mut trial = Trial::new(3);
    let table = trial.table(new_table("t", 2, 3));
    let id = group(table.0, 0);
    assert_eq!(under_way(&trial), 0);
    let led = trial.live.group(id).expect("a leader").leader;
    let heir = (1..=3).map(ReplicaId).find(|replica| *replica != led);
    trial.live.hand_over(id, heir.expect("three replicas"));
    assert_eq!(under_way(&trial), 1);
}

#[test]
fn groups_that_are_not_as_they_are_wished_are_under_way_if_their_table_is_there() {
    let mut trial = Trial::new(4);
    let table = trial.table(new_table("t", 2, 3));
    let wished = |trial: &mut Trial, group| {
        let row = trial.state.partitions.get_mut(&group).expect("a group");
        row.wished.insert(ReplicaId(9), NodeId(4));
    };
    wished(&mut trial, group(table.0, 0));
    assert_eq!(under_way(&trial), 1);
    // The meta group is no table's.
    wished(&mut trial, META);
    assert_eq!(under_way(&trial), 1);
    let row = trial.state.tables.get_mut(&table).expect("a table");
    row.status = TableStatus::Dropped {
        dropped_s: 1,
        ends_s: 61,
        was_open: true,
    };
    assert_eq!(under_way(&trial), 0);
}
