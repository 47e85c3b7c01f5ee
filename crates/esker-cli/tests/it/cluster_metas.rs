//! Five nodes of which those die that keep the meta service: clients come in all the same.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Ran;

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

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

/// What a node has said so far.
fn log(cluster: &Cluster, node: u64) -> String {
    let path = cluster.bench.path(&format!("cluster/node{node}.log"));
    std::fs::read_to_string(path).unwrap()
}

/// Looks until a log of a node has a line with that in it behind what it had.
#[track_caller]
fn until_said(cluster: &Cluster, (node, had): (u64, usize), part: &str) -> String {
    let began = Instant::now();
    loop {
        let text = &log(cluster, node)[had..];
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

#[test]
fn new_clients_read_and_write_while_most_metas_are_dead() {
    // Each partition has a replica on all five nodes, so that three of them are enough; two of the
    // three that keep the meta service are killed, and clients know nothing but addresses.
    let cluster = Cluster::start("5");
    let rows = cluster.rows();
    let all: Vec<String> = rows.iter().map(|row| text(row, "meta")).collect();
    let all = all.join(",");
    let nodes = cluster.until_metas_vote(3);
    let words = "table create ships --partitions 8 --replicas 5 --timeout 60s";
    let words: Vec<&str> = words.split(' ').collect();
    run(&cluster, &all, &words).exits(0);
    for ship in 0..20 {
        let ship = format!("ship{ship}");
        let set = ["kv", "set", &ship, "port", &ship, "--timeout", "60s"];
        run(&cluster, &all, &set).exits(0);
    }
    let number_of = |node: &Value| {
        let row = rows.iter().find(|row| row["meta"] == node["meta"]);
        row.unwrap()["node"].as_u64().unwrap()
    };
    let is_meta = |node: &&Value| node["votes_in_meta"] == true;
    // Who wants to read the log of the one that leads it is told which that is.
    let leaders: Vec<&Value> = nodes
        .iter()
        .filter(|one| one["leads_meta"] == true)
        .collect();
    assert!(leaders.len() == 1 && is_meta(&leaders[0]), "{nodes:#?}");
    let (metas, others): (Vec<&Value>, Vec<&Value>) = nodes.iter().partition(is_meta);
    let runs = number_of(others[0]);
    let had = log(&cluster, runs).len();
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
                &["kv", "get", &ship, "port", "--timeout", "60s"],
            );
            assert_eq!(told.exits(0).text().trim(), ship);
        }
        let told = run(
            &cluster,
            door,
            &["kv", "get", "anna", "port", "--timeout", "60s"],
        );
        assert_eq!(told.exits(0).text().trim(), value);
    }
    // What needs a leader says that there is none, and is no slip of a name: the table may have
    // been made where this node did not hear of it.
    for words in [
        &["table", "list"][..],
        &["kv", "--table", "boats", "get", "anna", "port"],
    ] {
        let words = [words, &["--timeout", "15s"]].concat();
        let refused = run(&cluster, &all, &words).exits(1);
        let why = "no server leads the meta service";
        assert!(refused.err.contains(why), "{refused:?}");
    }
    // A node that runs on says so, once, and says when it is over.
    let from_then = (runs, had);
    let line = until_said(
        &cluster,
        from_then,
        "no leader of the meta service has answered",
    );
    assert!(line.contains(" WARN "), "{line}");
    cluster.ok(&[&["start"][..], &QUICK].concat());
    let line = until_said(
        &cluster,
        from_then,
        "a leader of the meta service answers again",
    );
    assert!(line.contains(" INFO "), "{line}");
    let said = &log(&cluster, runs)[had..];
    let count = said.matches("no leader of the meta service has answered");
    assert_eq!(count.count(), 1, "{said}");
    until_ok(&cluster, &all, &["table", "list"]);
}
