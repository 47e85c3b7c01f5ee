//! Three nodes as processes, of which two are lost: new ones join, or the old ones come back.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

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

/// Accepts the loss: of nodes that are dead, at whose ports somebody else may listen for a moment.
fn accept(cluster: &Cluster, words: &[&str]) -> Ran {
    let began = Instant::now();
    let words = [&["--accept-loss"], words].concat();
    loop {
        let ran = recover(cluster, &words);
        if ran.code == 0 {
            return ran;
        }
        assert!(began.elapsed() < SOON, "{ran:?}");
    }
}

/// The act on the node that is left, and what follows of it for the table.
fn go_on(cluster: &Cluster) -> String {
    let done = accept(cluster, &[]);
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

/// All that lies in the directory of a node, and when it was written last.
fn contents(cluster: &Cluster, node: usize) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut folders = vec![cluster.bench.path(&format!("cluster/node{node}"))];
    let mut all = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        let when = fs::metadata(&folder).unwrap().modified().unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::metadata(&path).unwrap();
            match metadata.is_dir() {
                true => folders.push(path),
                false => {
                    let bytes = fs::read(&path).unwrap();
                    all.insert(path, (bytes, metadata.modified().unwrap()));
                }
            }
        }
        all.insert(folder, (Vec::new(), when));
    }
    all
}

#[test]
fn it_is_taken_from_nobody_who_lives_or_can_elect() {
    let cluster = written();
    // Nothing is written however often it is tried, and those who live come to see what is so.
    let refuses = |why: &str| {
        let began = Instant::now();
        let before = contents(&cluster, LEFT);
        loop {
            let refused = recover(&cluster, &["--accept-loss"]).exits(1);
            assert!(refused.err.contains("Nothing was given up"), "{refused:?}");
            assert!(
                contents(&cluster, LEFT) == before,
                "something was written all the same"
            );
            if refused.err.contains(why) {
                break;
            }
            assert!(began.elapsed() < SOON, "{refused:?}");
        }
        // Nor is it done by halves.
        let looked = recover(&cluster, &["--json"]).exits(0);
        assert_eq!(looked.json()["accepted"], false, "{looked:?}");
    };
    // The node was stopped, perhaps, and the others go on; or have not chosen a leader yet. One is
    // frozen, which nobody sees but who waits for it.
    cluster.ok(&["kill", &LEFT.to_string()]);
    let list = ["node", "list"];
    until(&cluster, (&meta(&cluster, 1), &list), |_| true);
    refuses("the meta service of this cluster lives");
    cluster.ok(&["kill", "1"]);
    refuses("with this one are enough for a leader: nothing is lost");
    cluster.ok(&["pause", "2"]);
    refuses("with this one are enough for a leader: nothing is lost");
    // Now most of them are gone: a person decides, and hears who was asked.
    cluster.ok(&["kill", "2"]);
    let done = accept(&cluster, &["--json"]);
    let asked = done.json()["asked"].clone();
    let asked: Vec<_> = asked.as_array().unwrap().iter().collect();
    let said: Vec<_> = asked
        .iter()
        .map(|one| (one["node"].as_u64(), one["says"].as_str()))
        .collect();
    assert_eq!(said, [(Some(1), Some("away")), (Some(2), Some("away"))]);
    assert!(
        done.err.contains("node 1 at 127.0.0.1:") && done.err.contains("does not answer"),
        "{done:?}"
    );
    assert_eq!(done.json()["accepted"], true);
    // Once more is as once, and nobody is asked.
    let again = recover(&cluster, &["--accept-loss", "--json"]).exits(0);
    assert_eq!(again.json()["asked"].as_array().unwrap().len(), 0);
}

#[test]
fn who_knows_better_takes_it_from_the_living() {
    let cluster = written();
    cluster.ok(&["kill", &LEFT.to_string()]);
    let words = ["--accept-loss", "--despite-living"];
    let done = recover(&cluster, &words).exits(0);
    assert!(done.err.contains("It goes on all the same"), "{done:?}");
    assert!(done.text().contains("It goes on alone"), "{done:?}");
    // Without the acceptance it says nothing.
    recover(&cluster, &["--despite-living"]).exits(2);
}

#[test]
fn who_knows_better_needs_no_room_for_a_look() {
    let cluster = written();
    cluster.ok(&["kill", &LEFT.to_string()]);
    let without_room = |words: &[&str]| {
        let node = format!("cluster/node{LEFT}");
        let words = [
            &["serve", "--dir", &node, "--recover-meta", "--accept-loss"],
            words,
        ]
        .concat();
        let mut command = cluster.bench.command(&words);
        command.env("TMPDIR", cluster.bench.path("nowhere"));
        cluster.bench.feed_command(command, b"")
    };
    let refused = without_room(&[]).exits(1);
    assert!(refused.err.contains("nowhere"), "{refused:?}");
    let done = without_room(&["--despite-living"]).exits(0);
    assert!(done.text().contains("It goes on alone"), "{done:?}");
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
    // A node that was killed has much to take up, and who only looks leaves that to it.
    let before = contents(&cluster, LEFT);
    let looked = recover(&cluster, &[]).exits(0);
    assert!(
        contents(&cluster, LEFT) == before,
        "something in the directory has changed"
    );
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
