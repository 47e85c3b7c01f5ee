//! Names of errors: only what every client knows may leave.

use std::collections::BTreeSet;

use super::{ErrorCode, ErrorName, Reaction, Status};
use crate::codec::frame::read_result;
use crate::codec::thrift::Wire;
use crate::message::data::UpdateResponse;

/// What servers, Go, Java, both Pythons and Node know; from the protocol's description, so that a
/// slip in the table is seen.
const KNOWN_TO_ALL: &str = "ERR_OK, ERR_UNKNOWN, ERR_SERVICE_NOT_FOUND, \
    ERR_SERVICE_ALREADY_RUNNING, ERR_IO_PENDING, ERR_TIMEOUT, ERR_SERVICE_NOT_ACTIVE, ERR_BUSY, \
    ERR_NETWORK_INIT_FAILED, ERR_FORWARD_TO_OTHERS, ERR_OBJECT_NOT_FOUND, ERR_HANDLER_NOT_FOUND, \
    ERR_LEARN_FILE_FAILED, ERR_GET_LEARN_STATE_FAILED, ERR_INVALID_VERSION, \
    ERR_INVALID_PARAMETERS, ERR_CAPACITY_EXCEEDED, ERR_INVALID_STATE, ERR_INACTIVE_STATE, \
    ERR_NOT_ENOUGH_MEMBER, ERR_FILE_OPERATION_FAILED, ERR_HANDLE_EOF, ERR_WRONG_CHECKSUM, \
    ERR_INVALID_DATA, ERR_INVALID_HANDLE, ERR_INCOMPLETE_DATA, ERR_VERSION_OUTDATED, \
    ERR_PATH_NOT_FOUND, ERR_PATH_ALREADY_EXIST, ERR_ADDRESS_ALREADY_USED, ERR_STATE_FREEZED, \
    ERR_LOCAL_APP_FAILURE, ERR_BIND_IOCP_FAILED, ERR_NETWORK_START_FAILED, ERR_NOT_IMPLEMENTED, \
    ERR_CHECKPOINT_FAILED, ERR_WRONG_TIMING, ERR_NO_NEED_OPERATE, ERR_CORRUPTION, ERR_TRY_AGAIN, \
    ERR_CLUSTER_NOT_FOUND, ERR_CLUSTER_ALREADY_EXIST, ERR_REPLICATION_FAILURE, ERR_APP_EXIST, \
    ERR_APP_NOT_EXIST, ERR_BUSY_CREATING, ERR_BUSY_DROPPING, ERR_EXPIRED, \
    ERR_LOCK_ALREADY_EXIST, ERR_HOLD_BY_OTHERS, ERR_RECURSIVE_LOCK, ERR_NO_OWNER, \
    ERR_NODE_ALREADY_EXIST, ERR_INCONSISTENT_STATE, ERR_ARRAY_INDEX_OUT_OF_RANGE, \
    ERR_ZOOKEEPER_OPERATION";

fn known_to_all() -> BTreeSet<&'static str> {
    KNOWN_TO_ALL.split(", ").collect()
}

#[test]
fn only_names_that_every_client_knows_are_sent() {
    let known = known_to_all();
    let strange = ErrorName::of("ERR_OF_TOMORROW");
    let names = ErrorCode::ALL.iter().map(|code| ErrorName::Known(*code));
    for name in names.chain([strange]) {
        assert!(
            known.contains(name.sent()),
            "{name} is sent as {}",
            name.sent()
        );
        let mut bytes = Vec::new();
        name.put(&mut bytes);
        let written = str::from_utf8(&bytes[4..]).unwrap();
        assert!(known.contains(written), "{name} is written as {written}");
    }
}

#[test]
fn a_name_that_every_client_knows_is_sent_as_it_is() {
    let sent_as_is = ErrorCode::ALL.iter().filter(|code| code.sent() == **code);
    let names: BTreeSet<&str> = sent_as_is.map(|code| code.name()).collect();
    assert_eq!(names, known_to_all());
}

#[test]
fn names_and_codes_are_one_to_one() {
    let names: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    for code in ErrorCode::ALL {
        assert_eq!(ErrorCode::of(code.name()), Some(*code));
        assert_eq!(ErrorName::of(code.name()), ErrorName::Known(*code));
    }
    assert_eq!(ErrorName::of("x").code(), ErrorCode::Unknown);
}

#[test]
fn what_is_sent_in_place_of_a_name_says_the_same_of_a_write() {
    // A client that is told "surely not begun" may send its write again.
    for code in ErrorCode::ALL {
        let said = [code.is_refused_undone(), code.sent().is_refused_undone()];
        assert_eq!(said[0], said[1], "{}", code.name());
        assert_eq!(code.reaction(), code.sent().reaction(), "{}", code.name());
    }
    assert!(!ErrorCode::Timeout.is_refused_undone());
    assert!(!ErrorCode::Unknown.is_refused_undone());
    assert!(!ErrorName::of("ERR_OF_TOMORROW").code().is_refused_undone());
}

#[test]
fn routes_are_asked_for_anew_where_the_server_has_no_such_leader() {
    let of = |name: &str| ErrorName::of(name).code().reaction();
    for name in [
        "ERR_OBJECT_NOT_FOUND",
        "ERR_INVALID_STATE",
        "ERR_PARENT_PARTITION_MISUSED",
    ] {
        assert_eq!(of(name), Reaction::AskMeta);
    }
    for name in ["ERR_NOT_ENOUGH_MEMBER", "ERR_CAPACITY_EXCEEDED"] {
        assert_eq!(of(name), Reaction::TryLater);
    }
    for name in [
        "ERR_BUSY",
        "ERR_SPLITTING",
        "ERR_INVALID_DATA",
        "ERR_TIMEOUT",
        "ERR_X",
    ] {
        assert_eq!(of(name), Reaction::Fail);
    }
}

#[test]
fn a_response_without_its_error_is_not_taken_for_a_success() {
    assert!(!ErrorName::default().is_ok());
    assert!(ErrorName::of("ERR_OK").is_ok());
    let response: UpdateResponse = read_result(b"\x0c\0\0\0\0").unwrap();
    assert!(!response.error.is_ok());
}

#[test]
fn statuses_are_said_in_words() {
    assert_eq!(Status::TRY_AGAIN.to_string(), "check failed");
    assert_eq!(Status(77).to_string(), "status 77");
    assert!(Status::OK.is_ok() && !Status::INCOMPLETE.is_ok());
}
