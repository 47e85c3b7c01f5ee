//! What the brain keeps, one row an object: the cluster, its nodes, tables and partitions.
//!
//! | key | value |
//! |---|---|
//! | `c` | [`ClusterRow`] |
//! | `e`, number of the epoch (u64, big-endian) | [`EpochRow`] |
//! | `n`, number of the node (u64, big-endian) | [`NodeRow`] |
//! | `p`, group (u64, big-endian) | [`PartitionRow`] |
//! | `r`, group (u64, big-endian) | [`RecoveryRow`] |
//! | `t`, number of the table (u32, big-endian) | [`TableRow`] |
//!
//! A value is the number of its layout (u8, 1) and the fields of its struct as `codec.rs` writes
//! them. Valid if and only if the layout is known, every field is sound and nothing follows.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, SocketAddrV4};

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::codec::{choices, fields};
use crate::meta::epoch::Epoch;
use crate::meta::ids::{ClusterId, META, TableId};

/// The layout of all rows.
pub const VERSION: u8 = 1;

/// Bytes of a row's value: a table with every setting at its longest is below that.
pub const ROW_BYTES_MAX: usize = 256 << 10;

choices! {
    /// How much the brain does by itself.
    #[derive(Copy, PartialOrd, Ord)]
    pub enum Level {
        /// Nothing; as `Frozen` here, kept apart for tools that know the word.
        0 => Stopped,
        /// Nothing; as `Frozen` here, kept apart for tools that know the word.
        1 => Blind,
        /// It opens and forgets tables; no replica moves and no table is created.
        2 => Frozen,
        /// It replaces what is lost, and empties nodes that are to leave.
        3 => Steady,
        /// It evens out what nodes have as well.
        4 => Lively,
    }
}

choices! {
    /// What has become of a table.
    #[derive(Copy)]
    pub enum TableStatus {
        /// Its groups are being made: nobody has written to it.
        0 => Creating,
        /// It is there.
        1 => Open,
        /// It can be recalled until it ends.
        2 => Dropped {
            /// Seconds since 1970.
            dropped_s: u64,
            /// Seconds since 1970.
            ends_s: u64,
            /// It was open: each of its groups could be written to once.
            was_open: bool,
        },
    }
}

choices! {
    /// Whether a node stays.
    #[derive(Copy)]
    pub enum Stay {
        /// It does.
        0 => Stays,
        /// Its replicas move elsewhere.
        1 => Drains,
        /// The same, and its number goes once nothing counts on it.
        2 => Leaves,
    }
}

fields! {
    /// The cluster.
    pub struct ClusterRow {
        /// Drawn at its first start.
        pub id: ClusterId,
        /// How people call it.
        pub name: String,
        /// How much the brain does by itself.
        pub level: Level,
        /// The number of the next table.
        pub next_table: TableId,
        /// The number of the next node.
        pub next_node: NodeId,
        /// Replicas of the meta group that are wished.
        pub meta_replicas: u32,
        /// Raised when what nodes are to know of tables changes.
        pub tables_revision: u64,
        /// Raised when what nodes are to know of one another changes.
        pub nodes_revision: u64,
    }
}

fields! {
    /// Where a node is reached, as others are to call it.
    pub struct Addresses {
        /// Its door for clients' reads and writes.
        pub client: SocketAddrV4,
        /// Its door for administration; none if it is no place for the meta group.
        pub meta: Option<SocketAddrV4>,
        /// Its door for other nodes.
        pub peer: SocketAddr,
    }
}

fields! {
    /// A node.
    pub struct NodeRow {
        /// What it drew when it asked for a number, so that it gets one number only.
        pub nonce: u64,
        /// Where it is reached.
        pub addresses: Addresses,
        /// The host or the rack that it shares with others; none of its own for an empty one.
        pub label: String,
        /// How often it was opened, as it said last.
        pub incarnation: u64,
        /// Whether it stays.
        pub stay: Stay,
        /// When it got its number: milliseconds since 1970.
        pub registered_ms: u64,
    }
}

fields! {
    /// A table.
    pub struct TableRow {
        /// Its name, which no other table has that is not dropped.
        pub name: String,
        /// What has become of it.
        pub status: TableStatus,
        /// Partitions: a power of two.
        pub partition_count: u32,
        /// Replicas of each that are wished.
        pub replica_count: u32,
        /// What the client called its kind.
        pub kind: String,
        /// Its settings.
        pub envs: BTreeMap<String, String>,
        /// Seconds since 1970.
        pub created_s: u64,
    }
}

fields! {
    /// A group: a partition of a table, or the meta service.
    pub struct PartitionRow {
        /// Counts changes of what is wished, so that none is made upon another one.
        pub version: u64,
        /// The largest replica id that was ever given.
        pub replica_max: u64,
        /// The voters that it begins with, which are never others; empty once all were made.
        pub first: BTreeMap<ReplicaId, NodeId>,
        /// Those that are wished and that no node has reported yet. Only these are made, and no
        /// other one becomes a member: one that was reported once and is gone has lost what it
        /// promised.
        pub unmade: BTreeSet<ReplicaId>,
        /// The replicas that it is to have in the end, and where.
        pub wished: BTreeMap<ReplicaId, NodeId>,
    }
}

fields! {
    /// That a group goes on with one of its replicas, for most of its voters are lost for ever. It
    /// stays when that is done, as long as the group is there: the lost ones may come back.
    pub struct RecoveryRow {
        /// The replica that it goes on with.
        pub base: ReplicaId,
        /// Where that is.
        pub node: NodeId,
        /// The largest id that was given by then: every other one up to it is lost.
        pub last: ReplicaId,
        /// When that was decided: milliseconds since 1970.
        pub decided_ms: u64,
        /// The base has led without the lost ones since.
        pub is_done: bool,
    }
}

fields! {
    /// That the meta group went on with one of its replicas. What it gave last is in entries that
    /// may be lost with the others, so numbers were left out; who comes with one of them is not
    /// known here, and not refused for that.
    pub struct EpochRow {
        /// With which.
        pub epoch: Epoch,
        /// When that was decided: milliseconds since 1970.
        pub decided_ms: u64,
        /// The first number of a table that was left out.
        pub tables_from: TableId,
        /// The first one behind those.
        pub tables_to: TableId,
        /// The first number of a node that was left out.
        pub nodes_from: NodeId,
        /// The first one behind those.
        pub nodes_to: NodeId,
    }
}

impl NodeRow {
    /// Whether its replicas are to move elsewhere.
    pub fn is_draining(&self) -> bool {
        self.stay != Stay::Stays
    }

    /// Whether it is a place for a replica of the group: of meta where it has a door for that.
    pub fn fits(&self, group: GroupId) -> bool {
        group != META || self.addresses.meta.is_some()
    }
}

impl TableRow {
    /// Whether it was dropped.
    pub fn is_dropped(&self) -> bool {
        matches!(self.status, TableStatus::Dropped { .. })
    }
}

impl RecoveryRow {
    /// Whether the group goes on without that replica, wherever it turns up.
    pub fn is_lost(&self, replica: ReplicaId) -> bool {
        replica <= self.last && replica != self.base
    }

    /// Whether members are those of a group that goes on: none of them is lost, and the lost ones
    /// cannot come back among them.
    pub fn has_gone_on(&self, members: &Configuration) -> bool {
        members.replica_max >= self.last.0 && !members.nodes.keys().any(|one| self.is_lost(*one))
    }
}

impl PartitionRow {
    /// A group that begins with a replica on each of `nodes`.
    pub fn begun(nodes: &[NodeId]) -> PartitionRow {
        let ids = (1..).map(ReplicaId);
        let first: BTreeMap<ReplicaId, NodeId> = ids.zip(nodes.iter().copied()).collect();
        PartitionRow {
            version: 1,
            replica_max: first.keys().last().map_or(0, |id| id.0),
            wished: first.clone(),
            unmade: first.keys().copied().collect(),
            first,
        }
    }
}

/// The key of the cluster's row.
pub fn cluster_key() -> Vec<u8> {
    b"c".to_vec()
}

/// The key of an epoch's row.
pub fn epoch_key(number: u64) -> Vec<u8> {
    [&b"e"[..], &number.to_be_bytes()].concat()
}

/// The key of a node's row.
pub fn node_key(node: NodeId) -> Vec<u8> {
    [&b"n"[..], &node.0.to_be_bytes()].concat()
}

/// The key of a table's row.
pub fn table_key(table: TableId) -> Vec<u8> {
    [&b"t"[..], &table.0.to_be_bytes()].concat()
}

/// The key of a partition's row.
pub fn partition_key(group: GroupId) -> Vec<u8> {
    [&b"p"[..], &group.0.to_be_bytes()].concat()
}

/// The key of a recovery's row.
pub fn recovery_key(group: GroupId) -> Vec<u8> {
    [&b"r"[..], &group.0.to_be_bytes()].concat()
}
