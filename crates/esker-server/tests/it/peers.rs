//! Connections between nodes: what travels, what is refused, and what breaks.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use esker_server::front::listen;
use esker_server::log_lines::LogLines;
use esker_server::meta::epoch::Claim;
use esker_server::peer::ask::{Answer, Ask, Asker};
use esker_server::peer::bounds::PeerBounds;
use esker_server::peer::cause::PeerCause;
use esker_server::peer::format::{FrameReader, Greeting, Kind, Origin, Speaker, put_frame};
use esker_server::peer::link::LinkSettings;
use esker_server::peer::links::Links;
use esker_server::peer::listener::{Held, PeerListener, PeerOpening, PeerService};
use esker_server::peer::registry::Registry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

mod bounds;

/// Longest that any test waits for what must happen.
const SOON: Duration = Duration::from_secs(120);

/// A place that nobody else is at: a port there that was let go of can be bound again.
const OWN: &str = "127.77.0.1:0";

/// How long an ask is waited for, where it is answered.
const PATIENCE: Duration = Duration::from_secs(120);

enum Heard {
    Raft(u64, Vec<u8>),
    Asked(Speaker, Ask, Asker),
}

/// Gives all that is heard to the test, and what frames hold.
struct Given(Mutex<mpsc::UnboundedSender<Heard>>, Arc<Mutex<Vec<Held>>>);

impl PeerService for Given {
    fn raft(&self, from: u64, frame: Vec<u8>) {
        // A test that has ended hears no more; here and below.
        let _ = self.0.lock().unwrap().send(Heard::Raft(from, frame));
    }

    fn raft_held(&self, from: u64, frame: Vec<u8>, held: Held) {
        self.1.lock().unwrap().push(held);
        self.raft(from, frame);
    }

    fn ask(&self, from: Speaker, ask: Ask, asker: Asker) {
        // As above.
        let _ = self.0.lock().unwrap().send(Heard::Asked(from, ask, asker));
    }
}

struct Node {
    listener: PeerListener,
    links: Arc<Links>,
    heard: mpsc::UnboundedReceiver<Heard>,
    broken: mpsc::UnboundedReceiver<u64>,
    registry: Arc<Registry>,
    held: Arc<Mutex<Vec<Held>>>,
    lines: Arc<Mutex<Vec<String>>>,
}

fn speaker(node: u64, incarnation: u64, instance: u64) -> Speaker {
    Speaker {
        cluster: 77,
        node,
        incarnation,
        instance,
    }
}

impl Node {
    async fn start(myself: Speaker, address: SocketAddr) -> Node {
        let settings = LinkSettings {
            queue_bytes_max: 20 << 20,
            asks_max: 8,
            ..LinkSettings::default()
        };
        Node::start_within(myself, address, PeerBounds::default(), settings).await
    }

    async fn start_within(
        myself: Speaker,
        address: SocketAddr,
        bounds: PeerBounds,
        settings: LinkSettings,
    ) -> Node {
        let (sender, heard) = mpsc::unbounded_channel();
        let (gone, broken) = mpsc::unbounded_channel();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&lines);
        let log = LogLines::new(move |_, line| told.lock().unwrap().push(line.to_owned()));
        let registry = Arc::new(Registry::new(myself));
        let held: Arc<Mutex<Vec<Held>>> = Arc::default();
        let opening = PeerOpening {
            listener: listen(address).await.unwrap(),
            service: Arc::new(Given(Mutex::new(sender), Arc::clone(&held))),
            registry: Arc::clone(&registry),
            log: log.clone(),
        };
        let listener = PeerListener::open(opening, bounds);
        let on_broken = Arc::new(move |node| {
            // A test that has ended hears no more.
            let _ = gone.send(node);
        });
        Node {
            listener: listener.unwrap(),
            links: Arc::new(Links::new(Arc::clone(&registry), settings, log, on_broken)),
            heard,
            broken,
            registry,
            held,
            lines,
        }
    }

    async fn any(myself: Speaker) -> Node {
        Node::start(myself, "127.0.0.1:0".parse().unwrap()).await
    }

    fn knows(&self, node: u64, address: SocketAddr) {
        self.links.set_addresses(&BTreeMap::from([(node, address)]));
    }

    async fn hears(&mut self) -> Heard {
        timeout(SOON, self.heard.recv())
            .await
            .expect("heard soon")
            .unwrap()
    }

    async fn asked(&mut self) -> (Speaker, Ask, Asker) {
        match self.hears().await {
            Heard::Asked(from, ask, asker) => (from, ask, asker),
            Heard::Raft(from, _) => panic!("a frame of {from}"),
        }
    }

    fn ask(&self, node: u64, text: &str, patience: Duration) -> oneshot::Receiver<Answer> {
        let (tell, told) = oneshot::channel();
        // A test that has ended wants no answer.
        let asker = Asker::new(move |answer| drop(tell.send(answer)));
        let ask = Ask::Report(text.as_bytes().to_vec());
        self.links.ask(node, &ask, patience, asker);
        told
    }

    async fn is_up(&self, node: u64) {
        let up = async {
            while !self.links.is_up(node) {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, up).await.expect("up soon");
    }

    async fn tells(&self, words: &str) {
        let told = async {
            while !self
                .lines
                .lock()
                .unwrap()
                .iter()
                .any(|line| line.contains(words))
            {
                tokio::task::yield_now().await;
            }
        };
        let told = timeout(SOON, told).await;
        told.unwrap_or_else(|_| panic!("{words}: {:?}", self.lines.lock().unwrap()));
    }
}

async fn soon(told: oneshot::Receiver<Answer>) -> Answer {
    timeout(SOON, told).await.expect("told soon").unwrap()
}

#[tokio::test]
async fn frames_and_asks_travel_in_their_order_and_answers_come_in_any() {
    let first = Node::any(speaker(1, 1, 10)).await;
    let mut second = Node::any(speaker(2, 1, 20)).await;
    first.knows(2, second.listener.address());
    first.links.send(2, vec![1; 5_000_000]);
    first.links.send(2, vec![2]);
    let asks: Vec<_> = ["a", "b", "c", "d"]
        .map(|it| first.ask(2, it, PATIENCE))
        .into();
    for expected in [vec![1; 5_000_000], vec![2]] {
        match second.hears().await {
            Heard::Raft(1, frame) => assert!(frame == expected),
            _ => panic!("the frames come first"),
        }
    }
    let mut askers = Vec::new();
    for text in ["a", "b", "c", "d"] {
        let (from, ask, asker) = second.asked().await;
        assert_eq!(
            (from, ask),
            (speaker(1, 1, 10), Ask::Report(text.as_bytes().to_vec()))
        );
        askers.push(asker);
    }
    let answers = [
        Answer::Done(vec![9; 3_000_000]),
        Answer::refused(ErrorCode::Busy),
        Answer::NotLeader(Some(3)),
    ];
    drop(askers.pop());
    for (asker, answer) in askers.into_iter().zip(answers.clone()).rev() {
        asker.tell(answer);
    }
    for (told, answer) in asks
        .into_iter()
        .zip([&answers[..], &[Answer::Unknown]].concat())
    {
        assert_eq!(soon(told).await, answer);
    }
}

#[tokio::test]
async fn a_link_comes_back_and_what_was_under_way_is_unknown() {
    let mut first = Node::any(speaker(1, 1, 10)).await;
    let mut second = Node::start(speaker(2, 1, 20), OWN.parse().unwrap()).await;
    let address = second.listener.address();
    first.knows(2, address);
    let told = first.ask(2, "under way", PATIENCE);
    let (_, _, asker) = second.asked().await;
    drop(second);
    assert_eq!(soon(told).await, Answer::Unknown);
    assert_eq!(timeout(SOON, first.broken.recv()).await.unwrap(), Some(2));
    drop(asker);
    let refused = async { while soon(first.ask(2, "down", PATIENCE)).await == Answer::Unknown {} };
    timeout(SOON, refused)
        .await
        .expect("refused once it is known to be down");
    let mut second = Node::start(speaker(2, 2, 21), address).await;
    first.is_up(2).await;
    let told = first.ask(2, "again", PATIENCE);
    second.asked().await.2.tell(Answer::Done(Vec::new()));
    assert_eq!(soon(told).await, Answer::Done(Vec::new()));
}

#[tokio::test]
async fn a_late_answer_is_unknown_and_harms_no_other() {
    let first = Node::any(speaker(1, 1, 10)).await;
    let mut second = Node::any(speaker(2, 1, 20)).await;
    first.knows(2, second.listener.address());
    first.is_up(2).await;
    // Long enough to be sent on a busy machine.
    let told = first.ask(2, "late", Duration::from_secs(2));
    let late = second.asked().await.2;
    assert_eq!(soon(told).await, Answer::Unknown);
    late.tell(Answer::Done(b"late".to_vec()));
    let told = first.ask(2, "next", PATIENCE);
    second.asked().await.2.tell(Answer::Done(b"next".to_vec()));
    assert_eq!(soon(told).await, Answer::Done(b"next".to_vec()));
}

#[tokio::test]
async fn strangers_are_refused_with_the_reason() {
    let node = Node::any(speaker(1, 1, 10)).await;
    let address = node.listener.address();
    let mut other = speaker(2, 1, 20);
    other.cluster = 78;
    let other = Node::any(other).await;
    other.knows(1, address);
    other
        .tells("it says: it is of the cluster 000000000000004e")
        .await;
    let second = Node::any(speaker(2, 4, 20)).await;
    second.knows(1, address);
    second.is_up(1).await;
    let copy = Node::any(speaker(2, 4, 21)).await;
    copy.knows(1, address);
    copy.tells("another process has that number").await;
    let outdated = Node::any(speaker(2, 3, 22)).await;
    outdated.knows(1, address);
    outdated.tells("incarnation 4 of that node was seen").await;
    let lost = Node::any(speaker(5, 1, 50)).await;
    lost.knows(6, address);
    lost.tells("it wants node 6").await;
    assert!(second.links.is_up(1), "the first holder goes on");
}

#[tokio::test]
async fn a_copy_of_a_node_that_lives_is_refused_and_told_to_stop() {
    // It was opened later, as a restart would be; but the one before it still speaks.
    let mut node = Node::any(speaker(1, 1, 10)).await;
    let address = node.listener.address();
    let original = Node::any(speaker(2, 4, 20)).await;
    original.knows(1, address);
    original.is_up(1).await;
    let copy = Node::any(speaker(2, 5, 21)).await;
    copy.knows(1, address);
    copy.tells("incarnation 4 of that node has not ended yet")
        .await;
    copy.tells("incarnation 4 of that node lives and speaks")
        .await;
    assert!(copy.registry.ousted().is_some());
    assert!(original.registry.ousted().is_none());
    original.links.send(1, b"goes on".to_vec());
    match node.hears().await {
        Heard::Raft(2, frame) => assert_eq!(frame, b"goes on"),
        _ => panic!("nobody asked"),
    }
    // Now it is a restart.
    drop(original);
    let after = Node::any(speaker(2, 5, 22)).await;
    after.knows(1, address);
    after.is_up(1).await;
}

#[tokio::test]
async fn hostile_bytes_are_closed_and_told() {
    let mut node = Node::any(speaker(1, 1, 10)).await;
    let hello = |myself| {
        let mut bytes = Vec::new();
        let greeting = Greeting {
            speaker: myself,
            wants: 0,
            origin: Origin::default(),
            claim: Claim::default(),
        };
        put_frame(&mut bytes, Kind::Hello, 0, &greeting.encode());
        bytes
    };
    let sound = hello(speaker(2, 1, 20));
    let mut stranger = speaker(0, 0, 30);
    stranger.cluster = 0;
    let mut frame = Vec::new();
    put_frame(&mut frame, Kind::Raft, 0, b"vote for me");
    let mut answer = Vec::new();
    put_frame(&mut answer, Kind::Answer, 1, b"");
    let mut ask = Vec::new();
    put_frame(&mut ask, Kind::Ask, 1, b"\x07");
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        vec![0xff; 64],
        frame.clone(),
        [sound.clone(), answer].concat(),
        [sound.clone(), ask].concat(),
        [sound.clone(), vec![0xff; 20]].concat(),
        // Who has no number is no member of any group.
        [hello(stranger), frame].concat(),
    ] {
        let before = node.listener.refused_count();
        let mut stream = TcpStream::connect(node.listener.address()).await.unwrap();
        // The other end may have closed it already.
        let _ = stream.write_all(&bytes).await;
        let mut sink = [0; 1024];
        let closed = async { while let Ok(1..) = stream.read(&mut sink).await {} };
        timeout(SOON, closed).await.expect("closed soon");
        let counted = async {
            while node.listener.refused_count() == before {
                tokio::task::yield_now().await;
            }
        };
        timeout(SOON, counted).await.expect("counted soon");
    }
    assert!(node.heard.try_recv().is_err(), "nothing of it was heard");
    node.tells("refused a node at 127.0.0.1").await;
}

#[tokio::test]
async fn asks_of_a_node_that_hangs_are_bounded_and_all_are_told() {
    // It greets, and then reads nothing.
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let node = Node::any(speaker(1, 1, 10)).await;
    node.knows(2, deaf.local_addr().unwrap());
    let (mut stream, _) = deaf.accept().await.unwrap();
    let mut reader = FrameReader::default();
    while reader.next().unwrap().is_none() {
        stream.read_buf(reader.buffer()).await.unwrap();
    }
    let welcome = Greeting {
        speaker: speaker(2, 1, 20),
        wants: 1,
        origin: Origin::default(),
        claim: Claim::default(),
    };
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Welcome, 0, &welcome.encode());
    stream.write_all(&bytes).await.unwrap();
    node.is_up(2).await;
    let mut told: Vec<_> = (0..8).map(|_| node.ask(2, "waits", PATIENCE)).collect();
    let ninth = node.ask(2, "too many", PATIENCE);
    assert_eq!(
        soon(ninth).await,
        Answer::refused(ErrorCode::ServiceNotActive)
    );
    drop(told.pop());
    // Those that were sent are unknown.
    loop {
        match reader.next().unwrap() {
            Some(frame) if frame.number == 8 => break,
            Some(_) => {}
            None => assert_ne!(stream.read_buf(reader.buffer()).await.unwrap(), 0),
        }
    }
    drop(stream);
    for one in told {
        assert_eq!(soon(one).await, Answer::Unknown);
    }
}
