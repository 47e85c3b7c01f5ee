//! Which rows a command has changed, and what nodes are to be told because of it.

use std::collections::BTreeSet;

use esker_raft::{GroupId, NodeId};

use crate::meta::ids::TableId;
use crate::meta::outcome::{Outcome, Refusal};
use crate::meta::rows::{cluster_key, epoch_key, node_key, partition_key, recovery_key, table_key};
use crate::meta::state::{RowChange, State};

/// What came of a deed. A refused one has touched nothing.
pub(crate) type Result<T = Outcome> = std::result::Result<T, Refusal>;

/// The keys of rows that a command has changed.
#[derive(Debug, Default)]
pub(crate) struct Touched(BTreeSet<Vec<u8>>);

impl Touched {
    pub(crate) fn cluster(&mut self) {
        self.0.insert(cluster_key());
    }

    pub(crate) fn partition(&mut self, group: GroupId) {
        self.0.insert(partition_key(group));
    }

    pub(crate) fn epoch(&mut self, number: u64) {
        self.0.insert(epoch_key(number));
    }

    pub(crate) fn recovery(&mut self, group: GroupId) {
        self.0.insert(recovery_key(group));
    }

    /// What nodes know of tables is out of date.
    pub(crate) fn table(&mut self, state: &mut State, table: TableId) {
        self.0.insert(table_key(table));
        self.cluster();
        if let Some(cluster) = &mut state.cluster {
            cluster.tables_revision += 1;
        }
    }

    /// What nodes know of one another is out of date.
    pub(crate) fn node(&mut self, state: &mut State, node: NodeId) {
        self.0.insert(node_key(node));
        self.cluster();
        if let Some(cluster) = &mut state.cluster {
            cluster.nodes_revision += 1;
        }
    }

    /// The rows of these keys, as they are now.
    pub(crate) fn rows(self, state: &State) -> Vec<RowChange> {
        self.0.into_iter().map(|key| state.row(key)).collect()
    }
}
