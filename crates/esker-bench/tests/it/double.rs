//! A cluster in memory, in a thread of the test, to be measured.

use crate::in_thread::serve;
use crate::memory::cluster::Cluster;

/// A cluster with a table `usertable`.
pub struct Double {
    pub cluster: Cluster,
    pub meta: String,
}

impl Double {
    /// With three data servers. It serves until the test's process ends.
    pub fn new() -> Double {
        Double::with(3)
    }

    /// The same with so many data servers.
    pub fn with(nodes: usize) -> Double {
        let cluster = Cluster::new(1_800_000_000, || None);
        let meta = serve(&cluster, nodes, "usertable");
        Double { cluster, meta }
    }

    /// How often servers saw that call.
    pub fn seen(&self, name: &str) -> u64 {
        let state = self.cluster.state();
        state.seen.get(name).copied().unwrap_or(0)
    }
}
