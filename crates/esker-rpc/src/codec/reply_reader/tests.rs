//! Replies out of streams.

use super::{Reply, ReplyReader};
use crate::codec::frame::tests::{FOUND, REFUSAL, found, hex};
use crate::codec::frame::{FrameError, put_reply, read_result};
use crate::codec::scalars::Blob;
use crate::codec::thrift::Malformed;
use crate::dice::Dice;
use crate::error::{ErrorCode, ErrorName};
use crate::message::data::ReadResponse;

fn read_all(pieces: &[&[u8]]) -> Result<Vec<Reply>, FrameError> {
    let mut reader = ReplyReader::new(1 << 20);
    let mut replies = Vec::new();
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
        while let Some(reply) = reader.next()? {
            replies.push(reply);
        }
    }
    Ok(replies)
}

#[test]
fn replies_are_read_whatever_byte_they_are_split_at() {
    let bytes = [hex(FOUND), hex(REFUSAL)].concat();
    for at in 0..=bytes.len() {
        let replies = read_all(&[&bytes[..at], &bytes[at..]]).unwrap();
        assert_eq!(replies.len(), 2);
        assert_eq!(
            (&replies[0].error, replies[0].sequence),
            (&ErrorName::OK, 2)
        );
        assert_eq!(
            read_result(replies[0].result.as_ref().unwrap()),
            Ok(found())
        );
        assert_eq!(replies[0].name, "RPC_RRDB_RRDB_GET_ACK");
        assert_eq!(replies[1].error, ErrorCode::InvalidState.into());
        assert_eq!(replies[1].sequence, 7);
        assert_eq!(
            read_result::<ReadResponse>(replies[1].result.as_ref().unwrap()),
            Err(Malformed::Ends)
        );
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read_all(&single).unwrap().len(), 2);
}

#[test]
fn many_replies_are_read_from_pieces_of_any_size() {
    let mut dice = Dice::new(8);
    let mut bytes = Vec::new();
    for sequence in 0..2000 {
        let response = ReadResponse {
            value: Blob::from(dice.bytes(60)),
            ..found()
        };
        put_reply(&mut bytes, ("RPC_RRDB_RRDB_GET", sequence), &response);
    }
    let (mut pieces, mut rest) = (Vec::new(), &bytes[..]);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(1 + dice.below(rest.len().min(700)));
        pieces.push(piece);
        rest = behind;
    }
    let sequences: Vec<i32> = read_all(&pieces)
        .unwrap()
        .iter()
        .map(|one| one.sequence)
        .collect();
    assert_eq!(sequences, (0..2000).collect::<Vec<i32>>());
}

#[test]
fn what_no_reply_may_say_ends_the_connection() {
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = hex(FOUND);
        bytes[at..at + to.len()].copy_from_slice(to);
        read_all(&[&bytes]).unwrap_err()
    };
    for len in [0_u32, 3, 19, 0x8000_0000, u32::MAX] {
        assert_eq!(changed(0, &len.to_be_bytes()), FrameError::Length(len));
    }
    let too_long = FrameError::Malformed(Malformed::Length(-1));
    assert_eq!(changed(4, &[255; 4]), too_long);
    assert_eq!(changed(8, &[255]), FrameError::Malformed(Malformed::Text));
    assert_eq!(
        changed(14, &[0x80, 1, 0, 1]),
        FrameError::Version(0x8001_0001)
    );
    assert_eq!(changed(18, &[255; 4]), too_long);
    // The frame ends before the sequence number does.
    assert_eq!(
        changed(0, &[0, 0, 0, 45]),
        FrameError::Malformed(Malformed::Ends)
    );
}

#[test]
fn a_reply_over_the_limit_is_stepped_over_and_the_next_is_read() {
    let response = |len| ReadResponse {
        value: Blob::from(vec![7; len]),
        ..found()
    };
    let mut bytes = Vec::new();
    for (sequence, len) in [(1, 9000), (2, 20), (3, 2000), (4, 0)] {
        put_reply(&mut bytes, ("RPC_RRDB_RRDB_GET", sequence), &response(len));
    }
    for piece_len in [1, 7, 100, 5000, bytes.len()] {
        let mut reader = ReplyReader::new(1000);
        let mut found = Vec::new();
        for piece in bytes.chunks(piece_len) {
            reader.buffer().extend_from_slice(piece);
            while let Some(reply) = reader.next().unwrap() {
                found.push((reply.sequence, reply.result.is_some()));
            }
            assert!(reader.buffer().len() <= 2 * (1000 + piece_len));
        }
        assert_eq!(found, [(1, false), (2, true), (3, false), (4, true)]);
    }
}
