//! What failures say and which code they carry.

use std::io;

use esker::{Error, ErrorKind};

use super::{Code, Failure};

fn message(failure: &Failure) -> &str {
    match failure {
        Failure::Told { message, .. } | Failure::Damaged(message) => message,
        _ => panic!("this failure says something"),
    }
}

#[test]
fn error_without_advice_gets_some() {
    // The engine says only what is broken; the tool adds what to do about it.
    let failure = Failure::from(Error::corruption("checksum differs").in_file("000007.sst"));
    assert!(message(&failure).starts_with("corruption: checksum differs (file 000007.sst)"));
    assert!(message(&failure).contains("; `esker verify`"));
}

#[test]
fn advice_of_the_engine_stands_alone() {
    // The engine knows what to do about a setting; the tool adds nothing to that. About a lock it
    // speaks of its API, where a shell needs other words.
    let error = Error::corruption("the log is torn; `esker repair` saves the rest");
    assert_eq!(
        message(&Failure::from(error)),
        "corruption: the log is torn; `esker repair` saves the rest"
    );
    let error = Error::new(ErrorKind::Locked, "open in process 7; call open_read_only");
    let failure = Failure::from(error);
    assert!(message(&failure).starts_with("locked: open in process 7; wait until"));
    assert!(!message(&failure).contains("open_read_only"));
}

#[test]
fn only_damage_is_advised_on() {
    // A command that can do something about damage says so behind the rest.
    let damaged =
        Failure::from(Error::corruption("broken; mend it")).advised_on_damage("or leave it");
    assert_eq!(
        message(&damaged),
        "corruption: broken; mend it; or leave it"
    );
    let usage = Failure::usage("nonsense").advised_on_damage("or leave it");
    assert_eq!(message(&usage), "nonsense");
}

#[test]
fn closed_pipe_is_no_error() {
    // `esker scan | head` ends with a pipe nobody reads, and that is how it should end.
    let gone = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
    assert_eq!(gone, Failure::ReaderGone);
    let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
    assert!(matches!(
        full,
        Failure::Told {
            code: Code::Failed,
            ..
        }
    ));
}
