//! Three nodes as processes: one that leads is killed, and the others go on.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use esker_rpc::client::{CallSettings, Client, ClientSettings, NewTable, Table};
use esker_rpc::codec::scalars::Address;
use serde_json::Value;

use crate::tool::Bench;

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(30);

/// Longest that writes may stand still when a leader is killed: a vote, and clients that find the
/// new one. The machine that tests run on may be busy with others.
const GAP_MAX: Duration = Duration::from_secs(15);

/// The cluster of a test, which ends with it.
struct Cluster<'a> {
    bench: &'a Bench,
}

impl Cluster<'_> {
    fn command(&self, words: &[&str]) -> String {
        let all = [&["cluster", "--dir", "cluster"], words].concat();
        self.bench.ok(&all).text().to_owned()
    }

    fn start(&self) -> Vec<Value> {
        let settings = [
            "start",
            "--nodes",
            "3",
            "--free-ports",
            "--json",
            "--set",
            "election_timeout=500ms",
            "--set",
            "heartbeat=100ms",
            "--set",
            "memory_limit=16MiB",
            "--set",
            "log_segment=1MiB",
        ];
        let rows: Value = serde_json::from_str(&self.command(&settings)).unwrap();
        rows.as_array().unwrap().clone()
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        let all = ["cluster", "--dir", "cluster", "stop"];
        let ran = self.bench.run(&all);
        if std::thread::panicking() || ran.code != 0 {
            for node in 1..=3 {
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

/// Writes a row until somebody acknowledges it; how long that took.
async fn write(table: &Table, ship: u64) -> Duration {
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
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    began.elapsed()
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
    let cluster = Cluster { bench: &bench };
    let rows = cluster.start();
    // Its connections live in the runtime that it is asked in, so each has one of its own.
    let client = || {
        let metas = rows.iter().map(|row| address(row, "meta")).collect();
        let mut settings = ClientSettings::default();
        settings.call.timeout = SOON;
        Client::new(metas, settings)
    };
    let (written, killed) = block(async {
        let client = client();
        let new = NewTable {
            name: "ships".to_owned(),
            partition_count: 4,
            replica_count: 3,
            envs: BTreeMap::new(),
            success_if_exist: false,
        };
        let admin = client.admin(SOON);
        admin.create_table(&new).await.unwrap();
        let table = client.table("ships").await.unwrap();
        for ship in 0..60 {
            write(&table, ship).await;
        }
        let partitions = admin.partitions("ships").await.unwrap();
        // One that is not the first node: the meta group may still be on that one alone.
        let leads = |row: &&Value| {
            let door = Address::from(address(row, "data"));
            partitions.iter().any(|partition| partition.primary == door)
        };
        let leader = rows.iter().skip(1).find(leads).or(rows.get(1)).unwrap();
        let number = leader["node"].to_string();
        cluster.command(&["kill", &number]);
        let mut longest = Duration::ZERO;
        for ship in 60..160 {
            longest = longest.max(write(&table, ship).await);
        }
        println!("the longest write took {longest:?}");
        assert!(longest < GAP_MAX, "{longest:?}");
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
