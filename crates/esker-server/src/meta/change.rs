//! Commands upon the state: deterministic and total, and all or nothing.
//!
//! An impossible command answers why and changes nothing. What it does changes is told as rows, for
//! the batch that carries the replica's mark.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use esker_raft::NodeId;

use crate::meta::command::{Command, Deed, VERSION};
use crate::meta::ids::{META, TableId};
use crate::meta::limits::META_REPLICAS;
use crate::meta::outcome::{Cause, Outcome, Refusal};
use crate::meta::rows::{ClusterRow, Level, PartitionRow};
use crate::meta::state::{RowChange, State};
use crate::meta::touched::{Result, Touched};
use crate::meta::{change_groups, change_nodes, change_recoveries, change_tables};

/// What an entry has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What is told to whoever proposed it: an [`Outcome`].
    pub answer: Vec<u8>,
    /// The rows that are different now, each once.
    pub rows: Vec<RowChange>,
}

/// An entry whose layout this version does not know: a later version has written it.
///
/// Whoever applied it as nothing would differ from the others from then on, so the replica must
/// stop here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLayout(pub u8);

impl fmt::Display for UnknownLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0;
        write!(
            out,
            "an entry of the meta group has layout {number}: a newer version is needed"
        )
    }
}

impl std::error::Error for UnknownLayout {}

impl State {
    /// Applies an entry of the log.
    pub fn apply(&mut self, entry: &[u8]) -> std::result::Result<Applied, UnknownLayout> {
        match entry.first() {
            Some(1..=VERSION) | None => {}
            Some(&other) => return Err(UnknownLayout(other)),
        }
        let (outcome, rows) = match Command::decode(entry) {
            Ok(command) => self.apply_command(&command),
            Err(error) => {
                let refusal = Refusal::new(Cause::Unreadable, error.to_string());
                (refusal.into(), Vec::new())
            }
        };
        Ok(Applied {
            answer: outcome.encode(),
            rows,
        })
    }

    /// Applies a command.
    pub fn apply_command(&mut self, command: &Command) -> (Outcome, Vec<RowChange>) {
        let mut touched = Touched::default();
        match self.act(command, &mut touched) {
            Ok(outcome) => (outcome, touched.rows(self)),
            Err(refusal) => (refusal.into(), Vec::new()),
        }
    }

    fn act(&mut self, command: &Command, touched: &mut Touched) -> Result {
        let unix_ms = command.unix_ms;
        let is_begun = self.cluster.is_some();
        if is_begun == matches!(command.deed, Deed::Begin { .. }) {
            let why = match is_begun {
                true => "the cluster has begun already",
                false => "the cluster has not begun",
            };
            return Err(Refusal::new(Cause::Begun, why));
        }
        match &command.deed {
            Deed::Begin {
                cluster,
                name,
                node,
            } => {
                change_nodes::check(node)?;
                change_tables::check_name(name)?;
                self.cluster = Some(ClusterRow {
                    id: *cluster,
                    name: name.clone(),
                    level: Level::Lively,
                    next_table: TableId(1),
                    next_node: NodeId(1),
                    meta_replicas: META_REPLICAS,
                    tables_revision: 1,
                    nodes_revision: 1,
                });
                let outcome = change_nodes::register(self, node, unix_ms, touched)?;
                // The first start has made that replica before it proposed this.
                let row = PartitionRow {
                    first: BTreeMap::new(),
                    unmade: BTreeSet::new(),
                    ..PartitionRow::begun(&[NodeId(1)])
                };
                self.partitions.insert(META, row);
                touched.partition(META);
                Ok(outcome)
            }
            Deed::RegisterNode { node } => change_nodes::register(self, node, unix_ms, touched),
            Deed::UpdateNode { .. }
            | Deed::DrainNode { .. }
            | Deed::LeaveNode { .. }
            | Deed::RemoveNode { .. }
            | Deed::SetMetaReplicas { .. }
            | Deed::SetLevel { .. } => change_nodes::act(self, &command.deed, touched),
            Deed::Wish { wish } => change_groups::wish(self, wish, touched),
            Deed::NoteMade { replicas } => Ok(change_groups::note_made(self, replicas, touched)),
            Deed::Recover { recover } => {
                change_recoveries::recover(self, recover, unix_ms, touched)
            }
            Deed::NoteRecovered { groups } => {
                Ok(change_recoveries::note_recovered(self, groups, touched))
            }
            Deed::RecoverMeta { epoch } => {
                change_recoveries::recover_meta(self, *epoch, unix_ms, touched)
            }
            Deed::CreateTable { table } => change_tables::create(self, table, unix_ms, touched),
            deed => change_tables::act(self, deed, unix_ms, touched),
        }
    }
}

#[cfg(test)]
mod tests;
