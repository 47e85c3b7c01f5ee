//! Commands about a cluster of this machine: side by side, and by the truth about its processes.

use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::blocks::free_ports;
use crate::tool::{Bench, Ran};

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Settings of every node here: votes that are soon over, and little memory.
pub const QUICK: [&str; 6] = [
    "--set",
    "election_timeout=500ms",
    "--set",
    "memory_limit=16MiB",
    "--set",
    "log_segment=1MiB",
];

/// The cluster of a test, which ends with it.
pub struct Cluster {
    pub bench: Bench,
}

impl Cluster {
    pub fn start(nodes: &str) -> Cluster {
        let cluster = Cluster {
            bench: Bench::new(),
        };
        let words = ["start", &free_ports(), "--nodes", nodes];
        let ran = cluster.ok(&[&words[..], &QUICK[..]].concat());
        assert!(!ran.err.contains("nodes run"), "none was missing: {ran:?}");
        cluster
    }

    fn command(&self, words: &[&str]) -> Command {
        self.bench
            .command(&[&["cluster", "--dir", "cluster"], words].concat())
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> Ran {
        self.run(words).exits(0)
    }

    fn begin(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    pub fn rows(&self) -> Vec<Value> {
        let rows = self.ok(&["status", "--json"]).json();
        rows.as_array().unwrap().clone()
    }

    pub fn states(&self) -> Vec<String> {
        let rows = self.rows();
        let word = |row: &Value| row["state"].as_str().unwrap().to_owned();
        rows.iter().map(word).collect()
    }

    /// The nodes, once so many vote in the meta service. A new cluster begins with one, and grows
    /// while it serves: of two, none can be missed.
    #[track_caller]
    pub fn until_metas_vote(&self, count: usize) -> Vec<Value> {
        let doors: Vec<Value> = self.rows().iter().map(|row| row["meta"].clone()).collect();
        let doors: Vec<&str> = doors.iter().map(|door| door.as_str().unwrap()).collect();
        let began = Instant::now();
        loop {
            let words = ["node", "list", "--json", "--timeout", "20s", "--meta"];
            let ran = self.bench.run(&[&words[..], &[&doors.join(",")]].concat());
            // Nobody may lead for a moment.
            let nodes = (ran.code == 0).then(|| ran.json());
            let nodes = nodes.and_then(|nodes| nodes.as_array().cloned());
            let nodes = nodes.unwrap_or_default();
            let voters = nodes.iter().filter(|node| node["votes_in_meta"] == true);
            if voters.count() == count {
                return nodes;
            }
            assert!(began.elapsed() < SOON, "{count} never vote: {ran:?}");
        }
    }

    /// Process numbers as the nodes themselves wrote them.
    fn holders(&self) -> Vec<u64> {
        let holder = |node: usize| {
            let path = self.bench.path(&format!("cluster/node{node}/LOCK"));
            std::fs::read_to_string(path)
                .unwrap()
                .trim()
                .parse()
                .unwrap()
        };
        (1..=self.rows().len()).map(holder).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A test that stopped it has nothing left to stop; one that failed says why by itself.
        let _ = self.run(&["stop"]);
        if std::thread::panicking() {
            for node in 1..=3 {
                let log = self.bench.path(&format!("cluster/node{node}.log"));
                eprintln!("{}", std::fs::read_to_string(log).unwrap_or_default());
            }
        }
    }
}

fn lives(pid: u64) -> bool {
    let asked = Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output();
    let state = asked.unwrap().stdout;
    !state.is_empty() && state[0] != b'Z'
}

#[test]
fn commands_beside_one_another_lose_no_node() {
    // Each was dead and is restarted by a command of its own, all at once; then all are known, and
    // `stop` ends them all.
    let cluster = Cluster::start("3");
    cluster.ok(&["kill", "1", "2", "3"]);
    assert_eq!(cluster.states(), ["dead"; 3]);
    let begun = ["1", "2", "3"].map(|node| {
        let words = [&["restart", node], &QUICK[..]].concat();
        cluster.begin(&words)
    });
    for child in begun {
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.exits(0);
    }
    assert_eq!(cluster.states(), ["running"; 3]);
    let pids: Vec<u64> = cluster
        .rows()
        .iter()
        .map(|row| row["pid"].as_u64().unwrap())
        .collect();
    assert_eq!(
        pids,
        cluster.holders(),
        "they are those that have the directories"
    );
    // What the list says of processes may be old: the locks of the directories say it.
    let list = cluster.bench.path("cluster/cluster.json");
    let text = std::fs::read_to_string(&list).unwrap();
    let wrong = pids
        .iter()
        .fold(text, |text, pid| text.replace(&pid.to_string(), "999999"));
    std::fs::write(&list, wrong).unwrap();
    assert_eq!(cluster.states(), ["running"; 3]);
    cluster.ok(&["pause", "2"]);
    assert_eq!(cluster.states(), ["running", "paused", "running"]);
    cluster.ok(&["stop"]);
    assert!(!pids.iter().any(|pid| lives(*pid)), "{pids:?}");
    assert_eq!(cluster.states(), ["dead"; 3]);
}

#[test]
fn a_node_that_was_started_by_hand_is_known_and_several_restart_at_once() {
    let cluster = Cluster::start("3");
    cluster.ok(&["kill", "1", "2", "3"]);
    // Too few to serve: it says so, and does not wait for what cannot come. Here it would never
    // come: what the node tells goes nowhere.
    let told = cluster.bench.path("cluster/node1.told");
    std::fs::remove_file(&told).unwrap();
    symlink("/dev/null", &told).unwrap();
    let ran = cluster.ok(&[&["restart", "1"], &QUICK[..]].concat());
    assert!(ran.err.contains("1 of 3 nodes run"), "{}", ran.err);
    assert!(
        ran.err.contains("`esker cluster start` starts all"),
        "{}",
        ran.err
    );
    std::fs::remove_file(&told).unwrap();
    let row = cluster.rows()[1].clone();
    let port = |door: &str| {
        row[door]
            .as_str()
            .unwrap()
            .rsplit(':')
            .next()
            .unwrap()
            .to_owned()
    };
    let ports = [port("meta"), port("data"), port("peer")];
    let words = [
        "serve",
        "--dir",
        "cluster/node2",
        "--meta-port",
        &ports[0],
        "--data-port",
        &ports[1],
        "--peer-port",
        &ports[2],
    ];
    let mut by_hand = cluster.bench.command(&[&words[..], &QUICK].concat());
    by_hand.stdout(Stdio::null()).stderr(Stdio::null());
    let mut by_hand = by_hand.spawn().unwrap();
    let deadline = Instant::now() + SOON;
    while cluster.states()[1] != "running" {
        assert!(Instant::now() < deadline, "{:?}", cluster.states());
    }
    assert_eq!(cluster.rows()[1]["pid"], by_hand.id());
    cluster.ok(&[&["restart", "1", "3", "2"], &QUICK[..]].concat());
    assert!(by_hand.wait().unwrap().success(), "it was stopped as any");
    assert_eq!(cluster.states(), ["running"; 3]);
    let ran = cluster.run(&["restart", "4"]).exits(2);
    assert!(ran.err.contains("they are 1, 2, 3"), "{ran:?}");
    // How many there are was said once.
    let ran = cluster.ok(&["start", "--nodes", "5"]);
    assert!(
        ran.err.contains("with 3 nodes, and --nodes does not"),
        "{ran:?}"
    );
    assert_eq!(cluster.ok(&["start", "--nodes", "3"]).err, "");
    assert_eq!(cluster.states(), ["running"; 3]);
    let told = cluster.ok(&["kill", "3", "--json"]).json();
    assert_eq!(told, serde_json::json!({ "killed": [3] }));
    // One that does not run keeps no other from being killed.
    let ran = cluster.run(&["kill", "3", "2"]).exits(1);
    assert!(ran.err.contains("node 3 does not run"), "{}", ran.err);
    assert_eq!(cluster.states(), ["running", "dead", "dead"]);
    cluster.ok(&["stop"]);
    cluster.run(&["kill", "3"]).exits(1);
}

#[test]
fn a_node_that_was_given_no_number_is_none() {
    let cluster = Cluster::start("1");
    let ran = cluster.run(&["add", "--set", "memory_limt=1GiB"]).exits(1);
    let told = "node 2 has ended: there is no setting \"memory_limt\"";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert!(ran.err.contains("node2.log"), "{}", ran.err);
    assert_eq!(cluster.states(), ["running"]);
    // Two beside one another are two.
    let begun = [(); 2].map(|()| cluster.begin(&[&["add"], &QUICK[..]].concat()));
    for child in begun {
        Ran::from(child.wait_with_output().unwrap()).exits(0);
    }
    assert_eq!(cluster.states(), ["running"; 3]);
    cluster.ok(&["stop"]);
}
