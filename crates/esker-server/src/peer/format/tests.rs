//! Frames between nodes.

use esker_raft::{NodeId, ReplicaId};

use super::*;
use crate::meta::epoch::Epoch;

const GREETING: Greeting = Greeting {
    speaker: Speaker {
        cluster: 0x1122_3344_5566_7788,
        node: 3,
        incarnation: 9,
        instance: 0xfeed,
    },
    wants: 5,
    origin: Origin {
        address: Some(SocketAddr::V4(std::net::SocketAddrV4::new(
            std::net::Ipv4Addr::LOCALHOST,
            0x8765,
        ))),
        before: [0xbeef, 0xcafe, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    },
    claim: Claim {
        epoch: Epoch {
            number: 1,
            drawn: 0xf00d,
            base: ReplicaId(2),
            node: NodeId(3),
            last: ReplicaId(0x1003),
        },
        has_gone_on: true,
    },
};

fn read(bytes: &[u8]) -> Result<Vec<Frame>, PeerError> {
    let mut reader = FrameReader::default();
    let mut found = Vec::new();
    reader.buffer().extend_from_slice(bytes);
    while let Some(frame) = reader.next()? {
        found.push(frame);
    }
    Ok(found)
}

#[test]
fn a_greeting_has_these_bytes() {
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Hello, 0, &GREETING.encode());
    let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = "f6000000b7887cf701000000000000000000000045534b52504545520300000088776655\
                    4433221103000000000000000900000000000000edfe0000000000000500000000000000\
                    00000000000000000000ffff7f0000016587efbe000000000000feca000000000000";
    let claim = [0x01, 0xf00d, 0x02, 0x03, 0x1003, 0x01_u64].map(u64::swap_bytes);
    let claim = claim.map(|number| format!("{number:016x}")).concat();
    assert_eq!(shown, format!("{expected}{}{claim}", "00".repeat(14 * 8)));
    let frames = read(&bytes).unwrap();
    assert_eq!(Greeting::decode(&frames[0].payload), Ok(GREETING));
}

#[test]
fn frames_are_found_however_the_stream_is_split() {
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Raft, 0, &[7; 100_000]);
    put_frame(&mut bytes, Kind::Ask, 41, b"report");
    put_frame(&mut bytes, Kind::Answer, 41, b"");
    let whole = read(&bytes).unwrap();
    assert_eq!(whole.len(), 3);
    for piece_len in [1, 19, 20, 21, 70_000] {
        let mut reader = FrameReader::default();
        let mut found = Vec::new();
        for piece in bytes.chunks(piece_len) {
            reader.buffer().extend_from_slice(piece);
            while let Some(frame) = reader.next().unwrap() {
                found.push(frame);
            }
        }
        assert_eq!(found, whole);
    }
}

#[test]
fn every_changed_bit_is_noticed() {
    let mut bytes = Vec::new();
    put_frame(&mut bytes, Kind::Ask, 41, b"report");
    let first = |mut bytes: Vec<u8>| {
        let mut reader = FrameReader::default();
        // A length that has grown makes the reader wait for more; this comes.
        bytes.resize(ASK_BYTES_MAX + HEAD_BYTES, 0);
        reader.buffer().extend_from_slice(&bytes);
        // What follows is no frame either, so the first alone says anything.
        reader.next()
    };
    assert!(matches!(first(bytes.clone()), Ok(Some(_))));
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(first(changed).is_err(), "bit {bit}");
    }
}

#[test]
fn kinds_that_do_not_belong_are_refused_by_their_heads() {
    let mut answer = Vec::new();
    put_frame(&mut answer, Kind::Answer, 1, &[7; 1000]);
    let mut reader = FrameReader::of(&[Kind::Hello]);
    reader.buffer().extend_from_slice(&answer[..HEAD_BYTES - 1]);
    assert_eq!(reader.next(), Ok(None));
    assert!(reader.is_in_frame());
    reader.buffer().push(answer[HEAD_BYTES - 1]);
    assert_eq!(reader.next(), Err(PeerError::Unexpected(Kind::Answer)));
    reader.expect(&[Kind::Answer]);
    reader.buffer().extend_from_slice(&answer[HEAD_BYTES..]);
    assert!(matches!(reader.next(), Ok(Some(_))));
    assert!(!reader.is_in_frame());
}

#[test]
fn refusals_say_why() {
    for reason in Reason::ALL {
        let words = "a".repeat(REFUSAL_BYTES_MAX);
        let bytes = Refusal { reason, words }.encode();
        assert_eq!(bytes.len(), REFUSAL_BYTES_MAX);
        let refusal = Refusal::decode(&bytes).unwrap();
        assert_eq!((refusal.reason, refusal.words.len()), (reason, 499));
    }
    let unknown = Refusal::decode(b"\xffof a later version").unwrap();
    assert_eq!(unknown.reason, Reason::Other);
    assert_eq!(Refusal::decode(b""), Err(PeerError::Payload("refusal")));
}

#[test]
fn a_length_is_refused_before_its_bytes_come() {
    let mut head = Vec::new();
    put_frame(&mut head, Kind::Hello, 0, &[]);
    head[..4].copy_from_slice(&247u32.to_le_bytes());
    assert_eq!(read(&head), Err(PeerError::Length(247)));
    let mut head = Vec::new();
    put_frame(&mut head, Kind::Raft, 0, &[]);
    head[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&head), Err(PeerError::Length(u32::MAX)));
}

#[test]
fn greetings_of_others_are_told_apart() {
    let bytes = GREETING.encode();
    assert_eq!(Greeting::decode(b"GET / HTTP/1.1"), Err(PeerError::Magic));
    let mut newer = bytes.clone();
    newer[8] = 4;
    assert_eq!(Greeting::decode(&newer), Err(PeerError::Version(4)));
    assert!(Greeting::decode(&bytes[..245]).is_err());
    assert!(Greeting::decode(&[&bytes[..], &[0]].concat()).is_err());
    let mut nowhere = bytes.clone();
    nowhere[68..70].fill(0);
    assert_eq!(
        Greeting::decode(&nowhere),
        Err(PeerError::Payload("greeting")),
        "an address without a port"
    );
    let mut unsound = bytes.clone();
    unsound[198] = 0;
    assert_eq!(
        Greeting::decode(&unsound),
        Err(PeerError::Payload("greeting")),
        "an epoch that none is, and that goes on with somebody"
    );
    let mut unsound = bytes.clone();
    unsound[238] = 2;
    assert_eq!(
        Greeting::decode(&unsound),
        Err(PeerError::Payload("greeting")),
        "one that has gone on, and more"
    );
    let mut nameless = bytes;
    nameless[20] = 0;
    assert_eq!(
        Greeting::decode(&nameless),
        Err(PeerError::Payload("greeting"))
    );
}
