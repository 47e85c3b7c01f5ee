//! Any bytes as what another node sends: frames, greetings, asks and answers.
//!
//! The first byte says where the rest is split.

use esker_raft::{NodeId, ReplicaId};
use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::ErrorCode;
use esker_server::meta::epoch::{Claim, Epoch};
use esker_server::peer::ask::{Answer, Ask, ForwardedKeys, ForwardedMeta};
use esker_server::peer::format::{
    Frame, FrameReader, Greeting, Kind, Origin, PeerError, Reason, Refusal, Speaker, put_frame,
};

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let whole = frames(&[rest]);
    let pieces: Vec<&[u8]> = rest.chunks(usize::from(choice) + 1).collect();
    assert!(whole == frames(&pieces), "a split changes what is read");
    let mut again = Vec::new();
    for frame in &whole.0 {
        put_frame(&mut again, frame.kind, frame.number, &frame.payload);
        payload(frame);
    }
    assert!(rest.starts_with(&again), "a frame has one form");
    // A checksum keeps changed bytes from the decoders behind it, so they get them as well.
    for kind in [Kind::Hello, Kind::Refusal, Kind::Ask, Kind::Answer] {
        let payload = rest.to_vec();
        let number = 0;
        self::payload(&Frame {
            kind,
            number,
            payload,
        });
    }
}

/// What is read until the pieces end or one is refused.
fn frames(pieces: &[&[u8]]) -> (Vec<Frame>, Option<PeerError>) {
    let mut reader = FrameReader::default();
    let mut found = Vec::new();
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
        loop {
            match reader.next() {
                Ok(Some(frame)) => found.push(frame),
                Ok(None) => break,
                Err(error) => return (found, Some(error)),
            }
        }
    }
    (found, None)
}

/// What a payload says has one form.
fn payload(frame: &Frame) {
    match frame.kind {
        Kind::Hello | Kind::Welcome => {
            if let Ok(greeting) = Greeting::decode(&frame.payload) {
                assert_eq!(greeting.encode(), frame.payload);
            }
        }
        Kind::Ask => {
            if let Ok(ask) = Ask::decode(&frame.payload) {
                assert_eq!(ask.encode(), frame.payload);
            }
        }
        Kind::Answer => {
            if let Ok(answer) = Answer::decode(&frame.payload) {
                assert_eq!(answer.encode(), frame.payload);
            }
        }
        Kind::Refusal => {
            if let Ok(refusal) = Refusal::decode(&frame.payload) {
                // Words that are no text have lost what they were, and reasons of later versions.
                let again = Refusal::decode(&refusal.encode()).expect("it has a reason");
                assert_eq!(again.reason, refusal.reason);
            }
        }
        Kind::Raft | Kind::Alive => {}
    }
}

/// A conversation from both sides, and the payloads that checksums protect.
pub(crate) fn starts() -> Vec<Vec<u8>> {
    let greeting = Greeting {
        speaker: Speaker {
            cluster: 77,
            node: 1,
            incarnation: 5,
            instance: 0xfeed,
        },
        wants: 2,
        origin: Origin {
            address: Some(([127, 0, 0, 1], 34_701).into()),
            before: std::array::from_fn(|at| at as u64),
        },
        claim: Claim {
            epoch: Epoch {
                number: 1,
                drawn: 0xf00d,
                base: ReplicaId(2),
                node: NodeId(3),
                last: ReplicaId(4099),
            },
            has_gone_on: true,
        },
    };
    let keys = Ask::Keys(ForwardedKeys {
        gpid: Gpid {
            app_id: 2,
            partition_index: 3,
        },
        partition_hash: 99,
        is_backup_request: false,
        name: "RPC_RRDB_RRDB_GET".to_owned(),
        arguments: b"\x0c\0\x01\0\0\0\0\0".to_vec(),
    });
    let meta = Ask::Meta(ForwardedMeta {
        name: "RPC_CM_LIST_APPS".to_owned(),
        arguments: Vec::new(),
    });
    let refused = Answer::refused(ErrorCode::InvalidState);
    let mut dialler = vec![9];
    put_frame(&mut dialler, Kind::Hello, 0, &greeting.encode());
    put_frame(&mut dialler, Kind::Raft, 0, b"of another codec");
    put_frame(&mut dialler, Kind::Ask, 1, &keys.encode());
    put_frame(&mut dialler, Kind::Ask, 2, &meta.encode());
    let mut listener = vec![30];
    put_frame(&mut listener, Kind::Welcome, 0, &greeting.encode());
    put_frame(&mut listener, Kind::Answer, 2, &refused.encode());
    put_frame(
        &mut listener,
        Kind::Answer,
        1,
        &Answer::NotLeader(Some(3)).encode(),
    );
    let refusal = Refusal {
        reason: Reason::Outdated,
        words: "incarnation 9 of that node was seen".to_owned(),
    };
    put_frame(&mut listener, Kind::Refusal, 0, &refusal.encode());
    put_frame(&mut listener, Kind::Alive, 0, b"");
    let plain = [
        greeting.encode(),
        keys.encode(),
        meta.encode(),
        refused.encode(),
    ];
    let plain = plain.map(|bytes| [&[0][..], &bytes].concat());
    [vec![dialler, listener], plain.to_vec()].concat()
}
