//! What a link has yet to send.

use std::sync::{Arc, Mutex};

use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::peer::format::FrameReader;

const MOST: Most = Most {
    queue_bytes: 10_000,
    asks: 100,
};

/// More than sockets of this machine hold.
const MUCH: Most = Most {
    queue_bytes: 64 << 20,
    asks: 1,
};

const PATIENCE: Duration = Duration::from_secs(600);

type Told = Arc<Mutex<Vec<Answer>>>;

fn asker(told: &Told) -> Asker {
    let told = Arc::clone(told);
    Asker::new(move |answer| told.lock().unwrap().push(answer))
}

fn taken(outgoing: &Outgoing) -> Vec<Kind> {
    let mut reader = FrameReader::default();
    outgoing.take(reader.buffer());
    let mut kinds = Vec::new();
    while let Some(frame) = reader.next().unwrap() {
        kinds.push(frame.kind);
    }
    kinds
}

#[test]
fn empty_frames_take_room_too() {
    let outgoing = Outgoing::new();
    for _ in 0..1000 {
        outgoing.send(Vec::new(), MOST);
    }
    assert_eq!(taken(&outgoing).len(), 100);
    outgoing.send(Vec::new(), MOST);
    assert_eq!(taken(&outgoing).len(), 1, "what was taken has left room");
}

#[test]
fn asks_leave_half_of_the_queue_to_consensus() {
    let (outgoing, told) = (Outgoing::new(), Told::default());
    for _ in 0..8 {
        outgoing.ask(vec![0; 900], PATIENCE, asker(&told), MOST);
    }
    assert_eq!(*told.lock().unwrap(), vec![unsent(); 3]);
    outgoing.send(vec![0; 900], MOST);
    let expected = [vec![Kind::Ask; 5], vec![Kind::Raft]].concat();
    assert_eq!(taken(&outgoing), expected);
}

#[test]
fn an_ask_whose_time_is_over_is_not_sent() {
    let (outgoing, told) = (Outgoing::new(), Told::default());
    outgoing.ask(vec![1], Duration::ZERO, asker(&told), MOST);
    outgoing.ask(vec![2], PATIENCE, asker(&told), MOST);
    assert_eq!(taken(&outgoing), [Kind::Ask]);
    assert_eq!(*told.lock().unwrap(), [unsent()]);
    outgoing.give_up();
    assert_eq!(*told.lock().unwrap(), [unsent(), Answer::Unknown]);
}

#[test]
fn much_is_taken_piece_by_piece() {
    let outgoing = Outgoing::new();
    let most = Most {
        queue_bytes: 32 << 20,
        asks: 1,
    };
    for _ in 0..10 {
        outgoing.send(vec![0; 3 << 20], most);
    }
    let pieces: Vec<usize> = (0..6).map(|_| taken(&outgoing).len()).collect();
    assert_eq!(pieces, [2, 2, 2, 2, 2, 0]);
}

fn speaker(node: u64) -> Speaker {
    Speaker {
        cluster: 9,
        node,
        incarnation: 1,
        instance: 7,
    }
}

/// A connection that stands, and its other end. To node 0: whoever listens.
async fn standing(outgoing: &Outgoing, node: u64) -> (Arc<OwnedWriteHalf>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialled = TcpStream::connect(listener.local_addr().unwrap());
    let (dialled, accepted) = tokio::join!(dialled, listener.accept());
    let (_, half) = dialled.unwrap().into_split();
    half.writable().await.unwrap();
    let half = Arc::new(half);
    outgoing.set_phase(Phase::Up);
    outgoing.stand(Way {
        half: Arc::clone(&half),
        registry: Arc::new(Registry::new(speaker(1))),
        speaker: speaker(node),
    });
    (half, accepted.unwrap().0)
}

async fn written(half: &OwnedWriteHalf, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        half.writable().await.unwrap();
        bytes = &bytes[half.try_write(bytes).unwrap_or(0)..];
    }
}

async fn received(stream: &mut TcpStream, reader: &mut FrameReader) -> Vec<u8> {
    loop {
        if let Some(frame) = reader.next().unwrap() {
            return frame.payload;
        }
        assert_ne!(stream.read_buf(reader.buffer()).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_frame_goes_out_at_once_where_nothing_waits_before_it() {
    let (outgoing, told) = (Outgoing::new(), Told::default());
    let (_half, mut other) = standing(&outgoing, 0).await;
    let mut reader = FrameReader::default();
    outgoing.send(vec![1], MOST);
    assert_eq!(taken(&outgoing), [Kind::Raft], "the task has yet to look");
    outgoing.send(vec![2], MOST);
    assert_eq!(
        taken(&outgoing),
        [Kind::Raft],
        "the task still wrote the first"
    );
    assert_eq!(taken(&outgoing), [], "now it is done");
    for byte in 3..6 {
        outgoing.send(vec![byte; 900], MOST);
        assert_eq!(received(&mut other, &mut reader).await, vec![byte; 900]);
    }
    outgoing.ask(vec![6], PATIENCE, asker(&told), MOST);
    outgoing.send(vec![7], MOST);
    assert_eq!(taken(&outgoing), [Kind::Ask, Kind::Raft], "behind the ask");
    outgoing.give_up();
    outgoing.set_phase(Phase::Dialling);
    assert_eq!(taken(&outgoing), []);
    outgoing.send(vec![8], MOST);
    assert_eq!(taken(&outgoing), [Kind::Raft], "that connection is gone");
}

#[tokio::test]
async fn nothing_goes_at_once_to_one_who_lost_its_number() {
    let outgoing = Outgoing::new();
    let (_half, _other) = standing(&outgoing, 2).await;
    assert_eq!(taken(&outgoing), []);
    outgoing.send(vec![1], MOST);
    assert_eq!(taken(&outgoing), [Kind::Raft], "the task will see that");
}

#[tokio::test]
async fn what_the_socket_does_not_take_is_the_tasks_and_nothing_overtakes_it() {
    // Far more than sockets of this machine hold: some frame goes out in part.
    const FRAMES: u32 = 700;
    let outgoing = Outgoing::new();
    let (half, mut other) = standing(&outgoing, 0).await;
    assert_eq!(taken(&outgoing), []);
    for number in 0..FRAMES {
        let mut frame = vec![7; 60_000];
        frame[..4].copy_from_slice(&number.to_le_bytes());
        outgoing.send(frame, MUCH);
    }
    let writing = async {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            outgoing.take(&mut bytes);
            if bytes.is_empty() {
                return;
            }
            written(&half, &bytes).await;
        }
    };
    let reading = async {
        let mut reader = FrameReader::default();
        for number in 0..FRAMES {
            let frame = received(&mut other, &mut reader).await;
            assert_eq!(frame[..4], number.to_le_bytes());
            assert_eq!(frame.len(), 60_000);
        }
    };
    tokio::join!(writing, reading);
    assert_eq!(taken(&outgoing), []);
}

#[tokio::test]
async fn the_rest_of_a_frame_goes_before_what_the_task_has_to_say() {
    // The socket takes one in part; then the task wakes, and is to say that it is alive.
    let outgoing = Outgoing::new();
    let (half, mut other) = standing(&outgoing, 0).await;
    assert_eq!(taken(&outgoing), []);
    let mut frames = 0;
    while outgoing.lock().frame.is_empty() {
        outgoing.send(vec![7; 60_001], MUCH);
        frames += 1;
        assert!(
            outgoing.lock().queue.is_empty(),
            "some frame goes out in part"
        );
    }
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Alive, 0, &[]);
    outgoing.take(&mut bytes);
    let reading = async {
        let mut reader = FrameReader::default();
        for _ in 0..frames {
            assert_eq!(received(&mut other, &mut reader).await.len(), 60_001);
        }
        assert_eq!(received(&mut other, &mut reader).await, [], "alive");
    };
    tokio::join!(written(&half, &bytes), reading);
}
