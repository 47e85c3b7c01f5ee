//! Three nodes as processes, of which two are lost: new ones join, or the old ones come back.

use std::fs;
use std::time::{Duration, Instant};

use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Ran;

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Rows of the test.
const SHIPS: u32 = 100;

/// The node that is left. Not the one that founded the cluster.
const LEFT: usize = 3;

/// The door for administration of a node.
fn meta(cluster: &Cluster, node: usize) -> String {
    cluster.rows()[node - 1]["meta"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn run(cluster: &Cluster, meta: &str, words: &[&str]) -> Ran {
    let mut command = cluster.bench.command(words);
    command.env("ESKER_META", meta).env("ESKER_TABLE", "ships");
    cluster.bench.feed_command(command, b"")
}

/// Runs it until it ends well and says that, or for so long that it never will.
#[track_caller]
fn until(cluster: &Cluster, (meta, words): (&str, &[&str]), is_it: impl Fn(&Ran) -> bool) -> Ran {
    let began = Instant::now();
    let words = [words, &["--timeout", "20s"]].concat();
    loop {
        let ran = run(cluster, meta, &words);
        if ran.code == 0 && is_it(&ran) {
            return ran;
        }
        assert!(began.elapsed() < SOON, "{words:?}: {ran:?}");
    }
}

fn read_all(cluster: &Cluster, meta: &str) {
    let told = until(cluster, (meta, &["kv", "count"]), |_| true);
    assert_eq!(told.text().trim(), SHIPS.to_string());
    for ship in 0..SHIPS {
        let ship = format!("ship{ship}");
        let told = until(cluster, (meta, &["kv", "get", &ship, "port"]), |_| true);
        assert_eq!(told.text().trim(), ship);
    }
}

/// Whether each partition of the table has three replicas.
fn is_whole(cluster: &Cluster, meta: &str) -> bool {
    let words = ["table", "describe", "ships", "--json", "--timeout", "20s"];
    let told = run(cluster, meta, &words);
    if told.code != 0 {
        return false;
    }
    let told = told.json();
    let mut partitions = told["placing"].as_array().unwrap().iter();
    partitions.all(|one| {
        let others = one["secondaries"].as_array().unwrap().len();
        others == 2 && one["primary"].as_str().is_some_and(|node| !node.is_empty())
    })
}

#[track_caller]
fn until_whole(cluster: &Cluster, meta: &str) {
    let began = Instant::now();
    while !is_whole(cluster, meta) {
        assert!(began.elapsed() < SOON, "it is never whole");
    }
}

/// Three nodes, all with a replica of the meta service and of each partition; then they are killed.
fn written() -> Cluster {
    let cluster = Cluster::start("3");
    let first = meta(&cluster, 1);
    until(&cluster, (&first, &["node", "list", "--json"]), |ran| {
        let nodes = ran.json();
        let mut nodes = nodes.as_array().unwrap().iter();
        nodes.all(|node| node["votes_in_meta"] == true)
    });
    let words = ["table", "create", "ships", "--partitions", "4"];
    until(&cluster, (&first, &words), |_| true);
    for ship in 0..SHIPS {
        let ship = format!("ship{ship}");
        until(
            &cluster,
            (&first, &["kv", "set", &ship, "port", &ship]),
            |_| true,
        );
    }
    until_whole(&cluster, &first);
    cluster
}

fn recover(cluster: &Cluster, words: &[&str]) -> Ran {
    let node = format!("cluster/node{LEFT}");
    let words = [&["serve", "--dir", &node, "--recover-meta"], words].concat();
    cluster.bench.run(&words)
}

/// The act on the node that is left, and what follows of it for the table.
fn go_on(cluster: &Cluster) -> String {
    let done = recover(cluster, &["--accept-loss"]).exits(0);
    assert!(done.text().contains("It goes on alone"), "{done:?}");
    cluster.ok(&[&["restart", &LEFT.to_string()], &QUICK[..]].concat());
    let left = meta(cluster, LEFT);
    // Not before the others were silent for a while.
    let words = [
        "table",
        "recover",
        "ships",
        "--accept-loss",
        "--yes",
        "--json",
    ];
    until(cluster, (&left, &words), |ran| {
        ran.json()["recovered"]["partitions"]
            .as_array()
            .is_some_and(|all| all.len() == 4)
    });
    read_all(cluster, &left);
    left
}

#[test]
fn a_cluster_that_lost_two_of_three_directories_goes_on_and_new_nodes_join() {
    let cluster = written();
    cluster.ok(&["kill", "1", "2"]);
    for node in [1, 2] {
        fs::remove_dir_all(cluster.bench.path(&format!("cluster/node{node}"))).unwrap();
    }
    let refused = recover(&cluster, &["--accept-loss"]).exits(1);
    assert!(refused.err.contains("another process has"), "{refused:?}");
    cluster.ok(&["kill", "3"]);
    let looked = recover(&cluster, &[]).exits(0);
    assert!(looked.text().contains("1 table, 3 nodes"), "{looked:?}");
    assert!(looked.text().contains("Nothing was given up"), "{looked:?}");
    let left = go_on(&cluster);

    cluster.ok(&[&["start"], &QUICK[..]].concat());
    until_whole(&cluster, &left);
    read_all(&cluster, &left);
    let words = ["kv", "set", "anna", "port", "Bremen"];
    until(&cluster, (&meta(&cluster, 1), &words), |_| true);
    // The meta service has grown again: it bears the loss of the one that went on.
    let words = ["node", "list", "--json"];
    let nodes = until(&cluster, (&left, &words), |ran| {
        let nodes = ran.json();
        let nodes = nodes.as_array().unwrap().iter();
        nodes.filter(|node| node["votes_in_meta"] == true).count() == 3
    });
    assert!(nodes.json().as_array().unwrap().len() >= 3);
}

#[test]
fn those_that_come_back_are_told_that_the_meta_service_went_on() {
    let cluster = written();
    cluster.ok(&["kill", "1", "2", "3"]);
    let left = go_on(&cluster);
    let words = [
        "table",
        "create",
        "boats",
        "--partitions",
        "2",
        "--replicas",
        "1",
    ];
    until(&cluster, (&left, &words), |_| true);
    cluster.ok(&[&["restart", "1", "2"], &QUICK[..]].concat());
    until_whole(&cluster, &left);
    read_all(&cluster, &left);
    for node in [1, 2] {
        let told = until(
            &cluster,
            (&meta(&cluster, node), &["table", "list"]),
            |_| true,
        );
        assert!(told.text().contains("boats"), "{told:?}");
        let log = cluster.bench.path(&format!("cluster/node{node}.log"));
        let log = fs::read_to_string(log).unwrap();
        assert!(
            log.contains("of a meta service of before, and goes"),
            "{log}"
        );
    }
}
