//! Tables, partitions, nodes and the cluster, as the wire tells them.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;

use esker_raft::{GroupId, NodeId, ReplicaId};
use esker_rpc::codec::scalars::{Address, Gpid};
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::meta::{
    DescribeClusterResponse, ListNodesResponse, ListTablesRequest, ListTablesResponse, MetaLevel,
    NodeDescription, NodeStatus, PartitionConfiguration, PatternMatch, QueryConfigRequest,
    QueryConfigResponse, TableDescription, TableStatus as WireStatus,
};

use crate::meta::balance::spread;
use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::live::Live;
use crate::meta::rows::{Level, PartitionRow, TableRow, TableStatus};
use crate::meta::state::State;

/// The partitions of a table, and who leads them.
///
/// Where nobody leads, whoever led last is named, for a client that meets a partition without a
/// primary does without the whole table. A table that is being made is refused until each of its
/// partitions can be written to.
pub fn partitions(state: &State, live: &Live, request: &QueryConfigRequest) -> QueryConfigResponse {
    let Some((id, table)) = state.table(&request.app_name) else {
        return refused(ErrorCode::ObjectNotFound);
    };
    if table.status == TableStatus::Creating {
        return refused(ErrorCode::BusyCreating);
    }
    let asked: BTreeSet<u32> = request
        .partition_indices
        .iter()
        .filter_map(|index| u32::try_from(*index).ok())
        .filter(|index| *index < table.partition_count)
        .collect();
    let is_asked =
        |group: GroupId| asked.is_empty() || asked.contains(&PartitionId::of(group).index);
    let groups = state.groups(id).filter(|group| is_asked(group.0));
    QueryConfigResponse {
        err: ErrorName::OK,
        app_id: id.wire(),
        partition_count: number(table.partition_count),
        is_stateful: true,
        partitions: groups
            .map(|(group, row)| partition(state, live, table, group, row))
            .collect(),
    }
}

/// A refusal to tell partitions.
fn refused(code: ErrorCode) -> QueryConfigResponse {
    QueryConfigResponse {
        err: code.into(),
        ..QueryConfigResponse::default()
    }
}

fn partition(
    state: &State,
    live: &Live,
    table: &TableRow,
    group: GroupId,
    row: &PartitionRow,
) -> PartitionConfiguration {
    let id = PartitionId::of(group);
    let known = live.group(group);
    let voters: Vec<(ReplicaId, NodeId)> = match known {
        Some(known) => {
            let members = &known.configuration;
            let voters = members.voters.iter();
            voters
                .map(|replica| (*replica, members.nodes[replica]))
                .collect()
        }
        None => row.wished.iter().map(|one| (*one.0, *one.1)).collect(),
    };
    let nodes = || voters.iter().map(|voter| voter.1);
    let has_address = |node: &NodeId| state.nodes.contains_key(node);
    let led_last = known.map(|known| known.node).filter(has_address);
    let alive = nodes().find(|node| live.is_alive(*node) && has_address(node));
    let any = nodes().find(has_address);
    let primary = led_last.or(alive).or(any);
    // A copy that does not go on is none to count on, and neither is one that is damaged, or that
    // a first voter never made for want of room.
    let is_sound = |(replica, node): &&(ReplicaId, NodeId)| {
        live.has_sound(*node, group, *replica) && Some(*node) != primary
    };
    let others = voters.iter().filter(is_sound).map(|voter| &voter.1);
    PartitionConfiguration {
        pid: Gpid {
            app_id: id.table.wire(),
            partition_index: number(id.index),
        },
        ballot: known.map_or(1, |known| {
            i64::try_from(known.term).unwrap_or(i64::MAX).max(1)
        }),
        max_replica_count: number(table.replica_count),
        primary: primary.map_or(Address::NONE, |node| client(state, node)),
        secondaries: others.map(|node| client(state, *node)).collect(),
        last_committed_decree: known
            .map_or(0, |known| i64::try_from(known.applied).unwrap_or(i64::MAX)),
        ..PartitionConfiguration::default()
    }
}

/// The tables that are asked for.
pub fn tables(state: &State, request: &ListTablesRequest) -> ListTablesResponse {
    let pattern = request.app_name_pattern.as_deref().unwrap_or_default();
    let Some(matches) = pattern_of(request.match_type, pattern) else {
        return ListTablesResponse {
            err: ErrorCode::NotImplemented.into(),
            hint_message: Some("names are not matched by that kind of pattern".to_owned()),
            ..ListTablesResponse::default()
        };
    };
    let all = state.tables.iter().map(|(id, row)| description(*id, row));
    let is_asked = |one: &TableDescription| {
        let status = request.status;
        (status == WireStatus::AS_INVALID || one.status == status) && matches(&one.app_name)
    };
    ListTablesResponse {
        err: ErrorName::OK,
        infos: all.filter(is_asked).collect(),
        hint_message: None,
    }
}

/// Whether a name is one that is asked for; none for a kind of pattern that is not offered.
fn pattern_of(kind: Option<PatternMatch>, pattern: &str) -> Option<impl Fn(&str) -> bool> {
    let kind = kind.unwrap_or(PatternMatch::PMT_MATCH_ALL);
    let known = [
        PatternMatch::PMT_INVALID,
        PatternMatch::PMT_MATCH_ALL,
        PatternMatch::PMT_MATCH_EXACT,
        PatternMatch::PMT_MATCH_ANYWHERE,
        PatternMatch::PMT_MATCH_PREFIX,
        PatternMatch::PMT_MATCH_POSTFIX,
    ];
    known
        .contains(&kind)
        .then_some(move |name: &str| match kind {
            PatternMatch::PMT_MATCH_EXACT => name == pattern,
            PatternMatch::PMT_MATCH_ANYWHERE => name.contains(pattern),
            PatternMatch::PMT_MATCH_PREFIX => name.starts_with(pattern),
            PatternMatch::PMT_MATCH_POSTFIX => name.ends_with(pattern),
            _ => true,
        })
}

/// A table.
pub fn description(id: TableId, row: &TableRow) -> TableDescription {
    let seconds = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
    let (status, dropped_s, ends_s) = match row.status {
        TableStatus::Creating => (WireStatus::AS_CREATING, 0, 0),
        TableStatus::Open => (WireStatus::AS_AVAILABLE, 0, 0),
        TableStatus::Dropped {
            dropped_s, ends_s, ..
        } => (WireStatus::AS_DROPPED, dropped_s, ends_s),
    };
    TableDescription {
        status,
        app_type: row.kind.clone(),
        app_name: row.name.clone(),
        app_id: id.wire(),
        partition_count: number(row.partition_count),
        envs: row.envs.clone(),
        is_stateful: true,
        max_replica_count: number(row.replica_count),
        expire_second: seconds(ends_s),
        create_second: seconds(row.created_s),
        drop_second: seconds(dropped_s),
        ..TableDescription::default()
    }
}

/// The nodes with that status, all for `NS_INVALID`.
pub fn nodes(state: &State, live: &Live, status: NodeStatus) -> ListNodesResponse {
    let all = state.nodes.keys().map(|node| NodeDescription {
        status: match live.is_alive(*node) {
            true => NodeStatus::NS_ALIVE,
            false => NodeStatus::NS_UNALIVE,
        },
        node: client(state, *node),
        hp_node: None,
    });
    ListNodesResponse {
        err: ErrorName::OK,
        infos: all
            .filter(|one| status == NodeStatus::NS_INVALID || one.status == status)
            .collect(),
    }
}

/// What the cluster is like, in the words of Pegasus.
pub fn cluster(state: &State, live: &Live) -> DescribeClusterResponse {
    let metas = state
        .partitions
        .get(&META)
        .map(|row| row.wished.values().copied());
    let metas = metas
        .into_iter()
        .flatten()
        .filter_map(|node| meta(state, node));
    let metas: Vec<String> = metas.map(|address| address.to_string()).collect();
    let leader = live.group(META).and_then(|group| meta(state, group.node));
    let row = state.cluster.as_ref();
    let level = row.map_or(Level::Steady, |row| row.level);
    let spread = spread(state, live);
    DescribeClusterResponse::of([
        ("meta_servers", metas.join(",")),
        (
            "primary_meta_server",
            leader.map_or(String::new(), |one| one.to_string()),
        ),
        ("zookeeper_hosts", String::new()),
        ("zookeeper_root", String::new()),
        ("meta_function_level", level_name(level).to_owned()),
        ("balance_operation_count", spread.under_way.to_string()),
        (
            "primary_replica_count_stddev",
            format!("{:.2}", spread.leads),
        ),
        (
            "total_replica_count_stddev",
            format!("{:.2}", spread.replicas),
        ),
        (
            "cluster_name",
            row.map_or(String::new(), |row| row.name.clone()),
        ),
    ])
}

const LEVELS: [(Level, MetaLevel, &str); 5] = [
    (Level::Stopped, MetaLevel::FL_STOPPED, "stopped"),
    (Level::Blind, MetaLevel::FL_BLIND, "blind"),
    (Level::Frozen, MetaLevel::FL_FREEZED, "freezed"),
    (Level::Steady, MetaLevel::FL_STEADY, "steady"),
    (Level::Lively, MetaLevel::FL_LIVELY, "lively"),
];

/// A level as the wire has it.
pub fn wire_level(level: Level) -> MetaLevel {
    let row = LEVELS.iter().find(|row| row.0 == level);
    row.map_or(MetaLevel::FL_INVALID, |row| row.1)
}

/// The level that the wire calls so.
pub fn level_of(wire: MetaLevel) -> Option<Level> {
    LEVELS.iter().find(|row| row.1 == wire).map(|row| row.0)
}

fn level_name(level: Level) -> &'static str {
    let row = LEVELS.iter().find(|row| row.0 == level);
    row.map_or("steady", |row| row.2)
}

/// Where a node's door for reads and writes is.
pub(crate) fn client(state: &State, node: NodeId) -> Address {
    let row = state.nodes.get(&node);
    row.map_or(Address::NONE, |row| row.addresses.client.into())
}

/// Where a node's door for administration is.
fn meta(state: &State, node: NodeId) -> Option<SocketAddrV4> {
    state.nodes.get(&node)?.addresses.meta
}

/// A count as the wire has it.
pub(crate) fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
