//! Tables of a cluster that benchmarks make and drop.

use std::collections::BTreeMap;
use std::time::Duration;

use esker_rpc::client::{Admin, Client, ClientSettings, NewTable};
use esker_rpc::message::meta::{NodeStatus, TableStatus};
use tokio::runtime::Runtime;

use crate::fail::{Failure, Outcome};
use crate::target::pegasus::TableAddress;

/// What the names of tables begin with that benchmarks made, and may drop.
const MARK: &str = "esker_bench_";

/// How long a table may take to be made: all of its partitions elect leaders.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Seconds for which a dropped table can be recalled: nobody wants it back.
const RESERVE_S: i64 = 1;

/// A cluster, to make tables in.
pub struct Cluster {
    runtime: Runtime,
    admin: Admin,
    /// Nodes that live.
    pub node_count: usize,
}

impl Cluster {
    /// The cluster of `address`; its table does not matter.
    pub fn connect(address: &TableAddress) -> Outcome<Cluster> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::system("cannot start a client", &error))?;
        let client = Client::new(address.resolve()?, ClientSettings::default());
        let alive = runtime.block_on(
            client
                .admin(Duration::from_secs(5))
                .nodes(NodeStatus::NS_ALIVE),
        );
        let alive = alive.map_err(|error| {
            Failure::failed(format!(
                "no cluster answers at {}: {error}; start one, or name another meta server",
                address.metas.join(",")
            ))
        })?;
        Ok(Cluster {
            runtime,
            admin: client.admin(TIMEOUT),
            node_count: alive.len(),
        })
    }

    /// Makes an empty table; one of that name that a benchmark left behind is dropped before.
    /// Returns its name, which begins with the benchmarks' mark.
    pub fn create_fresh(&self, name: &str, partitions: i32, replicas: i32) -> Outcome<String> {
        let name = format!("{MARK}{name}");
        let told = |error| Failure::failed(format!("cannot make the table {name}: {error}"));
        let tables = self.admin.tables(TableStatus::AS_AVAILABLE);
        let tables = self.runtime.block_on(tables).map_err(told)?;
        if tables.iter().any(|table| table.app_name == name) {
            self.drop_table(&name)?;
        }
        let new = NewTable {
            name: name.clone(),
            partition_count: partitions,
            replica_count: replicas,
            envs: BTreeMap::new(),
            success_if_exist: false,
        };
        let created = self.runtime.block_on(self.admin.create_table(&new));
        created.map_err(told)?;
        Ok(name)
    }

    /// Drops a table that [`Cluster::create_fresh`] made.
    pub fn drop_table(&self, name: &str) -> Outcome {
        assert!(name.starts_with(MARK), "benchmarks drop what they made");
        let dropped = self.admin.drop_table(name, Some(RESERVE_S));
        let dropped = self.runtime.block_on(dropped);
        dropped.map_err(|error| Failure::failed(format!("cannot drop {name}: {error}")))
    }
}
