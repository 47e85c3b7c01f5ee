//! The double in a thread beside a test whose program speaks to it, for tests of other crates.

use std::sync::mpsc;
use std::thread;

use esker_rpc::message::meta::TableDescription;

use super::memory::cluster::Cluster;
use super::memory::listener::{add_meta, add_node};

/// Adds a meta server and so many data servers to `cluster`, and a table of that name with 8
/// partitions. They serve until the process ends; gives the address of the meta server.
pub fn serve(cluster: &Cluster, nodes: usize, table: &str) -> String {
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
        app_name: table.to_owned(),
        partition_count: 8,
        is_stateful: true,
        max_replica_count: 3,
        ..TableDescription::default()
    };
    cluster.state().add_table(table, 1 << 20);
    meta
}
