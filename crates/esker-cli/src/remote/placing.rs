//! Which node has which partitions: of one table for people, of all tables by node.

use std::collections::BTreeMap;

use esker_rpc::codec::scalars::Address;
use esker_rpc::message::meta::PartitionConfiguration;
use serde_json::{Value, json};

/// What one node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Partitions that it leads.
    pub primary_count: u64,
    /// Partitions that it follows.
    pub secondary_count: u64,
}

/// What the nodes have of `partitions`, by address, added to what they have.
pub fn add_shares(shares: &mut BTreeMap<String, Share>, partitions: &[PartitionConfiguration]) {
    for one in partitions {
        if one.primary != Address::NONE {
            shares
                .entry(address(one.primary))
                .or_default()
                .primary_count += 1;
        }
        for secondary in &one.secondaries {
            shares
                .entry(address(*secondary))
                .or_default()
                .secondary_count += 1;
        }
    }
}

/// An address as people read it; a dash for nowhere.
pub fn address(address: Address) -> String {
    address
        .0
        .map_or_else(|| "-".to_owned(), |address| address.to_string())
}

/// How many replicas a partition has that serve.
pub fn replica_count(one: &PartitionConfiguration) -> usize {
    usize::from(one.primary != Address::NONE) + one.secondaries.len()
}

/// How a partition is, in a word.
pub fn health(one: &PartitionConfiguration) -> &'static str {
    let wanted = usize::try_from(one.max_replica_count).unwrap_or(0);
    match replica_count(one) {
        _ if one.primary == Address::NONE => "no leader",
        count if count < wanted => "too few replicas",
        _ => "healthy",
    }
}

/// The addresses of the secondaries in one text.
pub fn secondaries(one: &PartitionConfiguration) -> String {
    let all: Vec<String> = one.secondaries.iter().copied().map(address).collect();
    all.join(" ")
}

/// A partition as an object.
pub fn spell(one: &PartitionConfiguration) -> Value {
    let secondaries: Vec<String> = one.secondaries.iter().copied().map(address).collect();
    json!({
        "partition": one.pid.partition_index,
        "ballot": one.ballot,
        "primary": one.primary.0.map(|address| address.to_string()),
        "secondaries": secondaries,
        "state": health(one),
    })
}

#[cfg(test)]
mod tests;
