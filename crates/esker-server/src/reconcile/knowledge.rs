//! What a node knows of the cluster's tables and of other nodes, in memory and on its disk.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use esker_raft::NodeId;
use esker_raft::codec::DecodeError;

use crate::meta::directive::{
    Directive, KnownNode, TableFacts, decode_directives, encode_directives,
};
use crate::meta::ids::TableId;

/// Names of the facts that a node keeps: the last list of tables and of nodes that it was told.
pub const FACTS: [&str; 2] = ["tables", "nodes"];

/// What a node was told last. It serves what it has by this while meta is away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// Counts what meta tells of tables; 0 of one that was told nothing.
    pub tables_revision: u64,
    /// Tables by their numbers.
    pub tables: BTreeMap<TableId, TableFacts>,
    /// Counts what meta tells of nodes.
    pub nodes_revision: u64,
    /// Where nodes are reached.
    pub nodes: BTreeMap<NodeId, KnownNode>,
}

impl Knowledge {
    /// What facts of before say, each as [`Knowledge::learn`] gave it.
    ///
    /// Errors: a fact that is damaged, or of a later version.
    pub fn load<'a>(facts: impl IntoIterator<Item = &'a [u8]>) -> Result<Knowledge, DecodeError> {
        let mut knowledge = Knowledge::default();
        for fact in facts {
            for directive in decode_directives(fact)? {
                let _same_bytes = knowledge.learn(&directive);
            }
        }
        Ok(knowledge)
    }

    /// Takes a list up; gives the name and the bytes of the fact to be kept, if it was one. The
    /// revision is not compared: meta may have been recovered to before it.
    pub fn learn(&mut self, directive: &Directive) -> Option<(&'static str, Vec<u8>)> {
        let name = match directive {
            Directive::Tables { revision, tables } => {
                self.tables_revision = *revision;
                let by_id = tables.iter().map(|facts| (facts.table, facts.clone()));
                self.tables = by_id.collect();
                FACTS[0]
            }
            Directive::Nodes { revision, nodes } => {
                self.nodes_revision = *revision;
                let by_id = nodes.iter().map(|facts| (facts.node, facts.clone()));
                self.nodes = by_id.collect();
                FACTS[1]
            }
            _ => return None,
        };
        Some((name, encode_directives(std::slice::from_ref(directive))))
    }

    /// The node whose door for clients is at `address`. A number that has none any more may be
    /// there still beside the one that has taken its place: of several the one that is up counts,
    /// and of those the last.
    pub fn node_at(&self, address: SocketAddrV4, is_up: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let there = self.nodes.iter();
        let there = there.filter(|row| row.1.addresses.client == address);
        there
            .map(|row| *row.0)
            .max_by_key(|node| (is_up(*node), *node))
    }

    /// Whether a node was let go of, as far as the list tells: it has later ones, and not that one.
    pub fn was_removed(&self, node: NodeId) -> bool {
        let last = self.nodes.last_key_value();
        let is_before = last.is_some_and(|(last, _)| node < *last);
        node.0 > 0 && is_before && !self.nodes.contains_key(&node)
    }

    /// Nodes that may have a replica of meta.
    pub fn metas(&self) -> impl Iterator<Item = &KnownNode> {
        let nodes = self.nodes.values();
        nodes.filter(|facts| facts.addresses.meta.is_some())
    }

    /// The table of a number that answers: none that is dropped, or unknown here.
    pub fn open_table(&self, table: TableId) -> Option<&TableFacts> {
        self.tables.get(&table).filter(|facts| !facts.is_dropped)
    }
}

#[cfg(test)]
mod tests;
