//! Tables, partitions and nodes of the double, shared by all of its sockets.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_rpc::codec::scalars::{Address, Gpid};
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{
    MetaLevel, PartitionConfiguration, QueryConfigRequest, QueryConfigResponse, TableDescription,
    TableStatus,
};
use esker_rpc::message::own::NodeStay;
use esker_rpc::time::WireSecond;

use super::fault::Fault;
use super::partition::{Moment, Partition};
use super::scans::Place;

/// A cluster in memory. Copies are the same one.
#[derive(Clone, Debug)]
pub struct Cluster {
    state: Arc<Mutex<State>>,
    unix_s: Arc<AtomicU64>,
    tells_time: fn() -> Option<u64>,
}

/// All that the cluster knows.
#[derive(Debug)]
pub struct State {
    /// Tables by number, dropped ones included.
    pub tables: BTreeMap<i32, Table>,
    /// Data servers.
    pub nodes: Vec<Node>,
    /// Meta servers.
    pub metas: Vec<SocketAddrV4>,
    /// Which of them leads; `None` if nobody knows.
    pub leader: Option<usize>,
    /// What the meta servers do by themselves.
    pub level: MetaLevel,
    /// How often a meta server was asked for partitions.
    pub questions: u64,
    /// How much later meta servers answer.
    pub meta_delay: std::time::Duration,
    /// A meta server that says that it cannot answer yet.
    pub loading: Option<usize>,
    /// It has the calls that Pegasus does not have.
    pub knows_own: bool,
    /// Who leads has heard its nodes, and tells of them.
    pub knows_nodes: bool,
    /// So many times it tells of nodes that what is to leave them has nowhere to go.
    pub holds: u32,
    /// Nodes by number that do not just stay; who leaves is gone.
    pub stays: BTreeMap<i64, NodeStay>,
    /// How often each call was seen by a server.
    pub seen: BTreeMap<String, u64>,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// What it is like.
    pub description: TableDescription,
    /// Its partitions in their order.
    pub partitions: Vec<Placed>,
}

/// A partition and who leads it.
#[derive(Debug)]
pub struct Placed {
    /// Its rows.
    pub partition: Partition,
    /// Number of the node that leads; `None` if none does.
    pub primary: Option<usize>,
    /// How often that has changed, and once.
    pub ballot: i64,
}

/// A data server.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Where it listens.
    pub address: SocketAddrV4,
    /// What goes wrong there.
    pub fault: Fault,
    /// A refusal of every call, if any.
    pub refuses: Option<ErrorCode>,
}

impl Cluster {
    /// Without servers and tables. Its clock is `tells_time`, or else stands still at `unix_s`.
    pub fn new(unix_s: u64, tells_time: fn() -> Option<u64>) -> Cluster {
        let state = State {
            tables: BTreeMap::new(),
            nodes: Vec::new(),
            metas: Vec::new(),
            leader: Some(0),
            level: MetaLevel::FL_STEADY,
            questions: 0,
            meta_delay: std::time::Duration::ZERO,
            loading: None,
            knows_own: true,
            knows_nodes: true,
            holds: 0,
            stays: BTreeMap::new(),
            seen: BTreeMap::new(),
        };
        Cluster {
            state: Arc::new(Mutex::new(state)),
            unix_s: Arc::new(AtomicU64::new(unix_s)),
            tells_time,
        }
    }

    /// All that the cluster knows.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in unix seconds.
    pub fn unix_s(&self) -> u64 {
        (self.tells_time)().unwrap_or_else(|| self.unix_s.load(Ordering::SeqCst))
    }

    /// Moves the clock that stands still.
    pub fn pass(&self, seconds: u64) {
        self.unix_s.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Does what a data server does with a call, whatever the fault of it: `Err` is a refusal.
    pub fn answer(&self, node: usize, gpid: Gpid, call: KeyCall) -> Result<KeyAnswer, ErrorName> {
        let now = WireSecond::of_unix(self.unix_s());
        let mut state = self.state();
        *state.seen.entry(call.row().name.to_owned()).or_default() += 1;
        let server = state.nodes[node];
        if let Some(refusal) = server.refuses {
            return Err(refusal.into());
        }
        let table = state
            .tables
            .get_mut(&gpid.app_id)
            .filter(|table| table.is_available());
        let table = table.ok_or(ErrorName::from(ErrorCode::ObjectNotFound))?;
        let envs = &table.description.envs;
        let count = table.partitions.len();
        let mut moment = Moment {
            place: Place {
                index: gpid.partition_index.cast_unsigned(),
                count: u32::try_from(count).expect("few partitions"),
                validates: envs
                    .get("replica.split.validate_partition_hash")
                    .is_some_and(|value| value == "true"),
                now,
            },
            default_ttl_s: 0,
            server: server.address.to_string(),
        };
        if let Some(ttl) = envs.get("default_ttl") {
            moment.default_ttl_s = ttl.parse().unwrap_or_default();
        }
        let index = usize::try_from(gpid.partition_index).unwrap_or(usize::MAX);
        let placed = table.partitions.get_mut(index);
        let placed = placed.ok_or(ErrorName::from(ErrorCode::ObjectNotFound))?;
        match placed.primary == Some(node) {
            true => Ok(placed.partition.answer(call, &moment)),
            false => Err(ErrorCode::InvalidState.into()),
        }
    }

    /// Makes another node lead a partition. Its scans are forgotten.
    pub fn move_partition(&self, table: &str, index: usize, node: Option<usize>) {
        let mut state = self.state();
        let table = state.available(table).expect("a table of that name");
        let placed = &mut table.partitions[index];
        placed.primary = node;
        placed.ballot += 1;
        placed.partition.forget_scans();
    }
}

impl State {
    /// The table of that name, unless it was dropped.
    pub fn available(&mut self, name: &str) -> Option<&mut Table> {
        let mut tables = self.tables.values_mut();
        tables.find(|table| table.is_available() && table.description.app_name == name)
    }

    /// Adds a table whose partitions the nodes lead by turns. Returns its number.
    pub fn add_table(&mut self, mut description: TableDescription, first_context: i64) -> i32 {
        let number = self.tables.keys().max().map_or(1, |last| last + 1);
        description.app_id = number;
        description.status = TableStatus::AS_AVAILABLE;
        let node_count = self.nodes.len();
        let placed = |partition_index: i32| Placed {
            partition: Partition::new(
                Gpid {
                    app_id: number,
                    partition_index,
                },
                first_context,
            ),
            primary: (node_count > 0)
                .then(|| usize::try_from(partition_index).unwrap_or_default() % node_count),
            ballot: 1,
        };
        let partitions = (0..description.partition_count).map(placed).collect();
        let table = Table {
            description,
            partitions,
        };
        self.tables.insert(number, table);
        number
    }

    /// The partitions of a table, as a meta server tells them.
    pub fn partitions(&mut self, request: &QueryConfigRequest) -> QueryConfigResponse {
        self.questions += 1;
        let addresses: Vec<SocketAddrV4> = self.nodes.iter().map(|node| node.address).collect();
        let Some(table) = self.available(&request.app_name) else {
            return refused(ErrorCode::ObjectNotFound);
        };
        let all = table.partitions.iter().enumerate();
        let is_asked = |index: usize| {
            let asked = &request.partition_indices;
            asked.iter().any(|one| usize::try_from(*one) == Ok(index))
        };
        let is_any_asked = (0..table.partitions.len()).any(is_asked);
        let description = &table.description;
        let configuration = |(index, placed): (usize, &Placed)| {
            let wanted = usize::try_from(description.max_replica_count - 1).unwrap_or_default();
            let others = (1..addresses.len())
                .map(|step| (placed.primary.unwrap_or(0) + step) % addresses.len());
            PartitionConfiguration {
                pid: Gpid {
                    app_id: description.app_id,
                    partition_index: i32::try_from(index).expect("few partitions"),
                },
                ballot: placed.ballot,
                max_replica_count: description.max_replica_count,
                primary: Address(placed.primary.map(|node| addresses[node])),
                secondaries: others
                    .take(wanted)
                    .map(|node| addresses[node].into())
                    .collect(),
                ..PartitionConfiguration::default()
            }
        };
        let told = all
            .filter(|(index, _)| !is_any_asked || is_asked(*index))
            .map(configuration);
        QueryConfigResponse {
            err: ErrorName::OK,
            app_id: description.app_id,
            partition_count: description.partition_count,
            is_stateful: true,
            partitions: told.collect(),
        }
    }

    /// What a meta server that does not lead says when it is asked for partitions.
    pub fn forward(&self) -> QueryConfigResponse {
        let leader = self.leader.map(|leader| PartitionConfiguration {
            primary: self.metas[leader].into(),
            ..PartitionConfiguration::default()
        });
        QueryConfigResponse {
            partitions: leader.into_iter().collect(),
            ..refused(ErrorCode::ForwardToOthers)
        }
    }
}

/// A refusal to tell partitions.
pub fn refused(code: ErrorCode) -> QueryConfigResponse {
    QueryConfigResponse {
        err: code.into(),
        ..QueryConfigResponse::default()
    }
}

impl Table {
    /// True unless it was dropped.
    pub fn is_available(&self) -> bool {
        self.description.status == TableStatus::AS_AVAILABLE
    }
}
