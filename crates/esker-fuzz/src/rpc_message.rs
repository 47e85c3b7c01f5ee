//! Any bytes as the arguments of a call, or as its result.
//!
//! The first byte chooses the call; its highest bit says that the rest is a result.

use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::reply_reader::ReplyReader;
use esker_rpc::codec::request_reader::RequestReader;
use esker_rpc::message::call::Row;
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use esker_rpc::message::node::{NodeAnswer, NodeCall};

use crate::wire_calls::{Door, rows};

/// More than any message that an input can become.
const LEN_MAX: usize = 1 << 20;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    is_read(input);
}

/// Runs the target on one input, and says whether it could be read.
pub fn is_read(input: &[u8]) -> bool {
    let Some((choice, rest)) = input.split_first() else {
        return false;
    };
    let rows = rows();
    let (door, row) = rows[usize::from(choice % 128) % rows.len()];
    match (door, choice / 128) {
        (Door::Keys, 0) => keys_asked(row, rest),
        (Door::Keys, _) => keys_answered(row, rest),
        (Door::Meta, 0) => meta_asked(row, rest),
        (Door::Meta, _) => meta_answered(row, rest),
        (Door::Node, 0) => node_asked(row, rest),
        (Door::Node, _) => node_answered(row, rest),
    }
}

// What is read is written, and then read as the same; a name that is unknown may become another.
macro_rules! door {
    ($asked:ident $Asked:ident, $answered:ident $Answer:ident) => {
        fn $asked(row: Row, arguments: &[u8]) -> bool {
            let Ok(call) = $Asked::read(row.name, arguments) else {
                return false;
            };
            let mut reader = RequestReader::new(LEN_MAX);
            call.put(reader.buffer(), &RequestHead::default(), 7);
            let request = reader.next().expect("what is written is sound");
            let request = request.expect("what is written is whole");
            assert!(request.name == row.name && request.sequence == 7);
            let arguments = request.arguments.expect("within the limit");
            assert!($Asked::read(row.name, &arguments) == Ok(call));
            true
        }

        fn $answered(row: Row, result: &[u8]) -> bool {
            let Ok(answer) = $Answer::read(row.name, result) else {
                return false;
            };
            let Some(once) = again(&answer, row, $Answer::put, $Answer::read) else {
                assert!(!row.is_answered);
                return true;
            };
            assert!(again(&once, row, $Answer::put, $Answer::read).as_ref() == Some(&once));
            true
        }
    };
}

door!(keys_asked KeyCall, keys_answered KeyAnswer);
door!(meta_asked MetaCall, meta_answered MetaAnswer);
door!(node_asked NodeCall, node_answered NodeAnswer);

fn again<T, E: std::fmt::Debug>(
    answer: &T,
    row: Row,
    put: fn(&T, &mut Vec<u8>, i32),
    read: fn(&str, &[u8]) -> Result<T, E>,
) -> Option<T> {
    let mut reader = ReplyReader::new(LEN_MAX);
    put(answer, reader.buffer(), 7);
    let reply = reader.next().expect("what is written is sound")?;
    assert!(reply.error.is_ok() && reply.name.strip_suffix("_ACK") == Some(row.name));
    let result = reply.result.expect("within the limit");
    Some(read(row.name, &result).expect("what is written is sound"))
}
