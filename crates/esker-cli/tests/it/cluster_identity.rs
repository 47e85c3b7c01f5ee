//! Who a node is and where: one that moved is found, and a copy of one is told from it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings};

use crate::blocks::block;
use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Bench;

/// Longest that a node takes to end that is to.
const SOON: Duration = Duration::from_secs(40);

/// A node that was started by hand, and is killed with the test.
pub struct ByHand(Child);

impl ByHand {
    pub fn start(bench: &Bench, words: &[&str]) -> ByHand {
        let any = ["serve", "--json", "--meta-port", "0", "--data-port", "0"];
        let mut command = bench.command(&[&any[..], &QUICK, words].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        ByHand(command.spawn().unwrap())
    }

    /// Waits until it serves, or ends.
    fn serves(&mut self) -> bool {
        let mut line = String::new();
        let out = self.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap() > 0
    }

    /// Waits until it ends; its code and its lines. One that does not end is killed.
    pub fn ends(mut self) -> (i32, String) {
        let mut err = self.0.stderr.take().unwrap();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let mut lines = String::new();
            err.read_to_string(&mut lines).unwrap();
            tell.send(lines).unwrap();
        });
        let lines = told.recv_timeout(SOON).unwrap_or_else(|_| {
            self.0.kill().unwrap();
            told.recv().unwrap()
        });
        (self.0.wait().unwrap().code().unwrap_or(-1), lines)
    }

    fn stop(self) -> String {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(sent.success());
        let (code, lines) = self.ends();
        assert_eq!(code, 0, "{lines}");
        lines
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        // It may have ended long ago; here and below.
        let _ = self.0.kill();
        // As above.
        let _ = self.0.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.unwrap().success());
}

fn peer(row: &serde_json::Value) -> String {
    row["peer"].as_str().unwrap().to_owned()
}

fn meta(row: &serde_json::Value) -> String {
    row["meta"].as_str().unwrap().to_owned()
}

/// Waits until the meta service has three replicas that vote: a new cluster begins with one, and
/// grows while it serves.
fn until_meta_has_three(rows: &[serde_json::Value]) {
    let metas = rows.iter().map(|row| meta(row).parse().unwrap());
    let client = Client::new(metas.collect(), ClientSettings::default());
    let admin = client.admin(SOON);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let deadline = Instant::now() + SOON;
    loop {
        // There are no tables, so what is under way is of the meta service.
        let told = runtime.block_on(admin.describe()).unwrap();
        let of = |key: &str| told.iter().find(|one| one.0 == key).unwrap().1.as_str();
        let count = of("meta_servers").split(',').count();
        if (count, of("balance_operation_count")) == (3, "0") {
            return;
        }
        assert!(Instant::now() < deadline, "{told:?}");
    }
}

/// The nodes, by the meta service at that address.
fn listed(cluster: &Cluster, asked: &str) -> serde_json::Value {
    let words = ["node", "list", "--json", "--timeout", "20s", "--meta"];
    cluster.bench.ok(&[&words[..], &[asked]].concat()).json()
}

#[test]
fn the_first_node_joins_the_others_when_its_directory_was_lost() {
    // With nobody to join it would begin a cluster of its own, at an address of this one.
    let cluster = Cluster::start("3");
    let rows = cluster.rows();
    until_meta_has_three(&rows);
    cluster.ok(&["kill", "1"]);
    std::fs::remove_dir_all(cluster.bench.path("cluster/node1")).unwrap();
    cluster.ok(&[&["start"], &QUICK[..]].concat());
    assert_eq!(cluster.states(), ["running"; 3]);
    // Whomever one asks: it is one cluster.
    for asked in rows.iter().map(meta) {
        let told = listed(&cluster, &asked);
        let numbers = told.as_array().unwrap().iter().map(|one| &one["node"]);
        // The old one goes once the new one has taken its place.
        let numbers: Vec<&serde_json::Value> = numbers.filter(|one| **one != 1).collect();
        assert_eq!(numbers, [2, 3, 4], "{told:#}");
    }
}

#[test]
fn a_copy_of_a_node_that_runs_ends_and_the_original_goes_on() {
    // Opened later, and told where two of the others are, but not where the original is.
    let cluster = Cluster::start("3");
    let rows = cluster.rows();
    let bench = &cluster.bench;
    copy(&bench.path("cluster/node2"), &bench.path("copy"));
    let others = [peer(&rows[0]), peer(&rows[2])].join(",");
    let words = ["--dir", "copy", "--peer-port", "0", "--join", &others];
    let (code, lines) = ByHand::start(bench, &words).ends();
    assert_eq!(code, 1, "{lines}");
    assert!(
        lines.contains("lives and speaks: this is a copy of its directory"),
        "{lines}"
    );
    assert_eq!(cluster.states(), ["running"; 3]);
    // One that was copied before the original was started again, and was opened more often.
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    cluster.ok(&["kill", "2"]);
    let (code, lines) = ByHand::start(bench, &words).ends();
    assert_eq!(code, 1, "{lines}");
    assert!(lines.contains("a copy of"), "{lines}");
    // In its place a command says so as well, though the process has begun by then.
    let (place, own) = (bench.path("cluster/node2"), bench.path("own"));
    std::fs::rename(&place, &own).unwrap();
    copy(&bench.path("copy"), &place);
    let ran = cluster.run(&[&["restart", "2"], &QUICK[..]].concat());
    let ran = ran.exits(1);
    assert!(ran.err.contains("a copy of"), "{ran:?}");
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(&own, &place).unwrap();
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    assert_eq!(cluster.states(), ["running"; 3]);
}

#[test]
fn a_directory_of_another_cluster_is_no_node_of_this_one() {
    // One that served by itself is put where node 2 of three was: it would serve there too, and
    // tell clients that there is no table.
    let cluster = Cluster::start("3");
    let bench = &cluster.bench;
    let mut other = ByHand::start(bench, &["--dir", "other", "--peer-port", "0"]);
    assert!(other.serves());
    other.stop();
    cluster.ok(&["kill", "2"]);
    let place = bench.path("cluster/node2");
    std::fs::rename(&place, bench.path("own")).unwrap();
    copy(&bench.path("other"), &place);
    let ran = cluster.run(&[&["restart", "2"], &QUICK[..]].concat());
    let ran = ran.exits(1);
    assert!(
        ran.err.contains("the directory is of node 1 of cluster "),
        "{ran:?}"
    );
    assert!(ran.err.contains("the directory that it had"), "{ran:?}");
    assert_eq!(cluster.states(), ["running", "dead", "running"]);
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(bench.path("own"), &place).unwrap();
    // Started while nobody runs who could tell, it ends once somebody does.
    let peers: Vec<String> = cluster.rows().iter().map(peer).collect();
    cluster.ok(&["stop"]);
    let words = ["--dir", "other", "--peer-port", "0", "--join"];
    let mut other = ByHand::start(bench, &[&words[..], &[&peers.join(",")]].concat());
    assert!(other.serves());
    cluster.ok(&[&["start"], &QUICK[..]].concat());
    let (code, lines) = other.ends();
    assert_eq!(code, 1, "{lines}");
    assert!(
        lines.contains("ERROR the node ends: the directory is of node 1 of cluster "),
        "{lines}"
    );
    assert_eq!(cluster.states(), ["running"; 3]);
}

#[test]
fn nodes_that_all_moved_find_one_another_by_those_they_are_told_to_join() {
    // Nobody knows where anybody is, so there is no majority that could be told.
    let cluster = Cluster::start("3");
    cluster.ok(&["stop"]);
    let first = block();
    let ports = [0, 1, 2].map(|at| (first + at).to_string());
    let join: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    let join = join.join(",");
    let mut nodes: Vec<ByHand> = (0..3)
        .map(|at| {
            let dir = format!("cluster/node{}", at + 1);
            let words = ["--dir", &dir, "--peer-port", &ports[at], "--join", &join];
            ByHand::start(&cluster.bench, &words)
        })
        .collect();
    let serving: Vec<bool> = nodes.iter_mut().map(ByHand::serves).collect();
    let lines: Vec<String> = nodes.into_iter().map(ByHand::stop).collect();
    assert_eq!(serving, [true; 3], "{lines:#?}");
    for lines in lines {
        assert!(!lines.contains("does not answer yet"), "{lines}");
    }
}

#[test]
fn a_node_that_ran_at_another_port_and_is_dead_was_not_removed() {
    let cluster = Cluster::start("3");
    let rows = cluster.rows();
    cluster.ok(&["kill", "2"]);
    let others = [peer(&rows[0]), peer(&rows[2])].join(",");
    let words = ["--dir", "cluster/node2", "--peer-port", "0", "--join"];
    let mut by_hand = ByHand::start(&cluster.bench, &[&words[..], &[&others]].concat());
    assert!(by_hand.serves());
    let (asked, deadline) = (meta(&rows[0]), Instant::now() + SOON);
    while peer(&listed(&cluster, &asked)[1]) == peer(&rows[1]) {
        assert!(Instant::now() < deadline, "the others hear where it is");
    }
    drop(by_hand);
    assert_eq!(cluster.states(), ["running", "dead", "running"]);
}

#[test]
fn a_file_that_may_not_grow_is_an_error_of_the_disk() {
    // The shell bounds the length of files, which is signalled to the process.
    let bench = Bench::new();
    let tool = env!("CARGO_BIN_EXE_esker");
    let words = "serve --dir node --meta-port 0 --data-port 0 --peer-port 0";
    let ran = Command::new("bash")
        .args(["-c", &format!("ulimit -f 64; exec {tool} {words}")])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let lines = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{lines}");
    assert!(lines.contains("File too large"), "{lines}");
}
