//! A table as people and programs read it.

use esker_rpc::message::meta::{TableDescription, TableStatus};
use serde_json::{Value, json};

/// What has become of a table, in a word or two.
pub fn state(table: &TableDescription) -> &'static str {
    match table.status {
        TableStatus::AS_AVAILABLE => "serves",
        TableStatus::AS_CREATING => "being made",
        TableStatus::AS_DROPPING => "being dropped",
        TableStatus::AS_DROPPED => "dropped",
        TableStatus::AS_RECALLING => "being recalled",
        _ => "failed",
    }
}

/// A table as an object.
pub fn spell_table(one: &TableDescription) -> Value {
    json!({
        "number": one.app_id,
        "name": one.app_name,
        "state": state(one),
        "partitions": one.partition_count,
        "replicas": one.max_replica_count,
        "envs": one.envs,
        "created": one.create_second,
        "recall_until": (one.status == TableStatus::AS_DROPPED).then_some(one.expire_second),
    })
}
