//! What goes wrong: cuts of the network, crashes, pauses; and the end of it all.

use esker_raft::NodeId;

use crate::sim::world::World;

impl World {
    /// The faults of this tick.
    pub fn hurt(&mut self) {
        let plan = self.around.plan.clone();
        if self.around.rng.hits(plan.cut) {
            self.cut();
        }
        let now = self.around.now;
        let mut alone = Vec::new();
        for node in &mut self.nodes {
            if node.shard.is_none() {
                continue;
            }
            if self.around.rng.hits(plan.crash) {
                node.crash(&mut self.around);
            } else if self.around.rng.hits(plan.pause) {
                let ticks = 5 + self.around.rng.below(50);
                node.paused_until = now + ticks;
                node.clock.stopped(ticks, plan.planted);
                // Some find nobody when they go on, so that nobody tells them what they missed.
                if self.around.rng.hits(300) {
                    alone.push(node.id);
                }
            }
        }
        for one in alone {
            self.leave_alone(one);
        }
    }

    // Nobody reaches a node, nor is reached by it; often the others' connections to it break.
    fn leave_alone(&mut self, one: NodeId) {
        let is_told = self.around.rng.hits(500);
        for node in &mut self.nodes {
            self.around.net.cut.extend([(one, node.id), (node.id, one)]);
            if let Some(shard) = node.shard.as_mut().filter(|_| is_told && node.id != one) {
                shard.node_gone(one);
            }
        }
    }

    fn cut(&mut self) {
        self.around.net.cut.clear();
        let nodes: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
        match self.around.rng.below(5) {
            // Two sides that do not hear one another.
            0 => {
                let side = self.around.rng.next();
                for &one in &nodes {
                    for &other in &nodes {
                        if (side >> one.0 & 1) != (side >> other.0 & 1) {
                            self.around.net.cut.insert((one, other));
                        }
                    }
                }
            }
            // One way only, between some.
            1 => {
                for &one in &nodes {
                    for &other in &nodes {
                        if self.around.rng.hits(250) {
                            self.around.net.cut.insert((one, other));
                        }
                    }
                }
            }
            // One node is told that another is gone, whether or not it is.
            2 => {
                let (one, other) = (self.around.rng.pick(&nodes), self.around.rng.pick(&nodes));
                let told = self.nodes.iter_mut().find(|node| Some(node.id) == one);
                let shard = told.and_then(|node| node.shard.as_mut());
                if let (Some(shard), Some(other)) = (shard, other) {
                    shard.node_gone(other);
                }
            }
            3 => {
                if let Some(one) = self.around.rng.pick(&nodes) {
                    self.leave_alone(one);
                }
            }
            _ => {}
        }
    }

    /// All faults end.
    pub fn heal(&mut self) {
        let plan = &mut self.around.plan;
        (plan.drop, plan.twice, plan.crash, plan.pause, plan.cut) = (0, 0, 0, 0, 0);
        (plan.change, plan.transfer) = (0, 0);
        self.around.net.cut.clear();
        for node in &mut self.nodes {
            (node.down_until, node.paused_until) = (0, 0);
        }
    }
}
