//! Frames under way: late, lost, twice, out of order, or stopped by a cut.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::NodeId;

use crate::sim::plan::Plan;
use crate::sim::rng::Rng;

/// The network between all nodes.
#[derive(Default)]
pub struct Net {
    queue: BTreeMap<(u64, u64), (NodeId, NodeId, Vec<u8>)>,
    next: u64,
    /// Who does not reach whom.
    pub cut: BTreeSet<(NodeId, NodeId)>,
}

impl Net {
    pub fn send(
        &mut self,
        ends: (NodeId, NodeId),
        frame: &[u8],
        now: u64,
        (plan, rng): (&Plan, &mut Rng),
    ) {
        let copies = 1 + u64::from(rng.hits(plan.twice));
        for _ in 0..copies {
            if self.cut.contains(&ends) || rng.hits(plan.drop) {
                continue;
            }
            let delay = match rng.below(20) {
                0 if plan.drop > 0 => rng.below(25),
                _ => rng.below(3),
            };
            self.next += 1;
            let key = (now + delay, self.next);
            self.queue.insert(key, (ends.0, ends.1, frame.to_vec()));
        }
    }

    /// Takes out the frames that have arrived by `now`.
    pub fn arrived(&mut self, now: u64) -> Vec<(NodeId, NodeId, Vec<u8>)> {
        let later = self.queue.split_off(&(now + 1, 0));
        let arrived = std::mem::replace(&mut self.queue, later);
        let reached = arrived
            .into_values()
            .filter(|frame| !self.cut.contains(&(frame.0, frame.1)));
        reached.collect()
    }
}
