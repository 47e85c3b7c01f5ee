//! The directory of a node that was removed, started by hand as if nothing were.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};
use crate::cluster_identity::ByHand;
use crate::tool::Ran;

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Rows of the test: those of even numbers are removed, the others set anew.
const SHIPS: u32 = 16;

/// What `kv get` ends with where nothing is.
const ABSENT: i32 = 3;

/// The node that is removed.
const GONE: &str = "4";

fn door(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap().to_owned()
}

/// A command to those who are there.
fn run(cluster: &Cluster, metas: &str, words: &[&str]) -> Ran {
    let mut command = cluster.bench.command(words);
    command.env("ESKER_META", metas).env("ESKER_TABLE", "ships");
    cluster.bench.feed_command(command, b"")
}

/// Runs it until it ends so, or for so long that it never will.
#[track_caller]
fn until(cluster: &Cluster, (metas, words): (&str, &[&str]), is_it: impl Fn(&Ran) -> bool) -> Ran {
    let began = Instant::now();
    let words = [words, &["--timeout", "20s"]].concat();
    loop {
        let ran = run(cluster, metas, &words);
        if is_it(&ran) {
            return ran;
        }
        assert!(began.elapsed() < SOON, "{words:?}: {ran:?}");
    }
}

#[track_caller]
fn ok(cluster: &Cluster, metas: &str, words: &[&str]) -> Ran {
    until(cluster, (metas, words), |ran| ran.code == 0)
}

fn numbers(ran: &Ran) -> Vec<i64> {
    let nodes = ran.json();
    let nodes = nodes.as_array().unwrap().iter();
    nodes.map(|one| one["node"].as_i64().unwrap()).collect()
}

/// Every row is as it was written last, and those that were removed are not there.
fn is_of_now(cluster: &Cluster, metas: &str) {
    for ship in 0..SHIPS {
        let name = format!("ship{ship}");
        let words = ["kv", "get", &name, "port"];
        let answered = |ran: &Ran| [0, ABSENT].contains(&ran.code);
        let told = until(cluster, (metas, &words), answered);
        let port = if ship % 2 == 0 { "" } else { "Kiel" };
        assert_eq!(told.text().trim(), port, "{name}: {told:?}");
    }
}

#[test]
fn the_directory_of_a_removed_node_is_told_so_whenever_it_is_started() {
    let cluster = Cluster::start("4");
    let bench = &cluster.bench;
    let rows = cluster.rows();
    let three = |name: &str| {
        let doors: Vec<String> = rows[..3].iter().map(|row| door(row, name)).collect();
        doors.join(",")
    };
    let (metas, peers) = (three("meta"), three("peer"));
    let words = ["table", "create", "ships", "--partitions", "4"];
    ok(&cluster, &metas, &words);
    for ship in 0..SHIPS {
        let name = format!("ship{ship}");
        ok(&cluster, &metas, &["kv", "set", &name, "port", "Hamburg"]);
    }
    cluster.until_metas_vote(3);
    cluster.ok(&["kill", GONE]);
    ok(&cluster, &metas, &["node", "remove", GONE, "--yes"]);
    let list = ["node", "list", "--json"];
    until(&cluster, (&metas, &list), |ran| {
        ran.code == 0 && numbers(ran) == [1, 2, 3]
    });
    // What its rows say is true no more.
    for ship in 0..SHIPS {
        let name = format!("ship{ship}");
        match ship % 2 {
            0 => ok(&cluster, &metas, &["kv", "del", &name, "port"]),
            _ => ok(&cluster, &metas, &["kv", "set", &name, "port", "Kiel"]),
        };
    }
    let dir = format!("cluster/node{GONE}");
    // It knows the others by itself, or is told where they are; and again and again.
    let alone = ["--dir", &dir, "--peer-port", "0"];
    let joining = [&alone[..], &["--join", &peers]].concat();
    let told = format!("node {GONE} was removed: its directory is of no use any more");
    for words in [&alone[..], &joining, &joining] {
        let (code, lines) = ByHand::start(bench, words).ends();
        assert_eq!(code, 1, "{words:?}: {lines}");
        assert!(lines.contains(&told), "{words:?}: {lines}");
    }
    // Nor may a cluster go on from what it has of the meta service: the others have gone on.
    for accepting in [&[][..], &["--accept-loss"]] {
        let words = [&["serve", "--dir", &dir, "--recover-meta"], accepting].concat();
        let refused = bench.run(&words).exits(1);
        assert!(refused.err.contains(&told), "{refused:?}");
    }
    assert_eq!(numbers(&ok(&cluster, &metas, &list)), [1, 2, 3]);
    is_of_now(&cluster, &metas);
    // Whoever else is started meanwhile finds nobody of the removed one in its groups.
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    is_of_now(&cluster, &metas);
    assert_eq!(cluster.states()[..3], ["running"; 3]);
}

/// The numbers of the nodes that vote in the meta service.
fn voters(ran: &Ran) -> Vec<i64> {
    let nodes = ran.json();
    let nodes = nodes.as_array().unwrap().iter();
    let voters = nodes.filter(|one| one["votes_in_meta"] == true);
    voters.map(|one| one["node"].as_i64().unwrap()).collect()
}

#[test]
fn the_directory_of_a_removed_node_takes_the_meta_service_from_nobody() {
    let cluster = Cluster::start("4");
    let bench = &cluster.bench;
    let rows = cluster.rows();
    let stay = |gone: usize| -> Vec<usize> { (1..=4).filter(|node| *node != gone).collect() };
    let metas = |nodes: &[usize]| {
        let doors = nodes.iter().map(|node| door(&rows[node - 1], "meta"));
        doors.collect::<Vec<_>>().join(",")
    };
    let list = ["node", "list", "--json"];
    let first = metas(&[1, 2, 3, 4]);
    let told = until(&cluster, (&first, &list), |ran| {
        ran.code == 0 && voters(ran).len() == 3
    });
    // One that votes, and is not the first: the lowest number of the others.
    let gone = usize::try_from(voters(&told)[1]).unwrap();
    let (there, number) = (stay(gone), gone.to_string());
    let metas = metas(&there);
    cluster.ok(&["kill", &number]);
    ok(&cluster, &metas, &["node", "remove", &number, "--yes"]);
    let there: Vec<i64> = there
        .into_iter()
        .map(|node| i64::try_from(node).unwrap())
        .collect();
    until(&cluster, (&metas, &list), |ran| {
        ran.code == 0 && numbers(ran) == there && voters(ran) == there
    });
    // It was not started since, so it does not know.
    let dir = format!("cluster/node{gone}");
    let accepts = ["serve", "--dir", &dir, "--recover-meta", "--accept-loss"];
    // Those that live are asked, and have lost nothing.
    let refused = bench.run(&accepts).exits(1);
    assert!(refused.err.contains("Nothing was given up"), "{refused:?}");
    bench
        .run(&[&accepts[..], &["--despite-living"]].concat())
        .exits(0);
    let words = ["--dir", &dir, "--peer-port", "0"];
    let _alone = ByHand::start(bench, &words);
    let log = |node: i64| {
        let path = bench.path(&format!("cluster/node{node}.log"));
        fs::read_to_string(path).unwrap()
    };
    let refused = format!("does not heed it: node {gone} was removed from the cluster");
    let is_told = || there.iter().all(|node| log(*node).contains(&refused));
    until(&cluster, (&metas, &list), |ran| ran.code == 0 && is_told());
    // Nobody else has noticed.
    let words = ["table", "create", "ships", "--partitions", "4"];
    ok(&cluster, &metas, &words);
    assert_eq!(voters(&ok(&cluster, &metas, &list)), there);
    for node in there {
        let log = log(node);
        assert!(!log.contains("of a meta service of before"), "{log}");
    }
}
