//! Any bytes as what a connection brings: requests to a server, and replies to a client.
//!
//! The first byte chooses: even requests, odd replies; and where the rest is split.

use esker_rpc::codec::frame::{FrameError, SILENT_CALL, put_refusal, sniff};
use esker_rpc::codec::reply_reader::{Reply, ReplyReader};
use esker_rpc::codec::request_reader::{Request, RequestReader};

/// Longest body that is kept: short, so that the fuzzer meets longer ones.
const BODY_LEN_MAX: usize = 300;

/// Longest reply.
const REPLY_LEN_MAX: usize = 1000;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    if let Some(first) = rest.first_chunk() {
        // Any four bytes have a protocol, if only the unknown one.
        let _ = sniff(*first);
    }
    let piece_len = usize::from(choice / 2) + 1;
    if choice % 2 == 0 {
        let whole = requests(&[rest]);
        let pieces: Vec<&[u8]> = rest.chunks(piece_len).collect();
        assert!(whole == requests(&pieces), "a split changes what is read");
        answer(&whole.0);
    } else {
        let whole = replies(&[rest]);
        let pieces: Vec<&[u8]> = rest.chunks(piece_len).collect();
        assert!(whole == replies(&pieces), "a split changes what is read");
    }
}

/// What is read until the pieces end or one is refused.
fn requests(pieces: &[&[u8]]) -> (Vec<Request>, Option<FrameError>) {
    let mut reader = RequestReader::new(BODY_LEN_MAX);
    let mut found = Vec::new();
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
        loop {
            match reader.next() {
                Ok(Some(request)) => found.push(request),
                Ok(None) => break,
                Err(error) => return (found, Some(error)),
            }
        }
    }
    (found, None)
}

fn replies(pieces: &[&[u8]]) -> (Vec<Reply>, Option<FrameError>) {
    let mut reader = ReplyReader::new(REPLY_LEN_MAX);
    let mut found = Vec::new();
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
        loop {
            match reader.next() {
                Ok(Some(reply)) => found.push(reply),
                Ok(None) => break,
                Err(error) => return (found, Some(error)),
            }
        }
    }
    (found, None)
}

// Whatever was asked can be refused, and the refusal is matched to it; but for the one call that is
// never answered.
fn answer(requests: &[Request]) {
    let mut reader = ReplyReader::new(REPLY_LEN_MAX);
    for request in requests {
        if let Some(arguments) = &request.arguments {
            assert!(arguments.len() <= BODY_LEN_MAX);
        }
        let error = esker_rpc::error::ErrorCode::InvalidData.into();
        put_refusal(reader.buffer(), (&request.name, request.sequence), &error);
        let reply = reader.next().expect("a refusal is sound");
        if request.name == SILENT_CALL {
            assert!(reply.is_none());
            continue;
        }
        let reply = reply.expect("a refusal is whole");
        assert!(reply.sequence == request.sequence && reply.error == error);
    }
}
