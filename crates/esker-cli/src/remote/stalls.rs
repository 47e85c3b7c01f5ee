//! What nodes say of replicas of a table that do not go on.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::remote::page::Statuses;

/// Partitions that a sentence names; of more it says how many there are.
const NAMED_MAX: usize = 8;

/// A sentence for each reason that a node has not to go on with its replicas of a table, and for
/// each node that does not tell.
pub fn stalls(statuses: &Statuses) -> Vec<String> {
    let told = statuses.iter().map(|(node, status)| match status {
        Ok(status) => sentences(*node, status),
        Err(why) => vec![format!(
            "node {node} does not tell how its replicas are: {why}"
        )],
    });
    told.flatten().collect()
}

fn sentences(node: i64, status: &Value) -> Vec<String> {
    let mut reasons: BTreeMap<(bool, &str), Vec<u64>> = BTreeMap::new();
    let replicas = status["replicas"].as_array().into_iter().flatten();
    for one in replicas {
        let (stall, damage) = (one["stall"].as_str(), one["damage"].as_str());
        let reason = damage.map(|why| (true, why));
        if let Some(reason) = reason.or(stall.map(|why| (false, why))) {
            let partition = one["partition"].as_u64().unwrap_or_default();
            reasons.entry(reason).or_default().push(partition);
        }
    }
    let sentences = reasons.into_iter().map(|((is_damaged, why), partitions)| {
        let (names, is_one) = (listed(&partitions), partitions.len() == 1);
        let what = match (is_damaged, is_one) {
            (true, true) => "is damaged",
            (true, false) => "are damaged",
            (false, true) => "does not go on",
            (false, false) => "do not go on",
        };
        format!("node {node}: {names} {what}: {why}")
    });
    sentences.collect()
}

fn listed(partitions: &[u64]) -> String {
    let named: Vec<String> = partitions
        .iter()
        .take(NAMED_MAX)
        .map(u64::to_string)
        .collect();
    let word = match partitions.len() {
        1 => "partition",
        _ => "partitions",
    };
    let more = match partitions.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests;
