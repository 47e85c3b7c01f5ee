//! What administration wants of nodes and of where replicas are: what becomes of that, or why not.
//!
//! Whatever would cost a copy, or never end, is refused with what to do instead.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId, ReplicaId};
use esker_rpc::codec::scalars::Address;
use esker_rpc::message::balance::{ProposalKind, ProposeBalancerRequest};
use esker_rpc::message::own::{ChangeNodeRequest, MoveReplicaRequest, NodeDeed};

use crate::log_lines::counted;
use crate::meta::command::{Deed, Wish};
use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::limits::QUICK_MS;
use crate::meta::live::{Live, LiveGroup, LiveNode};
use crate::meta::mending::is_at_rest;
use crate::meta::node_facts::{groups_on, how_it_goes, kept_for, name_of};
use crate::meta::outcome::{Cause, Refusal};
use crate::meta::rows::{Level, NodeRow, PartitionRow, Stay};
use crate::meta::state::State;
use crate::meta::touched::Result;

/// What becomes of a wish to move something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// A replica: this is proposed.
    Replica(Deed),
    /// The lead of a group goes to this replica.
    Lead(GroupId, ReplicaId),
}

/// What becomes of a node.
pub(crate) fn change_node(state: &State, live: &Live, request: &ChangeNodeRequest) -> Result<Deed> {
    let node = NodeId(u64::try_from(request.node).unwrap_or(0));
    let row = found(state, node)?;
    match request.deed {
        NodeDeed::ND_DRAIN => {
            can_drain(state, live, node)?;
            let is_draining = true;
            Ok(Deed::DrainNode { node, is_draining })
        }
        NodeDeed::ND_UNDRAIN => {
            let is_draining = false;
            Ok(Deed::DrainNode { node, is_draining })
        }
        NodeDeed::ND_REMOVE => remove(state, live, node, row),
        _ => Err(bad("a node is drained (1), kept (2) or removed (3)")),
    }
}

/// What is still to come of it, in words, for who asked; what that waits for is told with the
/// node's facts.
pub(crate) fn what_is_left(state: &State, request: &ChangeNodeRequest) -> String {
    let node = NodeId(u64::try_from(request.node).unwrap_or(0));
    let Some(row) = state.nodes.get(&node) else {
        return String::new();
    };
    let (id, counts) = (node.0, state.wished_counts());
    let replicas = counts.get(&node).copied().unwrap_or_default();
    match row.stay {
        Stay::Stays => String::new(),
        Stay::Drains => format!(
            "still to move from node {id} to others: {}",
            counted(replicas, "replica")
        ),
        Stay::Leaves => format!(
            "node {id} is let go of once what it has is elsewhere: {}",
            counted(replicas, "replica")
        ),
    }
}

fn remove(state: &State, live: &Live, node: NodeId, row: &NodeRow) -> Result<Deed> {
    let id = node.0;
    let replicas = groups_on(state, live, node).len();
    if replicas == 0 && live.needs(state, node).is_none() {
        return Ok(Deed::RemoveNode { node });
    }
    if live.is_alive(node) {
        return match row.is_draining() {
            true => Ok(Deed::LeaveNode { node }),
            false => Err(Refusal::new(
                Cause::NodeInUse,
                format!(
                    "node {id} lives and has {}: `esker node drain {id} --wait` empties it first",
                    counted(replicas, "replica")
                ),
            )),
        };
    }
    let silent_ms = live.silent_ms(node);
    if silent_ms < QUICK_MS {
        let why = format!(
            "node {id} was heard a moment ago, and may be on its way back: ask again in {} s",
            (QUICK_MS - silent_ms).div_ceil(1000)
        );
        return Err(Refusal::new(Cause::NodeInUse, why));
    }
    if let Some(why) = kept_for(state, live, node) {
        return Err(Refusal::new(Cause::NodeInUse, why));
    }
    Ok(Deed::LeaveNode { node })
}

/// Whether a node could ever be emptied. What is dead takes nothing, though it may come back: who
/// was heard a moment ago counts, and so does whom this leader has not missed for long.
fn can_drain(state: &State, live: &Live, node: NodeId) -> Result<()> {
    let id = node.0;
    let stays = |one: &(&NodeId, &NodeRow)| *one.0 != node && !one.1.is_draining();
    let staying = state.nodes.iter().filter(stays).map(|one| *one.0);
    let (there, silent): (Vec<NodeId>, Vec<NodeId>) =
        staying.partition(|other| live.silent_ms(*other) < QUICK_MS);
    let hosts: BTreeSet<_> = there.iter().map(|other| state.host(*other)).collect();
    let wants_more = |count: u32| usize::try_from(count).is_ok_and(|count| count > hosts.len());
    let wanting = state.tables.iter();
    let wanting = wanting.filter(|table| wants_more(table.1.replica_count));
    // What was dropped and can be recalled is kept as what is there, and is seen in no list.
    if let Some((table, row)) = wanting.min_by_key(|table| table.1.is_dropped()) {
        let (that, start) = match silent.is_empty() {
            true => ("", String::new()),
            false => (" that answer", format!("start {} again, ", named(&silent))),
        };
        let replicas = usize::try_from(row.replica_count).unwrap_or(usize::MAX);
        let (name, replicas) = (&row.name, counted(replicas, "replica"));
        let (dropped, or) = match (row.is_dropped(), hosts.len()) {
            (true, _) => (
                ", which was dropped and can be recalled,",
                format!(", or let go of it for good: {}", how_it_goes(state, *table)),
            ),
            // No table has no replica.
            (false, 0) => ("", String::new()),
            (false, count) => (
                "",
                format!(", or `esker table set {name} replicas {count}`"),
            ),
        };
        let why = format!(
            "without node {id} {}{that}, and table {name}{dropped} has {replicas}: {start}add a \
             node first{or}",
            hosts_left(hosts.len())
        );
        return Err(Refusal::new(Cause::TooFewNodes, why));
    }
    can_spare_meta(state, live, node)
}

fn hosts_left(count: usize) -> String {
    match count {
        0 => "there is no host".to_owned(),
        1 => "there is 1 host".to_owned(),
        _ => format!("there are {count} hosts"),
    }
}

/// Whether the meta service keeps as many replicas as it has without that node.
fn can_spare_meta(state: &State, live: &Live, node: NodeId) -> Result<()> {
    let wished = state.partitions.get(&META).map(|row| &row.wished);
    let Some(wished) = wished.filter(|wished| wished.values().any(|at| *at == node)) else {
        return Ok(());
    };
    let is_fit = |one: &(&NodeId, &NodeRow)| {
        let (other, row) = *one;
        *other != node
            && !row.is_draining()
            && row.fits(META)
            && (live.is_alive(*other) || wished.values().any(|at| at == other))
    };
    let fit = state.nodes.iter().filter(is_fit);
    let hosts: BTreeSet<_> = fit.map(|one| state.host(*one.0)).collect();
    let target = wished.len().min(state.wished_count(META));
    if hosts.len() >= target {
        return Ok(());
    }
    let what_else = match hosts.len() {
        0 => "",
        _ => ", or `esker node meta-replicas 1`",
    };
    let why = format!(
        "node {} has one of {target} replicas of the meta service, and without it {} for them: \
         add a node first{what_else}",
        node.0,
        hosts_left(hosts.len())
    );
    Err(Refusal::new(Cause::TooFewNodes, why))
}

/// What becomes of the wish to move a replica or a lead.
pub(crate) fn moved(state: &State, live: &Live, request: &MoveReplicaRequest) -> Result<Moved> {
    let Some((table, row)) = state.table(&request.app_name) else {
        return Err(Refusal::new(Cause::NoTable, "there is no such table"));
    };
    let index = u32::try_from(request.partition_index).ok();
    let Some(index) = index.filter(|index| *index < row.partition_count) else {
        let why = format!("the table has partitions 0 to {}", row.partition_count - 1);
        return Err(Refusal::new(Cause::BadArgument, why));
    };
    let group = PartitionId { table, index }.group();
    let node = |number: i64| NodeId(u64::try_from(number).unwrap_or(0));
    let (from, to) = (node(request.source), node(request.target));
    match request.is_lead {
        true => hand_over(state, live, group, Some(from), to),
        false => shift(state, live, group, from, to),
    }
}

/// The same, as tools of Pegasus say it.
pub(crate) fn proposed(
    state: &State,
    live: &Live,
    request: &ProposeBalancerRequest,
) -> Result<Moved> {
    let table = TableId::of_wire(request.gpid.app_id).filter(|table| table.0 > 0);
    let index = u32::try_from(request.gpid.partition_index).ok();
    let (Some(table), Some(index)) = (table, index) else {
        return Err(bad("there is no such partition"));
    };
    let group = PartitionId { table, index }.group();
    let mut actions = BTreeMap::new();
    for action in &request.action_list {
        let node = node_at(state, live, action.node)?;
        actions.insert(action.r#type.0, node);
    }
    let of = |kind: ProposalKind| actions.get(&kind.0).copied();
    let added = of(ProposalKind::CT_ADD_SECONDARY_FOR_LB).or(of(ProposalKind::CT_ADD_SECONDARY));
    let removed = of(ProposalKind::CT_DOWNGRADE_TO_INACTIVE).or(of(ProposalKind::CT_REMOVE));
    // To copy a primary ends with the old one's going: it is one too many.
    let removed = removed.or(of(ProposalKind::CT_DOWNGRADE_TO_SECONDARY));
    match (added, removed, of(ProposalKind::CT_UPGRADE_TO_PRIMARY)) {
        (Some(to), Some(from), _) => shift(state, live, group, from, to),
        (None, _, Some(to)) => hand_over(state, live, group, None, to),
        _ => Err(bad("a lead moves, or a replica from one node to another")),
    }
}

/// The group as it is led, if something of it can be moved now.
fn movable<'a>(
    state: &State,
    live: &'a Live,
    group: GroupId,
    row: &PartitionRow,
) -> Result<&'a LiveGroup> {
    let name = name_of(state, group);
    if state
        .cluster
        .as_ref()
        .is_none_or(|row| row.level <= Level::Frozen)
    {
        let why = "nothing moves at this level: `esker balance --level steady` raises it";
        return Err(Refusal::new(Cause::Frozen, why));
    }
    let Some(known) = live.led_group(group).filter(|_| state.is_settled(group)) else {
        let why = format!("{name} has no leader at the moment: ask again in a while");
        return Err(Refusal::new(Cause::Stale, why));
    };
    if !is_at_rest(row, &known.configuration) {
        let why = format!("the replicas of {name} are being changed: ask again in a while");
        return Err(Refusal::new(Cause::Stale, why));
    }
    Ok(known)
}

fn shift(state: &State, live: &Live, group: GroupId, from: NodeId, to: NodeId) -> Result<Moved> {
    let name = name_of(state, group);
    let row = partition(state, group)?;
    movable(state, live, group, row)?;
    let mut wished = row.wished.iter();
    let Some((replica, _)) = wished.find(|one| *one.1 == from) else {
        return Err(bad(&format!(
            "node {} has no replica of {name}: {} have",
            from.0,
            listed(row.wished.values())
        )));
    };
    let target = found(state, to)?;
    if row.wished.values().any(|at| *at == to) {
        return Err(bad(&format!(
            "node {} has a replica of {name} already",
            to.0
        )));
    }
    let has_space = live.node(to).is_some_and(LiveNode::has_space);
    if !live.is_alive(to) || target.is_draining() || !has_space {
        let why = match live.is_alive(to) {
            false => "does not answer",
            true if target.is_draining() => "is to be emptied",
            true => "has too little room left on its disk",
        };
        return Err(Refusal::new(
            Cause::NodeInUse,
            format!("node {} {why}", to.0),
        ));
    }
    let others = row.wished.iter().filter(|one| one.0 != replica);
    if let Some((_, other)) = others
        .into_iter()
        .find(|one| state.host(*one.1) == state.host(to))
    {
        return Err(bad(&format!(
            "node {} shares its host with node {}, which has a replica of {name}",
            to.0, other.0
        )));
    }
    Ok(Moved::Replica(Deed::Wish {
        wish: Wish {
            group,
            version: row.version,
            add: vec![to],
            adopt: Vec::new(),
            drop: vec![*replica],
        },
    }))
}

fn hand_over(
    state: &State,
    live: &Live,
    group: GroupId,
    from: Option<NodeId>,
    to: NodeId,
) -> Result<Moved> {
    let name = name_of(state, group);
    found(state, to)?;
    let known = movable(state, live, group, partition(state, group)?)?;
    if let Some(from) = from.filter(|from| *from != known.node) {
        let (leads, from) = (known.node.0, from.0);
        return Err(bad(&format!(
            "node {leads} leads {name}, and not node {from}"
        )));
    }
    let members = &known.configuration;
    let mut voters = members.voters.iter();
    let Some(heir) = voters.find(|replica| members.nodes[*replica] == to) else {
        let nodes = members.voters.iter().map(|replica| &members.nodes[replica]);
        return Err(bad(&format!(
            "node {} has no replica of {name} that votes: {} have",
            to.0,
            listed(nodes)
        )));
    };
    if !live.has_sound(to, group, *heir) {
        let why = format!(
            "node {} does not answer, or its replica is damaged or does not go on",
            to.0
        );
        return Err(Refusal::new(Cause::NodeInUse, why));
    }
    Ok(Moved::Lead(group, *heir))
}

/// The node at that address, a living one if there is one.
fn node_at(state: &State, live: &Live, address: Address) -> Result<NodeId> {
    let is_there = |row: &NodeRow| Some(row.addresses.client) == address.0;
    let nodes = state.nodes.iter().filter(|one| is_there(one.1));
    let node = nodes
        .map(|one| *one.0)
        .max_by_key(|node| live.is_alive(*node));
    node.ok_or_else(|| Refusal::new(Cause::NoNode, "there is no node at that address"))
}

fn partition(state: &State, group: GroupId) -> Result<&PartitionRow> {
    let row = state.partitions.get(&group);
    row.ok_or_else(|| bad("there is no such partition"))
}

fn found(state: &State, node: NodeId) -> Result<&NodeRow> {
    let row = state.nodes.get(&node);
    row.ok_or_else(|| {
        let nodes = listed(state.nodes.keys());
        let why = format!("there is no node {}: there are {nodes}", node.0);
        Refusal::new(Cause::NoNode, why)
    })
}

fn named(nodes: &[NodeId]) -> String {
    match nodes {
        [node] => format!("node {}", node.0),
        _ => listed(nodes.iter()),
    }
}

fn listed<'a>(nodes: impl Iterator<Item = &'a NodeId>) -> String {
    let nodes: Vec<String> = nodes.take(16).map(|node| node.0.to_string()).collect();
    format!("nodes {}", nodes.join(", "))
}

fn bad(why: &str) -> Refusal {
    Refusal::new(Cause::BadArgument, why)
}

#[cfg(test)]
mod tests;
