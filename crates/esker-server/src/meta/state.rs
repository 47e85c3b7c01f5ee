//! All that the meta group knows, as rows that are read once and then kept in step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use esker_raft::codec::DecodeError;
use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::codec::{Field, decode, encode};
use crate::meta::epoch::Epoch;
use crate::meta::ids::{META, PartitionId, TableId};
use crate::meta::rows::{
    ClusterRow, EpochRow, NodeRow, PartitionRow, ROW_BYTES_MAX, RecoveryRow, TableRow, TableStatus,
    VERSION, cluster_key, epoch_key, node_key, partition_key, recovery_key, table_key,
};

/// The tables, partitions and nodes of a cluster, and the cluster itself.
///
/// Plain values: it changes by `apply` alone, the same on every replica of the meta group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The cluster; none before it has begun.
    pub cluster: Option<ClusterRow>,
    /// Nodes that have a number.
    pub nodes: BTreeMap<NodeId, NodeRow>,
    /// Tables, dropped ones among them until they are forgotten.
    pub tables: BTreeMap<TableId, TableRow>,
    /// Groups: of every partition of every table, and of the meta service.
    pub partitions: BTreeMap<GroupId, PartitionRow>,
    /// Of groups that went on without most of their voters, the last time.
    pub recoveries: BTreeMap<GroupId, RecoveryRow>,
    /// How often the meta group itself went on so, each time.
    pub epochs: BTreeMap<u64, EpochRow>,
}

/// What becomes of one row: its value from now on, or none if it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Option<Vec<u8>>,
}

/// Why rows are no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// No row has such a key, so a later version of this program wrote it.
    Key(Vec<u8>),
    /// The value is no such row.
    Value(Vec<u8>, DecodeError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Key(key) => {
                write!(
                    out,
                    "no row of the meta group has the key \"{}\"",
                    key.escape_ascii()
                )
            }
            LoadError::Value(key, error) => {
                write!(
                    out,
                    "the row \"{}\" of the meta group: {error}",
                    key.escape_ascii()
                )
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// Where a node stands for its neighbours: no two replicas of a group share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host<'a> {
    /// A host or a rack that was named.
    Named(&'a str),
    /// The node alone.
    Own(NodeId),
}

impl State {
    /// The state that `rows` are; for none a cluster that has not begun.
    pub fn load<K, V>(rows: impl IntoIterator<Item = (K, V)>) -> Result<State, LoadError>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let mut state = State::default();
        for (key, value) in rows {
            state.put_row(key.as_ref(), value.as_ref())?;
        }
        Ok(state)
    }

    /// Every row, in the order of their keys.
    pub fn rows(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let cluster = self
            .cluster
            .iter()
            .map(|row| (cluster_key(), encode(VERSION, row)));
        let epochs = self.epochs.iter();
        let epochs = epochs.map(|(number, row)| (epoch_key(*number), encode(VERSION, row)));
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|(id, row)| (node_key(*id), encode(VERSION, row)));
        let partitions = self.partitions.iter();
        let partitions = partitions.map(|(id, row)| (partition_key(*id), encode(VERSION, row)));
        let recoveries = self.recoveries.iter();
        let recoveries = recoveries.map(|(id, row)| (recovery_key(*id), encode(VERSION, row)));
        let tables = self.tables.iter();
        let tables = tables.map(|(id, row)| (table_key(*id), encode(VERSION, row)));
        cluster
            .chain(epochs)
            .chain(nodes)
            .chain(partitions)
            .chain(recoveries)
            .chain(tables)
            .collect()
    }

    /// The row that has `key`, as it is now.
    pub(crate) fn row(&self, key: Vec<u8>) -> RowChange {
        let value = match Key::of(&key) {
            Some(Key::Cluster) => self.cluster.as_ref().map(|row| encode(VERSION, row)),
            Some(Key::Epoch(id)) => self.epochs.get(&id).map(|row| encode(VERSION, row)),
            Some(Key::Node(id)) => self.nodes.get(&id).map(|row| encode(VERSION, row)),
            Some(Key::Partition(id)) => self.partitions.get(&id).map(|row| encode(VERSION, row)),
            Some(Key::Recovery(id)) => self.recoveries.get(&id).map(|row| encode(VERSION, row)),
            Some(Key::Table(id)) => self.tables.get(&id).map(|row| encode(VERSION, row)),
            None => None,
        };
        RowChange { key, value }
    }

    fn put_row(&mut self, key: &[u8], value: &[u8]) -> Result<(), LoadError> {
        fn row<T: Field>(key: &[u8], value: &[u8]) -> Result<T, LoadError> {
            let row = decode(VERSION, value, ROW_BYTES_MAX);
            row.map_err(|error| LoadError::Value(key.to_vec(), error))
        }
        match Key::of(key).ok_or_else(|| LoadError::Key(key.to_vec()))? {
            Key::Cluster => self.cluster = Some(row(key, value)?),
            Key::Epoch(id) => drop(self.epochs.insert(id, row(key, value)?)),
            Key::Node(id) => drop(self.nodes.insert(id, row(key, value)?)),
            Key::Partition(id) => drop(self.partitions.insert(id, row(key, value)?)),
            Key::Recovery(id) => drop(self.recoveries.insert(id, row(key, value)?)),
            Key::Table(id) => drop(self.tables.insert(id, row(key, value)?)),
        }
        Ok(())
    }

    /// The table that has that name and is not dropped.
    pub fn table(&self, name: &str) -> Option<(TableId, &TableRow)> {
        let mut tables = self.tables.iter().filter(|table| !table.1.is_dropped());
        tables
            .find(|table| table.1.name == name)
            .map(|(id, row)| (*id, row))
    }

    /// The groups of a table, in the order of its partitions.
    pub fn groups(&self, table: TableId) -> impl Iterator<Item = (GroupId, &PartitionRow)> {
        let first = PartitionId { table, index: 0 }.group();
        let last = PartitionId {
            table,
            index: u32::MAX,
        }
        .group();
        self.partitions
            .range(first..=last)
            .map(|(id, row)| (*id, row))
    }

    /// Whether a group goes on without that replica.
    pub fn is_lost(&self, group: GroupId, replica: ReplicaId) -> bool {
        let recovery = self.recoveries.get(&group);
        recovery.is_some_and(|row| row.is_lost(replica))
    }

    /// Which meta service this is.
    pub fn epoch(&self) -> Epoch {
        let last = self.epochs.last_key_value();
        last.map(|(_, row)| row.epoch).unwrap_or_default()
    }

    /// Whether a table of that number may have been given by a meta service of before, in entries
    /// that are lost.
    pub fn may_forget_table(&self, table: TableId) -> bool {
        let mut epochs = self.epochs.values();
        epochs.any(|row| (row.tables_from..row.tables_to).contains(&table))
    }

    /// Whether a table was there when a meta service of before was lost, which may have opened it
    /// in entries that are lost.
    pub fn may_have_opened(&self, table: TableId) -> bool {
        let mut epochs = self.epochs.values();
        epochs.any(|row| table < row.tables_to)
    }

    /// Whether the table of a group was dropped, and can be recalled.
    pub fn is_dropped(&self, group: GroupId) -> bool {
        let table = self.tables.get(&PartitionId::of(group).table);
        table.is_some_and(TableRow::is_dropped)
    }

    /// Whether anybody may have written to a group: not to one of a table that is being made,
    /// unless that may have been open.
    pub fn may_have_rows(&self, group: GroupId) -> bool {
        self.is_settled(group) || self.may_have_opened(PartitionId::of(group).table)
    }

    /// As [`State::may_forget_table`], of a node.
    pub fn may_forget_node(&self, node: NodeId) -> bool {
        let mut epochs = self.epochs.values();
        epochs.any(|row| (row.nodes_from..row.nodes_to).contains(&node))
    }

    /// Whether a node had that number, and was let go of.
    pub fn was_removed(&self, node: NodeId) -> bool {
        let was_given = |row: &ClusterRow| node.0 > 0 && node < row.next_node;
        let was_given = self.cluster.as_ref().is_some_and(was_given);
        was_given && !self.nodes.contains_key(&node) && !self.may_forget_node(node)
    }

    /// Where a node stands for its neighbours.
    pub fn host(&self, node: NodeId) -> Host<'_> {
        match self.nodes.get(&node) {
            Some(row) if !row.label.is_empty() => Host::Named(&row.label),
            _ => Host::Own(node),
        }
    }

    /// Hosts that have a node that stays, whether it lives or not.
    pub fn host_count(&self) -> u32 {
        let stay = self.nodes.iter().filter(|node| !node.1.is_draining());
        let hosts: BTreeSet<_> = stay.map(|node| self.host(*node.0)).collect();
        u32::try_from(hosts.len()).unwrap_or(u32::MAX)
    }

    /// The same, but for nodes at whose address a later one is: those are on no way back.
    fn hosts_to_come(&self) -> usize {
        let nodes = self.nodes.iter();
        let last: BTreeMap<_, _> = nodes
            .map(|(id, row)| (row.addresses.peer, (*id, row)))
            .collect();
        let stay = last.into_values().filter(|node| !node.1.is_draining());
        let hosts: BTreeSet<_> = stay.map(|node| self.host(node.0)).collect();
        hosts.len()
    }

    /// How many replicas of each partition a table gets that is placed anew: all that it was to
    /// have, as far as there are hosts for them or will be.
    pub fn replicas_to_place(&self, table: &TableRow) -> usize {
        let replicas = usize::try_from(table.replica_count).unwrap_or(usize::MAX);
        replicas.min(self.hosts_to_come())
    }

    /// How many replicas are wished on each node that has any.
    pub fn wished_counts(&self) -> BTreeMap<NodeId, usize> {
        let mut counts = BTreeMap::new();
        let nodes = self.partitions.values().flat_map(|row| row.wished.values());
        for node in nodes {
            *counts.entry(*node).or_default() += 1;
        }
        counts
    }

    /// How many replicas of a group are wished in the end.
    ///
    /// That many nodes are not always there for the meta group, see `target.rs`.
    pub fn wished_count(&self, group: GroupId) -> usize {
        let table = self.tables.get(&PartitionId::of(group).table);
        let count = match (table, &self.cluster) {
            (Some(table), _) => table.replica_count,
            (None, Some(cluster)) => cluster.meta_replicas,
            (None, None) => 0,
        };
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Whether other replicas of a group may be wished: it could be written to once.
    pub fn is_settled(&self, group: GroupId) -> bool {
        match self.tables.get(&PartitionId::of(group).table) {
            Some(table) => match table.status {
                TableStatus::Creating => false,
                TableStatus::Open => true,
                TableStatus::Dropped { was_open, .. } => was_open,
            },
            None => group == META,
        }
    }
}

/// A key taken apart.
enum Key {
    Cluster,
    Epoch(u64),
    Node(NodeId),
    Partition(GroupId),
    Recovery(GroupId),
    Table(TableId),
}

impl Key {
    fn of(key: &[u8]) -> Option<Key> {
        let (&kind, number) = key.split_first()?;
        let long = || Some(u64::from_be_bytes(number.try_into().ok()?));
        match kind {
            b'c' if number.is_empty() => Some(Key::Cluster),
            b'e' => long().map(Key::Epoch),
            b'n' => long().map(NodeId).map(Key::Node),
            b'p' => long().map(GroupId).map(Key::Partition),
            b'r' => long().map(GroupId).map(Key::Recovery),
            b't' => Some(Key::Table(TableId(u32::from_be_bytes(
                number.try_into().ok()?,
            )))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
