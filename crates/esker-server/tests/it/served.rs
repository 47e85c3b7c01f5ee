//! One node with threads, sockets and a real disk, asked by a client of the wire.
#![allow(clippy::disallowed_methods, reason = "a node stands in the real world")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use esker::internals::db::inspect::manifest;
use esker::internals::env::bundle::Env;
use esker_rpc::client::{CallSettings, Client, ClientSettings, NewTable};
use esker_server::log_lines::LogLines;
use esker_server::shell::settings::Settings;
use esker_server::shell::{Node, Place};
use tokio::task::JoinSet;

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(120);

/// Writes at a time to a table that takes fewer in a second.
const WRITES: u32 = 8;

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn settings(dir: &Path) -> Settings {
    Settings {
        dir: dir.to_owned(),
        meta_address: any(),
        data_address: any(),
        peer_address: any(),
        log_segment: 1 << 20,
        ..Settings::default()
    }
}

fn lines() -> LogLines {
    LogLines::new(|level, line| println!("{level:5} {line}"))
}

fn start(dir: &Path, nonce: u64) -> Node {
    let node = Node::start(&Env::real(2), &settings(dir), (nonce, lines()));
    let node = node.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(node.wait_until_serving(SOON), Ok(true));
    node
}

fn v4(address: SocketAddr) -> std::net::SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => panic!("IPv4 only"),
    }
}

fn client(place: Place) -> Client {
    let mut settings = ClientSettings::default();
    settings.call.timeout = SOON;
    Client::new(vec![v4(place.meta)], settings)
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

fn new_table(name: &str) -> NewTable {
    NewTable {
        name: name.to_owned(),
        partition_count: 4,
        replica_count: 1,
        envs: BTreeMap::new(),
        success_if_exist: false,
    }
}

async fn fill(client: &Client, from: u64) {
    let table = client.table("ships").await.unwrap();
    for ship in from..from + 100 {
        let hash_key = format!("ship{ship}");
        table
            .set(hash_key.as_bytes(), b"port", b"Hamburg", 0)
            .await
            .unwrap();
    }
}

async fn check(client: &Client, count: u64) {
    let table = client.table("ships").await.unwrap();
    for ship in 0..count {
        let found = table
            .get(format!("ship{ship}").as_bytes(), b"port")
            .await
            .unwrap();
        assert_eq!(found.as_deref(), Some(&b"Hamburg"[..]), "ship {ship}");
    }
}

#[test]
fn a_node_serves_is_stopped_and_serves_again() {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path(), 77);
    let place = node.place();
    assert_eq!((place.node, place.incarnation), (1, 1));
    block(async {
        let client = client(place);
        let began = Instant::now();
        client
            .admin(SOON)
            .create_table(&new_table("ships"))
            .await
            .unwrap();
        println!("created in {:?}", began.elapsed());
        fill(&client, 0).await;
        check(&client, 100).await;
        let table = client.table("ships").await.unwrap();
        assert_eq!(table.incr(b"counter", b"n", 5, 0).await.unwrap(), 5);
        assert_eq!(table.sort_key_count(b"counter").await.unwrap(), Some(1));
    });
    node.stop().unwrap();
    let node = start(dir.path(), 78);
    let again = node.place();
    assert_eq!((again.cluster, again.incarnation), (place.cluster, 2));
    block(async {
        let client = client(again);
        check(&client, 100).await;
        fill(&client, 100).await;
        check(&client, 200).await;
    });
    node.stop().unwrap();
}

/// Edits in the manifests of a node's database.
fn edit_count(dir: &Path) -> usize {
    let files = std::fs::read_dir(dir.join("db")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_manifest = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("MANIFEST")
    };
    let manifests = paths.filter(is_manifest);
    let edits = manifests.map(|path| manifest(&path).unwrap().edits.len());
    edits.sum()
}

#[test]
fn what_a_node_has_in_memory_when_it_stops_is_flushed_together() {
    // Sixty-four partitions have rows in memory; each flushed by itself is an edit, and syncs.
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path(), 79);
    let place = node.place();
    block(async {
        let client = client(place);
        let table = NewTable {
            partition_count: 64,
            ..new_table("ships")
        };
        client.admin(SOON).create_table(&table).await.unwrap();
        for from in [0, 100, 200, 300] {
            fill(&client, from).await;
        }
    });
    let before = edit_count(dir.path());
    node.stop().unwrap();
    let edits = edit_count(dir.path()) - before;
    assert!(edits < 20, "{edits} edits");
    let node = start(dir.path(), 80);
    let again = node.place();
    block(async { check(&client(again), 400).await });
    node.stop().unwrap();
}

#[test]
fn limits_of_a_table_hold_back_its_clients_and_nobody_else() {
    // Two partitions of one table take one write a second each, and of reads a byte; another table
    // is not limited. All calls come within seconds; a share is rounded down, and one more.
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path(), 79);
    let place = node.place();
    block(async {
        let client = client(place);
        let admin = client.admin(SOON);
        for name in ["limited", "free"] {
            admin.create_table(&new_table(name)).await.unwrap();
        }
        let limit = |key: &str, text: &str| BTreeMap::from([(key.to_owned(), text.to_owned())]);
        let bad = limit("replica.write_throttling", "5");
        let bad = admin.set_envs("limited", &bad);
        let said = bad.await.expect_err("no limit").to_string();
        assert!(said.contains("20000*delay*100,30000*reject*200"), "{said}");
        let envs = [
            limit("replica.write_throttling", "0*delay*1,3*reject*1"),
            limit("replica.read_throttling_by_size", "4"),
        ];
        for envs in &envs {
            admin.set_envs("limited", envs).await.unwrap();
        }
        let limited = client.table("limited").await.unwrap();
        let free = client.table("free").await.unwrap();
        // The node is told of the setting a moment later. Some at a time: on a slow disk one after
        // the other are no more than a second may have.
        let (mut refused, began) = (None, Instant::now());
        while refused.is_none() {
            assert!(began.elapsed() < SOON, "no more than a second may have");
            free.set(b"ship", b"port", b"Kiel", 0).await.unwrap();
            let mut writing = JoinSet::new();
            for _ in 0..WRITES {
                let limited = limited.clone();
                writing.spawn(async move { limited.set(b"ship", b"port", b"Kiel", 0).await });
            }
            for told in writing.join_all().await {
                refused = refused.or(told.err().map(|error| error.to_string()));
            }
        }
        let refused = refused.unwrap();
        assert!(refused.contains("ERR_BUSY"), "{refused}");
        let mut refused = false;
        for _ in 0..100_000 {
            refused = limited.get(b"ship", b"port").await.is_err();
            if refused {
                break;
            }
        }
        assert!(refused, "more bytes than may be read");
        assert!(free.get(b"ship", b"port").await.unwrap().is_some());
        let denied = limit("replica.deny_client_request", "reconfig*all");
        admin.set_envs("free", &denied).await.unwrap();
        let mut is_denied = false;
        for _ in 0..100_000 {
            let quick = free.with(CallSettings {
                timeout: Duration::from_millis(200),
                resends_writes: false,
            });
            is_denied = quick.get(b"ship", b"port").await.is_err();
            if is_denied {
                break;
            }
        }
        assert!(is_denied);
        admin
            .remove_envs("free", &["replica.deny_client_request".to_owned()])
            .await
            .unwrap();
        let mut is_let_in = false;
        for _ in 0..100_000 {
            is_let_in = free.get(b"ship", b"port").await.is_ok();
            if is_let_in {
                break;
            }
        }
        assert!(is_let_in);
    });
    node.stop().unwrap();
}

/// The page of a path at an address.
fn page(address: SocketAddr, path: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

#[test]
fn a_node_shows_what_it_counts_and_whether_it_is_well() {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path(), 80);
    let place = node.place();
    block(async {
        let client = client(place);
        let admin = client.admin(SOON);
        admin.create_table(&new_table("ships")).await.unwrap();
        fill(&client, 0).await;
        check(&client, 100).await;
    });
    for address in [place.client, place.meta] {
        let health = page(address, "/health");
        assert!(health.starts_with("HTTP/1.1 200 OK\r\n"), "{health}");
        let metrics = page(address, "/metrics");
        for sample in [
            "\nesker_table_calls_total{table=\"ships\",kind=\"write\"} 100\n",
            "\nesker_table_calls_total{table=\"ships\",kind=\"read\"} 100\n",
            "\nesker_table_rejected_total{table=\"ships\",kind=\"write\"} 0\n",
            "\nesker_partition_leads{table=\"ships\",partition=\"3\"} 1\n",
            "\nesker_node_serves 1\n",
            "\nesker_door_refusals_total{door=\"keys\",cause=\"busy\"} 0\n",
            "\nesker_write_batches_total ",
        ] {
            assert!(metrics.contains(sample), "{sample} is not in {metrics}");
        }
        // Every family has its head once.
        let heads = metrics.lines().filter(|line| line.starts_with("# TYPE "));
        let mut heads: Vec<&str> = heads.collect();
        let count = heads.len();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), count);
        let status = page(address, "/status");
        assert!(status.contains("\"serves\":true"), "{status}");
        assert!(
            status.contains("\"table\":\"ships\",\"partition\":3"),
            "{status}"
        );
        assert!(status.contains("\"replicas_left_out\":0,"), "{status}");
        // Of one table by its number, and of one that there is not.
        let status = page(address, "/status/1");
        assert!(
            status.contains("\"table\":\"ships\",\"partition\":3"),
            "{status}"
        );
        let status = page(address, "/status/77");
        assert!(status.contains("\"replicas\":[]"), "{status}");
        for path in ["/nothing", "/status/ships", "/status/-1", "/status/"] {
            assert!(page(address, path).starts_with("HTTP/1.1 404 "), "{path}");
        }
    }
    node.stop().unwrap();
}

#[test]
fn calls_that_took_long_are_kept_with_what_they_waited_for() {
    // From a nanosecond on every call is slow: one write, one read, and a key that is no text.
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        slow_query: Duration::from_nanos(1),
        ..settings(dir.path())
    };
    let node = Node::start(&Env::real(2), &settings, (81, lines()));
    let node = node.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(node.wait_until_serving(SOON), Ok(true));
    let place = node.place();
    block(async {
        let client = client(place);
        let admin = client.admin(SOON);
        admin.create_table(&new_table("ships")).await.unwrap();
        let table = client.table("ships").await.unwrap();
        table.set(b"anna\xff", b"port", b"Kiel", 0).await.unwrap();
        table.get(b"anna\xff", b"port").await.unwrap();
    });
    // An answer may be there before its call is written down.
    let mut slow = page(place.client, "/slow");
    while !(slow.contains("\"call\":\"get\"") && slow.contains("\"call\":\"put\"")) {
        slow = page(place.client, "/slow");
    }
    for part in [
        "\"hash_key\":\"anna\\\\xff\"",
        "\"table\":\"ships\"",
        "\"from\":\"127.0.0.1:",
        "\"commit_us\":",
        "\"read_us\":",
    ] {
        assert!(slow.contains(part), "{part} is not in {slow}");
    }
    node.stop().unwrap();
}

#[test]
fn a_compaction_that_is_asked_for_is_done_at_every_replica_once() {
    // A table of four partitions is asked for one, with a moment that has passed since the node was
    // started; the page of the node says how far each has come.
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path(), 82);
    let place = node.place();
    block(async {
        let client = client(place);
        let admin = client.admin(SOON);
        admin.create_table(&new_table("ships")).await.unwrap();
        fill(&client, 0).await;
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let key = "manual_compact.once.trigger_time".to_owned();
        let off = BTreeMap::from([
            (key.clone(), now.to_string()),
            ("manual_compact.disabled".to_owned(), "true".to_owned()),
        ]);
        admin.set_envs("ships", &off).await.unwrap();
        let status = page(place.client, "/status");
        assert!(!status.contains("\"state\":\"done\""), "{status}");
        let disabled = ["manual_compact.disabled".to_owned()];
        admin.remove_envs("ships", &disabled).await.unwrap();
        let done = format!("\"compaction\":{{\"asked_s\":{now},\"state\":\"done\"");
        while page(place.client, "/status").matches(&done).count() < 4 {}
        check(&client, 100).await;
    });
    node.stop().unwrap();
}
