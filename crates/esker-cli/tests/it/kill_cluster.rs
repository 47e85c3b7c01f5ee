//! Nodes as processes: one that leads is killed, and the others go on; all are, and come back.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use esker::internals::env::random::Random;
use esker_rpc::client::{Admin, CallSettings, Client, ClientSettings, NewTable, Table};
use esker_rpc::codec::scalars::Address;
use serde_json::Value;

use crate::beats::{Beats, GAP_BEATS_MAX};
use crate::blocks::free_ports;
use crate::tool::Bench;

/// Longest that anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Clients that write while all nodes die.
const CLIENTS: u64 = 4;

/// Rows that they have written by then at the least: else nothing is proven.
const ROWS_MIN: u64 = 100;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Settings of every node: votes that are soon over, and little memory.
pub const SETTINGS: [&str; 8] = [
    "--set",
    "election_timeout=500ms",
    "--set",
    "heartbeat=100ms",
    "--set",
    "memory_limit=16MiB",
    "--set",
    "log_segment=1MiB",
];

/// The cluster of a test, which ends with it.
struct Cluster<'a> {
    bench: &'a Bench,
    nodes: u64,
}

impl Cluster<'_> {
    fn command(&self, words: &[&str]) -> String {
        let all = [&["cluster", "--dir", "cluster"], words].concat();
        self.bench.ok(&all).text().to_owned()
    }

    fn start(&self) -> Vec<Value> {
        let nodes = self.nodes.to_string();
        let words = ["start", "--nodes", &nodes, &free_ports(), "--json"];
        let told = self.command(&[&words[..], &SETTINGS[..]].concat());
        let rows: Value = serde_json::from_str(&told).unwrap();
        rows.as_array().unwrap().clone()
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        let all = ["cluster", "--dir", "cluster", "stop"];
        let ran = self.bench.run(&all);
        if std::thread::panicking() || ran.code != 0 {
            for node in 1..=self.nodes {
                let log = self.bench.path(&format!("cluster/node{node}.log"));
                eprintln!("{}", std::fs::read_to_string(log).unwrap_or_default());
            }
        }
    }
}

fn address(row: &Value, door: &str) -> SocketAddrV4 {
    row[door].as_str().unwrap().parse().unwrap()
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Its connections live in the runtime that it is asked in, so each has one of its own.
fn client(rows: &[Value]) -> Client {
    let metas = rows.iter().map(|row| address(row, "meta")).collect();
    let mut settings = ClientSettings::default();
    settings.call.timeout = SOON;
    Client::new(metas, settings)
}

fn ships() -> NewTable {
    NewTable {
        name: "ships".to_owned(),
        partition_count: 4,
        replica_count: 3,
        envs: BTreeMap::new(),
        success_if_exist: false,
    }
}

/// Waits until so many nodes vote in the meta service: of two, none can be missed.
async fn until_metas_vote(admin: &Admin, count: usize) {
    let began = Instant::now();
    loop {
        let nodes = admin.node_facts().await.unwrap();
        if nodes.iter().filter(|node| node.votes_in_meta).count() == count {
            return;
        }
        assert!(began.elapsed() < SOON, "{count} never vote: {nodes:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Writes a row until somebody acknowledges it.
async fn write(table: &Table, ship: u64) {
    let began = Instant::now();
    let table = table.with(CallSettings {
        timeout: Duration::from_secs(1),
        resends_writes: true,
    });
    let key = format!("ship{ship}");
    while table
        .set(key.as_bytes(), b"port", b"Hamburg", 0)
        .await
        .is_err()
    {
        assert!(began.elapsed() < SOON, "ship {ship} cannot be written");
        tokio::time::sleep(LOOK).await;
    }
}

async fn check(table: &Table, count: u64) {
    for ship in 0..count {
        let found = table
            .get(format!("ship{ship}").as_bytes(), b"port")
            .await
            .unwrap();
        assert!(found.is_some(), "ship {ship} of {count} is lost");
    }
}

#[test]
fn a_leader_is_killed_and_what_was_acknowledged_stays() {
    let bench = Bench::new();
    let cluster = Cluster {
        bench: &bench,
        nodes: 3,
    };
    let rows = cluster.start();
    let client = || client(&rows);
    let (written, killed) = block(async {
        let client = client();
        let admin = client.admin(SOON);
        admin.create_table(&ships()).await.unwrap();
        until_metas_vote(&admin, 3).await;
        let table = client.table("ships").await.unwrap();
        for ship in 0..60 {
            write(&table, ship).await;
        }
        let partitions = admin.partitions("ships").await.unwrap();
        // One that is not the first node, which may lead nothing.
        let leads = |row: &&Value| {
            let door = Address::from(address(row, "data"));
            partitions.iter().any(|partition| partition.primary == door)
        };
        let leader = rows.iter().skip(1).find(leads).or(rows.get(1)).unwrap();
        let number = leader["node"].to_string();
        cluster.command(&["kill", &number]);
        // Longest that writes stand still: a vote, and clients that find the new leader.
        let began = Instant::now();
        let beats = Beats::start(began);
        let mut longest = 0;
        for ship in 60..160 {
            let from = began.elapsed();
            write(&table, ship).await;
            longest = longest.max(beats.count(&(from..began.elapsed())));
        }
        println!("the longest write took {longest} beats");
        assert!(longest < GAP_BEATS_MAX, "{longest} beats");
        check(&table, 160).await;
        (160, number)
    });
    cluster.command(&["restart", &killed]);
    block(async {
        let table = client().table("ships").await.unwrap();
        for ship in written..written + 20 {
            write(&table, ship).await;
        }
        check(&table, written + 20).await;
    });
    let shown: Value = serde_json::from_str(&cluster.command(&["status", "--json"])).unwrap();
    let running = shown
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["state"] == "running");
    assert_eq!(running.count(), 3, "{shown}");
}

/// What one client has written of one fleet until that was answered no more.
struct Written {
    fleet: String,
    /// Rows of smaller numbers were acknowledged.
    rows: u64,
}

fn row_name(fleet: &str, row: u64) -> String {
    format!("ship{fleet}-{row}")
}

/// What clients and those who kill the nodes tell one another.
#[derive(Default)]
struct Signs {
    /// Rows that were acknowledged.
    rows: AtomicU64,
    are_to_die: AtomicBool,
}

/// Writes rows, and behind each one how many there are, until that is answered no more.
async fn write_fleet(table: &Table, fleet: String, signs: &Signs) -> Written {
    let mut rows = 0;
    loop {
        let (key, count) = (row_name(&fleet, rows), (rows + 1).to_string());
        let name = format!("fleet{fleet}");
        let row = table.set(key.as_bytes(), b"port", key.as_bytes(), 0).await;
        let told = table.set(name.as_bytes(), b"count", count.as_bytes(), 0);
        if row.is_err() || told.await.is_err() {
            return Written { fleet, rows };
        }
        rows += 1;
        signs.rows.fetch_add(1, Ordering::SeqCst);
    }
}

/// Writes fleet after fleet until the nodes are to die. A machine that has much to do may answer
/// too late before that, and what was sent then may still be done: that fleet is left as it is.
async fn write_on(table: Table, client: u64, signs: Arc<Signs>) -> Vec<Written> {
    let mut all = Vec::new();
    while !signs.are_to_die.load(Ordering::SeqCst) {
        let fleet = format!("{client}-{}", all.len());
        all.push(write_fleet(&table, fleet, &signs).await);
    }
    all
}

/// Every row that was acknowledged says what it was given, and the one behind them as well, if it
/// is there.
async fn compare(table: &Table, written: &Written) {
    let fleet = &written.fleet;
    for row in 0..=written.rows {
        let key = row_name(fleet, row);
        let found = table.get(key.as_bytes(), b"port").await.unwrap();
        let is_right = found.as_deref() == Some(key.as_bytes());
        let is_open = row == written.rows && found.is_none();
        assert!(is_right || is_open, "{key} of {}: {found:?}", written.rows);
    }
    let name = format!("fleet{fleet}");
    let count = table.get(name.as_bytes(), b"count").await.unwrap();
    let count = count.map_or(0, |text| String::from_utf8(text).unwrap().parse().unwrap());
    let bounds = written.rows..=written.rows + 1;
    assert!(
        bounds.contains(&count),
        "{name} has {count}, not {bounds:?}"
    );
}

/// All nodes are killed at once while clients write, and come back one after the other.
fn kill_all(seed: u64) {
    let bench = Bench::new();
    let cluster = Cluster {
        bench: &bench,
        nodes: 5,
    };
    let rows = cluster.start();
    let mut order: Vec<u64> = (1..=5).collect();
    let mut dice = Random::new(seed);
    let mut shuffle = |order: &mut [u64]| {
        for last in (1..order.len()).rev() {
            let other = usize::try_from(dice.below(last as u64 + 1)).unwrap();
            order.swap(last, other);
        }
    };
    shuffle(&mut order);
    let victims: Vec<String> = order.iter().map(u64::to_string).collect();
    let kill: Vec<&str> = ["kill"]
        .into_iter()
        .chain(victims.iter().map(String::as_str))
        .collect();
    let signs = Arc::new(Signs::default());
    let all = std::thread::scope(|threads| {
        block(async {
            let client = client(&rows);
            client.admin(SOON).create_table(&ships()).await.unwrap();
            let table = client.table("ships").await.unwrap();
            let table = table.with(CallSettings {
                timeout: Duration::from_secs(2),
                resends_writes: false,
            });
            let writing: Vec<_> = (0..CLIENTS)
                .map(|client| tokio::spawn(write_on(table.clone(), client, Arc::clone(&signs))))
                .collect();
            let began = Instant::now();
            while signs.rows.load(Ordering::SeqCst) < ROWS_MIN && began.elapsed() < SOON {
                tokio::time::sleep(LOOK).await;
            }
            signs.are_to_die.store(true, Ordering::SeqCst);
            let killing = threads.spawn(|| cluster.command(&kill));
            let mut all = Vec::new();
            for one in writing {
                all.extend(one.await.unwrap());
            }
            killing.join().unwrap();
            all
        })
    });
    shuffle(&mut order);
    let counts: Vec<u64> = all.iter().map(|written| written.rows).collect();
    println!("{counts:?} rows; they come back as {order:?}");
    assert!(counts.iter().sum::<u64>() >= ROWS_MIN, "{counts:?}");
    for node in order {
        let words = ["restart", &node.to_string()];
        cluster.command(&[&words[..], &SETTINGS[..]].concat());
    }
    block(async {
        let table = client(&rows).table("ships").await.unwrap();
        for written in &all {
            compare(&table, written).await;
        }
        write(&table, 1).await;
    });
}

#[test]
fn all_nodes_are_killed_at_once_and_come_back_in_any_order() {
    kill_all(7);
}

#[test]
#[ignore = "minutes: part of make soak"]
fn soak_all_nodes_are_killed_at_once_in_any_order() {
    (100..130).for_each(kill_all);
}
