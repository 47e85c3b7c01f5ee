//! Five nodes as processes: one is drained and removed, one is killed and removed, one joins.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings};
use serde_json::Value;

use crate::blocks::free_ports;
use crate::kill_cluster::SETTINGS;
use crate::tool::{Bench, Ran};

/// Longest that any of it takes on a busy machine.
const SOON: Duration = Duration::from_secs(240);

/// Longest that one command waits for an answer.
const PATIENT: [&str; 2] = ["--timeout", "60s"];

/// Rows of the test.
const SHIPS: u32 = 200;

/// The cluster of a test, which ends with it.
pub struct Cluster {
    pub bench: Bench,
    metas: String,
}

impl Cluster {
    pub fn start() -> Cluster {
        let bench = Bench::new();
        let words = ["cluster", "--dir", "cluster", "start", "--nodes", "5"];
        let told = [&free_ports(), "--json"];
        let ran = bench.ok(&[&words[..], &told, &SETTINGS].concat());
        let mut cluster = Cluster {
            bench,
            metas: String::new(),
        };
        cluster.learn(&ran.json());
        cluster
    }

    fn learn(&mut self, rows: &Value) {
        let metas = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["meta"].as_str().unwrap());
        self.metas = metas.collect::<Vec<_>>().join(",");
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.bench.command(&[words, &PATIENT].concat());
        command.env("ESKER_META", &self.metas);
        self.bench.feed_command(command, b"")
    }

    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> Ran {
        self.run(words).exits(0)
    }

    pub fn command(&self, words: &[&str]) -> Ran {
        self.bench
            .ok(&[&["cluster", "--dir", "cluster"], words].concat())
    }

    pub fn nodes(&self) -> Vec<Value> {
        let told = self.ok(&["node", "list", "--json"]).json();
        told.as_array().unwrap().clone()
    }

    /// What the processes of the nodes do.
    fn states(&self) -> Vec<String> {
        let rows = self.command(&["status", "--json"]).json();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["state"].as_str().unwrap().to_owned())
            .collect()
    }

    fn numbers(&self) -> Vec<i64> {
        let nodes = self.nodes();
        nodes
            .iter()
            .map(|one| one["node"].as_i64().unwrap())
            .collect()
    }

    /// Runs a command until it ends well, or for so long that it never will.
    #[track_caller]
    pub fn until_ok(&self, words: &[&str]) -> Ran {
        let began = Instant::now();
        loop {
            let ran = self.run(words);
            if ran.code == 0 {
                return ran;
            }
            assert!(began.elapsed() < SOON, "{words:?}: {ran:?}");
            std::thread::yield_now();
        }
    }

    /// Looks until it is so.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&Cluster) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < SOON, "never: {what}: {:?}", self.nodes());
        }
    }

    /// Whether each partition has all of its replicas.
    pub fn is_whole(&self) -> bool {
        let told = self.run(&["table", "describe", "ships", "--json"]);
        told.code == 0 && {
            let told = told.json();
            let placing = told["placing"].as_array().unwrap();
            placing.len() == 8 && placing.iter().all(|one| one["state"] == "healthy")
        }
    }

    /// Whether nothing is to be moved any more.
    pub fn is_settled(&self) -> bool {
        let told = self.run(&["balance", "--plan", "--json"]);
        told.code == 0 && {
            let plan = told.json();
            assert_eq!(plan["level"], "lively");
            plan["steps"].as_array().map(Vec::len) == Some(0)
        }
    }

    /// Partitions that each address leads, and replicas that it has; nothing while one of them has
    /// no leader, as for a moment on a busy machine.
    fn shares(&self) -> Option<(Vec<u64>, Vec<u64>)> {
        let told = self.ok(&["table", "describe", "ships", "--json"]).json();
        let (mut leads, mut replicas) = (BTreeMap::new(), BTreeMap::new());
        for node in self.nodes() {
            let address = node["address"].as_str().unwrap().to_owned();
            leads.insert(address.clone(), 0);
            replicas.insert(address, 0);
        }
        for one in told["placing"].as_array().unwrap() {
            let primary = one["primary"].as_str()?;
            *leads.entry(primary.to_owned()).or_default() += 1;
            let others = one["secondaries"].as_array().unwrap().iter();
            for node in others.map(|node| node.as_str().unwrap()).chain([primary]) {
                *replicas.entry(node.to_owned()).or_default() += 1;
            }
        }
        Some((
            leads.into_values().collect(),
            replicas.into_values().collect(),
        ))
    }

    fn is_even(&self) -> bool {
        let Some((leads, replicas)) = self.shares() else {
            return false;
        };
        let spread = |counts: &[u64]| counts.iter().max().unwrap() - counts.iter().min().unwrap();
        spread(&leads) <= 1 && spread(&replicas) <= 1
    }

    /// A table of eight partitions with three replicas each.
    pub fn create_ships(&self) {
        let create = [
            "table",
            "create",
            "ships",
            "--partitions",
            "8",
            "--replicas",
            "3",
        ];
        self.ok(&create);
    }

    pub fn write_ships(&self) {
        block(async {
            let table = self.client().table("ships").await.unwrap();
            for ship in 0..SHIPS {
                let key = format!("ship{ship}");
                table
                    .set(key.as_bytes(), b"port", key.as_bytes(), 0)
                    .await
                    .unwrap();
            }
        });
    }

    pub fn read_ships(&self) {
        block(async {
            let table = self.client().table("ships").await.unwrap();
            for ship in 0..SHIPS {
                let key = format!("ship{ship}");
                let found = table.get(key.as_bytes(), b"port").await.unwrap();
                assert_eq!(found.as_deref(), Some(key.as_bytes()), "{key}");
            }
        });
    }

    // Its connections live in the runtime that it is asked in.
    fn client(&self) -> Client {
        let metas = self
            .metas
            .split(',')
            .map(|one| one.parse::<SocketAddrV4>().unwrap());
        let mut settings = ClientSettings::default();
        settings.call.timeout = SOON;
        Client::new(metas.collect(), settings)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let ran = self.bench.run(&["cluster", "--dir", "cluster", "stop"]);
        if std::thread::panicking() || ran.code != 0 {
            for node in 1..=6 {
                let log = self.bench.path(&format!("cluster/node{node}.log"));
                eprintln!(
                    "node {node}:\n{}",
                    std::fs::read_to_string(log).unwrap_or_default()
                );
            }
        }
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

#[test]
fn nodes_leave_die_and_join_and_the_cluster_is_whole_and_even_each_time() {
    let mut cluster = Cluster::start();
    cluster.create_ships();
    cluster.write_ships();

    // Drained: refused as long as it has something, empty at the end, gone for ever.
    let refused = cluster.run(&["node", "remove", "2", "--yes"]).exits(1);
    assert!(
        refused
            .err
            .contains("`esker node drain 2 --wait` empties it first"),
        "{refused:?}"
    );
    let drained = cluster.ok(&["node", "drain", "2", "--wait"]);
    assert_eq!(drained.text(), "node 2 is empty\n");
    cluster.until("whole without node 2", Cluster::is_whole);
    let removed = cluster.ok(&["node", "remove", "2", "--yes", "--wait"]);
    assert_eq!(removed.text(), "node 2 is removed\n");
    cluster.until("node 2 has ended", |cluster| {
        cluster.states()[..2] == ["running", "removed"]
    });
    let words = ["cluster", "--dir", "cluster", "restart", "2"];
    let told = cluster.bench.run(&words).exits(1);
    assert!(
        told.err
            .contains("node 2 was removed from the cluster, for ever"),
        "{told:?}"
    );
    cluster.ok(&["balance", "--wait"]);
    // A lead that is on its way counts as there.
    cluster.until("even without node 2", Cluster::is_even);
    cluster.read_ships();

    // Killed: its replicas are made anew as soon as somebody says that it is dead.
    cluster.command(&["kill", "3"]);
    let told = cluster.until_ok(&["node", "remove", "3", "--yes"]);
    assert!(
        told.text().starts_with("node 3 is let go of once"),
        "{told:?}"
    );
    cluster.until("node 3 is gone", |cluster| cluster.numbers() == [1, 4, 5]);
    cluster.until("node 3 is none, which never heard of that", |cluster| {
        cluster.states()[2] == "removed"
    });
    cluster.until("whole on three nodes", Cluster::is_whole);
    cluster.read_ships();

    // By itself: a new cluster is lively.
    let rows = cluster.command(&["add", "--json"]).json();
    cluster.learn(&rows);
    cluster.until("even on four nodes", |cluster| {
        cluster.numbers() == [1, 4, 5, 6] && cluster.is_whole() && cluster.is_even()
    });
    cluster.until("nothing is left to be moved", Cluster::is_settled);
    cluster.read_ships();

    // Stopped and started: those that were removed are not missed.
    cluster.command(&["stop"]);
    cluster.command(&["start"]);
    let [running, removed] = ["running", "removed"];
    let states = [running, removed, removed, running, running, running];
    cluster.until("node 3 is told", |cluster| cluster.states() == states);
    cluster.read_ships();

    // The directory is of no use any more. Without it there is room for a new node.
    std::fs::remove_dir_all(cluster.bench.path("cluster/node2")).unwrap();
    cluster.command(&["start"]);
    let states = [running, running, removed, running, running, running];
    cluster.until("a new node is there", |cluster| {
        cluster.states() == states && cluster.numbers() == [1, 4, 5, 6, 7]
    });
}
