//! When a cluster is whole: every partition has its replicas, one leads, and all have equal rows.

use esker_raft::GroupId;
use esker_server::meta::ids::{META, PartitionId};
use esker_server::meta::rows::{PartitionRow, TableStatus};
use esker_server::meta::state::State;

use crate::whole::world::World;

impl World {
    /// The first thing that is not whole, in words.
    pub fn lack(&self) -> Option<String> {
        if let Some(at) = (0..self.places.len()).find(|at| !self.runs(*at)) {
            return Some(format!("no node runs at {:?}", self.places[at].number));
        }
        let state = self.state();
        if state.tables.is_empty() {
            return Some("there is no table".to_owned());
        }
        let making = state
            .tables
            .values()
            .find(|row| row.status == TableStatus::Creating);
        if let Some(row) = making {
            return Some(format!("table {} is not open", row.name));
        }
        let mut groups = state.partitions.iter().filter(|(group, _)| {
            let table = state.tables.get(&PartitionId::of(**group).table);
            **group == META || table.is_some_and(|row| !row.is_dropped())
        });
        groups.find_map(|(group, row)| self.lack_of(&state, *group, row))
    }

    /// The first thing about a group that is not whole, in words.
    pub fn lack_of(&self, state: &State, group: GroupId, row: &PartitionRow) -> Option<String> {
        let wished = state.wished_count(group);
        if row.wished.len() != wished {
            return Some(format!("{group}: {wished} replicas are wished: {row:?}"));
        }
        let mut leaders = Vec::new();
        let mut applied = Vec::new();
        for (replica, node) in &row.wished {
            let place = self.place_of(*node);
            let node = place.and_then(|place| self.places[place].node.as_ref());
            let status = node.and_then(|node| node.status(group));
            let Some(status) = status.filter(|status| status.replica == *replica) else {
                return Some(format!("{group}: {replica} is not there: {row:?}"));
            };
            applied.push((status.applied, status.commit));
            if status.leader == Some(*replica) {
                leaders.push(status);
            }
        }
        let [leader] = &leaders[..] else {
            return Some(format!("{group} has {} leaders: {row:?}", leaders.len()));
        };
        let members = &leader.configuration;
        let is_at_rest = !members.is_joint() && members.learners.is_empty();
        if !is_at_rest || !members.voters.iter().eq(row.wished.keys()) {
            return Some(format!("{group}: {members:?} are not {row:?}"));
        }
        let is_equal = applied
            .iter()
            .all(|it| *it == (leader.commit, leader.commit));
        (!is_equal).then(|| format!("{group}: not all have applied the same: {applied:?}"))
    }

    /// Who is where, for whoever looks into a seed that failed.
    pub fn told(&self) -> String {
        let state = self.state();
        let mut told = String::new();
        for place in &self.places {
            let id = place.node.as_ref().map(|node| node.id.0);
            told += &format!("\n  node {id:?} at {}", place.number.0);
        }
        for (node, row) in &state.nodes {
            let peer = row.addresses.peer;
            told += &format!("\n  node {}: {:?}, {peer}", node.0, row.stay);
            told += &format!(", opened {}", row.incarnation);
        }
        let groups = state.partitions.iter();
        for (group, row) in
            groups.filter(|(group, row)| self.lack_of(&state, **group, row).is_some())
        {
            told += &format!("\n  {group}: {row:?}");
            for node in self.places.iter().filter_map(|place| place.node.as_ref()) {
                if let Some(it) = node.status(*group) {
                    told += &format!(
                        "\n    on {:?} {} of term {}, led by {:?}, {} of {} of {}, voters {:?}",
                        node.id,
                        it.replica,
                        it.term,
                        it.leader,
                        it.applied,
                        it.commit,
                        it.last,
                        it.configuration.voters
                    );
                }
            }
        }
        told
    }

    /// The rows of all replicas are the same.
    pub fn compare_all(&mut self) {
        let state = self.state();
        for group in state.partitions.keys() {
            for place in &self.places {
                if let Some(node) = &place.node {
                    self.checks.compare(node, *group);
                }
            }
        }
    }
}
