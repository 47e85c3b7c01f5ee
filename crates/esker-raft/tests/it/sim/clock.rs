//! The clocks of nodes: none runs quite as fast as another.

use std::time::Duration;

use esker_raft::NodeId;

use crate::sim::node::Around;
use crate::sim::plan::Planted;

/// The clock of one machine, which goes on whatever its process does.
pub struct NodeClock {
    per_mille: u64,
    tick_ms: u64,
    begin_ms: u64,
    /// Ticks that a clock has missed which stands while the process is stopped.
    missed: u64,
}

impl NodeClock {
    /// Up to seven parts in a hundred too fast or too slow.
    pub fn new(id: NodeId, around: &mut Around) -> NodeClock {
        let per_mille = 930 + around.rng.below(140);
        let per_mille = match around.plan.planted {
            Planted::WildClocks if id != NodeId(1) => 32 * per_mille,
            _ => per_mille,
        };
        NodeClock {
            per_mille,
            tick_ms: around.plan.tick_ms,
            begin_ms: around.rng.below(1 << 20),
            missed: 0,
        }
    }

    /// The time in that tick of the world.
    pub fn at(&self, now: u64) -> Duration {
        let elapsed = now.saturating_sub(self.missed) * self.tick_ms * self.per_mille / 1000;
        Duration::from_millis(self.begin_ms + elapsed)
    }

    /// The process is stopped for so many ticks, and a careless one does not count them.
    pub fn stopped(&mut self, ticks: u64, planted: Planted) {
        if planted == Planted::ClockStops {
            self.missed += ticks;
        }
    }
}
