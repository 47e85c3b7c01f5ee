//! Replicas of the meta service that a disk has damaged: told, made anew, or gone on without.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// What is said of a replica that is damaged.
const DAMAGED: &str = "its replica of the meta service is damaged: ";

/// Ends a node, and has a bit of each file of its replica of the meta service differ.
fn damage(cluster: &Cluster, node: usize) {
    let number = node.to_string();
    // What is in memory is in files once it was stopped.
    cluster.ok(&[&["restart", &number], &QUICK[..]].concat());
    cluster.ok(&["kill", &number]);
    let db = format!("cluster/node{node}/db");
    let maps = cluster.bench.ok(&["levels", "--json", "--db", &db]).json();
    let of_meta = |map: &&Value| map["keyspace"].as_str().unwrap().starts_with("r.0.0.");
    let maps = maps.as_array().unwrap().iter().filter(of_meta);
    let runs = maps.flat_map(|map| map["runs"].as_array().unwrap());
    let files = runs.flat_map(|run| run["files"].as_array().unwrap());
    let mut count = 0;
    for file in files {
        let name = format!("{db}/{:06}.sst", file["number"].as_u64().unwrap());
        let path = cluster.bench.path(&name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[20] ^= 4;
        fs::write(&path, bytes).unwrap();
        count += 1;
    }
    assert!(count > 0, "{db} has no file of the meta service");
}

fn log(cluster: &Cluster, node: usize) -> String {
    let path = cluster.bench.path(&format!("cluster/node{node}.log"));
    fs::read_to_string(path).unwrap()
}

fn ailments(cluster: &Cluster, node: usize) -> String {
    cluster.rows()[node - 1]["ailments"].to_string()
}

#[track_caller]
fn until(what: &str, seen: impl Fn() -> String, is_so: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + SOON;
    loop {
        let seen = seen();
        if is_so(&seen) {
            return;
        }
        assert!(Instant::now() < deadline, "never {what}: {seen}");
    }
}

/// The lines that say that a replica is out for good.
fn is_out(lines: &str) -> impl Iterator<Item = &str> {
    let lines = lines.lines();
    lines.filter(|line| line.contains("of the meta service takes no part any more: "))
}

/// Until what is damaged has gone, and another replica is there in its place.
#[track_caller]
fn until_healed(cluster: &Cluster, node: usize) {
    let is_gone = |lines: &str| {
        let mut lines = lines.lines();
        lines.any(|line| line.contains("of the meta service is destroyed"))
    };
    until("destroyed", || log(cluster, node), is_gone);
    until("healed", || ailments(cluster, node), |told| told == "[]");
}

#[test]
fn a_damaged_replica_of_the_meta_service_is_made_anew_where_it_was() {
    let cluster = Cluster::start("3");
    cluster.until_metas_vote(3);
    damage(&cluster, 2);
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    until(
        "told",
        || log(&cluster, 2),
        |lines| is_out(lines).count() > 0,
    );
    until_healed(&cluster, 2);
    cluster.until_metas_vote(3);
    let lines = log(&cluster, 2);
    assert!(
        is_out(&lines).all(|line| line.contains(".sst, offset ")),
        "{lines}"
    );
    // It votes: with another one away there is a leader.
    cluster.ok(&["kill", "1"]);
    cluster.until_metas_vote(3);
}

#[test]
fn damage_of_most_replicas_is_told_and_the_sound_one_goes_on() {
    // It was told as if one had to wait: "the leader of the meta service has not told it yet".
    let cluster = Cluster::start("3");
    cluster.until_metas_vote(3);
    cluster.ok(&["stop"]);
    damage_both(&cluster);
    for node in [1, 2] {
        let is_told = |told: &str| told.contains(DAMAGED) && told.contains(".sst, offset ");
        until("told", || ailments(&cluster, node), is_told);
    }
    // Later starts know as much: what was found is kept.
    cluster.ok(&[&["restart", "1"], &QUICK[..]].concat());
    let told_twice = |lines: &str| is_out(lines).count() > 1;
    until("told again", || log(&cluster, 1), told_twice);
    let lines = log(&cluster, 1);
    assert!(
        is_out(&lines).all(|line| line.contains(".sst, offset ")),
        "{lines}"
    );
    // All nodes run, and that is not what is missing.
    let is_silent = |lines: &str| {
        lines.contains("until most replicas of the meta service are sound")
            && lines.contains("the one of this node is damaged: ")
    };
    until("silent", || log(&cluster, 1), is_silent);
    let look = |node: &str, words: &[&str]| {
        let dir = format!("cluster/node{node}");
        let words = [&["serve", "--dir", &dir, "--recover-meta"], words].concat();
        cluster.bench.run(&words)
    };
    cluster.ok(&["kill", "2", "3"]);
    let refused = look("2", &[]).exits(1);
    for part in [
        "takes no part any more: ",
        ".sst, offset ",
        "try the directories of",
    ] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    look("3", &[]).exits(0);
    // Of the nodes that are damaged one may run: it has nothing that could be lost.
    let accepted = || format!("{:?}", look("3", &["--accept-loss"]));
    until("accepted", accepted, |told| told.contains("code: 0"));
    cluster.ok(&[&["start"], &QUICK[..]].concat());
    cluster.until_metas_vote(3);
    for node in [1, 2] {
        until_healed(&cluster, node);
    }
}

/// Nodes 1 and 2, and all of them run.
fn damage_both(cluster: &Cluster) {
    for node in [1, 2] {
        damage(cluster, node);
    }
    cluster.ok(&[&["start"], &QUICK[..]].concat());
}
