//! How many replicas a group is to have.

use std::collections::BTreeSet;

use esker_raft::{GroupId, NodeId};

use crate::meta::ids::META;
use crate::meta::live::Live;
use crate::meta::rows::NodeRow;
use crate::meta::state::State;

/// How many replicas a group is to have now: of the meta group no more than there are nodes for it,
/// an odd number, and not fewer than it has because some of them are away.
pub fn target(state: &State, live: &Live, group: GroupId) -> usize {
    let wished = state.wished_count(group);
    if group != META {
        return wished;
    }
    let has = state
        .partitions
        .get(&META)
        .map_or(0, |row| row.wished.len());
    let is_fit = |(node, row): &(&NodeId, &NodeRow)| {
        row.fits(META) && !row.is_draining() && live.is_alive(**node)
    };
    let fit = state.nodes.iter().filter(is_fit);
    let hosts: BTreeSet<_> = fit.map(|(node, _)| state.host(*node)).collect();
    let odd = hosts.len().saturating_sub(1) / 2 * 2 + 1;
    odd.max(has).min(wished)
}
