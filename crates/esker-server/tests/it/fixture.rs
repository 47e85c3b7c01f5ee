//! A node that serves a table `t`, in the place of the double of the client's tests.
#![allow(clippy::disallowed_methods, reason = "a node stands in the real world")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use esker::internals::env::bundle::Env;
use esker::internals::env::clock::Clock;
use esker_rpc::client::{Client, ClientSettings, NewTable, Table};
use esker_server::log_lines::LogLines;
use esker_server::shell::Node;
use esker_server::shell::settings::Settings;
use tempfile::TempDir;

/// When tests take place.
pub const UNIX_S: u64 = 1_800_000_000;

/// Longest time that any test may take: far more than each needs.
const LIMIT: Duration = Duration::from_secs(300);

/// The time of the day stands still until a test moves it; time passes as it does.
#[derive(Debug)]
struct Calendar {
    clock: Arc<dyn Clock>,
    unix_s: AtomicU64,
}

impl Clock for Calendar {
    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    fn unix_time(&self) -> Duration {
        Duration::from_secs(self.unix_s.load(Ordering::SeqCst))
    }
}

/// A cluster of one node, with a table `t` of 8 partitions, and its client.
pub struct Fixture {
    /// There until the fixture is dropped.
    node: Option<Node>,
    calendar: Arc<Calendar>,
    meta: SocketAddrV4,
    /// Outlives the node.
    _dir: TempDir,
}

/// Runs a test, within a limit of time.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let within = tokio::time::timeout(LIMIT, test).await;
        within.expect("within the limit");
    });
}

impl Fixture {
    /// One whose client waits for answers as long as a test may take: none is missing here.
    pub async fn patient() -> Fixture {
        // A node that starts waits for its own threads, which nobody may who runs a test.
        let fixture = tokio::task::spawn_blocking(Fixture::start).await.unwrap();
        let table = NewTable {
            name: "t".to_owned(),
            partition_count: 8,
            replica_count: 1,
            envs: BTreeMap::new(),
            success_if_exist: false,
        };
        let admin = fixture.client().admin(LIMIT);
        admin.create_table(&table).await.unwrap();
        fixture
    }

    fn start() -> Fixture {
        let real = Env::real(2);
        let calendar = Arc::new(Calendar {
            clock: Arc::clone(&real.clock),
            unix_s: AtomicU64::new(UNIX_S),
        });
        let env = Env {
            clock: Arc::<Calendar>::clone(&calendar),
            ..real
        };
        let dir = tempfile::tempdir().unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings {
            dir: dir.path().to_owned(),
            meta_address: any,
            data_address: any,
            peer_address: any,
            memory_limit: 16 << 20,
            log_segment: 1 << 20,
            ..Settings::default()
        };
        let log = LogLines::new(|level, line| println!("{level:5} {line}"));
        let node = Node::start(&env, &settings, (77, log));
        let node = node.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(node.wait_until_serving(LIMIT), Ok(true));
        let SocketAddr::V4(meta) = node.place().meta else {
            panic!("it was told an address of IPv4");
        };
        Fixture {
            node: Some(node),
            calendar,
            meta,
            _dir: dir,
        }
    }

    fn client(&self) -> Client {
        let mut settings = ClientSettings {
            meta_attempt: LIMIT,
            silence_max: LIMIT,
            unix_s: || UNIX_S,
            ..ClientSettings::default()
        };
        settings.call.timeout = LIMIT;
        Client::new(vec![self.meta], settings)
    }

    pub async fn table(&self) -> Table {
        self.client().table("t").await.unwrap()
    }

    /// Moves the clock of the node.
    pub fn pass(&self, seconds: u64) {
        self.calendar.unix_s.fetch_add(seconds, Ordering::SeqCst);
    }

    /// From now on values of `t` live so long of which a write does not say how long.
    pub async fn set_default_ttl(&self, seconds: u32) {
        let envs = [("default_ttl".to_owned(), seconds.to_string())].into();
        self.client()
            .admin(LIMIT)
            .set_envs("t", &envs)
            .await
            .unwrap();
        // What meta has noted is told to the node a moment later.
        let table = self.table().await;
        while table.ttl(b"probe", b"").await != Ok(Some(Some(seconds))) {
            table.set(b"probe", b"", b"", 0).await.unwrap();
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // As it starts: not on the thread that runs the test.
        let node = self.node.take();
        let stopped = std::thread::spawn(|| node.map(Node::stop)).join();
        if !std::thread::panicking() {
            assert_eq!(stopped.unwrap(), Some(Ok(())));
        }
    }
}
