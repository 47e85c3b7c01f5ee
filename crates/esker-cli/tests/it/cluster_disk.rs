//! A node whose disk is full: what it has counts for nothing, and others lead.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster_commands::{Cluster, QUICK};
use crate::tool::Ran;

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(120);

/// As if nothing were free: more than any disk has is to be kept in reserve.
const FULL: [&str; 4] = [
    "--set",
    "engine.disk.free_min=900TiB",
    "--set",
    "log_max=4MiB",
];

struct Ships<'a> {
    cluster: &'a Cluster,
    metas: String,
    written: usize,
}

impl Ships<'_> {
    fn of(cluster: &Cluster) -> Ships<'_> {
        let rows = cluster.rows();
        let metas = rows.iter().map(|row| row["meta"].as_str().unwrap());
        Ships {
            cluster,
            metas: metas.collect::<Vec<_>>().join(","),
            written: 0,
        }
    }

    fn words<'w>(&'w self, words: &[&'w str]) -> Vec<&'w str> {
        [words, &["--timeout", "60s", "--meta", &self.metas]].concat()
    }

    /// Another row of half a MiB. A leader that has no room for what was committed does not know
    /// what comes of it, and tells nobody: then it is written once more, to whoever leads by then.
    fn write(&mut self) {
        self.written += 1;
        let key = format!("ship{}", self.written);
        let words = ["kv", "--table", "ships", "set", &key, "", "--stdin"];
        let words = [&words[..], &["--timeout", "10s", "--meta", &self.metas]].concat();
        let value = vec![b'v'; 512 << 10];
        let deadline = Instant::now() + SOON;
        loop {
            let ran = self.cluster.bench.feed(&words, &value);
            if ran.code == 0 {
                return;
            }
            assert!(Instant::now() < deadline, "{ran:?}");
        }
    }

    fn described(&self) -> Value {
        let words = ["table", "describe", "ships", "--json"];
        self.cluster.bench.ok(&self.words(&words)).json()
    }

    fn is_healthy(&self) -> bool {
        let told = self.described();
        let placing = told["placing"].as_array().unwrap();
        placing.iter().all(|row| row["state"] == "healthy")
    }

    fn leads(&self, data_door: &Value) -> usize {
        let told = self.described();
        let placing = told["placing"].as_array().unwrap();
        placing
            .iter()
            .filter(|row| row["primary"] == *data_door)
            .count()
    }
}

#[test]
fn a_replica_on_a_full_disk_is_no_healthy_copy_and_leads_nothing() {
    let cluster = Cluster::start("3");
    let rows = cluster.rows();
    let mut ships = Ships::of(&cluster);
    cluster
        .bench
        .ok(&ships.words(&["table", "create", "ships", "--partitions", "4"]));
    let deadline = Instant::now() + SOON;
    while !ships.is_healthy() {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
    }
    cluster.ok(&[&["restart", "2"], &QUICK[..], &FULL].concat());
    let deadline = Instant::now() + SOON;
    while ships.is_healthy() || ships.leads(&rows[1]["data"]) > 0 {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
        ships.write();
    }
    // Which of its replicas, and why.
    let is_told = |told: &Value| {
        let mut notes = told["notes"].as_array().unwrap().iter();
        notes.any(|note| {
            let note = note.as_str().unwrap();
            note.starts_with("node 2: partition") && note.contains("has no room")
        })
    };
    let deadline = Instant::now() + SOON;
    while !is_told(&ships.described()) {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
        ships.write();
    }
    // Whoever looks at the processes sees it as well: they all run. One that has too much to do is
    // not waited for there.
    let deadline = Instant::now() + SOON;
    while !cluster.rows()[1]["ailments"]
        .to_string()
        .contains("no room")
    {
        assert!(Instant::now() < deadline, "{:#?}", cluster.rows());
    }
    let is_said = |status: &Ran| {
        let mut lines = status.text().lines();
        lines.any(|line| line.starts_with("node 2: ") && line.contains("no room"))
    };
    let deadline = Instant::now() + SOON;
    while !is_said(&cluster.ok(&["status"])) {
        assert!(Instant::now() < deadline, "{:#?}", cluster.rows());
    }
    let log = cluster.bench.path("cluster/node2.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("the disk of the node has no room for it"),
        "{log}"
    );
    assert!(!log.contains("drop a keyspace"), "{log}");
    // With room again it catches up by itself.
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    let deadline = Instant::now() + SOON;
    while !ships.is_healthy() {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
    }
    cluster.ok(&["stop"]);
}

#[test]
fn what_finds_no_room_is_made_later_and_said_once() {
    // The brain tells the node again and again; the node says of each replica once that it is to be
    // there, and once that it cannot.
    let cluster = Cluster::start("3");
    let ships = Ships::of(&cluster);
    cluster.ok(&[&["restart", "2"], &QUICK[..], &FULL].concat());
    cluster
        .bench
        .ok(&ships.words(&["table", "create", "ships", "--partitions", "4"]));
    let log = cluster.bench.path("cluster/node2.log");
    let said = |what: &str| -> Vec<String> {
        let log = std::fs::read_to_string(&log).unwrap();
        let lines = log.lines().filter(|line| line.contains(what));
        let sentences = lines.map(|line| line.split_once(' ').unwrap().1.to_owned());
        sentences.collect()
    };
    let deadline = Instant::now() + SOON;
    while said("made no room").len() < 4 {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
    }
    // It was told twenty times a second, with two lines each time.
    for _ in 0..40 {
        ships.described();
    }
    // A leader of the meta service that begins is heard anew: each may have it said once more.
    let leads = |node: usize| {
        let log = cluster.bench.path(&format!("cluster/node{node}.log"));
        let log = std::fs::read_to_string(log).unwrap();
        log.matches("this node leads the meta service").count()
    };
    for what in ["made no room", "is to be here"] {
        let mut counts = BTreeMap::<String, usize>::new();
        for line in said(what) {
            *counts.entry(line).or_default() += 1;
        }
        assert!(counts.len() >= 4, "one of each partition: {counts:#?}");
        let led: usize = (1..=3).map(leads).sum();
        let most = counts.values().max().unwrap();
        assert!(*most <= 1 + led, "{led} led the meta service: {counts:#?}");
    }
    cluster.ok(&[&["restart", "2"], &QUICK[..]].concat());
    let deadline = Instant::now() + SOON;
    while !ships.is_healthy() {
        assert!(Instant::now() < deadline, "{:#}", ships.described());
    }
    cluster.ok(&["stop"]);
}
