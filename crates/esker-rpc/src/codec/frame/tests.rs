//! Frames, byte for byte as the protocol's worked examples.

use super::{
    FrameError, Protocol, RequestHead, Version, put_refusal, put_reply, put_request,
    read_arguments, read_result, sniff,
};
use crate::codec::scalars::{Address, Blob, Gpid};
use crate::codec::thrift::Malformed;
use crate::error::{ErrorCode, ErrorName, Status};
use crate::message::data::{ReadResponse, UpdateRequest};
use crate::message::meta::{PartitionConfiguration, QueryConfigRequest, QueryConfigResponse};

/// Hexadecimal digits and quoted text as bytes.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        if index % 2 == 1 {
            bytes.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<char> = part.chars().filter(|char| !char.is_whitespace()).collect();
        for pair in digits.chunks(2) {
            let pair: String = pair.iter().collect();
            bytes.push(u8::from_str_radix(&pair, 16).unwrap());
        }
    }
    bytes
}

/// GET of hash key `hk` and sort key `sk`, as Python sends it.
pub(crate) const GET_V0: &str = "54484654 00000000 00000030 00000000 \
    0000002b 00000000 \
    00000002 00000001 000001f4 00003ddf \
    5d9ad5b51c9a4ab3 \
    80010001 00000011 5250435f525244425f525244425f474554 \
    00000002 \
    0c 0001 00000006 0002686b736b 00";

/// The same as Java sends it.
pub(crate) const GET_V1: &str = "54484654 00000001 00000025 0000002b \
    08 0001 00000002  08 0002 00000003  08 0003 000003e8  0a 0004 5d9ad5b51c9a4ab3  02 0005 00  00 \
    80010001 00000011 5250435f525244425f525244425f474554 00000001 0c 0001 00000006 0002686b736b 00";

/// The reply to it: `val`.
pub(crate) const FOUND: &str = "00000069 \
    00000006 4552525f4f4b \
    80010002 00000015 5250435f525244425f525244425f4745545f41434b \
    00000002 \
    0c 0000 \
      08 0001 00000000 \
      0c 0002 00000003 76616c \
      08 0003 00000002  08 0004 00000001 \
      0b 0006 0000000f 3132372e302e302e313a3334383032 \
      00 \
    00";

/// The reply of a server that does not lead the partition.
pub(crate) const REFUSAL: &str = "0000003a 00000011 4552525f494e56414c49445f5354415445 \
    80010002 00000015 5250435f525244425f525244425f4745545f41434b 00000007";

const GET: &str = "RPC_RRDB_RRDB_GET";

pub(crate) fn head_v0() -> RequestHead {
    RequestHead {
        version: Version::V0,
        app_id: 2,
        partition_index: 1,
        client_timeout_ms: 500,
        partition_hash: 0x5d9a_d5b5_1c9a_4ab3,
        is_backup_request: false,
    }
}

pub(crate) fn head_v1() -> RequestHead {
    RequestHead {
        version: Version::V1,
        partition_index: 3,
        client_timeout_ms: 1000,
        ..head_v0()
    }
}

pub(crate) fn found() -> ReadResponse {
    ReadResponse {
        error: Status::OK,
        value: Blob::of(b"val"),
        app_id: 2,
        partition_index: 1,
        server: "127.0.0.1:34802".to_owned(),
    }
}

#[test]
fn requests_are_as_python_and_java_send_them() {
    let raw_key = Blob::of(b"\0\x02hksk");
    let mut bytes = Vec::new();
    put_request(&mut bytes, &head_v0(), (GET, 2), &raw_key);
    assert_eq!(bytes, hex(GET_V0));
    let mut bytes = Vec::new();
    put_request(&mut bytes, &head_v1(), (GET, 1), &raw_key);
    assert_eq!(bytes, hex(GET_V1));
}

#[test]
fn replies_are_as_the_original_server_sends_them() {
    let mut bytes = Vec::new();
    put_reply(&mut bytes, (GET, 2), &found());
    assert_eq!(bytes, hex(FOUND));
    let mut bytes = Vec::new();
    put_refusal(&mut bytes, (GET, 7), &ErrorCode::InvalidState.into());
    assert_eq!(bytes, hex(REFUSAL));
}

#[test]
fn frames_follow_one_another_in_one_buffer() {
    let mut bytes = Vec::new();
    put_request(&mut bytes, &head_v0(), (GET, 2), &Blob::of(b"\0\x02hksk"));
    put_reply(&mut bytes, (GET, 2), &found());
    put_request(&mut bytes, &head_v1(), (GET, 1), &Blob::of(b"\0\x02hksk"));
    put_refusal(&mut bytes, (GET, 7), &ErrorCode::InvalidState.into());
    assert_eq!(
        bytes,
        [hex(GET_V0), hex(FOUND), hex(GET_V1), hex(REFUSAL)].concat()
    );
}

#[test]
fn a_value_that_is_not_there_is_an_empty_blob() {
    let response = ReadResponse {
        error: Status::NOT_FOUND,
        value: Blob::default(),
        ..found()
    };
    let mut bytes = Vec::new();
    put_reply(&mut bytes, (GET, 2), &response);
    let expected = FOUND
        .replace("00000069", "00000066")
        .replace("08 0001 00000000", "08 0001 00000001")
        .replace("00000003 76616c", "00000000");
    assert_eq!(bytes, hex(&expected));
}

#[test]
fn the_partitions_of_a_table_are_as_the_original_server_sends_them() {
    let request = hex("0c 0001 0b 0001 00000001 74 0f 0002 08 00000000 00 00");
    let request: QueryConfigRequest = read_arguments(&request).unwrap();
    assert_eq!(request.app_name, "t");
    let without_list: QueryConfigRequest =
        read_arguments(&hex("0c 0001 0b 0001 00000001 74 00 00")).unwrap();
    assert_eq!(without_list, request);

    let at = |port: u16| -> Address {
        format!("127.0.0.1:{port}")
            .parse::<std::net::SocketAddrV4>()
            .unwrap()
            .into()
    };
    let partition = |partition_index, primary, secondaries: [u16; 2]| PartitionConfiguration {
        pid: Gpid {
            app_id: 2,
            partition_index,
        },
        ballot: 3,
        max_replica_count: 3,
        primary: at(primary),
        secondaries: secondaries.map(at).to_vec(),
        ..PartitionConfiguration::default()
    };
    let response = QueryConfigResponse {
        err: ErrorName::OK,
        app_id: 2,
        partition_count: 2,
        is_stateful: true,
        partitions: vec![
            partition(0, 34801, [34802, 34803]),
            partition(1, 34802, [34801, 34803]),
        ],
    };
    let one = |pid: &str, addresses: [&str; 3]| {
        format!(
            "0c 0001 {pid} 0a 0002 0000000000000003 08 0003 00000003 0c 0004 {} \
             0f 0005 0c 00000002 {} {} 0f 0006 0c 00000000 0a 0007 0000000000000000 \
             08 0008 00000000 00",
            addresses[0], addresses[1], addresses[2]
        )
    };
    let [a, b, c] = ["7f00000187f10001", "7f00000187f20001", "7f00000187f30001"];
    let expected = format!(
        "00000126 00000006 4552525f4f4b 80010002 0000002a \
         \"RPC_CM_QUERY_PARTITION_CONFIG_BY_INDEX_ACK\" 00000001 0c 0000 \
         0c 0001 00000006 4552525f4f4b 08 0002 00000002 08 0003 00000002 02 0004 01 \
         0f 0005 0c 00000002 {} {} 00 00",
        one("0000000000000002", [a, b, c]),
        one("0000000100000002", [b, a, c]),
    );
    let mut bytes = Vec::new();
    let name = "RPC_CM_QUERY_PARTITION_CONFIG_BY_INDEX";
    put_reply(&mut bytes, (name, 1), &response);
    assert_eq!(bytes.len(), 0x126);
    assert_eq!(bytes, hex(&expected));
}

#[test]
fn a_put_is_as_clients_send_it() {
    let arguments =
        hex("0c 0001 0c 0001 00000006 0002686b736b 0c 0002 00000003 76616c 08 0003 00000000 00 00");
    let request: UpdateRequest = read_arguments(&arguments).unwrap();
    let expected = UpdateRequest {
        key: Blob::of(b"\0\x02hksk"),
        value: Blob::of(b"val"),
        ..UpdateRequest::default()
    };
    assert_eq!(request, expected);
    let mut bytes = Vec::new();
    put_request(&mut bytes, &head_v0(), ("RPC_RRDB_RRDB_PUT", 2), &expected);
    assert!(bytes.ends_with(&arguments));
}

#[test]
fn arguments_are_one_field_and_nothing_else() {
    let read = |text: &str| read_arguments::<Blob>(&hex(text)).map(drop);
    assert_eq!(read("0c 0001 00000001 61 00"), Ok(()));
    assert_eq!(read("0c 0007 00000001 61 00"), Ok(()));
    assert_eq!(read("00"), Err(Malformed::Ends));
    assert_eq!(read("0c 0001 00000001 61"), Err(Malformed::Ends));
    assert_eq!(
        read("0c 0001 00000001 61 00 00"),
        Err(Malformed::Trailing(1))
    );
    assert!(read("0c 0001 00000001 61 0c 0002 00000001 61 00").is_err());
    assert!(read("0a 0001 0000000000000000 00").is_err());
    assert_eq!(
        read_arguments::<i64>(&hex("0a 0001 0000000000000007 00")),
        Ok(7)
    );
    let text: Result<String, _> = read_result(&hex("0b 0000 00000002 6f6b 00"));
    assert_eq!(text, Ok("ok".to_owned()));
}

#[test]
fn a_protocol_is_told_by_its_first_bytes() {
    assert_eq!(sniff(*b"THFT"), Protocol::Thrift);
    assert_eq!(sniff(*b"RDSN"), Protocol::Rdsn);
    assert_eq!(sniff(*b"GET "), Protocol::Http);
    assert_eq!(sniff(*b"POST"), Protocol::Http);
    for other in [b"GETX", b"\0\0\0\0", b"thft", b"*1\r\n"] {
        assert_eq!(sniff(*other), Protocol::Unknown);
    }
}

#[test]
fn refusals_of_frames_are_said_in_words() {
    let magic = FrameError::Magic(*b"\0abc").to_string();
    assert_eq!(magic, "\"\\x00abc\" begins no request");
    assert_eq!(
        FrameError::Malformed(Malformed::Depth).to_string(),
        "nested deeper than 16"
    );
}
