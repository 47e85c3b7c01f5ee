//! The bounds of a door under those who wait, trickle, leave in the middle, or forge.

use std::io::ErrorKind;

use esker_rpc::codec::frame::put_request;
use tokio::net::TcpSocket;

use super::*;

/// Long enough for tasks to do all that they can, and no bound.
const A_MOMENT: Duration = Duration::from_millis(300);

fn put(value_bytes: usize) -> KeyCall {
    KeyCall::Put(UpdateRequest {
        value: Blob::from(vec![7; value_bytes]),
        ..UpdateRequest::default()
    })
}

impl Fixture {
    /// Lets a moment pass, in which nothing is asked.
    async fn nothing_asked(&mut self) {
        let more = timeout(A_MOMENT, self.asked.recv()).await;
        assert!(more.is_err(), "another call was given to the service");
    }
}

#[tokio::test]
async fn calls_under_way_count_by_their_bytes() {
    // A put of a megabyte is kept twice: as it came, and taken apart.
    let bounds = Bounds {
        in_flight_bytes_max: 5 << 20,
        door_bytes_max: 9 << 20,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut held = Vec::new();
    for sequence in 0..3 {
        peer.ask(&put(1_000_000), sequence).await;
    }
    for _ in 0..2 {
        held.push(fixture.asked().await);
    }
    fixture.nothing_asked().await;
    // Two more of another connection, and the door has none to give.
    let mut other = Peer::connect(fixture.front.address()).await;
    for sequence in 0..3 {
        other.ask(&put(1_000_000), sequence).await;
    }
    for _ in 0..2 {
        held.push(fixture.asked().await);
    }
    held.pop().unwrap().1.refuse(ErrorCode::InvalidState);
    assert_eq!(other.reply().await.sequence, 1);
    held.push(fixture.asked().await);
    held.remove(0).1.refuse(ErrorCode::InvalidState);
    assert_eq!(peer.reply().await.sequence, 0);
    held.push(fixture.asked().await);
    let mut third = Peer::connect(fixture.front.address()).await;
    third.ask(&put(1_000_000), 9).await;
    assert_eq!(third.reply().await.error.code(), ErrorCode::Busy);
    assert_eq!(fixture.front.counters().of(Cause::Busy), 1);
}

#[tokio::test]
async fn a_call_larger_than_the_bound_goes_alone() {
    let bounds = Bounds {
        in_flight_bytes_max: 0,
        door_bytes_max: 0,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    for sequence in 0..2 {
        peer.ask(&put(1_000_000), sequence).await;
    }
    let first = fixture.asked().await;
    fixture.nothing_asked().await;
    first.1.refuse(ErrorCode::InvalidState);
    assert_eq!(peer.reply().await.sequence, 0);
    fixture.asked().await.1.refuse(ErrorCode::InvalidState);
    assert_eq!(peer.reply().await.sequence, 1);
}

#[tokio::test]
async fn who_asks_for_more_than_it_reads_is_closed_while_the_writer_stands() {
    // At once, and not when the writer gives up.
    let bounds = Bounds {
        unread_bytes_max: 20 << 20,
        slow_reader_max: Duration::from_secs(600),
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    for sequence in 0..8 {
        peer.ask(&get(b"k"), sequence).await;
    }
    for _ in 0..2 {
        fixture.asked().await.1.answer(value(&vec![0; 8 << 20]));
    }
    // The writer has taken these and waits for the socket when the others come.
    let mut others = Vec::new();
    for _ in 0..6 {
        others.push(fixture.asked().await);
    }
    fixture.nothing_asked().await;
    for (_, reply) in others {
        reply.answer(value(&vec![0; 8 << 20]));
    }
    fixture.refused(Cause::Unread).await;
    let mut bytes = Vec::new();
    get(b"k").put(&mut bytes, &RequestHead::default(), 9);
    // It may know by now that it is closed.
    let _ = peer.stream.write_all(&bytes).await;
    fixture.nothing_asked().await;
    assert_eq!(fixture.front.counters().of(Cause::SlowReader), 0);
}

#[tokio::test]
async fn a_request_that_trickles_in_is_closed() {
    let bounds = Bounds {
        half_request_max: Duration::from_millis(300),
        ..Bounds::default()
    };
    let fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut bytes = Vec::new();
    put(1000).put(&mut bytes, &RequestHead::default(), 1);
    let mut answer = [0; 8];
    let mut is_closed = false;
    // A byte each 100 ms: each comes long before the bound, and all take thirty of it.
    for byte in &bytes[..90] {
        let sent = peer.stream.write_all(&[*byte]).await;
        let read = timeout(Duration::from_millis(100), peer.stream.read(&mut answer)).await;
        is_closed = sent.is_err() || matches!(read, Ok(Ok(0) | Err(_)));
        if is_closed {
            break;
        }
    }
    assert!(is_closed);
    fixture.refused(Cause::HalfRequest).await;
}

#[tokio::test]
async fn a_long_request_that_goes_on_may_take_its_time() {
    // It takes longer than one may that stands still; each piece comes long before that.
    let bounds = Bounds {
        half_request_max: Duration::from_secs(3),
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut bytes = Vec::new();
    put(1_000_000).put(&mut bytes, &RequestHead::default(), 1);
    let mut answer = [0; 8];
    for piece in bytes.chunks(50_000) {
        peer.stream.write_all(piece).await.unwrap();
        let read = timeout(Duration::from_millis(200), peer.stream.read(&mut answer)).await;
        assert!(read.is_err(), "250 kB a second are no trickle");
    }
    fixture.asked().await.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 1);
}

#[tokio::test]
async fn who_reads_in_a_trickle_is_closed() {
    let bounds = Bounds {
        slow_reader_max: Duration::from_millis(500),
        pace_bytes_s_min: 100 << 20,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(fixture.front.address()).await.unwrap();
    let mut peer = Peer {
        stream,
        reader: ReplyReader::new(1 << 30),
    };
    peer.ask(&get(b"k"), 1).await;
    fixture.asked().await.1.answer(value(&vec![0; 16 << 20]));
    let mut bytes = [0; 4096];
    let trickle = async {
        while let Ok(1..) = peer.stream.read(&mut bytes).await {
            // It reads a little, and then rests for a little.
            let rest = timeout(Duration::from_millis(20), std::future::pending::<()>());
            assert!(rest.await.is_err());
        }
    };
    tokio::select! {
        () = trickle => {}
        () = fixture.refused(Cause::SlowReader) => {}
    }
    fixture.refused(Cause::SlowReader).await;
}

#[tokio::test]
async fn reading_rests_while_half_of_what_may_wait_does() {
    let bounds = Bounds {
        unread_bytes_max: 40 << 20,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 0).await;
    // A part goes to the sockets, which hold some MiB at most, and more than 20 MiB waits.
    fixture.asked().await.1.answer(value(&vec![0; 36 << 20]));
    fixture.refused_nothing().await;
    peer.ask(&get(b"k"), 1).await;
    fixture.nothing_asked().await;
    assert_eq!(peer.reply().await.sequence, 0);
    fixture.asked().await.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 1);
}

impl Fixture {
    /// Lets a moment pass, after which nothing has been refused.
    async fn refused_nothing(&mut self) {
        self.nothing_asked().await;
        assert!(self.lines.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn what_strangers_say_cannot_forge_a_line() {
    let bounds = Bounds {
        body_bytes_max: 100,
        ..Bounds::default()
    };
    let fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut bytes = Vec::new();
    put_request(
        &mut bytes,
        &RequestHead::default(),
        ("X\n2026 ERROR the disk has failed\x1b[2J", 1),
        &Blob::from(vec![0; 1000]),
    );
    peer.stream.write_all(&bytes).await.unwrap();
    fixture.refused(Cause::TooLong).await;
    let lines = fixture.lines.lock().unwrap();
    assert!(lines[0].contains("the disk has failed"), "{lines:?}");
    assert!(!lines[0].contains(char::is_control), "{lines:?}");
}

#[tokio::test]
async fn who_stops_writing_still_gets_its_replies() {
    let mut fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 1).await;
    let asked = fixture.asked().await;
    peer.stream.shutdown().await.unwrap();
    fixture.nothing_asked().await;
    asked.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 1);
    peer.closed().await;
    // What came before nonsense is answered as well.
    let mut peer = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 2).await;
    peer.stream.write_all(b"nonsense").await.unwrap();
    let asked = fixture.asked().await;
    fixture.nothing_asked().await;
    asked.1.answer(value(b"v"));
    assert_eq!(peer.reply().await.sequence, 2);
    peer.closed().await;
    fixture.refused(Cause::Malformed).await;
}

#[tokio::test]
async fn a_fault_in_the_service_closes_its_connection_and_is_told() {
    let mut fixture = Fixture::open(DoorKind::Keys, Bounds::default()).await;
    let mut peer = Peer::connect(fixture.front.address()).await;
    let mut other = Peer::connect(fixture.front.address()).await;
    peer.ask(&get(b"k"), 1).await;
    let (_, kept) = fixture.asked().await;
    peer.ask(&get(b"a fault"), 2).await;
    peer.closed().await;
    fixture.refused(Cause::Panicked).await;
    // A reply to the connection that is gone goes nowhere.
    kept.answer(value(b"v"));
    other.ask(&get(b"k"), 3).await;
    fixture.asked().await.1.answer(value(b"v"));
    assert_eq!(other.reply().await.sequence, 3);
}

#[tokio::test]
async fn those_who_left_make_room_at_once() {
    let bounds = Bounds {
        connections_max: 40,
        ..Bounds::default()
    };
    let mut fixture = Fixture::open(DoorKind::Keys, bounds).await;
    let mut peers = Vec::new();
    for round in 0..5 {
        for sequence in 0..40 {
            let mut peer = Peer::connect(fixture.front.address()).await;
            peer.ask(&get(b"k"), sequence).await;
            fixture.asked().await.1.answer(value(b"v"));
            peer.reply().await;
            peers.push(peer);
        }
        assert_eq!(fixture.front.counters().of(Cause::TooMany), 0, "{round}");
        for mut peer in peers.drain(..) {
            peer.stream.shutdown().await.unwrap();
            let end = peer.stream.read(&mut [0; 8]).await;
            assert!(
                matches!(end, Ok(0)) || end.is_err_and(|e| e.kind() == ErrorKind::ConnectionReset)
            );
        }
    }
}
