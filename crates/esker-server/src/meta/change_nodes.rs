//! Commands about nodes and about the cluster.

use std::collections::BTreeSet;

use esker_raft::NodeId;

use crate::meta::command::{Deed, NewNode};
use crate::meta::limits::NODES_MAX;
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::rows::{ClusterRow, NodeRow, Stay};
use crate::meta::state::State;
use crate::meta::touched::{Result, Touched};

/// Bytes of a label.
const LABEL_BYTES_MAX: usize = 64;

/// Checks what a node says of itself.
pub(crate) fn check(node: &NewNode) -> Result<()> {
    check_label(&node.label)
}

/// Gives a node its number; the same again if it has one.
pub(crate) fn register(
    state: &mut State,
    node: &NewNode,
    unix_ms: u64,
    touched: &mut Touched,
) -> Result {
    check(node)?;
    let mut known = state
        .nodes
        .iter()
        .filter(|known| known.1.nonce == node.nonce);
    if let Some((id, row)) = known.next() {
        if row.incarnation > 0 {
            let why = format!(
                "a node with that nonce runs as node {}: is this a copy of it?",
                id.0
            );
            return Err(Refusal::new(Cause::NodeInUse, why));
        }
        return Ok(Outcome::Node { node: *id });
    }
    if state.nodes.len() >= NODES_MAX {
        let why = format!("a cluster has at most {NODES_MAX} nodes");
        return Err(Refusal::new(Cause::TooMany, why));
    }
    let id = begun(state)?.next_node;
    begun(state)?.next_node = NodeId(id.0 + 1);
    let row = NodeRow {
        nonce: node.nonce,
        addresses: node.addresses.clone(),
        label: node.label.clone(),
        incarnation: 0,
        stay: Stay::Stays,
        registered_ms: unix_ms,
    };
    state.nodes.insert(id, row);
    touched.node(state, id);
    Ok(Outcome::Node { node: id })
}

/// Does the other deeds about nodes and about the cluster.
pub(crate) fn act(state: &mut State, deed: &Deed, touched: &mut Touched) -> Result {
    match deed {
        Deed::UpdateNode {
            node,
            incarnation,
            addresses,
            label,
        } => {
            check_label(label)?;
            let row = found(state, *node)?;
            if *incarnation < row.incarnation {
                let why = format!("node {} was opened again since", node.0);
                return Err(Refusal::new(Cause::Stale, why));
            }
            row.incarnation = *incarnation;
            row.addresses.clone_from(addresses);
            row.label.clone_from(label);
            touched.node(state, *node);
        }
        Deed::DrainNode { node, is_draining } => {
            found(state, *node)?.stay = match is_draining {
                true => Stay::Drains,
                false => Stay::Stays,
            };
            touched.node(state, *node);
        }
        Deed::LeaveNode { node } => {
            found(state, *node)?.stay = Stay::Leaves;
            touched.node(state, *node);
        }
        Deed::RemoveNode { node } => {
            found(state, *node)?;
            let used = state.partitions.values();
            let used = used
                .filter(|row| row.wished.values().any(|at| at == node))
                .count();
            if used > 0 {
                let id = node.0;
                let why = format!("node {id} is to have {used} replicas: drain it first");
                return Err(Refusal::new(Cause::NodeInUse, why));
            }
            state.nodes.remove(node);
            touched.node(state, *node);
        }
        Deed::SetLevel { level } => {
            let before = std::mem::replace(&mut begun(state)?.level, *level);
            touched.cluster();
            return Ok(Outcome::Level { before });
        }
        Deed::SetMetaReplicas { count } => {
            if ![1, 3, 5].contains(count) {
                let why = "the meta group has 1, 3 or 5 replicas";
                return Err(Refusal::bad(why));
            }
            let before = std::mem::replace(&mut begun(state)?.meta_replicas, *count);
            touched.cluster();
            return Ok(Outcome::Count { before });
        }
        _ => return Err(Refusal::new(Cause::Unreadable, "not about nodes")),
    }
    Ok(Outcome::Done)
}

/// The nodes among `candidates` that may get new replicas.
pub(crate) fn usable(state: &State, candidates: &[NodeId]) -> BTreeSet<NodeId> {
    let is_usable = |node: &&NodeId| state.nodes.get(node).is_some_and(|row| !row.is_draining());
    candidates.iter().filter(is_usable).copied().collect()
}

/// The row of a cluster that has begun.
pub(crate) fn begun(state: &mut State) -> Result<&mut ClusterRow> {
    let cluster = state.cluster.as_mut();
    cluster.ok_or_else(|| Refusal::new(Cause::Begun, "the cluster has not begun"))
}

fn found(state: &mut State, node: NodeId) -> Result<&mut NodeRow> {
    let row = state.nodes.get_mut(&node);
    row.ok_or_else(|| Refusal::new(Cause::NoNode, format!("there is no node {}", node.0)))
}

/// Checks the name of a host or a rack.
pub(crate) fn check_label(label: &str) -> Result<()> {
    if label.len() > LABEL_BYTES_MAX || label.chars().any(char::is_control) {
        let why = format!("a label is a text of at most {LABEL_BYTES_MAX} bytes in one line");
        return Err(Refusal::bad(why));
    }
    Ok(())
}
