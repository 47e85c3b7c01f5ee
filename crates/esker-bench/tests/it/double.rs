//! A cluster in memory, in a thread of the test, to be measured.

use std::sync::mpsc;
use std::thread;

use esker_rpc::message::meta::TableDescription;

use crate::memory::cluster::Cluster;
use crate::memory::listener::{add_meta, add_node};

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
        let (told, heard) = mpsc::channel();
        let serving = cluster.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let (meta, _meta_stop) = add_meta(&serving, 0).await.expect("a port");
                let mut stops = Vec::new();
                for _ in 0..nodes {
                    stops.push(add_node(&serving, 0).await.expect("a port"));
                }
                told.send(meta.to_string()).expect("the test listens");
                std::future::pending::<()>().await;
            });
        });
        let meta = heard.recv().expect("a meta server");
        let table = TableDescription {
            app_type: "pegasus".to_owned(),
            app_name: "usertable".to_owned(),
            partition_count: 8,
            is_stateful: true,
            max_replica_count: 3,
            ..TableDescription::default()
        };
        cluster.state().add_table(table, 1 << 20);
        Double { cluster, meta }
    }

    /// How often servers saw that call.
    pub fn seen(&self, name: &str) -> u64 {
        let state = self.cluster.state();
        state.seen.get(name).copied().unwrap_or(0)
    }
}
