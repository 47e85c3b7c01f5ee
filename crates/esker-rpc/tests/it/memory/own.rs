//! What the double answers to Esker's own calls: it does at once what it is told.

use std::collections::BTreeMap;

use esker_rpc::codec::scalars::Address;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::meta::{MetaAnswer, MetaCall, QueryConfigRequest};
use esker_rpc::message::own::{
    BalanceResponse, ChangeNodeResponse, MoveReplicaResponse, NodeDeed, NodeFacts, NodeStay,
    RecoverTableResponse, SetMetaReplicasResponse, ShowNodesResponse,
};

use super::cluster::State;

/// The answer to one of them; one of Pegasus knows none.
pub fn answer(state: &mut State, call: &MetaCall) -> MetaAnswer {
    let refused = |code: ErrorCode| {
        let answer = MetaAnswer::refused(call, code.into());
        answer.expect("a call whose answer has an error")
    };
    if !state.knows_own {
        return refused(ErrorCode::HandlerNotFound);
    }
    let is_there = |state: &State, node: i64| {
        let at = usize::try_from(node - 1).unwrap_or(usize::MAX);
        at < state.nodes.len() && state.stays.get(&node) != Some(&NodeStay::NS_LEAVES)
    };
    match call {
        MetaCall::ShowNodes(_) if !state.knows_nodes => refused(ErrorCode::ServiceNotActive),
        MetaCall::ShowNodes(_) => MetaAnswer::ShowNodes(ShowNodesResponse {
            err: ErrorName::OK,
            hint_message: String::new(),
            nodes: facts(state),
            // A server of before tells none.
            tables_revision: 0,
        }),
        MetaCall::ChangeNode(request) if is_there(state, request.node) => {
            let stay = match request.deed {
                NodeDeed::ND_DRAIN => NodeStay::NS_DRAINS,
                NodeDeed::ND_REMOVE => NodeStay::NS_LEAVES,
                _ => NodeStay::NS_STAYS,
            };
            state.stays.insert(request.node, stay);
            let hint = match state.holds {
                0 => "",
                _ => "its replicas are to go",
            };
            MetaAnswer::ChangeNode(ChangeNodeResponse {
                err: ErrorName::OK,
                hint_message: hint.to_owned(),
            })
        }
        MetaCall::ChangeNode(_) => refused(ErrorCode::ObjectNotFound),
        MetaCall::MoveReplica(request) => match state.available(&request.app_name) {
            Some(_) => MetaAnswer::MoveReplica(MoveReplicaResponse {
                err: ErrorName::OK,
                hint_message: String::new(),
            }),
            None => MetaAnswer::MoveReplica(MoveReplicaResponse {
                err: ErrorCode::AppNotExist.into(),
                hint_message: "there is no such table".to_owned(),
            }),
        },
        MetaCall::Balance(_) => MetaAnswer::Balance(BalanceResponse {
            err: ErrorName::OK,
            level: state.level,
            is_whole: true,
            ..BalanceResponse::default()
        }),
        MetaCall::SetMetaReplicas(_) => MetaAnswer::SetMetaReplicas(SetMetaReplicasResponse {
            err: ErrorName::OK,
            old_count: 1,
            hint_message: String::new(),
        }),
        MetaCall::RecoverTable(request) => match state.available(&request.app_name) {
            Some(_) => MetaAnswer::RecoverTable(RecoverTableResponse {
                err: ErrorName::OK,
                ..RecoverTableResponse::default()
            }),
            None => refused(ErrorCode::AppNotExist),
        },
        _ => refused(ErrorCode::HandlerNotFound),
    }
}

fn facts(state: &mut State) -> Vec<NodeFacts> {
    let tables = state.tables.values().filter(|table| table.is_available());
    let names: Vec<String> = tables.map(|one| one.description.app_name.clone()).collect();
    let mut counts: BTreeMap<Address, (i32, i32)> = BTreeMap::new();
    for app_name in names {
        let partition_indices = Vec::new();
        let told = state.partitions(&QueryConfigRequest {
            app_name,
            partition_indices,
        });
        for one in told.partitions {
            counts.entry(one.primary).or_default().0 += 1;
            for node in one.secondaries.iter().chain([&one.primary]) {
                counts.entry(*node).or_default().1 += 1;
            }
        }
    }
    let is_held = state.holds > 0;
    state.holds = state.holds.saturating_sub(1);
    let facts = (1..).zip(&state.nodes).map(|(node, row)| {
        let address = Address::from(row.address);
        let stay = state
            .stays
            .get(&node)
            .copied()
            .unwrap_or(NodeStay::NS_STAYS);
        let stays = stay == NodeStay::NS_STAYS;
        let (leads, replicas) = match stays || is_held {
            true => counts.get(&address).copied().unwrap_or_default(),
            false => (0, 0),
        };
        let waits_for = match !stays && is_held {
            true => "there is no room anywhere",
            false => "",
        };
        NodeFacts {
            node,
            address,
            is_alive: true,
            replaced_in_ms: -1,
            stay,
            leads,
            replicas,
            waits_for: waits_for.to_owned(),
            ..NodeFacts::default()
        }
    });
    facts
        .filter(|one| is_held || one.stay != NodeStay::NS_LEAVES)
        .collect()
}
