//! Who a node is and where: one that moved is found, and a copy of one is told from it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::blocks::block;
use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Bench;

/// Longest that a node takes to end that is to, on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// A node that was started by hand, and is killed with the test.
pub struct ByHand(Child);

impl ByHand {
    pub fn start(bench: &Bench, words: &[&str]) -> ByHand {
        ByHand::of(bench.command(&ByHand::words(words)))
    }

    /// One that may have so many descriptors at the most.
    pub fn limited(bench: &Bench, descriptors_max: u32, words: &[&str]) -> ByHand {
        let tool = bench.command(&ByHand::words(words));
        let mut command = Command::new("bash");
        let script = format!("ulimit -n {descriptors_max} && exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(tool.get_program());
        command.args(tool.get_args()).current_dir(bench.path(""));
        ByHand::of(command)
    }

    fn words<'a>(words: &[&'a str]) -> Vec<&'a str> {
        let any = ["serve", "--json", "--meta-port", "0", "--data-port", "0"];
        [&any[..], &QUICK, words].concat()
    }

    fn of(mut command: Command) -> ByHand {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        ByHand(command.spawn().unwrap())
    }

    /// Waits until it serves, or ends; where it serves.
    pub fn serves(&mut self) -> Option<Value> {
        let mut line = String::new();
        let out = self.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        serde_json::from_str(&line).ok()
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

    pub fn stop(self) -> String {
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

fn peer(row: &Value) -> String {
    row["peer"].as_str().unwrap().to_owned()
}

fn meta(row: &Value) -> String {
    row["meta"].as_str().unwrap().to_owned()
}

/// The nodes, by the meta service at that address.
fn listed(cluster: &Cluster, asked: &str) -> Value {
    let words = ["node", "list", "--json", "--timeout", "60s", "--meta"];
    cluster.bench.ok(&[&words[..], &[asked]].concat()).json()
}

#[test]
fn the_first_node_joins_the_others_when_its_directory_was_lost() {
    // With nobody to join it would begin a cluster of its own, at an address of this one.
    let cluster = Cluster::start("3");
    let rows = cluster.rows();
    cluster.until_metas_vote(3);
    cluster.ok(&["kill", "1"]);
    std::fs::remove_dir_all(cluster.bench.path("cluster/node1")).unwrap();
    cluster.ok(&[&["start"], &QUICK[..]].concat());
    assert_eq!(cluster.states(), ["running"; 3]);
    // Whomever one asks: it is one cluster.
    for asked in rows.iter().map(meta) {
        let told = listed(&cluster, &asked);
        let numbers = told.as_array().unwrap().iter().map(|one| &one["node"]);
        // The old one goes once the new one has taken its place.
        let numbers: Vec<&Value> = numbers.filter(|one| **one != 1).collect();
        assert_eq!(numbers, [2, 3, 4], "{told:#}");
    }
    // Two numbers of one node: both are told, and no third node is called by either.
    let status = cluster.ok(&["status"]);
    let mut lines = status.text().lines();
    assert!(
        lines.next().unwrap().starts_with("node  in cluster state "),
        "{status:?}"
    );
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("1     4          running "),
        "{status:?}"
    );
    let ran = cluster.run(&["kill", "4"]).exits(2);
    assert!(
        ran.err.contains("node 4 of the cluster is node 1 here"),
        "{ran:?}"
    );
    cluster.ok(&[&["add"], &QUICK[..]].concat());
    let rows = cluster.rows();
    let added = &rows[3];
    assert_eq!(
        (&added["node"], &added["number_in_cluster"]),
        (&5.into(), &5.into())
    );
    let ran = cluster.ok(&["kill", "1"]);
    assert!(
        ran.err.contains("node 1 here is node 4 of the cluster"),
        "{ran:?}"
    );
}

#[test]
fn a_copy_of_a_node_that_runs_ends_and_the_original_goes_on() {
    // Opened later, and told where two of the others are, but not where the original is.
    let cluster = Cluster::start("3");
    cluster.until_metas_vote(3);
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
    cluster.until_metas_vote(3);
    let bench = &cluster.bench;
    let mut other = ByHand::start(bench, &["--dir", "other", "--peer-port", "0"]);
    assert!(other.serves().is_some());
    other.stop();
    cluster.ok(&["kill", "2"]);
    let place = bench.path("cluster/node2");
    std::fs::rename(&place, bench.path("own")).unwrap();
    copy(&bench.path("other"), &place);
    let ran = cluster.run(&[&["restart", "2"], &QUICK[..]].concat());
    // A start does not wait long for the others to say who they are; it ends all the same.
    let deadline = Instant::now() + SOON;
    while cluster.states() != ["running", "dead", "running"] {
        assert!(Instant::now() < deadline, "{ran:?}, {:?}", cluster.states());
    }
    let told = match ran.code {
        0 => std::fs::read_to_string(bench.path("cluster/node2.log")).unwrap(),
        _ => ran.exits(1).err,
    };
    for part in [
        "the directory is of node 1 of cluster ",
        "the directory that it had",
    ] {
        assert!(told.contains(part), "{told}");
    }
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(bench.path("own"), &place).unwrap();
    // Started while nobody runs who could tell, it ends once somebody does.
    let peers: Vec<String> = cluster.rows().iter().map(peer).collect();
    cluster.ok(&["stop"]);
    let words = ["--dir", "other", "--peer-port", "0", "--join"];
    let mut other = ByHand::start(bench, &[&words[..], &[&peers.join(",")]].concat());
    assert!(other.serves().is_some());
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
    let peers = ports.each_ref().map(|port| format!("127.0.0.1:{port}"));
    let join = peers.join(",");
    let mut nodes = [0, 1, 2].map(|at| {
        let dir = format!("cluster/node{}", at + 1);
        let words = ["--dir", &dir, "--peer-port", &ports[at], "--join", &join];
        ByHand::start(&cluster.bench, &words)
    });
    let told = nodes.each_mut().map(ByHand::serves);
    let asked = told.each_ref().map(|told| told.as_ref().map(meta));
    let is_at_its_own = |one: &Value| peers.contains(&peer(one)) && one["is_alive"] == true;
    let deadline = Instant::now() + SOON;
    for asked in asked.iter().flatten() {
        loop {
            let listed = listed(&cluster, asked);
            let all = listed.as_array().unwrap();
            if all.len() == 3 && all.iter().all(is_at_its_own) {
                break;
            }
            assert!(Instant::now() < deadline, "{listed:#}");
        }
    }
    let lines = nodes.map(ByHand::stop);
    assert!(told.iter().all(Option::is_some), "{lines:#?}");
}

#[test]
fn a_node_that_ran_at_another_port_and_is_dead_was_not_removed() {
    let cluster = Cluster::start("3");
    cluster.until_metas_vote(3);
    let rows = cluster.rows();
    cluster.ok(&["kill", "2"]);
    let others = [peer(&rows[0]), peer(&rows[2])].join(",");
    let words = ["--dir", "cluster/node2", "--peer-port", "0", "--join"];
    let mut by_hand = ByHand::start(&cluster.bench, &[&words[..], &[&others]].concat());
    assert!(by_hand.serves().is_some());
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
