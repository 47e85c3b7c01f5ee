//! Tests of `command`.

use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::request_reader::RequestReader;
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::UpdateRequest;

use super::*;

const STAMP: Stamp = Stamp {
    unix_us: 1_700_000_000_000_000,
    default_ttl_s: 60,
    cluster: 3,
};

// The arguments of a call, as a frame brings them.
fn arguments(call: &KeyCall) -> Vec<u8> {
    let mut reader = RequestReader::new(1 << 20);
    call.put(reader.buffer(), &RequestHead::default(), 1);
    let request = reader.next().unwrap().unwrap();
    assert_eq!(request.name, call.row().name);
    request.arguments.unwrap()
}

fn put() -> (KeyCall, Vec<u8>) {
    let call = KeyCall::Put(UpdateRequest {
        key: Blob::of(b"\0\x02hksk"),
        value: Blob::of(b"value"),
        ..UpdateRequest::default()
    });
    let bytes = arguments(&call);
    (call, bytes)
}

#[test]
fn an_entry_says_what_was_put_into_it() {
    let (call, bytes) = put();
    let mut writer = CommandWriter::new(STAMP);
    assert!(writer.is_empty());
    writer.push(call.row().name, &bytes);
    writer.push(call.row().name, &bytes);
    let entry = writer.finish();
    let command = Command::read(&entry).unwrap();
    assert_eq!(command.stamp, STAMP);
    assert_eq!(command.calls, [call.clone(), call]);
    for len in 0..entry.len() {
        // Cut between two calls it is an entry of one.
        let cut = Command::read(&entry[..len]);
        assert!(cut.is_none_or(|cut| cut.calls.len() == 1), "{len}");
    }
}

#[test]
fn what_is_no_write_is_no_entry() {
    let (call, bytes) = put();
    let mut of_read = CommandWriter::new(STAMP);
    let get = KeyCall::Get(Blob::of(b"\0\0"));
    of_read.push(get.row().name, &arguments(&get));
    assert!(Command::read(&of_read.finish()).is_none());
    let mut unknown = CommandWriter::new(STAMP);
    unknown.push("RPC_RRDB_RRDB_NOTHING", &bytes);
    assert!(Command::read(&unknown.finish()).is_none());
    assert!(Command::read(&CommandWriter::new(STAMP).finish()).is_none());
    for (place, byte) in [(0, 2), (8, 1), (13, 128)] {
        let mut writer = CommandWriter::new(STAMP);
        writer.push(call.row().name, &bytes);
        let mut entry = writer.finish();
        entry[place] = byte;
        assert!(Command::read(&entry).is_none(), "{place}");
    }
}
