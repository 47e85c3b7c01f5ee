//! A cluster in memory and a client of it.

use std::future::Future;
use std::net::SocketAddrV4;
use std::time::Duration;

use esker_rpc::client::{CallSettings, Client, ClientSettings, Table};
use esker_rpc::codec::scalars::{Blob, Gpid};
use esker_rpc::keys::raw_key;
use esker_rpc::message::data::{KeyCall, UpdateRequest};
use esker_rpc::message::meta::TableDescription;

use crate::memory::cluster::{Cluster, Placed};
use crate::memory::listener::{Stop, add_meta, add_node};
use crate::memory::partition::Partition;

/// When tests take place.
pub const UNIX_S: u64 = 1_800_000_000;

/// Longest time that any test may take: far more than each needs.
const LIMIT: Duration = Duration::from_secs(300);

/// A time of a test, in milliseconds of a machine that has nothing else to do. All are longer than
/// that by the same, for one that stands still for a while now and then.
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(4 * millis)
}

/// A cluster with two data servers and its client.
pub struct Fixture {
    pub cluster: Cluster,
    pub metas: Vec<SocketAddrV4>,
    pub meta_stops: Vec<Stop>,
    pub node_stops: Vec<Stop>,
    pub settings: ClientSettings,
}

/// Runs a test, within a limit of time.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let within = tokio::time::timeout(LIMIT, test).await;
        within.expect("within the limit");
    });
}

impl Fixture {
    /// One meta server, two data servers and a table `t` of 8 partitions.
    pub async fn new() -> Fixture {
        Fixture::with(1, 2).await
    }

    /// The same, whose client waits for answers as long as a test may take: none is missing here.
    pub async fn patient() -> Fixture {
        let mut fixture = Fixture::new().await;
        fixture.settings.call.timeout = LIMIT;
        fixture.settings.silence_max = LIMIT;
        fixture
    }

    /// So many servers, and a table `t` of 8 partitions.
    pub async fn with(metas: usize, nodes: usize) -> Fixture {
        let mut fixture = Fixture {
            cluster: Cluster::new(UNIX_S, || None),
            metas: Vec::new(),
            meta_stops: Vec::new(),
            node_stops: Vec::new(),
            settings: settings(),
        };
        for _ in 0..metas {
            let (address, stop) = add_meta(&fixture.cluster, 0).await.unwrap();
            fixture.metas.push(address);
            fixture.meta_stops.push(stop);
        }
        for _ in 0..nodes {
            let (_, stop) = add_node(&fixture.cluster, 0).await.unwrap();
            fixture.node_stops.push(stop);
        }
        fixture.cluster.state().add_table(description("t", 8), 1000);
        fixture
    }

    pub fn client(&self) -> Client {
        Client::new(self.metas.clone(), self.settings)
    }

    pub async fn table(&self) -> Table {
        self.client().table("t").await.unwrap()
    }

    /// Moves the clock of the servers.
    pub fn pass(&self, seconds: u64) {
        self.cluster.pass(seconds);
    }

    /// From now on values of `t` live so long of which a write does not say how long.
    pub async fn set_default_ttl(&self, seconds: u32) {
        let envs = [("default_ttl".to_owned(), seconds.to_string())].into();
        let admin = self.client().admin(self.settings.call.timeout);
        admin.set_envs("t", &envs).await.unwrap();
    }
}

/// A table as it would be created.
pub fn description(name: &str, partition_count: i32) -> TableDescription {
    TableDescription {
        app_type: "pegasus".to_owned(),
        app_name: name.to_owned(),
        partition_count,
        is_stateful: true,
        max_replica_count: 2,
        ..TableDescription::default()
    }
}

/// Short times, so that what has to time out does so soon; and a clock that stands still.
pub fn settings() -> ClientSettings {
    ClientSettings {
        call: CallSettings {
            timeout: ms(1500),
            resends_writes: false,
        },
        connect_timeout: ms(500),
        meta_attempt: ms(200),
        silence_max: ms(400),
        refresh_interval: Duration::from_millis(10),
        unix_s: || UNIX_S,
        ..ClientSettings::default()
    }
}

impl Fixture {
    /// Puts a row into a partition that it does not belong to.
    pub fn add_stray(&self, index: usize, hash_key: &[u8], sort_key: &[u8]) {
        let put = KeyCall::Put(UpdateRequest {
            key: Blob::from(raw_key(hash_key, sort_key).unwrap()),
            ..UpdateRequest::default()
        });
        let node = {
            let mut state = self.cluster.state();
            let table = state.available("t").unwrap();
            table.partitions[index].primary.unwrap()
        };
        let gpid = Gpid {
            app_id: 1,
            partition_index: i32::try_from(index).unwrap(),
        };
        self.cluster.answer(node, gpid, put).unwrap();
    }

    /// Splits every partition of `t`, of which no client is told. Rows stay where they are; the
    /// parents are moved to the other node, so that clients have to ask.
    pub fn double_partitions(&self) {
        let parents = self.double_partitions_quietly();
        let mut state = self.cluster.state();
        for parent in &mut state.available("t").unwrap().partitions[..parents] {
            parent.primary = parent.primary.map(|node| 1 - node);
        }
    }

    /// The same, and the parents stay where they are.
    pub fn double_partitions_quietly(&self) -> usize {
        let mut state = self.cluster.state();
        let table = state.available("t").unwrap();
        let parents = table.partitions.len();
        for index in 0..parents {
            let gpid = Gpid {
                app_id: 1,
                partition_index: i32::try_from(parents + index).unwrap(),
            };
            table.partitions.push(Placed {
                partition: Partition::new(gpid, 1),
                primary: Some(0),
                ballot: 1,
            });
        }
        table.description.partition_count *= 2;
        parents
    }

    /// Gives each child the rows of its half.
    pub fn part_rows(&self) {
        let mut state = self.cluster.state();
        let partitions = &mut state.available("t").unwrap().partitions;
        let count = partitions.len();
        let (parents, children) = partitions.split_at_mut(count / 2);
        let count = u32::try_from(count).unwrap();
        for (parent, child) in parents.iter_mut().zip(children) {
            parent.partition.part_with(&mut child.partition, count);
        }
    }
}
