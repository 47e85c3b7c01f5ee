//! Asks and answers as bytes.

use super::*;

#[test]
fn asks_come_back_as_they_went() {
    let gpid = Gpid {
        app_id: -1,
        partition_index: 63,
    };
    let (name, arguments) = ("RPC_RRDB_RRDB_GET".to_owned(), b"\x0c\0\x01".to_vec());
    for ask in [
        Ask::Report(b"report".to_vec()),
        Ask::Register(Vec::new()),
        Ask::Page(vec![0; 100]),
        Ask::Keys(ForwardedKeys {
            gpid,
            partition_hash: u64::MAX,
            is_backup_request: true,
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        Ask::Meta(ForwardedMeta { name, arguments }),
    ] {
        assert_eq!(Ask::decode(&ask.encode()), Ok(ask));
    }
}

#[test]
fn a_cut_call_is_refused() {
    let call = Ask::Keys(ForwardedKeys {
        gpid: Gpid::default(),
        partition_hash: 1,
        is_backup_request: false,
        name: "name".to_owned(),
        arguments: Vec::new(),
    });
    let bytes = call.encode();
    for len in 0..bytes.len() {
        assert_eq!(
            Ask::decode(&bytes[..len]),
            Err(PeerError::Payload("ask")),
            "{len}"
        );
    }
    assert_eq!(Ask::decode(&[9, 9]), Err(PeerError::Payload("ask")));
}

#[test]
fn answers_come_back_as_they_went() {
    for answer in [
        Answer::Done(b"row".to_vec()),
        Answer::refused(ErrorCode::Busy),
        Answer::Unknown,
        Answer::NotLeader(Some(7)),
        Answer::NotLeader(None),
    ] {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }
    for bytes in [
        &b""[..],
        b"\x01ERR_OK",
        b"\x01nonsense",
        b"\x02 ",
        b"\x03short",
        b"\x04",
    ] {
        assert!(Answer::decode(bytes).is_err(), "{bytes:?}");
    }
}
