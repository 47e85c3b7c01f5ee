//! A setting of a table is in force when the command that sets it returns.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Ran;

/// Longest that it takes on a busy machine.
const SOON: Duration = Duration::from_secs(240);

/// Times that it is set and taken back: nodes hear of it at moments of their own.
const ROUNDS: usize = 4;

#[test]
fn a_setting_that_was_set_is_in_force_at_every_node() {
    // Nodes heard of it within a second, and the command did not wait: writes went on.
    let cluster = Cluster::start("3");
    cluster.until_metas_vote(3);
    let metas: Vec<String> = cluster
        .rows()
        .iter()
        .map(|row| row["meta"].as_str().unwrap().to_owned())
        .collect();
    let metas = metas.join(",");
    let run = |words: &[&str]| -> Ran {
        let mut command = cluster.bench.command(words);
        command
            .env("ESKER_META", &metas)
            .env("ESKER_TABLE", "ships");
        cluster.bench.feed_command(command, b"")
    };
    let words = [
        "table",
        "create",
        "ships",
        "--partitions",
        "8",
        "--timeout",
        "60s",
    ];
    run(&words).exits(0);
    // Keys of several partitions, which several nodes lead.
    let keys: Vec<String> = (0..6).map(|number| format!("ship{number}")).collect();
    let write = |key: &str, timeout: &str| {
        let words = ["kv", "set", key, "port", "Kiel", "--timeout", timeout];
        run(&words)
    };
    for key in &keys {
        write(key, "60s").exits(0);
    }
    let name = "replica.deny_client_request";
    let deadline = Instant::now() + SOON;
    let mut counted = 0;
    for round in 0.. {
        let words = ["table", "set", "ships", name, "timeout*write"];
        let set = run(&[&words[..], &["--timeout", "60s"]].concat()).exits(0);
        let key = &keys[round % keys.len()];
        let denied = write(key, "1s");
        // A node that stood still for long was dead to the others, and may answer by what it knew.
        let nodes = run(&["node", "list", "--json", "--timeout", "60s"]);
        let all_live = |nodes: &Value| {
            let mut nodes = nodes.as_array().unwrap().iter();
            nodes.all(|node| node["is_alive"] == true)
        };
        if set.err.is_empty() && nodes.code == 0 && all_live(&nodes.json()) {
            assert_ne!(denied.code, 0, "{round}: {key} was written: {denied:?}");
            counted += 1;
        }
        let words = ["table", "unset", "ships", name, "--timeout", "60s"];
        run(&words).exits(0);
        write(key, "60s").exits(0);
        if counted == ROUNDS {
            break;
        }
        assert!(Instant::now() < deadline, "{counted} of {round}: {nodes:?}");
    }
    // Who is dead is not waited for.
    cluster.ok(&["kill", "3"]);
    let words = [
        "table",
        "set",
        "ships",
        name,
        "timeout*write",
        "--timeout",
        "60s",
    ];
    run(&words).exits(0);
    cluster.ok(&[&["restart", "3"], &QUICK[..]].concat());
}
