//! The bounds of a door for other nodes, and of a link, under those who wait, hang, trickle or lie.

use esker_rpc::codec::scalars::Gpid;
use esker_server::peer::ask::ForwardedKeys;
use esker_server::peer::format::{GREETING_BYTES, HEAD_BYTES};

use super::*;

/// Long enough for tasks to do all that they can, and no bound.
const A_MOMENT: Duration = Duration::from_millis(300);

/// Too long to be a bound of any test that waits for another.
const LONG: Duration = Duration::from_secs(600);

fn settings() -> LinkSettings {
    LinkSettings {
        asks_max: 1000,
        connect_max: LONG,
        ..LinkSettings::default()
    }
}

async fn node(myself: Speaker, bounds: PeerBounds, settings: LinkSettings) -> Node {
    let address = "127.0.0.1:0".parse().unwrap();
    Node::start_within(myself, address, bounds, settings).await
}

/// Lets a moment pass.
async fn a_moment() {
    assert!(
        timeout(A_MOMENT, std::future::pending::<()>())
            .await
            .is_err()
    );
}

fn greeting(kind: Kind, speaker: Speaker) -> Vec<u8> {
    let mut bytes = Vec::new();
    let greeting = Greeting {
        speaker,
        wants: 0,
        origin: Origin::default(),
        claim: Claim::default(),
    };
    put_frame(&mut bytes, kind, 0, &greeting.encode());
    bytes
}

fn nameless() -> Speaker {
    Speaker {
        cluster: 0,
        ..speaker(0, 0, 30)
    }
}

/// A socket that says so of itself.
async fn hello(node: &Node, speaker: Speaker) -> TcpStream {
    let mut stream = TcpStream::connect(node.listener.address()).await.unwrap();
    let bytes = greeting(Kind::Hello, speaker);
    stream.write_all(&bytes).await.unwrap();
    let mut welcome = [0; HEAD_BYTES + GREETING_BYTES];
    // One that is refused gets less.
    let _ = timeout(SOON, stream.read_exact(&mut welcome))
        .await
        .expect("greeted soon");
    stream
}

async fn is_closed(stream: &mut TcpStream) {
    let mut sink = [0; 1024];
    let closed = async { while let Ok(1..) = stream.read(&mut sink).await {} };
    timeout(SOON, closed).await.expect("closed soon");
}

async fn refused(node: &Node, cause: PeerCause) {
    let counted = async {
        while node.listener.refused(cause) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, counted)
        .await
        .unwrap_or_else(|_| panic!("{cause:?}: {:?}", node.lines));
}

/// A listener that greets one who dials it as node 2 does, and then says nothing.
struct Hung(TcpListener);

impl Hung {
    async fn listen() -> (Hung, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (Hung(listener), address)
    }

    async fn greets(&self) -> TcpStream {
        let (mut stream, _) = timeout(SOON, self.0.accept())
            .await
            .expect("dialled soon")
            .unwrap();
        let mut bytes = [0; HEAD_BYTES + 60];
        stream.read_exact(&mut bytes).await.unwrap();
        let welcome = greeting(Kind::Welcome, speaker(2, 1, 20));
        stream.write_all(&welcome).await.unwrap();
        stream
    }
}

impl Node {
    fn multi_get(&self, node: u64) -> oneshot::Receiver<Answer> {
        let (tell, told) = oneshot::channel();
        // A test that has ended wants no answer.
        let asker = Asker::new(move |answer| drop(tell.send(answer)));
        let ask = Ask::Keys(ForwardedKeys {
            gpid: Gpid::default(),
            partition_hash: 0,
            is_backup_request: false,
            name: "RPC_RRDB_RRDB_MULTI_GET".to_owned(),
            arguments: Vec::new(),
        });
        self.links.ask(node, &ask, PATIENCE, asker);
        told
    }

    async fn broken(&mut self) -> u64 {
        timeout(SOON, self.broken.recv())
            .await
            .expect("broken soon")
            .unwrap()
    }
}

#[tokio::test]
async fn asks_that_wait_do_not_keep_frames_of_raft() {
    // What B answers only when A's acknowledgement has come must not stand in its way.
    let first = node(speaker(1, 1, 10), PeerBounds::default(), settings()).await;
    let mut second = Node::any(speaker(2, 1, 20)).await;
    first.knows(2, second.listener.address());
    let asks: Vec<_> = (0..65).map(|_| first.multi_get(2)).collect();
    first.links.send(2, b"acknowledged".to_vec());
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(second.asked().await.2);
    }
    match second.hears().await {
        Heard::Raft(1, frame) => assert_eq!(frame, b"acknowledged"),
        _ => panic!("the sixty-fifth was given to the service"),
    }
    let mut asks = asks.into_iter().rev();
    let last = soon(asks.next().unwrap()).await;
    assert_eq!(last, Answer::refused(ErrorCode::Busy));
    held.pop().unwrap().tell(Answer::Done(Vec::new()));
    assert_eq!(soon(asks.next().unwrap()).await, Answer::Done(Vec::new()));
}

#[tokio::test]
async fn asks_count_by_their_bytes() {
    let first = node(speaker(1, 1, 10), PeerBounds::default(), settings()).await;
    let bounds = PeerBounds {
        in_flight_bytes_max: 5 << 20,
        ..PeerBounds::default()
    };
    let mut second = node(speaker(2, 1, 20), bounds, settings()).await;
    first.knows(2, second.listener.address());
    let text = "x".repeat(1_000_000);
    let kept = [first.ask(2, &text, PATIENCE), first.ask(2, &text, PATIENCE)];
    let busy = first.ask(2, &text, PATIENCE);
    let held = [second.asked().await.2, second.asked().await.2];
    assert_eq!(soon(busy).await, Answer::refused(ErrorCode::Busy));
    for (asker, told) in held.into_iter().zip(kept) {
        asker.tell(Answer::Done(Vec::new()));
        assert_eq!(soon(told).await, Answer::Done(Vec::new()));
    }
}

#[tokio::test]
async fn those_without_a_number_have_few_places_and_a_short_life() {
    let within = |life_max| {
        let bounds = PeerBounds {
            nameless_max: 2,
            nameless_life_max: life_max,
            silence_max: LONG,
            ..PeerBounds::default()
        };
        node(speaker(1, 1, 10), bounds, settings())
    };
    let full = within(LONG).await;
    let _there = [
        hello(&full, nameless()).await,
        hello(&full, nameless()).await,
    ];
    is_closed(&mut hello(&full, nameless()).await).await;
    refused(&full, PeerCause::TooMany).await;
    let short = within(A_MOMENT).await;
    let other = Node::any(speaker(2, 1, 20)).await;
    other.knows(1, short.listener.address());
    other.is_up(1).await;
    // There is room again each time.
    for _ in 0..3 {
        is_closed(&mut hello(&short, nameless()).await).await;
    }
    assert!(other.links.is_up(1));
    assert_eq!(short.listener.refused(PeerCause::TooMany), 0);
    // One who asks for a number may do so, and nothing else.
    let patient = within(LONG).await;
    let mut third = hello(&patient, nameless()).await;
    let mut ask = Vec::new();
    put_frame(&mut ask, Kind::Ask, 1, &Ask::Report(Vec::new()).encode());
    third.write_all(&ask).await.unwrap();
    is_closed(&mut third).await;
    refused(&patient, PeerCause::Malformed).await;
}

#[tokio::test]
async fn the_silent_and_the_replaced_are_closed() {
    let within = |greeting_max, silence_max| {
        let bounds = PeerBounds {
            of_node_max: 2,
            silence_max,
            greeting_max,
            connections_max: 4,
            ..PeerBounds::default()
        };
        node(speaker(1, 1, 10), bounds, settings())
    };
    let short = within(A_MOMENT, LONG).await;
    let mut mute = TcpStream::connect(short.listener.address()).await.unwrap();
    is_closed(&mut mute).await;
    short.tells("it did not say who it is").await;
    let short = within(LONG, A_MOMENT).await;
    for _ in 0..2 {
        is_closed(&mut hello(&short, speaker(2, 1, 20)).await).await;
    }
    short.tells("it says nothing more").await;
    let patient = within(LONG, LONG).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(hello(&patient, speaker(2, 1, 20)).await);
    }
    is_closed(&mut streams[0]).await;
    refused(&patient, PeerCause::Replaced).await;
    // As many as may be are there at once, and the next is closed.
    for number in 3..6 {
        streams.push(hello(&patient, speaker(number, 1, 20)).await);
    }
    refused(&patient, PeerCause::TooMany).await;
}

#[tokio::test]
async fn a_frame_that_trickles_in_is_closed() {
    let bounds = PeerBounds {
        stall_max: A_MOMENT,
        ..PeerBounds::default()
    };
    let node = node(speaker(1, 1, 10), bounds, settings()).await;
    let mut stream = hello(&node, speaker(2, 1, 20)).await;
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Raft, 0, &[7; 1000]);
    let mut is_closed = false;
    for byte in &bytes[..90] {
        let sent = stream.write_all(&[*byte]).await;
        // The door says that it is alive; at the end it says nothing more.
        let mut sink = [0; 1024];
        let read = timeout(Duration::from_millis(100), stream.read(&mut sink)).await;
        is_closed = sent.is_err() || matches!(read, Ok(Ok(0) | Err(_)));
        if is_closed {
            break;
        }
    }
    assert!(is_closed);
    refused(&node, PeerCause::Silent).await;
}

#[tokio::test]
async fn who_does_not_read_its_answers_is_closed() {
    for bounds in [
        PeerBounds {
            stall_max: A_MOMENT,
            silence_max: LONG,
            ..PeerBounds::default()
        },
        PeerBounds {
            unread_bytes_max: 20 << 20,
            stall_max: LONG,
            silence_max: LONG,
            ..PeerBounds::default()
        },
    ] {
        let mut node = node(speaker(1, 1, 10), bounds, settings()).await;
        let mut stream = hello(&node, speaker(2, 1, 20)).await;
        let mut asks = Vec::new();
        for number in 1..=8 {
            put_frame(
                &mut asks,
                Kind::Ask,
                number,
                &Ask::Report(Vec::new()).encode(),
            );
        }
        stream.write_all(&asks).await.unwrap();
        for count in 0..8 {
            if count == 2 {
                a_moment().await;
            }
            // After the stall nobody waits for the others, and the service does not know.
            node.asked().await.2.tell(Answer::Done(vec![0; 8 << 20]));
        }
        refused(&node, PeerCause::Deaf).await;
    }
}

#[tokio::test]
async fn a_frame_that_does_not_belong_is_refused_by_its_head() {
    // Before the time for greetings is over, and before silence is death.
    let bounds = PeerBounds {
        greeting_max: LONG,
        silence_max: LONG,
        ..PeerBounds::default()
    };
    let node = node(speaker(1, 1, 10), bounds, settings()).await;
    let mut answer = Vec::new();
    put_frame(&mut answer, Kind::Answer, 1, &[0; 1000]);
    let head = &answer[..HEAD_BYTES];
    let mut stranger = TcpStream::connect(node.listener.address()).await.unwrap();
    stranger.write_all(head).await.unwrap();
    is_closed(&mut stranger).await;
    let mut stream = hello(&node, speaker(2, 1, 20)).await;
    stream.write_all(head).await.unwrap();
    is_closed(&mut stream).await;
    let counted = async {
        while node.listener.refused(PeerCause::Malformed) < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, counted).await.expect("counted soon");
}

#[tokio::test]
async fn frames_of_raft_beyond_what_the_service_holds_are_dropped() {
    let bounds = PeerBounds {
        raft_bytes_max: 1 << 20,
        ..PeerBounds::default()
    };
    let first = Node::any(speaker(1, 1, 10)).await;
    let mut second = node(speaker(2, 1, 20), bounds, settings()).await;
    first.knows(2, second.listener.address());
    for byte in 1..=3 {
        first.links.send(2, vec![byte; 500_000]);
    }
    refused(&second, PeerCause::RaftDropped).await;
    for byte in 1..=2 {
        match second.hears().await {
            Heard::Raft(1, frame) => assert_eq!(frame[0], byte),
            _ => panic!("nobody asked"),
        }
    }
    second.held.lock().unwrap().clear();
    first.links.send(2, vec![4]);
    match second.hears().await {
        Heard::Raft(1, frame) => assert_eq!(frame, [4]),
        _ => panic!("nobody asked"),
    }
}

#[tokio::test]
async fn a_node_that_hangs_is_down() {
    let quick = LinkSettings {
        silence_max: A_MOMENT,
        ..settings()
    };
    let mut node = node(speaker(1, 1, 10), PeerBounds::default(), quick).await;
    let (hung, address) = Hung::listen().await;
    node.knows(2, address);
    let stream = hung.greets().await;
    let told = node.ask(2, "under way", PATIENCE);
    assert_eq!(node.broken().await, 2);
    assert_eq!(soon(told).await, Answer::Unknown);
    node.tells("it says nothing").await;
    drop(stream);
}

#[tokio::test]
async fn nodes_that_have_nothing_to_say_stay_connected() {
    let bounds = PeerBounds {
        silence_max: Duration::from_secs(4),
        alive_every: Duration::from_millis(50),
        ..PeerBounds::default()
    };
    let quick = LinkSettings {
        silence_max: Duration::from_secs(4),
        alive_every: Duration::from_millis(100),
        ..settings()
    };
    let mut first = node(speaker(1, 1, 10), bounds.clone(), quick.clone()).await;
    let second = node(speaker(2, 1, 20), bounds, quick).await;
    first.knows(2, second.listener.address());
    first.is_up(2).await;
    // Longer than silence may be.
    for _ in 0..17 {
        a_moment().await;
    }
    assert!(first.broken.try_recv().is_err());
    assert_eq!(second.listener.refused_count(), 0);
}

#[tokio::test]
async fn a_node_that_does_not_read_is_down() {
    let quick = LinkSettings {
        stall_max: Duration::from_secs(8),
        silence_max: LONG,
        queue_bytes_max: 20 << 20,
        ..settings()
    };
    let mut node = node(speaker(1, 1, 10), PeerBounds::default(), quick).await;
    let (hung, address) = Hung::listen().await;
    node.knows(2, address);
    let stream = hung.greets().await;
    node.is_up(2).await;
    // Fill the sockets, which hold some MiB at most, and the queue to its last bytes.
    for frame_bytes in [1 << 20, 64 << 10, 1000, 0] {
        for _ in 0..100 {
            node.links.send(2, vec![0; frame_bytes]);
            tokio::task::yield_now().await;
        }
    }
    // Few asks wait, and there is no room all the same.
    let full = node.ask(2, "no room", PATIENCE);
    assert_eq!(
        soon(full).await,
        Answer::refused(ErrorCode::ServiceNotActive)
    );
    assert!(node.links.is_up(2), "it was the queue that had no room");
    assert_eq!(node.broken().await, 2);
    node.tells("it does not read").await;
    drop(stream);
}

#[tokio::test]
async fn an_original_that_nobody_heard_while_its_copy_came_is_not_believed_and_told() {
    let first = node(speaker(1, 1, 10), PeerBounds::default(), settings()).await;
    // A copy of its directory, opened once more, before the original is connected.
    let copy = Node::any(speaker(2, 5, 21)).await;
    copy.knows(1, first.listener.address());
    copy.is_up(1).await;
    let original = Node::any(speaker(2, 4, 20)).await;
    first.knows(2, original.listener.address());
    original.knows(1, first.listener.address());
    first.tells("incarnation 5 of that node was seen").await;
    let ousted = async {
        while original.registry.ousted().is_none() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, ousted).await.expect("told soon");
    let why = original.registry.ousted().unwrap();
    assert!(why.contains("incarnation 5 of that node was seen"), "{why}");
    assert_eq!(copy.registry.ousted(), None);
    assert!(!first.links.is_up(2), "it is not asked either");
}

#[tokio::test]
async fn a_node_may_ask_itself() {
    // A list of addresses to join holds its own.
    let mut node = Node::any(speaker(1, 1, 10)).await;
    let link = node.links.open(0, node.listener.address());
    for _ in 0..2 {
        let (tell, told) = oneshot::channel();
        let asker = Asker::new(move |answer| drop(tell.send(answer)));
        let ask = Ask::Report(Vec::new()).encode();
        link.sending().ask(ask, PATIENCE, asker, &settings());
        let (from, _, asker) = node.asked().await;
        assert_eq!(from, speaker(1, 1, 10));
        asker.tell(Answer::Done(Vec::new()));
        assert_eq!(soon(told).await, Answer::Done(Vec::new()));
    }
}

#[tokio::test]
async fn a_link_that_breaks_at_once_rests_longer_and_longer() {
    let node = node(speaker(1, 1, 10), PeerBounds::default(), settings()).await;
    let (hung, address) = Hung::listen().await;
    node.knows(2, address);
    drop(hung.greets().await);
    let broken = Instant::now();
    for _ in 0..4 {
        drop(hung.greets().await);
    }
    // Rests of 50, 100, 200 and 400 ms, a fifth more or less.
    assert!(broken.elapsed() >= Duration::from_millis(600));
}

#[tokio::test]
async fn patience_is_kept_while_the_link_dials() {
    let slow = LinkSettings {
        connect_max: LONG,
        ..settings()
    };
    let node = node(speaker(1, 1, 10), PeerBounds::default(), slow).await;
    // The system takes the connection, and nobody greets.
    let (_hung, address) = Hung::listen().await;
    node.knows(2, address);
    let told = node.ask(2, "in vain", Duration::from_millis(200));
    // Not when dialling ends.
    assert_eq!(
        soon(told).await,
        Answer::refused(ErrorCode::ServiceNotActive)
    );
}

#[tokio::test]
async fn a_link_tells_each_new_reason_and_when_it_stands_again() {
    let quick = LinkSettings {
        settled_min: Duration::from_millis(50),
        rest_max: Duration::from_millis(60),
        ..settings()
    };
    let node = node(speaker(2, 1, 20), PeerBounds::default(), quick).await;
    let hung = TcpListener::bind(OWN).await.unwrap();
    let address = hung.local_addr().unwrap();
    drop(hung);
    node.knows(1, address);
    node.tells("(4 so far)").await;
    // The fifth failure has another reason; that it is due does not hang on those before.
    let mut other = speaker(1, 1, 10);
    other.cluster = 78;
    let stranger = Node::start(other, address).await;
    node.tells("it says: it is of the cluster 000000000000004d (1 so far)")
        .await;
    drop(stranger);
    let gone = async { while TcpStream::connect(address).await.is_ok() {} };
    timeout(SOON, gone).await.expect("closed soon");
    let _found = Node::start(speaker(1, 1, 10), address).await;
    node.tells("stands again").await;
}

#[tokio::test]
async fn other_machines_are_not_dialled() {
    let node = Node::any(speaker(1, 1, 10)).await;
    node.knows(2, "192.0.2.1:34701".parse().unwrap());
    node.tells("can be reached from other machines").await;
}
