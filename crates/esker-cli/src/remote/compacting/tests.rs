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
    let asked = Asked {
        all_s: Some(100),
        ..Asked::default()
    };
    progress.add(&running, &asked);
    progress.add(&restarted, &asked);
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

#[test]
fn a_partition_has_a_moment_of_its_own_and_settings_have_room_for_the_latest() {
    let envs = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    let mut asked = Asked::read(&envs(ASKED_OF_SOME, "3:105,7:90"));
    assert_eq!(
        (asked.of(&json!(3)), asked.of(&json!(4))),
        (Some(105), None)
    );
    asked.all_s = Some(100);
    assert_eq!(
        (asked.of(&json!(3)), asked.of(&json!(7))),
        (Some(105), Some(100))
    );
    assert_eq!(asked.last_s(), Some(105));
    asked.ask(3, 200);
    assert_eq!(asked.spell(), "7:90,3:200");
    for partition in 100..200 {
        asked.ask(partition, 1_700_000_000);
    }
    let spelled = asked.spell();
    assert!(spelled.len() <= SETTING_BYTES_MAX && spelled.ends_with(",199:1700000000"));
    assert_eq!(
        Asked::read(&envs(ASKED_OF_SOME, &spelled)).some_s,
        asked.some_s
    );
    let mut progress = Progress::default();
    let replica = |partition: u64, asked_s: u64| {
        let compaction = json!({ "asked_s": asked_s, "state": "done" });
        json!({ "partition": partition, "compaction": compaction })
    };
    let status = json!({ "started_s": 1, "replicas": [replica(1, 0), replica(2, 50)] });
    let mut asked = Asked::default();
    asked.ask(2, 50);
    progress.add(&status, &asked);
    assert_eq!(
        (progress.done, progress.waiting),
        (1, 0),
        "of one that was asked"
    );
}
