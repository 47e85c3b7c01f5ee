//! Calls of clients as a node is asked them.

use esker_raft::GroupId;
use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::request_reader::RequestReader;
use esker_rpc::message::data::KeyCall;
use esker_server::node::{Ask, RequestId};

/// The write of a client.
pub fn write(request: RequestId, group: GroupId, call: &KeyCall) -> Ask {
    let (name, arguments) = arguments(call);
    Ask::Write {
        request,
        group,
        name,
        arguments,
    }
}

/// The name of a call, and its arguments as they come.
pub fn arguments(call: &KeyCall) -> (&'static str, Vec<u8>) {
    let mut reader = RequestReader::new(1 << 21);
    call.put(reader.buffer(), &RequestHead::default(), 1);
    let frame = reader.next().unwrap().unwrap();
    let arguments = frame.arguments.unwrap().to_vec();
    (call.row().name, arguments)
}
