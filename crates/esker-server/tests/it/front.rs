//! The doors, asked by sockets: what is answered, what is refused, and every bound.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::reply_reader::{Reply as ReplyFrame, ReplyReader};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::{ErrorCode, Status};
use esker_rpc::message::data::{KeyAnswer, KeyCall, ReadResponse, UpdateRequest};
use esker_rpc::message::meta::{ListNodesRequest, MetaAnswer, MetaCall};
use esker_rpc::message::node::{NodeAnswer, NodeCall};
use esker_server::front::{
    Bounds, Cause, DoorKind, Front, KeysCall, Opening, Page, Service, listen,
};
use esker_server::log_lines::LogLines;
use esker_server::reply::Responder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

mod bounds;

/// Longest that any test waits for what must happen.
const SOON: Duration = Duration::from_secs(120);

type Asked = (KeysCall, Responder<KeyAnswer>);

/// Gives calls on keys to the test; refuses every other.
struct Given(Mutex<mpsc::UnboundedSender<Asked>>);

impl Service for Given {
    fn keys(&self, call: KeysCall, reply: Responder<KeyAnswer>) {
        assert_ne!(call.call, get(b"a fault"), "planted by a test");
        // A test that has ended wants no more calls.
        let _ = self.0.lock().unwrap().send((call, reply));
    }

    fn meta(&self, _: MetaCall, _: Vec<u8>, reply: Responder<MetaAnswer>) {
        reply.refuse(ErrorCode::ServiceNotActive);
    }

    fn node(&self, _: NodeCall, reply: Responder<NodeAnswer>) {
        reply.refuse(ErrorCode::NotImplemented);
    }

    fn page(&self, path: &str) -> Page {
        Page::text("200 OK", path.to_owned())
    }
}

struct Fixture {
    front: Front,
    asked: mpsc::UnboundedReceiver<Asked>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Fixture {
    async fn open(kind: DoorKind, bounds: Bounds) -> Fixture {
        let (sender, asked) = mpsc::unbounded_channel();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&lines);
        let front = Front::open(Opening {
            kind,
            listener: listen("127.0.0.1:0".parse().unwrap()).await.unwrap(),
            service: Arc::new(Given(Mutex::new(sender))),
            bounds,
            log: LogLines::new(move |_, line| told.lock().unwrap().push(line.to_owned())),
        });
        Fixture {
            front: front.unwrap(),
            asked,
            lines,
        }
    }

    async fn asked(&mut self) -> Asked {
        timeout(SOON, self.asked.recv())
            .await
            .expect("asked soon")
            .unwrap()
    }

    /// Waits until the door has counted that, and has told it.
    async fn refused(&self, cause: Cause) {
        let told = async {
            while self.front.counters().of(cause) == 0 || self.lines.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, told).await.expect("refused soon");
    }
}

struct Peer {
    stream: TcpStream,
    reader: ReplyReader,
}

impl Peer {
    async fn connect(address: SocketAddr) -> Peer {
        Peer {
            stream: TcpStream::connect(address).await.unwrap(),
            reader: ReplyReader::new(1 << 30),
        }
    }

    async fn ask(&mut self, call: &KeyCall, sequence: i32) {
        let mut bytes = Vec::new();
        let head = RequestHead {
            app_id: 7,
            partition_index: 3,
            partition_hash: 99,
            ..RequestHead::default()
        };
        call.put(&mut bytes, &head, sequence);
        self.stream.write_all(&bytes).await.unwrap();
    }

    async fn reply(&mut self) -> ReplyFrame {
        loop {
            if let Some(reply) = self.reader.next().unwrap() {
                return reply;
            }
            let read = self.stream.read_buf(self.reader.buffer());
            assert_ne!(
                timeout(SOON, read).await.expect("read soon").unwrap(),
                0,
                "closed"
            );
        }
    }

    /// Waits until the door closes the connection; replies before that are dropped.
    async fn closed(&mut self) {
        let mut bytes = [0; 4096];
        let read = async { while let Ok(1..) = self.stream.read(&mut bytes).await {} };
        timeout(SOON, read).await.expect("closed soon");
    }
}

fn get(key: &[u8]) -> KeyCall {
    KeyCall::Get(Blob::of(key))
}

fn value(bytes: &[u8]) -> KeyAnswer {
    KeyAnswer::Get(ReadResponse {
        error: Status::OK,
        value: Blob::of(bytes),
        ..ReadResponse::default()
    })
}

#[tokio::test]
async fn replies_come_in_any_order_and_the_unknown_is_not_answered() {
    let mut fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    for sequence in 1..=3 {
        peer.ask(&get(b"\0\x01hk"), sequence).await;
    }
    let (call, first) = fixture.asked().await;
    let (_, second) = fixture.asked().await;
    let (_, third) = fixture.asked().await;
    assert_eq!((call.gpid.app_id, call.gpid.partition_index), (7, 3));
    assert_eq!((call.partition_hash, call.is_backup_request), (99, false));
    assert_eq!(
        KeyCall::read("RPC_RRDB_RRDB_GET", &call.arguments),
        Ok(call.call)
    );
    third.answer(value(b"three"));
    drop(second);
    first.refuse(ErrorCode::InvalidState);
    let reply = peer.reply().await;
    let answer = KeyAnswer::read("RPC_RRDB_RRDB_GET", &reply.result.unwrap()).unwrap();
    assert_eq!((reply.sequence, answer), (3, value(b"three")));
    let reply = peer.reply().await;
    assert_eq!(
        (reply.sequence, reply.error.code()),
        (1, ErrorCode::InvalidState)
    );
    peer.ask(&get(b"\0\x01hk"), 4).await;
    fixture.asked().await.1.answer(value(b"four"));
    assert_eq!(
        peer.reply().await.sequence,
        4,
        "nothing was said about the second"
    );
    assert_eq!(fixture.front.counters().requests(), 4);
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_and_the_connection_goes_on() {
    let bounds = Bounds {
        body_bytes_max: 1000,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let put = KeyCall::Put(UpdateRequest {
        value: Blob::from(vec![0; 1001]),
        ..UpdateRequest::default()
    });
    peer.ask(&put, 1).await;
    assert_eq!(peer.reply().await.error.code(), ErrorCode::InvalidData);
    let mut bytes = Vec::new();
    let list = MetaCall::ListNodes(ListNodesRequest::default());
    list.put(&mut bytes, &RequestHead::default(), 2);
    peer.stream.write_all(&bytes).await.unwrap();
    let reply = peer.reply().await;
    assert_eq!(
        (reply.sequence, reply.error.code()),
        (2, ErrorCode::HandlerNotFound)
    );
    peer.ask(&get(b"k"), 3).await;
    fixture.asked().await.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 3);
    fixture.refused(Cause::TooLong).await;
}

#[tokio::test]
async fn meta_calls_are_asked_at_their_own_door() {
    let fixture = Fixture::open(DoorKind::Meta, Bounds::default()).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 1).await;
    assert_eq!(peer.reply().await.error.code(), ErrorCode::HandlerNotFound);
    let mut bytes = Vec::new();
    let list = MetaCall::ListNodes(ListNodesRequest::default());
    list.put(&mut bytes, &RequestHead::default(), 2);
    peer.stream.write_all(&bytes).await.unwrap();
    assert_eq!(peer.reply().await.error.code(), ErrorCode::ServiceNotActive);
}

#[tokio::test]
async fn other_protocols_and_nonsense_are_closed_and_counted() {
    let fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.stream
        .write_all(b"RDSN / HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    peer.closed().await;
    fixture.refused(Cause::Protocol).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.stream.write_all(b"THFT\0\0\0\x09").await.unwrap();
    peer.closed().await;
    fixture.refused(Cause::Malformed).await;
    let lines = fixture.lines.lock().unwrap();
    assert!(
        lines[0].contains("another protocol") && lines[0].contains("Rdsn"),
        "{lines:?}"
    );
}

async fn page_of(address: SocketAddr, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    for piece in pieces {
        // Who was answered before its last piece may find the connection closed.
        let _ = stream.write_all(piece).await;
        tokio::task::yield_now().await;
    }
    let mut text = Vec::new();
    let read = timeout(SOON, stream.read_to_end(&mut text)).await;
    // A reset after the answer is an end as well.
    let _ = read.expect("closed soon");
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_door_shows_one_page_of_http_and_closes() {
    // In one piece or in three, of a page that there is; what a client asks for behind it is not
    // looked at.
    let fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let address = fixture.front.address();
    let whole = page_of(
        address,
        &[b"GET /metrics?a=b HTTP/1.1\r\nHost: here\r\n\r\n"],
    )
    .await;
    assert!(whole.starts_with("HTTP/1.1 200 OK\r\n"), "{whole}");
    assert!(whole.ends_with("\r\n\r\n/metrics"), "{whole}");
    let pieces: [&[u8]; 3] = [b"GET /met", b"rics HTTP/1.1\r\nHost: he", b"re\r\n\r\n"];
    assert_eq!(page_of(address, &pieces).await, whole);
    let posted = page_of(address, &[b"POST /metrics HTTP/1.1\r\n\r\n"]).await;
    assert!(posted.starts_with("HTTP/1.1 405 "), "{posted}");
    assert_eq!(fixture.front.counters().pages(), 3);
    assert_eq!(fixture.front.counters().requests(), 0);
}

#[tokio::test]
async fn a_head_without_an_end_is_refused_at_its_bound() {
    let fixture = Fixture::open(DoorKind::Meta, Bounds::default()).await;
    let long = vec![b'x'; 9 << 10];
    let page = page_of(fixture.front.address(), &[b"GET / HTTP/1.1\r\nX: ", &long]).await;
    assert!(
        page.starts_with("HTTP/1.1 431 ") || page.is_empty(),
        "{page}"
    );
    assert_eq!(fixture.front.counters().pages(), 1);
}

#[tokio::test]
async fn pages_find_no_room_at_a_door_that_is_full() {
    // One call that is not answered holds what a page would need.
    let bounds = Bounds {
        door_bytes_max: 1 << 20,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 1).await;
    let held = fixture.asked().await;
    let page = page_of(fixture.front.address(), &[b"GET / HTTP/1.1\r\n\r\n"]).await;
    assert!(page.starts_with("HTTP/1.1 503 "), "{page}");
    assert_eq!(fixture.front.counters().of(Cause::Busy), 1);
    drop(held);
}

#[tokio::test]
async fn connections_beyond_the_bound_are_closed_at_once() {
    let bounds = Bounds {
        connections_max: 2,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let address = fixture.front.address();
    let mut first = Peer::connect(address).await;
    let mut second = Peer::connect(address).await;
    for peer in [&mut first, &mut second] {
        peer.ask(&get(b"k"), 1).await;
        fixture.asked().await.1.answer(value(b"v"));
        peer.reply().await;
    }
    Peer::connect(address).await.closed().await;
    fixture.refused(Cause::TooMany).await;
    // One that leaves makes room.
    drop(first);
    let mut again = loop {
        let mut peer = Peer::connect(address).await;
        peer.ask(&get(b"k"), 1).await;
        tokio::select! {
            asked = fixture.asked.recv() => {
                asked.unwrap().1.answer(value(b"v"));
                break peer;
            }
            // It came before the door had seen that one left.
            () = peer.closed() => {}
        }
    };
    again.reply().await;
    assert_eq!(fixture.front.counters().accepted(), 3);
}

#[tokio::test]
#[ignore = "needs ten thousand open files: part of make soak"]
async fn soak_five_thousand_sockets_at_one_door_leave_it_serving() {
    let mut fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let address = fixture.front.address();
    let mut first = Peer::connect(address).await;
    first.ask(&get(b"k"), 1).await;
    fixture.asked().await.1.answer(value(b"v"));
    first.reply().await;
    let mut sockets = Vec::new();
    for _ in 0..5000 {
        sockets.push(TcpStream::connect(address).await.unwrap());
    }
    let most = u64::try_from(Bounds::default().connections_max).unwrap();
    let counters = fixture.front.counters();
    let all = || counters.accepted() + counters.of(Cause::TooMany);
    let waited = timeout(SOON, async {
        while all() < 5001 {
            tokio::task::yield_now().await;
        }
    });
    waited.await.unwrap();
    assert_eq!(counters.accepted(), most);
    assert_eq!(counters.of(Cause::TooMany), 5001 - most);
    // Who was there before is served as ever.
    first.ask(&get(b"k"), 2).await;
    fixture.asked().await.1.answer(value(b"v"));
    first.reply().await;
}

#[tokio::test]
async fn the_idle_and_the_half_open_are_closed() {
    let bounds = Bounds {
        half_request_max: Duration::from_millis(30),
        ..Bounds::default()
    };
    let fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut half = Peer::connect(fixture.front.address()).await;
    half.stream.write_all(b"THFT\0").await.unwrap();
    half.closed().await;
    fixture.refused(Cause::HalfRequest).await;
    let bounds = Bounds {
        idle_max: Duration::from_millis(60),
        ..Bounds::default()
    };
    let fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut idle = Peer::connect(fixture.front.address()).await;
    idle.closed().await;
    fixture.refused(Cause::Idle).await;
}

#[tokio::test]
async fn one_connection_waits_when_it_has_too_many_calls_under_way() {
    // The bound is never below one call that returns many rows: 64 permits.
    let bounds = Bounds {
        in_flight_bytes_max: 0,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    for sequence in 0..70 {
        peer.ask(&get(b"k"), sequence).await;
    }
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(fixture.asked().await);
    }
    let more = timeout(Duration::from_millis(50), fixture.asked.recv()).await;
    assert!(more.is_err(), "the sixty-fifth waits");
    held.pop().unwrap().1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 63);
    held.push(fixture.asked().await);
    // A connection of somebody else does not wait for this one.
    let mut other = Peer::connect(fixture.front.address()).await;
    other.ask(&get(b"k"), 1).await;
    fixture.asked().await.1.answer(value(b"v"));
    other.reply().await;
}

#[tokio::test]
async fn a_door_with_too_many_calls_under_way_says_busy() {
    let bounds = Bounds {
        door_bytes_max: 0,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut held = Vec::new();
    for sequence in 0..65 {
        peer.ask(&get(b"k"), sequence).await;
    }
    for _ in 0..64 {
        held.push(fixture.asked().await);
    }
    let reply = peer.reply().await;
    assert_eq!((reply.sequence, reply.error.code()), (64, ErrorCode::Busy));
    assert!(ErrorCode::Busy.is_refused_undone());
    fixture.refused(Cause::Busy).await;
}

#[tokio::test]
async fn who_does_not_read_is_closed() {
    for (bounds, cause) in [
        (
            Bounds {
                slow_reader_max: Duration::from_millis(50),
                ..Bounds::default()
            },
            Cause::SlowReader,
        ),
        (
            Bounds {
                unread_bytes_max: 20 << 20,
                ..Bounds::default()
            },
            Cause::Unread,
        ),
    ] {
        let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
        let mut peer = Peer::connect(fixture.front.address()).await;
        // More than both sockets buffer, however large the machine lets them grow.
        for sequence in 0..8 {
            peer.ask(&get(b"k"), sequence).await;
        }
        for _ in 0..8 {
            fixture.asked().await.1.answer(value(&vec![0; 8 << 20]));
        }
        fixture.refused(cause).await;
    }
}

#[tokio::test]
async fn a_closed_door_takes_nobody_and_a_dropped_one_ends_what_it_has() {
    let mut fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let address = fixture.front.address();
    let mut peer = Peer::connect(address).await;
    peer.ask(&get(b"k"), 1).await;
    fixture.asked().await.1.answer(value(b"v"));
    peer.reply().await;
    fixture.front.stop_accepting();
    let refused = async { while TcpStream::connect(address).await.is_ok() {} };
    timeout(SOON, refused).await.expect("closed soon");
    peer.ask(&get(b"k"), 2).await;
    fixture.asked().await.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 2);
    drop(fixture.front);
    peer.closed().await;
}

#[tokio::test]
async fn a_door_opens_on_loopback_only() {
    let bound = listen("0.0.0.0:0".parse().unwrap()).await;
    let told = bound.unwrap_err().to_string();
    assert!(told.contains("listens on loopback only"), "{told}");
}
