//! A table in memory that any client of Pegasus can talk to, for trying clients.
//!
//! ```text
//! cargo run -p esker-rpc --example memory_table [META_PORT DATA_PORT]
//! ```
//!
//! Without ports a meta server listens at 127.0.0.1:34601 and three data servers at the ports from
//! 34801 on: administrators' tools wait until each partition has three replicas. There is a table
//! `temp` with 8 partitions; others may be created. Nothing outlives the process.
#![allow(
    clippy::disallowed_methods,
    reason = "a program stands in the real world: it reads the clock and its arguments"
)]
#![allow(
    dead_code,
    reason = "the tests use more of the double than this program"
)]

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use esker_rpc::message::meta::TableDescription;

#[path = "../tests/it/memory/mod.rs"]
mod memory;

use memory::cluster::Cluster;
use memory::listener::{add_meta, add_node};

/// Data servers: as many as a partition has replicas by default.
const NODES: usize = 3;

fn main() -> io::Result<()> {
    let ports: Vec<u16> = std::env::args()
        .skip(1)
        .map(|text| {
            text.parse()
                .map_err(|_| io::Error::other("a port is a number"))
        })
        .collect::<io::Result<_>>()?;
    let (meta_port, data_port) = match ports[..] {
        [] => (34601, 34801),
        [meta_port, data_port] => (meta_port, data_port),
        _ => {
            return Err(io::Error::other(
                "usage: memory_table [META_PORT DATA_PORT]",
            ));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(meta_port, data_port))
}

async fn serve(meta_port: u16, data_port: u16) -> io::Result<()> {
    let cluster = Cluster::new(0, machine_unix_s);
    let (meta, _meta_stop) = add_meta(&cluster, meta_port).await?;
    let mut stops = Vec::new();
    for port in (data_port..).take(NODES) {
        stops.push(add_node(&cluster, port).await?);
    }
    let create_second = i64::try_from(cluster.unix_s()).unwrap_or_default();
    let temp = TableDescription {
        app_type: "pegasus".to_owned(),
        app_name: "temp".to_owned(),
        partition_count: 8,
        is_stateful: true,
        max_replica_count: 3,
        create_second,
        ..TableDescription::default()
    };
    cluster.state().add_table(temp, create_second << 20);
    let nodes: Vec<String> = stops.iter().map(|(node, _)| node.to_string()).collect();
    let nodes = nodes.join(", ");
    println!("meta server {meta}, data servers {nodes}, table temp with 8 partitions");
    std::future::pending().await
}

fn machine_unix_s() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}
