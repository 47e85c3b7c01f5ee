//! Tests of `refusal`.

use super::*;
use crate::fail::Code;

#[test]
fn a_refusal_shows_the_servers_words_and_what_to_do() {
    // Name, hint of the server, advice; and a code that nobody knows is shown as it came.
    let hint = "no such setting".to_owned();
    let error = ClientError::Explained(ErrorCode::InvalidParameters.into(), hint);
    let Failure::Told { message, .. } = failure("cannot set it", &error) else {
        panic!("told");
    };
    assert!(message.starts_with("cannot set it: "), "{message}");
    assert!(
        message.ends_with("ERR_INVALID_PARAMETERS: no such setting"),
        "{message}"
    );
    let error = ClientError::Refused(ErrorName::of("ERR_OF_ANOTHER_AGE"));
    let Failure::Told { message, .. } = failure("cannot", &error) else {
        panic!("told");
    };
    assert!(message.ends_with("ERR_OF_ANOTHER_AGE"), "{message}");
}

#[test]
fn an_unknown_outcome_is_not_told_as_a_failure_to_write() {
    // A write that may be there must be looked for, and no refusal of a table is meant.
    let told = write_failure("cannot write", &ClientError::OutcomeUnknown);
    let Failure::Told { message, code } = told else {
        panic!("told");
    };
    assert_eq!(code, Code::Unknown);
    let busy = ClientError::Refused(ErrorCode::Busy.into());
    assert_eq!(
        write_failure("cannot write", &busy),
        failure("cannot write", &busy)
    );
    assert!(
        message.contains("may be there or not; read it"),
        "{message}"
    );
    // Nor is one of which the server says that it does not know.
    let unsure = ClientError::Refused(ErrorCode::Timeout.into());
    for told in [
        write_failure("cannot write", &unsure),
        change_failure("cannot make it", &unsure),
    ] {
        let Failure::Told { message, code } = told else {
            panic!("told");
        };
        assert_eq!(code, Code::Unknown);
        assert!(message.ends_with("or will be: look, to know"), "{message}");
    }
    assert_eq!(
        change_failure("cannot make it", &busy),
        failure("cannot make it", &busy)
    );
    assert!(!is_no_table(&ClientError::OutcomeUnknown));
    assert!(is_no_table(&ClientError::Refused(
        ErrorCode::ObjectNotFound.into()
    )));
}

#[test]
fn without_the_meta_service_nobody_is_sent_to_what_asks_it() {
    let error = ClientError::Refused(ErrorCode::InvalidState.into());
    assert!(is_leaderless(&error) && !is_leaderless(&ClientError::TimedOut));
    let told = |failure: Failure| match failure {
        Failure::Told { message, .. } => message,
        other => panic!("{other:?}"),
    };
    let with = told(failure("cannot read the key", &error));
    assert!(with.contains("`esker table recover`"), "{with}");
    let without = told(without_meta(failure("cannot read the key", &error)));
    assert!(
        without.contains("--recover-meta") && !without.contains("esker table"),
        "{without}"
    );
    assert!(without.starts_with("cannot read the key: "), "{without}");
}
