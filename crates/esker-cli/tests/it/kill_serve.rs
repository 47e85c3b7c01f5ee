//! `esker serve` as a process: asked, killed, started again; and why it may not start.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddrV4;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use esker_rpc::client::{Client, ClientSettings, NewTable, Table};
use serde_json::Value;

use crate::tool::Bench;

/// Longest that any call takes on a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// A node as a process, which is killed with the test.
pub struct Served {
    child: Child,
    /// What it has said of itself.
    pub told: Value,
}

impl Served {
    pub fn start(bench: &Bench, dir: &str) -> Served {
        let dir = bench.path(dir).display().to_string();
        let words = [
            "serve",
            "--json",
            "--dir",
            &dir,
            "--meta-port",
            "0",
            "--data-port",
            "0",
            "--peer-port",
            "0",
            "--set",
            "log_segment=256KiB",
            "--set",
            "election_timeout=300ms",
            "--set",
            "heartbeat=100ms",
            "--set",
            "memory_limit=16MiB",
        ];
        let mut command = bench.command(&words);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        // Read to the end in a thread of its own, or the node waits for a reader of its lines.
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let lines = std::thread::spawn(move || {
            let mut lines = String::new();
            while err.read_line(&mut lines).unwrap() > 0 {}
            lines
        });
        let told = serde_json::from_str(&line);
        let told = told.unwrap_or_else(|_| panic!("{line}{}", lines.join().unwrap()));
        Served { child, told }
    }

    fn client(&self) -> Client {
        let meta: SocketAddrV4 = self.told["meta"].as_str().unwrap().parse().unwrap();
        let mut settings = ClientSettings::default();
        settings.call.timeout = SOON;
        Client::new(vec![meta], settings)
    }

    /// Ends it as a loss of power would, but for what the kernel has.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it by that signal; the exit code.
    fn signal(mut self, name: &str) -> i32 {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended long ago; here and below.
        let _ = self.child.kill();
        // As above.
        let _ = self.child.wait();
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

async fn create(client: &Client) {
    let table = NewTable {
        name: "ships".to_owned(),
        partition_count: 4,
        replica_count: 1,
        envs: BTreeMap::new(),
        success_if_exist: false,
    };
    client.admin(SOON).create_table(&table).await.unwrap();
}

/// What the writer and who kills its node tell each other.
#[derive(Default)]
struct Signs {
    has_written: AtomicBool,
    is_killed: AtomicBool,
}

/// Writes numbered rows one after another until one is not acknowledged, and the node was killed;
/// gives the next number.
async fn write(table: &Table, from: u64, (length, signs): (usize, &Signs)) -> u64 {
    let mut next = from;
    loop {
        // Looked at before: what is answered then was not killed.
        let is_killed = signs.is_killed.load(Ordering::SeqCst);
        let value = vec![b'v'; length];
        let short = table.with(esker_rpc::client::CallSettings {
            timeout: Duration::from_millis(800),
            resends_writes: false,
        });
        match short
            .set(format!("ship{next}").as_bytes(), b"port", &value, 0)
            .await
        {
            Ok(()) => {
                next += 1;
                signs.has_written.store(true, Ordering::SeqCst);
            }
            Err(_) if is_killed => return next,
            // A machine that has much to do. The same once more: it says the same.
            Err(_) => {}
        }
    }
}

#[test]
fn what_was_acknowledged_survives_every_kill() {
    // Each round ends by a kill at another moment, under values of another size.
    let bench = Bench::new();
    let mut next = 0;
    let mut served = Served::start(&bench, "node");
    block(async { create(&served.client()).await });
    for (round, length) in [10, 3000, 200, 60_000, 1000].into_iter().enumerate() {
        let client = served.client();
        let pid = served.child.id().to_string();
        let signs = Arc::new(Signs::default());
        let told = Arc::clone(&signs);
        let killer = std::thread::spawn(move || {
            let pause = 20 + 90 * u64::try_from(round).unwrap();
            let began = Instant::now();
            while !told.has_written.load(Ordering::SeqCst) && began.elapsed() < SOON {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(pause));
            assert!(
                Command::new("kill")
                    .args(["-KILL", &pid])
                    .status()
                    .unwrap()
                    .success()
            );
            told.is_killed.store(true, Ordering::SeqCst);
        });
        let before = next;
        next = block(async {
            let table = client.table("ships").await.unwrap();
            write(&table, next, (length, &signs)).await
        });
        killer.join().unwrap();
        served.kill();
        assert!(next > before, "round {round} has written something");
        served = Served::start(&bench, "node");
        block(async {
            let table = served.client().table("ships").await.unwrap();
            for ship in 0..next {
                let found = table
                    .get(format!("ship{ship}").as_bytes(), b"port")
                    .await
                    .unwrap();
                assert!(
                    found.is_some(),
                    "ship {ship} of {next} is lost in round {round}"
                );
            }
        });
    }
    assert_eq!(served.told["incarnation"], 6);
    assert_eq!(served.signal("-TERM"), 0);
}

#[test]
fn a_node_stops_when_asked_and_says_why_it_does_not_start() {
    let bench = Bench::new();
    let served = Served::start(&bench, "node");
    // Another node in the same directory, and one at the same port.
    let dir = bench.path("node").display().to_string();
    let words = [
        "serve",
        "--meta-port",
        "0",
        "--data-port",
        "0",
        "--peer-port",
        "0",
        "--dir",
    ];
    let ran = bench.run(&[&words[..], &[&dir]].concat()).exits(1);
    assert!(ran.err.contains("another process has"), "{}", ran.err);
    let meta = served.told["meta"].as_str().unwrap();
    let port = meta.rsplit(':').next().unwrap();
    let ran = bench
        .run(&["serve", "--meta-port", port, "--dir", "other"])
        .exits(1);
    assert!(
        ran.err.contains("is taken by another program"),
        "{}",
        ran.err
    );
    assert!(
        !bench.path("other").exists(),
        "a node that does not start leaves nothing"
    );
    assert_eq!(served.signal("-INT"), 0);
    let served = Served::start(&bench, "node");
    assert_eq!(served.told["incarnation"], 2);
    assert_eq!(served.signal("-TERM"), 0);
}

#[test]
fn settings_are_shown_with_their_origin_and_mistakes_are_refused() {
    let bench = Bench::new();
    let file = bench.file("node.toml", "memory_limit = \"64MiB\"\n");
    let words = [
        "serve",
        "--print-config",
        "--config",
        &file,
        "--set",
        "read_threads=2",
    ];
    let ran = bench.ok(&words);
    assert!(
        ran.text().contains("node.toml:1\nmemory_limit = \"64MiB\""),
        "{}",
        ran.text()
    );
    assert!(
        ran.text().contains("from: command line\nread_threads = 2"),
        "{}",
        ran.text()
    );
    let shown = bench.ok(&[&["--json"], &words[..]].concat()).json();
    assert_eq!(shown["memory_limit"]["value"], "64MiB");
    let file = bench.file("wrong.toml", "memory_limt = \"64MiB\"\n");
    let ran = bench.run(&["serve", "--config", &file]).exits(2);
    assert!(
        ran.err.contains("did you mean memory_limit?"),
        "{}",
        ran.err
    );
    let ran = bench
        .run(&["serve", "--set", "data_address=0.0.0.0:1"])
        .exits(2);
    assert!(ran.err.contains("listens on loopback only"), "{}", ran.err);
}
