//! What a link has yet to send.

use std::sync::{Arc, Mutex};

use super::*;
use crate::peer::format::FrameReader;

const MOST: Most = Most {
    queue_bytes: 10_000,
    asks: 100,
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
