//! A cluster that is limited, watched and compacted, through the tool.

use serde_json::Value;

use crate::blocks::free_ports;
use crate::tool::{Bench, Ran};

/// The cluster of a test, which ends with it.
struct Cluster {
    bench: Bench,
    metas: String,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A test that failed has said why already.
        let _ = self.bench.run(&["cluster", "--dir", "cluster", "stop"]);
    }
}

impl Cluster {
    fn start() -> Cluster {
        let bench = Bench::new();
        let ports = free_ports();
        let words = [
            &["cluster", "--dir", "cluster", "start", "--nodes", "2"][..],
            &[ports.as_str(), "--json", "--set", "memory_limit=16MiB"],
            &[
                "--set",
                "slow_query_threshold=1ms",
                "--set",
                "log_segment=1MiB",
            ],
        ];
        let rows = bench.ok(&words.concat()).json();
        let metas = rows.as_array().unwrap().iter();
        let metas: Vec<&str> = metas.map(|row| row["meta"].as_str().unwrap()).collect();
        let metas = metas.join(",");
        Cluster { bench, metas }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.bench.command(&[words, &["--timeout", "60s"]].concat());
        command.env("ESKER_META", &self.metas);
        command.env("ESKER_TABLE", "ships");
        self.bench.feed_command(command, b"")
    }

    /// A put that took a millisecond: most do, with two nodes that sync.
    fn slow_put(&self) -> Value {
        for _ in 0..200 {
            self.ok(&["kv", "set", "anna", "state", "in port"]);
            let slow = self.ok(&["node", "slow", "--json"]).json();
            let mut calls = slow.as_array().unwrap().iter();
            if let Some(put) = calls.find(|call| call["call"] == "put") {
                return put.clone();
            }
        }
        panic!("200 puts, and none took a millisecond");
    }

    #[track_caller]
    fn ok(&self, words: &[&str]) -> Ran {
        self.run(words).exits(0)
    }
}

#[test]
fn a_table_is_limited_watched_and_compacted() {
    // Of four partitions with two replicas each: a limit that makes no sense is told a right one,
    // calls are slow from a millisecond on, and a compaction is done at all eight replicas.
    let cluster = Cluster::start();
    cluster.ok(&[
        "table",
        "create",
        "ships",
        "--partitions",
        "4",
        "--replicas",
        "2",
    ]);
    let bad = ["table", "set", "ships", "replica.write_throttling", "fast"];
    let bad = cluster.run(&bad).exits(1);
    assert!(
        bad.err.contains("20000*delay*100,30000*reject*200"),
        "{bad:?}"
    );
    let put = cluster.slow_put();
    assert_eq!(
        (&put["table"], &put["hash_key"]),
        (&"ships".into(), &"anna".into())
    );
    assert!(put["phases"]["commit_us"].is_u64(), "{put}");
    let node = put["node"].to_string();
    let told = cluster.ok(&["node", "slow", &node]);
    assert!(
        told.text().contains("anna") && told.text().contains("ships."),
        "{told:?}"
    );
    let done = cluster.ok(&["table", "compact", "ships", "--wait"]);
    assert!(
        done.text()
            .starts_with("8 of 8 replicas done; asked for at "),
        "{done:?}"
    );
    let told = cluster.ok(&["table", "describe", "ships"]);
    assert!(
        told.text().contains("compaction  8 of 8 replicas done"),
        "{told:?}"
    );
    let told: Value = cluster.ok(&["table", "describe", "ships", "--json"]).json();
    assert_eq!(told["compaction"]["done"], 8);
    // Of one partition: both of its replicas, and no other.
    let words = ["table", "compact", "ships", "--partition", "3"];
    let done = cluster.ok(&[&words[..], &["--wait"]].concat());
    let text = done.text();
    assert!(text.starts_with("2 of 2 replicas done; "), "{done:?}");
    cluster.ok(&[&words[..4], &["0"]].concat());
    cluster.run(&[&words[..4], &["4"]].concat()).exits(2);
    cluster.ok(&["table", "set", "ships", "manual_compact.disabled", "true"]);
    let off = cluster.run(&["table", "compact", "ships"]).exits(1);
    assert!(off.err.contains("switched off"), "{off:?}");
}
