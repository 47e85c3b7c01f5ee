//! What failures say and which code they carry.

use std::io;

use esker::{Error, ErrorKind};

use super::{Code, Failure};

fn message(failure: &Failure) -> &str {
    match failure {
        Failure::Told { message, .. } => message,
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
    // The engine knows the process that holds the lock; the tool adds nothing to that.
    let error = Error::new(ErrorKind::Locked, "process 7 holds it; open read-only");
    assert_eq!(
        message(&Failure::from(error)),
        "locked: process 7 holds it; open read-only"
    );
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
