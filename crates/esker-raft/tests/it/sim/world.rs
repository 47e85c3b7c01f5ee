//! All nodes, one tick after the other.

use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::sim::checks::Checks;
use crate::sim::net::Net;
use crate::sim::node::{Around, Node};
use crate::sim::plan::Plan;
use crate::sim::rng::Rng;

/// A cluster under simulation.
pub struct World {
    pub nodes: Vec<Node>,
    pub around: Around,
    pub next_token: u64,
}

impl World {
    pub fn new(plan: Plan) -> World {
        let voters: Vec<_> = (1..=plan.nodes.min(plan.first_voters))
            .map(|n| (ReplicaId(n), NodeId(n)))
            .collect();
        let checks = Checks::new(plan.seed);
        let mut around = Around {
            rng: Rng::new(plan.seed),
            now: 0,
            net: Net::default(),
            checks,
            trace: plan.seed,
            voters: voters.clone(),
            up: Vec::new(),
            plan,
        };
        let count = around.plan.nodes;
        let mut nodes: Vec<_> = (1..=count)
            .map(|n| Node::new(NodeId(n), &mut around))
            .collect();
        for (replica, node) in voters {
            let found = nodes
                .iter_mut()
                .find(|other| other.id == node)
                .expect("a node");
            for group in 1..=around.plan.groups {
                found.assigned.insert(GroupId(group), (replica, true));
            }
        }
        World {
            nodes,
            around,
            next_token: 0,
        }
    }

    pub fn groups(&self) -> impl Iterator<Item = GroupId> + use<> {
        (1..=self.around.plan.groups).map(GroupId)
    }

    /// One tick of the world: what arrives, and then each node in turn.
    pub fn step(&mut self) {
        self.around.now += 1;
        let now = self.around.now;
        self.around.checks.now = now;
        for (_, to, frame) in self.around.net.arrived(now) {
            if let Some(node) = self.nodes.iter_mut().find(|node| node.id == to) {
                // A paused process finds it all when it goes on.
                node.receive(&frame, &mut self.around);
            }
        }
        for node in &mut self.nodes {
            if node.shard.is_none() && node.down_until <= now {
                node.boot(&mut self.around);
            }
        }
        let up = self.nodes.iter().filter(|node| node.shard.is_some());
        self.around.up = up.map(|node| node.id).collect();
        for node in &mut self.nodes {
            if node.shard.is_some() && node.paused_until <= now {
                node.step(&mut self.around);
            }
        }
    }

    pub fn leader_of(&self, group: GroupId) -> Option<usize> {
        self.nodes.iter().position(|node| node.leads(group))
    }
}
