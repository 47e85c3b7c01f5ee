//! What is done to nodes and replicas when somebody asks for it, and what is refused.

use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::ErrorCode;
use esker_rpc::message::balance::{GetReplicaCountRequest, ProposalAction, SetReplicaCountRequest};
use esker_rpc::message::meta::{ControlMetaRequest, MetaAnswer, MetaCall, MetaLevel};
use esker_rpc::message::own::{
    BalanceRequest, BalanceResponse, NodeFacts, NodeStay, SetMetaReplicasRequest, ShowNodesRequest,
};

use crate::meta::report::Report;
use crate::meta::trial::{Trial, addresses, group, new_node, new_table, report};

use super::*;

impl Trial {
    /// What is said to whoever wants that of a node.
    fn deed(&mut self, node: i64, deed: NodeDeed) -> (ErrorCode, String) {
        match self.ask(&MetaCall::ChangeNode(ChangeNodeRequest { node, deed })) {
            MetaAnswer::ChangeNode(told) => (told.err.code(), told.hint_message),
            other => panic!("{other:?}"),
        }
    }

    fn moves(
        &mut self,
        index: i32,
        source: i64,
        target: i64,
        is_lead: bool,
    ) -> (ErrorCode, String) {
        let request = MoveReplicaRequest {
            app_name: "t".into(),
            partition_index: index,
            source,
            target,
            is_lead,
        };
        match self.ask(&MetaCall::MoveReplica(request)) {
            MetaAnswer::MoveReplica(told) => (told.err.code(), told.hint_message),
            other => panic!("{other:?}"),
        }
    }

    fn facts(&mut self) -> Vec<NodeFacts> {
        match self.ask(&MetaCall::ShowNodes(ShowNodesRequest {})) {
            MetaAnswer::ShowNodes(told) => {
                assert!(told.err.is_ok());
                told.nodes
            }
            other => panic!("{other:?}"),
        }
    }

    fn balance(&mut self, is_carried_out: bool) -> BalanceResponse {
        match self.ask(&MetaCall::Balance(BalanceRequest { is_carried_out })) {
            MetaAnswer::Balance(told) => told,
            other => panic!("{other:?}"),
        }
    }

    /// Nodes of a partition; the one that leads comes first.
    fn nodes_of(&self, index: u32) -> Vec<u64> {
        let members = self.members(group(1, index));
        let leader = self.live.group(group(1, index)).expect("a leader").node;
        let others = members.nodes.values().filter(|node| **node != leader);
        std::iter::once(leader.0)
            .chain(others.map(|node| node.0))
            .collect()
    }
}

/// A cluster of so many nodes, and a table of eight partitions, at rest.
fn at_rest(nodes: u64, replicas: u32) -> Trial {
    let mut trial = Trial::new(nodes);
    trial.table(new_table("t", 8, replicas));
    assert_eq!(trial.even_out(60), 0);
    trial
}

fn has(told: &(ErrorCode, String), code: ErrorCode, words: &str) {
    assert!(told.0 == code && told.1.contains(words), "{told:?}");
}

#[test]
fn a_node_is_drained_and_removed_and_its_number_is_gone() {
    let mut trial = at_rest(4, 3);
    // One that lives and has something is not removed just so.
    let told = trial.deed(2, NodeDeed::ND_REMOVE);
    has(
        &told,
        ErrorCode::Busy,
        "`esker node drain 2 --wait` empties it first",
    );
    let told = trial.deed(2, NodeDeed::ND_DRAIN);
    has(&told, ErrorCode::Ok, "still to move from node 2 to others");
    // It may stay after all, and be drained again.
    has(&trial.deed(2, NodeDeed::ND_UNDRAIN), ErrorCode::Ok, "");
    trial.deed(2, NodeDeed::ND_DRAIN);
    assert_eq!(trial.facts()[1].stay, NodeStay::NS_DRAINS);
    // Removed before it is empty: as soon as it is.
    let told = trial.deed(2, NodeDeed::ND_REMOVE);
    has(&told, ErrorCode::Ok, "node 2 is let go of once");
    for _ in 0..60 {
        trial.even_out(1);
        if !trial.state.nodes.contains_key(&NodeId(2)) {
            break;
        }
    }
    assert!(!trial.state.nodes.contains_key(&NodeId(2)));
    let left = trial.reports.remove(&NodeId(2)).expect("a node");
    assert_eq!(left.replicas, []);
    trial.even_out(20);
    assert!(
        trial
            .facts()
            .iter()
            .all(|one| one.replicas >= 8 && one.leads > 0)
    );
    has(
        &trial.deed(2, NodeDeed::ND_DRAIN),
        ErrorCode::ObjectNotFound,
        "there are nodes 1, 3, 4",
    );
    let node = new_node(5, "");
    let told = trial.done(Deed::RegisterNode { node });
    assert_eq!(
        told,
        crate::meta::outcome::Outcome::Node { node: NodeId(5) }
    );
}

#[test]
fn an_empty_node_is_removed_at_once() {
    let mut trial = Trial::new(1);
    trial.done(Deed::RegisterNode {
        node: new_node(2, ""),
    });
    has(&trial.deed(2, NodeDeed::ND_REMOVE), ErrorCode::Ok, "");
    assert_eq!(trial.state.nodes.len(), 1);
    // The last place of the meta service is none that could go.
    let told = trial.deed(1, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "there is no host for them: add a node first",
    );
}

#[test]
fn what_could_never_end_is_refused_with_what_to_do() {
    let mut trial = at_rest(3, 3);
    let told = trial.deed(2, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "`esker table set t replicas 2`",
    );
    let told = trial.deed(9, NodeDeed::ND_DRAIN);
    has(&told, ErrorCode::ObjectNotFound, "there is no node 9");
    // With fewer replicas it can be done.
    trial.ask(&MetaCall::SetReplicaCount(SetReplicaCountRequest {
        app_name: "t".into(),
        max_replica_count: 2,
    }));
    let told = trial.deed(2, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "3 replicas of the meta service",
    );
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "`esker node meta-replicas 1`",
    );
    trial.ask(&MetaCall::SetMetaReplicas(SetMetaReplicasRequest {
        count: 1,
    }));
    has(&trial.deed(2, NodeDeed::ND_DRAIN), ErrorCode::Ok, "");
    assert_eq!(trial.even_out(80), 0);
    assert_eq!(trial.reports[&NodeId(2)].replicas, []);
}

#[test]
fn a_node_is_not_emptied_onto_one_that_is_dead() {
    let mut trial = at_rest(4, 3);
    trial.ask(&MetaCall::SetMetaReplicas(SetMetaReplicasRequest {
        count: 1,
    }));
    assert_eq!(trial.even_out(20), 0);
    trial.silence(4);
    trial.seconds(9);
    // It may be on its way back: that the others have nowhere to go is not known yet.
    has(&trial.deed(2, NodeDeed::ND_DRAIN), ErrorCode::Ok, "");
    has(&trial.deed(2, NodeDeed::ND_UNDRAIN), ErrorCode::Ok, "");
    trial.seconds(3);
    let told = trial.deed(2, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "2 hosts that answer, and table t has 3 replicas: start node 4 again",
    );
    // The dead one itself can be.
    has(&trial.deed(4, NodeDeed::ND_DRAIN), ErrorCode::Ok, "");
}

#[test]
fn a_node_that_cannot_be_emptied_says_what_it_waits_for() {
    // It can be when that is asked for; then another one dies, comes back, and is full.
    let mut trial = at_rest(4, 3);
    trial.ask(&MetaCall::SetMetaReplicas(SetMetaReplicasRequest {
        count: 1,
    }));
    assert_eq!(trial.even_out(20), 0);
    let waits_for = |trial: &mut Trial| trial.facts().swap_remove(1).waits_for;
    assert_eq!(waits_for(&mut trial), "");
    has(&trial.deed(2, NodeDeed::ND_DRAIN), ErrorCode::Ok, "");
    assert_eq!(waits_for(&mut trial), "");
    let alive = trial.reports[&NodeId(4)].clone();
    trial.silence(4);
    trial.seconds(12);
    let told = waits_for(&mut trial);
    assert!(
        told.contains(
            "wait for another node: every host that lives and stays has one of the same partition \
             (t."
        ),
        "{told}"
    );
    assert!(!told.starts_with("0 "), "{told}");
    let full = Report {
        space_free_bytes: 0,
        ..alive.clone()
    };
    trial.reports.insert(NodeId(4), full);
    trial.hear();
    let told = waits_for(&mut trial);
    assert!(
        told.ends_with("of its replicas wait for room on the disks of other nodes"),
        "{told}"
    );
    trial.reports.insert(NodeId(4), alive);
    trial.hear();
    assert_eq!(waits_for(&mut trial), "");
    let level = MetaLevel::FL_FREEZED;
    trial.ask(&MetaCall::ControlMeta(ControlMetaRequest { level }));
    let told = waits_for(&mut trial);
    assert!(told.contains("nothing moves at this level"), "{told}");
}

#[test]
fn a_dropped_table_that_is_in_the_way_is_named_with_what_to_do() {
    // It is in no list, and its replicas stay as long as it can be recalled.
    let mut trial = Trial::new(4);
    trial.table(new_table("t", 2, 2));
    trial.table(new_table("wide", 2, 4));
    trial.ask(&MetaCall::SetMetaReplicas(SetMetaReplicasRequest {
        count: 1,
    }));
    assert_eq!(trial.even_out(60), 0);
    let told = trial.deed(4, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "`esker table set wide replicas 3`",
    );
    trial.done(Deed::DropTable {
        name: "wide".into(),
        reserve_s: 1000,
        or_absent: false,
    });
    let way = "`esker table recall 2 --as dropped-2`, then `esker table drop dropped-2 --keep 1s`";
    let told = trial.deed(4, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "table wide, which was dropped",
    );
    has(&told, ErrorCode::NotEnoughMember, way);
    // One that was drained before says as much while it waits.
    trial.done(Deed::DrainNode {
        node: NodeId(4),
        is_draining: true,
    });
    let told = trial.facts().swap_remove(3).waits_for;
    assert!(
        told.contains("wide.0 is of a table that was dropped"),
        "{told}"
    );
    assert!(told.ends_with(&format!("for good: {way})")), "{told}");
    // With one node it is no advice that no table could follow.
    let mut trial = at_rest(1, 1);
    let told = trial.deed(1, NodeDeed::ND_DRAIN);
    has(
        &told,
        ErrorCode::NotEnoughMember,
        "without node 1 there is no host, and table t has 1",
    );
    assert!(told.1.ends_with("add a node first"), "{told:?}");
}

#[test]
fn a_dead_node_is_removed_and_its_replicas_are_made_anew_at_once() {
    let mut trial = at_rest(4, 3);
    trial.silence(3);
    trial.seconds(6);
    let told = trial.deed(3, NodeDeed::ND_REMOVE);
    has(
        &told,
        ErrorCode::Busy,
        "may be on its way back: ask again in 4 s",
    );
    trial.seconds(6);
    let dead = trial.facts().remove(2);
    assert!(!dead.is_alive && dead.silent_ms == 12_000 && dead.replaced_in_ms == 588_000);
    assert!(dead.replicas > 0 && dead.leaderless == 0);
    let told = trial.deed(3, NodeDeed::ND_REMOVE);
    has(&told, ErrorCode::Ok, "node 3 is let go of once what it has");
    assert_eq!(trial.facts()[2].replaced_in_ms, 0);
    trial.even_out(60);
    assert!(!trial.state.nodes.contains_key(&NodeId(3)));
    for index in 0..8 {
        assert_eq!(trial.nodes_of(index).len(), 3);
    }
}

#[test]
fn the_only_copy_is_never_let_go_of() {
    // One replica of each, and its node is dead: nobody else has what it has.
    let mut trial = at_rest(3, 1);
    trial.silence(2);
    trial.seconds(20);
    let told = trial.deed(2, NodeDeed::ND_REMOVE);
    has(
        &told,
        ErrorCode::Busy,
        "it has may be the only copy; start it again",
    );
    let dead = trial.facts().remove(1);
    assert!(dead.leaderless > 0, "{dead:?}");
    // Who reads its note is told the same before he tries.
    assert_eq!(dead.kept_for, told.1);
    assert!(told.1.contains("`esker table recover t`"), "{told:?}");
}

#[test]
fn who_is_kept_for_a_dropped_table_is_let_go_of_with_it() {
    let mut trial = at_rest(3, 1);
    trial.silence(2);
    trial.seconds(20);
    trial.done(Deed::DropTable {
        name: "t".into(),
        reserve_s: 604_800,
        or_absent: false,
    });
    // Its name is that of a living table by now, which must not be dropped by that word.
    let table = new_table("t", 2, 1);
    trial.done(Deed::CreateTable { table });
    let told = trial.deed(2, NodeDeed::ND_REMOVE);
    has(
        &told,
        ErrorCode::Busy,
        "of dropped tables have no leader without node 2 (t.",
    );
    let way = "let go of them for good: `esker table recall 1 --as dropped-1`, then `esker table \
               drop dropped-1 --keep 1s`";
    has(&told, ErrorCode::Busy, way);
    assert!(trial.facts()[1].kept_for.ends_with(way));
    // It is as it says.
    let table = TableId(1);
    trial.done(Deed::RecallTable {
        table,
        name: "dropped-1".into(),
    });
    trial.done(Deed::DropTable {
        name: "dropped-1".into(),
        reserve_s: 1,
        or_absent: false,
    });
    let command = crate::meta::command::Command {
        unix_ms: crate::meta::trial::UNIX_MS + 1000,
        deed: Deed::ForgetTable { table },
    };
    trial.apply_command(&command);
    has(&trial.deed(2, NodeDeed::ND_REMOVE), ErrorCode::Ok, "");
}

#[test]
fn nobody_is_kept_for_a_table_that_is_being_made() {
    let mut trial = at_rest(3, 3);
    let table = new_table("u", 4, 1);
    trial.done(Deed::CreateTable { table });
    trial.silence(2);
    trial.seconds(20);
    assert_eq!(trial.facts()[1].kept_for, "");
    has(&trial.deed(2, NodeDeed::ND_REMOVE), ErrorCode::Ok, "");
    // That it was opened may be in entries that are lost.
    trial.done(Deed::DrainNode {
        node: NodeId(2),
        is_draining: false,
    });
    trial.done(Deed::RecoverMeta {
        epoch: crate::meta::trial::epoch(1),
    });
    let told = trial.deed(2, NodeDeed::ND_REMOVE);
    has(&told, ErrorCode::Busy, "without node 2 (u.");
}

#[test]
fn a_replica_and_a_lead_are_moved_by_hand() {
    let mut trial = at_rest(4, 2);
    trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    let nodes = trial.nodes_of(0);
    let free = (1..=4).find(|node| !nodes.contains(node)).expect("a node");
    let wire = |node: u64| i64::try_from(node).expect("few");
    let (leader, follower, free) = (wire(nodes[0]), wire(nodes[1]), wire(free));
    has(&trial.moves(0, follower, free, false), ErrorCode::Ok, "");
    has(
        &trial.moves(0, leader, follower, false),
        ErrorCode::InvalidState,
        "being changed",
    );
    has(
        &trial.moves(0, leader, follower, true),
        ErrorCode::InvalidState,
        "being changed",
    );
    trial.even_out(20);
    let now = trial.nodes_of(0);
    assert_eq!((wire(now[0]), wire(now[1])), (leader, free));
    has(&trial.moves(0, leader, free, true), ErrorCode::Ok, "");
    trial.even_out(3);
    assert_eq!(wire(trial.nodes_of(0)[0]), free);
    for (told, words) in [
        (
            trial.moves(0, follower, leader, false),
            "has no replica of t.0: nodes",
        ),
        (
            trial.moves(0, free, leader, false),
            "has a replica of t.0 already",
        ),
        (
            trial.moves(8, 1, 2, false),
            "the table has partitions 0 to 7",
        ),
        (
            trial.moves(0, leader, free, true),
            "leads t.0, and not node",
        ),
        (
            trial.moves(0, free, follower, true),
            "has no replica of t.0 that votes",
        ),
    ] {
        has(&told, ErrorCode::InvalidParameters, words);
    }
    trial.done(Deed::SetLevel {
        level: Level::Frozen,
    });
    for (to, is_lead) in [(follower, false), (leader, true)] {
        let told = trial.moves(0, free, to, is_lead);
        has(
            &told,
            ErrorCode::StateFreezed,
            "`esker balance --level steady`",
        );
    }
}

#[test]
fn two_on_a_host_are_refused_by_name() {
    let mut trial = Trial::new(2);
    for number in [3, 4] {
        trial.done(Deed::RegisterNode {
            node: new_node(number, "rack"),
        });
        let label = "rack".to_owned();
        trial.reports.insert(
            NodeId(number),
            crate::meta::report::Report {
                label,
                ..report(number)
            },
        );
    }
    trial.hear();
    let new = crate::meta::command::NewTable {
        candidates: vec![NodeId(1), NodeId(3)],
        ..new_table("t", 1, 2)
    };
    trial.table(new);
    trial.rounds(10);
    let told = trial.moves(0, 1, 4, false);
    has(
        &told,
        ErrorCode::InvalidParameters,
        "node 4 shares its host with node 3",
    );
    has(&trial.moves(0, 3, 4, false), ErrorCode::Ok, "");
}

#[test]
fn tools_of_pegasus_move_leads_and_replicas() {
    // The lists of actions that its tools send: a lead, a primary, a secondary.
    let mut trial = at_rest(4, 2);
    trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    let at = |node: u64| -> Address { addresses(node).client.into() };
    let propose = |trial: &mut Trial, actions: &[(u64, ProposalKind)]| {
        let actions = actions.iter().map(|(node, kind)| ProposalAction {
            target: at(*node),
            node: at(*node),
            r#type: *kind,
            hp_target: None,
            hp_node: None,
        });
        let request = ProposeBalancerRequest {
            gpid: Gpid {
                app_id: 1,
                partition_index: 3,
            },
            action_list: actions.collect(),
            force: None,
            balance_type: None,
        };
        let told = match trial.ask(&MetaCall::ProposeBalancer(request)) {
            MetaAnswer::ProposeBalancer(told) => told.err.code(),
            other => panic!("{other:?}"),
        };
        trial.even_out(20);
        (told, trial.nodes_of(3))
    };
    let nodes = trial.nodes_of(3);
    let (primary, secondary) = (nodes[0], nodes[1]);
    let free = (1..=4).find(|node| !nodes.contains(node)).expect("a node");
    let moved = propose(
        &mut trial,
        &[
            (primary, ProposalKind::CT_DOWNGRADE_TO_SECONDARY),
            (secondary, ProposalKind::CT_UPGRADE_TO_PRIMARY),
        ],
    );
    assert_eq!(moved, (ErrorCode::Ok, vec![secondary, primary]));
    let moved = propose(
        &mut trial,
        &[
            (free, ProposalKind::CT_ADD_SECONDARY_FOR_LB),
            (primary, ProposalKind::CT_DOWNGRADE_TO_INACTIVE),
        ],
    );
    assert_eq!(moved, (ErrorCode::Ok, vec![secondary, free]));
    // The primary itself: another one leads once it is gone.
    let (code, nodes) = propose(
        &mut trial,
        &[
            (primary, ProposalKind::CT_ADD_SECONDARY_FOR_LB),
            (secondary, ProposalKind::CT_DOWNGRADE_TO_SECONDARY),
            (primary, ProposalKind::CT_UPGRADE_TO_PRIMARY),
        ],
    );
    assert_eq!(code, ErrorCode::Ok);
    assert!(nodes.contains(&primary) && nodes.contains(&free) && nodes.len() == 2);
    let (code, _) = propose(&mut trial, &[(primary, ProposalKind::CT_REMOVE)]);
    assert_eq!(code, ErrorCode::InvalidParameters);
    let (code, _) = propose(&mut trial, &[(8, ProposalKind::CT_UPGRADE_TO_PRIMARY)]);
    assert_eq!(code, ErrorCode::ObjectNotFound);
}

#[test]
fn replicas_are_counted_and_changed_also_while_a_node_is_away() {
    let mut trial = at_rest(3, 2);
    let set = |trial: &mut Trial, max_replica_count| {
        let app_name = "t".to_owned();
        let request = SetReplicaCountRequest {
            app_name,
            max_replica_count,
        };
        match trial.ask(&MetaCall::SetReplicaCount(request)) {
            MetaAnswer::SetReplicaCount(told) => (told.err.code(), told.old_max_replica_count),
            other => panic!("{other:?}"),
        }
    };
    let gone = trial.reports.remove(&NodeId(3)).expect("a node");
    trial.silence(2);
    trial.reports.insert(NodeId(3), gone);
    assert_eq!(set(&mut trial, 3), (ErrorCode::Ok, 2));
    assert_eq!(set(&mut trial, 4).0, ErrorCode::NotEnoughMember);
    assert_eq!(set(&mut trial, 0).0, ErrorCode::InvalidParameters);
    assert_eq!(set(&mut trial, -1).0, ErrorCode::InvalidParameters);
    let app_name = "t".to_owned();
    match trial.ask(&MetaCall::GetReplicaCount(GetReplicaCountRequest {
        app_name,
    })) {
        MetaAnswer::GetReplicaCount(told) => {
            assert_eq!(
                (told.err.code(), told.max_replica_count),
                (ErrorCode::Ok, 3)
            );
        }
        other => panic!("{other:?}"),
    }
    match trial.ask(&MetaCall::SetMetaReplicas(SetMetaReplicasRequest {
        count: 1,
    })) {
        MetaAnswer::SetMetaReplicas(told) => {
            assert_eq!((told.err.code(), told.old_count), (ErrorCode::Ok, 3))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_gets_the_replicas_that_were_asked_for_although_a_node_is_away() {
    // Two of three nodes live: two replicas at first, and the third when the node is back.
    let mut trial = Trial::new(3);
    let gone = trial.reports.remove(&NodeId(3)).expect("a node");
    trial.seconds(8);
    let new = crate::meta::command::NewTable {
        candidates: trial.live.with_space(&trial.state),
        ..new_table("t", 4, 3)
    };
    trial.table(new);
    trial.even_out(10);
    assert!((0..4).all(|index| trial.nodes_of(index).len() == 2));
    trial.reports.insert(NodeId(3), gone);
    trial.even_out(30);
    assert!((0..4).all(|index| trial.nodes_of(index).len() == 3));
}

#[test]
fn a_plan_is_told_and_carried_out_when_asked_for() {
    let mut trial = at_rest(3, 2);
    trial.done(Deed::SetLevel {
        level: Level::Steady,
    });
    trial.done(Deed::RegisterNode {
        node: new_node(4, ""),
    });
    trial.reports.insert(NodeId(4), report(4));
    trial.even_out(10);
    assert_eq!(trial.reports[&NodeId(4)].replicas, [], "nobody has asked");
    let told = trial.balance(false);
    assert_eq!(
        (told.level, told.is_whole, told.under_way),
        (MetaLevel::FL_STEADY, true, 0)
    );
    assert!(
        told.steps.len() >= 4
            && told
                .steps
                .iter()
                .any(|one| one.sentence.contains("to node 4"))
    );
    assert!(!trial.live.is_balance_asked());
    assert_eq!(trial.balance(true).steps, told.steps);
    trial.even_out(60);
    let left = trial.balance(false);
    assert_eq!(
        (
            left.steps.len(),
            left.under_way,
            trial.live.is_balance_asked()
        ),
        (0, 0, false)
    );
    assert!(
        trial
            .facts()
            .iter()
            .all(|one| one.replicas >= 4 && one.leads == 2)
    );
    trial.done(Deed::SetLevel {
        level: Level::Frozen,
    });
    let told = trial.balance(true);
    assert_eq!(told.err.code(), ErrorCode::StateFreezed);
    assert!(told.hint_message.contains("--level steady"));
}
