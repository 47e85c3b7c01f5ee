//! What nodes say of their replicas, put together.

use super::*;

#[test]
fn what_nodes_say_is_counted_and_told() {
    let replica = |asked_s: u64, state: &str| -> Value {
        json!({ "compaction": { "asked_s": asked_s, "state": state } })
    };
    let mut progress = Progress {
        asked_s: 100,
        ..Progress::default()
    };
    let running = json!({ "started_s": 50, "replicas": [
        replica(100, "done"),
        replica(101, "failed"),
        replica(100, "running"),
        replica(90, "done"),
        replica(0, "none"),
    ]});
    let restarted = json!({ "started_s": 101, "replicas": [replica(0, "none")] });
    progress.add(&running);
    progress.add(&restarted);
    let counts = (progress.done, progress.running, progress.waiting);
    assert_eq!(counts, (1, 1, 2));
    assert_eq!((progress.failed, progress.skipped), (1, 1));
    let sentence = progress.sentence();
    assert!(sentence.starts_with("1 of 6 replicas done, 1 under way, 2 to come, 1 failed"));
    assert!(
        sentence.contains("1 left out") && sentence.ends_with("UTC"),
        "{sentence}"
    );
}

#[test]
fn a_request_is_later_than_the_one_before() {
    // Nodes do what is asked for later than what they did; a clock may be behind another one.
    assert_eq!(next_request_s(None, 100), 100);
    assert_eq!(next_request_s(Some(90), 100), 100);
    assert_eq!(next_request_s(Some(100), 100), 101);
    assert_eq!(next_request_s(Some(170), 100), 171);
}
