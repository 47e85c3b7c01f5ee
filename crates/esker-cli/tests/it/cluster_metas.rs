//! Five nodes of which those die that keep the meta service: clients come in all the same.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Ran;

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(90);

/// Runs a command at those meta servers.
fn run(cluster: &Cluster, metas: &str, words: &[&str]) -> Ran {
    let mut command = cluster.bench.command(words);
    command.env("ESKER_META", metas).env("ESKER_TABLE", "ships");
    cluster.bench.feed_command(command, b"")
}

/// Runs it until it ends well, or for so long that it never will.
#[track_caller]
fn until_ok(cluster: &Cluster, metas: &str, words: &[&str]) -> Ran {
    let began = Instant::now();
    loop {
        let ran = run(cluster, metas, words);
        if ran.code == 0 {
            return ran;
        }
        assert!(began.elapsed() < SOON, "{words:?}: {ran:?}");
    }
}

/// Looks until a log of a node has a line with that in it.
#[track_caller]
fn until_said(cluster: &Cluster, node: u64, part: &str) -> String {
    let path = cluster.bench.path(&format!("cluster/node{node}.log"));
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&path).unwrap();
        if let Some(line) = text.lines().find(|line| line.contains(part)) {
            return line.to_owned();
        }
        assert!(began.elapsed() < SOON, "node {node} never says {part}");
        std::thread::yield_now();
    }
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap().to_owned()
}

/// The nodes, once three of them have a replica of the meta service and no table has any.
fn with_metas(cluster: &Cluster, metas: &str) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let told = until_ok(cluster, metas, &["node", "list", "--json"]).json();
        let nodes = told.as_array().unwrap().clone();
        let have = nodes.iter().filter(|node| node["replicas"] == 1);
        if have.count() == 3 {
            return nodes;
        }
        assert!(began.elapsed() < SOON, "{nodes:?}");
    }
}

#[test]
fn new_clients_read_and_write_while_most_metas_are_dead() {
    // Each partition has a replica on all five nodes, so that three of them are enough; two of the
    // three that keep the meta service are killed, and clients know nothing but addresses.
    let cluster = Cluster::start("5");
    let rows = cluster.rows();
    let all: Vec<String> = rows.iter().map(|row| text(row, "meta")).collect();
    let all = all.join(",");
    let nodes = with_metas(&cluster, &all);
    let words = "table create ships --partitions 8 --replicas 5 --timeout 60s";
    let words: Vec<&str> = words.split(' ').collect();
    run(&cluster, &all, &words).exits(0);
    for ship in 0..20 {
        let ship = format!("ship{ship}");
        run(&cluster, &all, &["kv", "set", &ship, "port", &ship]).exits(0);
    }
    let number_of = |node: &Value| {
        let row = rows.iter().find(|row| row["meta"] == node["meta"]);
        row.unwrap()["node"].as_u64().unwrap()
    };
    let is_meta = |node: &&Value| node["replicas"] == 1;
    let (metas, others): (Vec<&Value>, Vec<&Value>) = nodes.iter().partition(is_meta);
    for node in &metas[..2] {
        cluster.ok(&["kill", &number_of(node).to_string()]);
    }
    // Whoever is asked: the one that has a replica of the meta service, one that has none and asks
    // that one, and all addresses of before.
    let doors = [text(metas[2], "meta"), text(others[0], "meta"), all.clone()];
    for (at, door) in doors.iter().enumerate() {
        let value = at.to_string();
        let set = ["kv", "set", "anna", "port", &value, "--timeout", "20s"];
        until_ok(&cluster, door, &set);
        for ship in 0..20 {
            let ship = format!("ship{ship}");
            let told = run(
                &cluster,
                door,
                &["kv", "get", &ship, "port", "--timeout", "20s"],
            );
            assert_eq!(told.exits(0).text().trim(), ship);
        }
        let told = run(
            &cluster,
            door,
            &["kv", "get", "anna", "port", "--timeout", "20s"],
        );
        assert_eq!(told.exits(0).text().trim(), value);
    }
    // What needs a leader says that there is none, and is no slip of a name: the table may have
    // been made where this node did not hear of it.
    for words in [
        &["table", "list"][..],
        &["kv", "--table", "boats", "get", "anna", "port"],
    ] {
        let refused = run(&cluster, &all, words).exits(1);
        let why = "no server leads the meta service";
        assert!(refused.err.contains(why), "{refused:?}");
    }
    // A node that runs on says so, once, and says when it is over.
    let runs = number_of(others[0]);
    let line = until_said(&cluster, runs, "no leader of the meta service has answered");
    assert!(line.contains(" WARN "), "{line}");
    cluster.ok(&[&["start"][..], &QUICK].concat());
    let line = until_said(&cluster, runs, "a leader of the meta service answers again");
    assert!(line.contains(" INFO "), "{line}");
    let path = cluster.bench.path(&format!("cluster/node{runs}.log"));
    let log = std::fs::read_to_string(path).unwrap();
    let count = log.matches("no leader of the meta service has answered");
    assert_eq!(count.count(), 1, "{log}");
    until_ok(&cluster, &all, &["table", "list"]);
}
