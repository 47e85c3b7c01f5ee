//! What is said of replicas that do not go on.

use serde_json::json;

use super::*;

#[test]
fn each_reason_of_a_node_is_one_sentence() {
    // One is damaged and was stalled before: it is damaged. Other tables have sentences of theirs.
    let replica = |table: &str, partition: u64, stall: Option<&str>, damage: Option<&str>| {
        json!({
            "table": table, "partition": partition, "stall": stall, "damage": damage,
        })
    };
    let full = Some("the disk is full");
    let status = json!({ "replicas": [
        replica("ships", 0, full, None),
        replica("ships", 1, None, None),
        replica("ships", 2, full, Some("its rows cannot be read")),
        replica("ships", 3, full, None),
        replica("boats", 4, full, None),
    ]});
    let told = sentences(7, &status, "ships");
    assert_eq!(
        told,
        [
            "node 7: partitions 0, 3 do not go on: the disk is full",
            "node 7: partition 2 is damaged: its rows cannot be read",
        ]
    );
    assert!(sentences(7, &status, "yachts").is_empty());
    assert!(sentences(7, &json!({}), "ships").is_empty(), "an older one");
}

#[test]
fn of_many_partitions_the_first_are_named() {
    let all: Vec<u64> = (0..20).collect();
    assert_eq!(
        listed(&all),
        "partitions 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"
    );
}
