//! Every call at every door of nodes that run, as clients that know little send them.
#![allow(clippy::disallowed_methods, reason = "nodes stand in the real world")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use esker::internals::env::bundle::Env;
use esker_rpc::client::{Client, ClientSettings, NewTable};
use esker_rpc::codec::frame::{RequestHead, put_request};
use esker_rpc::codec::reply_reader::{Reply, ReplyReader};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::keys::{hash, partition_of, raw_key};
use esker_rpc::message::data::{IncrRequest, KeyAnswer, KeyCall};
use esker_rpc::message::meta::PartitionConfiguration;
use esker_rpc::message::not_offered;
use esker_server::log_lines::LogLines;
use esker_server::shell::settings::Settings;
use esker_server::shell::{Node, Place};

/// Longest that anything takes.
const SOON: Duration = Duration::from_secs(120);

/// What people are told of clients.
const GUIDE: &str = include_str!("../../../../docs/guide/clients.md");

/// Partitions of the tables here.
const PARTITIONS: u32 = 8;

/// A node, and what it logs.
struct Served {
    node: Node,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Served {
    /// Starts a node, which joins the one at `join` if there is one.
    fn start(dir: &Path, join: Option<SocketAddr>, nonce: u64) -> Served {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings {
            dir: dir.to_owned(),
            meta_address: any,
            data_address: any,
            peer_address: any,
            join: join.into_iter().collect(),
            memory_limit: 16 << 20,
            log_segment: 1 << 20,
            ..Settings::default()
        };
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&lines);
        let log = LogLines::new(move |level, line| {
            told.lock().unwrap().push(format!("{level} {line}"));
        });
        let node = Node::start(&Env::real(2), &settings, (nonce, log));
        let node = node.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(node.wait_until_serving(SOON), Ok(true));
        Served { node, lines }
    }

    fn place(&self) -> Place {
        self.node.place()
    }

    /// Lines with that in them.
    fn lines_with(&self, part: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .filter(|line| line.contains(part))
            .cloned()
            .collect()
    }

    /// Looks until the page of metrics says so.
    #[track_caller]
    fn until_counted(&self, sample: &str) {
        let deadline = Instant::now() + SOON;
        loop {
            let metrics = page(self.place().client, "/metrics");
            if metrics.contains(sample) {
                return;
            }
            assert!(Instant::now() < deadline, "{sample} is not in {metrics}");
        }
    }
}

fn page(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

/// A connection that asks one thing after the other.
struct Wire {
    stream: TcpStream,
    reader: ReplyReader,
}

impl Wire {
    fn open(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let reader = ReplyReader::new(1 << 20);
        Wire { stream, reader }
    }

    fn ask(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Reply {
        let mut bytes = Vec::new();
        put(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
        let mut chunk = [0; 4096];
        loop {
            if let Some(reply) = self.reader.next().unwrap() {
                return reply;
            }
            let read = self.stream.read(&mut chunk).unwrap();
            assert!(read > 0, "the door has closed the connection");
            self.reader.buffer().extend_from_slice(&chunk[..read]);
        }
    }

    fn call(&mut self, call: &KeyCall, head: &RequestHead) -> Result<KeyAnswer, ErrorName> {
        let reply = self.ask(|out| call.put(out, head, 1));
        match reply.error.is_ok() {
            true => Ok(KeyAnswer::read(call.row().name, &reply.result.unwrap()).unwrap()),
            false => Err(reply.error),
        }
    }
}

/// The first hash key of a partition.
fn key_of(partition: u32) -> Vec<u8> {
    let mut keys = (0..).map(|number: u32| format!("ship{number}").into_bytes());
    let is_there = |key: &Vec<u8>| partition_of(hash(key), PARTITIONS) == partition;
    keys.find(is_there).unwrap()
}

fn head_of(app_id: i32, partition: u32) -> RequestHead {
    RequestHead {
        app_id,
        partition_index: i32::try_from(partition).unwrap(),
        partition_hash: hash(&key_of(partition)),
        ..RequestHead::default()
    }
}

fn raw(partition: u32) -> Blob {
    Blob::from(raw_key(&key_of(partition), b"n").unwrap())
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Makes a table; its number, and where its partitions are.
fn table(
    place: Place,
    replica_count: i32,
    envs: &[(&str, &str)],
) -> (i32, Vec<PartitionConfiguration>) {
    let SocketAddr::V4(meta) = place.meta else {
        panic!("IPv4 only");
    };
    let mut settings = ClientSettings::default();
    settings.call.timeout = SOON;
    let envs = envs
        .iter()
        .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
    let table = NewTable {
        name: "ships".to_owned(),
        partition_count: i32::try_from(PARTITIONS).unwrap(),
        replica_count,
        envs: envs.collect(),
        success_if_exist: false,
    };
    block(async {
        let admin = Client::new(vec![meta], settings).admin(SOON);
        let number = admin.create_table(&table).await.unwrap();
        (number, admin.partitions("ships").await.unwrap())
    })
}

#[test]
fn each_partition_answers_at_each_door() {
    // Two replicas of each partition on four nodes: some doors lead it, some follow, and some have
    // nothing of it. Each is asked to count one up, and the sum is what was answered.
    let dirs: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let mut nodes = vec![Served::start(dirs[0].path(), None, 91)];
    let first = nodes[0].place();
    for (dir, nonce) in dirs[1..].iter().zip(92..) {
        nodes.push(Served::start(dir.path(), Some(first.peer), nonce));
    }
    let (number, places) = table(first, 2, &[]);
    let deadline = Instant::now() + SOON;
    while !nodes.iter().all(|one| one.node.has_tables()) {
        assert!(Instant::now() < deadline, "each hears of the table");
    }
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for partition in 0..PARTITIONS {
        let head = head_of(number, partition);
        for one in &nodes {
            let address = one.place().client;
            let at = |known: &esker_rpc::codec::scalars::Address| {
                known
                    .0
                    .is_some_and(|known| SocketAddr::V4(known) == address)
            };
            let place = places
                .iter()
                .find(|one| one.pid.partition_index == head.partition_index);
            let place = place.unwrap();
            let kind = match (at(&place.primary), place.secondaries.iter().any(at)) {
                (true, _) => "leads",
                (false, true) => "follows",
                (false, false) => "has nothing",
            };
            *kinds.entry(kind).or_default() += 1;
            let mut wire = Wire::open(address);
            let incr = KeyCall::Incr(IncrRequest {
                key: raw(partition),
                increment: 1,
                expire_ts_seconds: 0,
            });
            // A refusal says that it was not done: the lead may be on its way.
            let deadline = Instant::now() + SOON;
            while let Err(error) = wire.call(&incr, &head) {
                assert!(
                    error.code().is_refused_undone() && Instant::now() < deadline,
                    "partition {partition} at node {}, which {kind}: {error}",
                    one.place().node
                );
            }
        }
        for one in &nodes {
            let mut wire = Wire::open(one.place().client);
            let deadline = Instant::now() + SOON;
            let value = loop {
                match wire.call(&KeyCall::Get(raw(partition)), &head) {
                    Ok(KeyAnswer::Get(answer)) => break answer.value,
                    told => assert!(Instant::now() < deadline, "{told:?}"),
                }
            };
            assert_eq!(*value, *b"4", "each door has counted once");
        }
    }
    assert_eq!(kinds["leads"], PARTITIONS, "{kinds:?}");
    assert_eq!(kinds["follows"], PARTITIONS, "{kinds:?}");
    assert_eq!(kinds["has nothing"], 2 * PARTITIONS, "{kinds:?}");
    for one in nodes.into_iter().rev() {
        // A number of a group is nothing that a person knows.
        let lines = one.lines_with(" is to be here");
        assert!(!lines.is_empty(), "each has a replica");
        for line in lines {
            assert!(
                line.contains(" of table 1") || line.contains("meta service"),
                "{line}"
            );
        }
        one.node.stop().unwrap();
    }
}

#[test]
fn calls_that_are_not_offered_are_refused_by_name_counted_and_told() {
    // All calls of Pegasus that this server does not have, at both doors, and one that nobody has;
    // the connections go on.
    let dir = tempfile::tempdir().unwrap();
    let served = Served::start(dir.path(), None, 95);
    let place = served.place();
    let names = [
        not_offered::OF_META,
        not_offered::OF_NODES,
        not_offered::BETWEEN_SERVERS,
        &["RPC_CM_OF_ANOTHER_AGE"],
    ]
    .concat();
    assert_eq!(not_offered::OF_META.len() + not_offered::OF_NODES.len(), 29);
    for name in [not_offered::OF_META, not_offered::OF_NODES].concat() {
        assert!(
            GUIDE.contains(&format!("`{name}`")),
            "{name} is not in the guide"
        );
    }
    for (door, address) in [("meta", place.meta), ("keys", place.client)] {
        let mut wire = Wire::open(address);
        for name in &names {
            let head = RequestHead::default();
            let reply = wire.ask(|out| put_request(out, &head, (name, 7), &Blob::default()));
            assert_eq!(
                reply.error,
                ErrorCode::HandlerNotFound.into(),
                "{name} at {door}"
            );
            assert_eq!((reply.name, reply.sequence), (format!("{name}_ACK"), 7));
        }
        let (family, cause) = ("esker_door_refusals_total", "no_such_call");
        let count = names.len();
        served.until_counted(&format!(
            "\n{family}{{door=\"{door}\",cause=\"{cause}\"}} {count}\n"
        ));
    }
    let lines = served.lines_with("refused a call that is not offered at this port");
    // Of each door the first, the second, the fourth and so on.
    let doublings = usize::try_from(names.len().ilog2()).unwrap() + 1;
    assert_eq!(lines.len(), 2 * doublings, "{lines:?}");
    assert!(
        lines[0].starts_with("WARN ") && lines[0].contains(names[0]),
        "{lines:?}"
    );
    let mut wire = Wire::open(place.client);
    let head = RequestHead::default();
    let name = "RPC_RRDB_RRDB_MULTI_GET";
    let reply = wire.ask(|out| put_request(out, &head, (name, 7), &Blob::default()));
    assert_eq!(reply.error, ErrorCode::InvalidData.into());
    served.until_counted("{door=\"keys\",cause=\"arguments\"} 1\n");
    let lines = served.lines_with("whose arguments cannot be read: RPC_RRDB_RRDB_MULTI_GET from ");
    assert_eq!(lines.len(), 1, "{lines:?}");
    served.node.stop().unwrap();
}

#[test]
fn calls_on_what_is_not_there_are_refused_counted_and_told() {
    // A table that nobody made, partitions that there are not, and a key in a partition that is not
    // its own, of a table that looks at that: some clients do not know the name of that refusal.
    let dir = tempfile::tempdir().unwrap();
    let served = Served::start(dir.path(), None, 96);
    let validates = ("replica.split.validate_partition_hash", "true");
    let (number, _) = table(served.place(), 1, &[validates]);
    let right = head_of(number, 3);
    let get = KeyCall::Get(raw(3));
    let mut wire = Wire::open(served.place().client);
    wire.call(&get, &right).unwrap();
    let heads = |app_id, partition_index| RequestHead {
        app_id,
        partition_index,
        ..right
    };
    let asked = [
        (heads(999, 3), ErrorCode::ObjectNotFound, "no_table", 1),
        (heads(-1, 3), ErrorCode::ObjectNotFound, "no_table", 2),
        (
            heads(number, 5000),
            ErrorCode::ObjectNotFound,
            "no_partition",
            1,
        ),
        (
            heads(number, -1),
            ErrorCode::ObjectNotFound,
            "no_partition",
            2,
        ),
        (heads(number, 4), ErrorCode::InvalidState, "other_hash", 1),
    ];
    for (head, code, cause, count) in asked {
        assert_eq!(wire.call(&get, &head), Err(code.into()), "{head:?}");
        let family = "esker_node_misdirected_total";
        served.until_counted(&format!("\n{family}{{cause=\"{cause}\"}} {count}\n"));
    }
    for part in [
        "WARN refused a call on a table that is not there: RPC_RRDB_RRDB_GET of table 999, ",
        "WARN refused a call on a partition that its table does not have: RPC_RRDB_RRDB_GET of ",
        "WARN refused a call on a key that belongs to another partition: RPC_RRDB_RRDB_GET of ",
    ] {
        let lines = served.lines_with(part);
        assert!(
            !lines.is_empty() && lines[0].ends_with("(1 so far)"),
            "{part}"
        );
    }
    wire.call(&get, &right).unwrap();
    served.node.stop().unwrap();
}

#[test]
fn a_call_that_is_never_answered_is_not_refused_either() {
    // An answer to it makes the client in Go deaf: on a table that nobody made, a partition that
    // there is not, and with arguments that are none.
    let dir = tempfile::tempdir().unwrap();
    let served = Served::start(dir.path(), None, 97);
    let (number, _) = table(served.place(), 1, &[]);
    let right = head_of(number, 3);
    let clear = KeyCall::ClearScanner(7);
    let mut wire = Wire::open(served.place().client);
    let reply = wire.ask(|out| {
        for (app_id, partition_index) in [(999, 3), (number, 5000), (number, 3)] {
            let head = RequestHead {
                app_id,
                partition_index,
                ..right
            };
            clear.put(out, &head, 1);
        }
        put_request(out, &right, (clear.row().name, 1), &Blob::default());
        KeyCall::Get(raw(3)).put(out, &right, 2);
    });
    assert_eq!((reply.sequence, reply.error), (2, ErrorName::OK));
    served.node.stop().unwrap();
}
