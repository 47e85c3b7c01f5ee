//! Messages read as they were said; what no replica may say is refused.

use super::*;

fn write(index: u64, term: u64) -> Entry {
    let mut entry = Entry::default();
    (entry.index, entry.term) = (index, term);
    entry.data = vec![5; 3].into();
    entry
}

fn said(message: Message) -> Envelope {
    let mut message = message;
    (message.from, message.to) = (2, 3);
    Envelope {
        group: GroupId(9),
        from: ReplicaId(2),
        from_node: NodeId(20),
        to: ReplicaId(3),
        version: 4,
        body: Body::Step(Box::new(Step(message))),
    }
}

fn of(kind: MessageType) -> Message {
    let mut message = Message::default();
    message.set_msg_type(kind);
    (message.term, message.log_term, message.index) = (7, 5, 30);
    (message.commit, message.commit_term, message.reject_hint) = (28, 5, 29);
    message.priority = -2;
    message.reject = kind == MessageType::MsgAppendResponse;
    match kind {
        MessageType::MsgAppend => message.set_entries(vec![write(31, 5), write(32, 7)].into()),
        MessageType::MsgReadIndex | MessageType::MsgReadIndexResp => {
            let data = vec![8; 24].into();
            let carrier = Entry {
                data,
                ..Entry::default()
            };
            message.set_entries(vec![carrier].into());
        }
        MessageType::MsgSnapshot => message.set_snapshot(ticket().to_raft()),
        _ => message.context = vec![1, 2].into(),
    }
    message
}

fn ticket() -> Ticket {
    let configuration = Configuration::first(6, &[(ReplicaId(3), NodeId(1))]);
    let contents = vec![9; 5].into();
    Ticket {
        index: 30,
        term: 6,
        configuration,
        contents,
    }
}

fn encoded(envelope: &Envelope) -> Vec<u8> {
    let mut bytes = Vec::new();
    envelope.encode(&mut bytes);
    bytes
}

fn all() -> Vec<Envelope> {
    let mut all: Vec<_> = KINDS.iter().map(|row| said(of(row.0))).collect();
    let removed = Body::Removed(Box::new(ticket().configuration));
    for body in [Body::Destroyed, removed, Body::Leaving] {
        all.push(Envelope {
            body,
            ..all[0].clone()
        });
    }
    all
}

#[test]
fn messages_read_as_they_were_said() {
    for envelope in all() {
        assert_eq!(Envelope::decode(&encoded(&envelope)), Ok(envelope));
    }
    let offered = said(of(MessageType::MsgSnapshot));
    let Body::Step(step) = offered.body else {
        panic!("a step")
    };
    assert_eq!(step.ticket(), Some(ticket()));
}

#[test]
fn frames_read_as_they_were_sent_and_any_flipped_bit_is_refused() {
    let frame = encode_frame(&all());
    assert_eq!(decode_frame(&frame), Ok(all()));
    for bit in 0..frame.len() * 8 {
        let mut other = frame.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(decode_frame(&other).is_err());
    }
}

#[test]
fn no_message_ends_early_or_late_and_a_flipped_bit_is_another_sound_message_or_none() {
    for envelope in all() {
        let bytes = encoded(&envelope);
        for len in 0..bytes.len() {
            assert!(Envelope::decode(&bytes[..len]).is_err());
        }
        assert!(Envelope::decode(&[&bytes[..], &[0]].concat()).is_err());
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Envelope::decode(&other) {
                assert_eq!(encoded(&read), other, "one message has one form");
            }
        }
    }
}

#[test]
fn what_a_replica_says_only_to_itself_cannot_be_said() {
    // Proposals are among it: a follower of 0.7.0 would forward them and answer nobody.
    let mut bytes = encoded(&said(of(MessageType::MsgHeartbeat)));
    for kind in 0..=255 {
        bytes[0] = kind;
        // What is none of the protocol's steps has another length.
        let is_known = KINDS.iter().any(|row| row.1 == kind);
        if !is_known {
            assert!(Envelope::decode(&bytes).is_err());
        }
    }
    for kind in [
        MessageType::MsgPropose,
        MessageType::MsgTransferLeader,
        MessageType::MsgHup,
    ] {
        assert!(!has_kind(&of(kind)));
    }
}

#[test]
fn trap_9_entries_that_do_not_follow_on_their_index_are_refused() {
    for (index, entries) in [
        (29, vec![write(31, 5)]),
        (31, vec![write(31, 5)]),
        (30, vec![write(31, 5), write(33, 5)]),
        (30, vec![write(31, 4)]),
        (30, vec![write(31, 8)]),
    ] {
        let mut message = of(MessageType::MsgAppend);
        message.index = index;
        message.set_entries(entries.into());
        let refused = Envelope::decode(&encoded(&said(message))).map_err(|error| error.expected);
        assert_eq!(refused, Err("entries in their order"));
    }
}

#[test]
fn numbers_that_would_overflow_are_refused() {
    for number in 0..7 {
        let mut bytes = encoded(&said(of(MessageType::MsgHeartbeat)));
        let at = 41 + 8 * number;
        bytes[at..at + 8].copy_from_slice(&(NUMBER_MAX + 1).to_le_bytes());
        assert!(Envelope::decode(&bytes).is_err());
    }
    let mut bytes = encoded(&said(of(MessageType::MsgHeartbeat)));
    // A term of 0 would be taken for a message to itself.
    bytes[41..49].fill(0);
    assert!(Envelope::decode(&bytes).is_err());
}

#[test]
fn an_append_behind_nothing_is_refused() {
    // `raft` finds term 0 beyond the end of its log, and would take it for a match.
    let mut message = of(MessageType::MsgAppend);
    (message.log_term, message.index) = (0, 1000);
    message.set_entries(Vec::new().into());
    let refused = Envelope::decode(&encoded(&said(message))).map_err(|error| error.expected);
    assert_eq!(refused, Err("term of the entry before"));
}

#[test]
fn more_than_a_frame_has_goes_in_several() {
    let one = said(of(MessageType::MsgHeartbeat));
    let many = vec![one; 2 * FRAME_MESSAGES_MAX + 5];
    let frames = encode_frames(&many);
    assert_eq!(frames.len(), 3);
    let read = frames
        .iter()
        .map(|frame| decode_frame(frame).expect("it reads"));
    assert_eq!(read.flatten().collect::<Vec<_>>(), many);
    // Two long messages do not share one, and one is never too long to be sent.
    let mut long = of(MessageType::MsgAppend);
    let mut entry = write(31, 5);
    entry.data = vec![1; 3 << 20].into();
    let mut next = entry.clone();
    next.index = 32;
    long.set_entries(vec![entry, next].into());
    let frames = encode_frames(&vec![said(long); 2]);
    assert_eq!(frames.len(), 2);
}
