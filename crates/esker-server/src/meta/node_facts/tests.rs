//! What a leader that was just chosen says of nodes.

use esker_rpc::error::ErrorCode;
use esker_rpc::message::meta::{
    CreateTableOptions, CreateTableRequest, DescribeClusterRequest, ListNodesRequest, MetaAnswer,
    MetaCall, MetaLevel, NodeStatus,
};
use esker_rpc::message::own::{BalanceRequest, ShowNodesRequest};

use crate::meta::command::Deed;
use crate::meta::report::Report;
use crate::meta::trial::{Trial, group, new_node, new_table, report};

use super::*;

/// Three nodes with a table, and a leader that has heard nobody yet.
fn just_chosen() -> Trial {
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 4, 3));
    assert_eq!(trial.even_out(60), 0);
    trial.live = Live::new();
    trial
}

/// The leader hears these, and no others.
fn hear(trial: &mut Trial, nodes: &[u64], pass_ms: u64) {
    trial.live.pass(pass_ms);
    for node in nodes {
        let report = &trial.reports[&NodeId(*node)];
        assert!(trial.live.hear(&trial.state, report));
    }
}

fn shown(trial: &mut Trial) -> Result<Vec<i32>, ErrorCode> {
    match trial.ask(&MetaCall::ShowNodes(ShowNodesRequest {})) {
        MetaAnswer::ShowNodes(told) if told.err.is_ok() => {
            Ok(told.nodes.iter().map(|one| one.copies).collect())
        }
        MetaAnswer::ShowNodes(told) => Err(told.err.code()),
        other => panic!("{other:?}"),
    }
}

fn balanced(trial: &mut Trial) -> BalanceResponse {
    let is_carried_out = true;
    match trial.ask(&MetaCall::Balance(BalanceRequest { is_carried_out })) {
        MetaAnswer::Balance(told) => told,
        other => panic!("{other:?}"),
    }
}

fn created(trial: &mut Trial, name: &str) -> ErrorCode {
    let call = MetaCall::CreateTable(CreateTableRequest {
        app_name: name.to_owned(),
        options: CreateTableOptions {
            partition_count: 4,
            replica_count: 3,
            app_type: "pegasus".to_owned(),
            is_stateful: true,
            success_if_exist: true,
            ..CreateTableOptions::default()
        },
    });
    match trial.ask(&call) {
        MetaAnswer::CreateTable(told) => told.err.code(),
        other => panic!("{other:?}"),
    }
}

/// What the calls of Pegasus about nodes come to.
fn listed(trial: &mut Trial) -> [ErrorCode; 2] {
    let status = NodeStatus::NS_INVALID;
    let nodes = match trial.ask(&MetaCall::ListNodes(ListNodesRequest { status })) {
        MetaAnswer::ListNodes(told) => told.err.code(),
        other => panic!("{other:?}"),
    };
    let cluster = match trial.ask(&MetaCall::DescribeCluster(DescribeClusterRequest {})) {
        MetaAnswer::DescribeCluster(told) => told.err.code(),
        other => panic!("{other:?}"),
    };
    [nodes, cluster]
}

#[test]
fn who_has_not_heard_every_node_counts_none() {
    let mut trial = just_chosen();
    for nodes in [&[][..], &[1], &[1, 2]] {
        hear(&mut trial, nodes, 1000);
        let later = ErrorCode::ServiceNotActive;
        assert_eq!(shown(&mut trial), Err(later), "{nodes:?}");
        assert_eq!(balanced(&mut trial).err.code(), later, "{nodes:?}");
        assert_eq!(created(&mut trial, "u"), later, "{nodes:?}");
        assert_eq!(listed(&mut trial), [later; 2], "{nodes:?}");
        // What is there already is told.
        assert_eq!(created(&mut trial, "t"), ErrorCode::Ok, "{nodes:?}");
    }
    assert!(!trial.live.is_balance_asked());
    hear(&mut trial, &[3], 1000);
    assert_eq!(shown(&mut trial), Ok(vec![5, 5, 5]));
    assert_eq!(listed(&mut trial), [ErrorCode::Ok; 2]);
    assert_eq!(balanced(&mut trial).err.code(), ErrorCode::Ok);
    assert_eq!(created(&mut trial, "u"), ErrorCode::Ok);
    for index in 0..4 {
        assert_eq!(trial.state.partitions[&group(2, index)].wished.len(), 3);
    }
}

#[test]
fn what_a_silent_node_has_is_unknown_and_then_counts_no_more() {
    let mut trial = just_chosen();
    // It led some: those have no leader that was heard.
    for second in 0..20 {
        hear(&mut trial, &[1, 2], 1000);
        if second >= 5 {
            assert_eq!(shown(&mut trial), Ok(vec![5, 5, -1]), "{second}");
        }
    }
    // Others lead them now.
    for (id, report) in trial.reports[&NodeId(3)]
        .clone()
        .replicas
        .iter()
        .map(|one| (one.group, one))
    {
        if let Some(members) = &report.configuration {
            let heir = trial.replica(NodeId(1), id).expect("a replica");
            heir.role = crate::meta::report::Role::Leader;
            (heir.term, heir.configuration) = (report.term + 1, Some(members.clone()));
        }
    }
    hear(&mut trial, &[1, 2], 1000);
    assert_eq!(shown(&mut trial), Ok(vec![5, 5, 0]));
    // One that was heard and fell silent is told as it was, and then counts no more.
    hear(&mut trial, &[1, 2, 3], 1000);
    for (pass_ms, copies) in [(9000, 5), (1000, 0)] {
        for _ in 0..pass_ms / 1000 {
            hear(&mut trial, &[1, 2], 1000);
        }
        assert_eq!(shown(&mut trial).map(|told| told[2]), Ok(copies));
    }
}

#[test]
fn a_balance_is_not_done_while_a_partition_has_no_leader() {
    let mut trial = just_chosen();
    trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    for _ in 0..6 {
        hear(&mut trial, &[1, 2], 1000);
    }
    let told = balanced(&mut trial);
    assert_eq!(
        (told.level, told.is_whole, told.steps.len()),
        (MetaLevel::FL_STEADY, false, 0)
    );
    assert!(told.hint_message.contains("has no leader"), "{told:?}");
    for _ in 0..3 {
        hear(&mut trial, &[1, 2], 1000);
        crate::meta::balance::due(&trial.state, &mut trial.live, 0);
        assert!(trial.live.is_balance_asked(), "it is not done");
    }
    hear(&mut trial, &[1, 2, 3], 1000);
    assert!(balanced(&mut trial).is_whole);
    crate::meta::balance::due(&trial.state, &mut trial.live, 0);
    assert!(!trial.live.is_balance_asked(), "now it is");
}

/// The revision of the tables, and those that nodes know.
fn revisions(trial: &mut Trial) -> (i64, Vec<i64>) {
    match trial.ask(&MetaCall::ShowNodes(ShowNodesRequest {})) {
        MetaAnswer::ShowNodes(told) => {
            let known = told.nodes.iter().map(|one| one.tables_revision);
            (told.tables_revision, known.collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_each_node_knows_of_tables_is_told_beside_what_there_is() {
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 4, 3));
    assert_eq!(trial.even_out(60), 0);
    trial.hear();
    let (before, known) = revisions(&mut trial);
    assert_eq!(known, [before; 3]);
    let new = new_table("u", 1, 3);
    trial.done(Deed::CreateTable { table: new });
    let (after, known) = revisions(&mut trial);
    assert!(after > before && known == [before; 3], "{after} {known:?}");
    // What they are told they say with their next report.
    trial.rounds(3);
    trial.hear();
    let (after, known) = revisions(&mut trial);
    assert_eq!(known, [after; 3]);
}

#[test]
fn of_two_at_one_address_the_later_one_lives() {
    // Both were called alive for as long as a node may be late with its report.
    let mut trial = Trial::new(3);
    trial.hear();
    trial.reports.remove(&NodeId(2));
    let mut again = new_node(2, "");
    again.nonce = 77;
    let addresses = again.addresses.clone();
    trial.done(Deed::RegisterNode { node: again });
    let new = Report {
        addresses,
        ..report(4)
    };
    trial.reports.insert(NodeId(4), new);
    trial.hear();
    let facts = node_facts(&trial.state, &trial.live);
    let alive = facts.iter().map(|one| (one.node, one.is_alive));
    let alive: Vec<_> = alive.collect();
    assert_eq!(alive, [(1, true), (2, false), (3, true), (4, true)]);
    // And what becomes of the other one is no matter of ten minutes.
    assert_eq!(facts[1].successor, 4);
    assert!(
        (0..=10_000).contains(&facts[1].replaced_in_ms),
        "{:?}",
        facts[1]
    );
}
