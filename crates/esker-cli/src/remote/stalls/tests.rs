//! What is said of replicas that do not go on.

use serde_json::json;

use super::*;

#[test]
fn each_reason_of_a_node_is_one_sentence() {
    // One is damaged and was stalled before: it is damaged.
    let replica = |partition: u64, stall: Option<&str>, damage: Option<&str>| -> Value {
        json!({ "partition": partition, "stall": stall, "damage": damage })
    };
    let full = Some("the disk is full");
    let status = json!({ "replicas": [
        replica(0, full, None),
        replica(1, None, None),
        replica(2, full, Some("its rows cannot be read")),
        replica(3, full, None),
    ]});
    let refused = Err("connection refused".to_owned());
    let told = stalls(&vec![(7, Ok(status)), (8, refused), (9, Ok(json!({})))]);
    assert_eq!(
        told,
        [
            "node 7: partitions 0, 3 do not go on: the disk is full",
            "node 7: partition 2 is damaged: its rows cannot be read",
            "node 8 does not tell how its replicas are: connection refused",
        ]
    );
}

#[test]
fn of_many_partitions_the_first_are_named() {
    let all: Vec<u64> = (0..20).collect();
    assert_eq!(
        listed(&all),
        "partitions 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"
    );
}
