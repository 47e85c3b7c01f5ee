//! What is said of a table that was not made, or of which nobody knows.

use super::*;
use crate::fail::Code;

#[test]
fn of_a_table_that_may_be_there_no_deadline_is_told_that_has_not_passed() {
    // The leader of the meta service was killed, and its connection has ended.
    let Failure::Told { message, code } = not_created("t10", &ClientError::OutcomeUnknown) else {
        panic!("told");
    };
    assert_eq!(code, Code::Unknown);
    assert!(!message.contains("deadline"), "{message}");
    assert!(message.contains("--if-not-exists takes it"), "{message}");
    // The client's own words say no more than is known.
    let words = ClientError::OutcomeUnknown.to_string();
    assert!(
        words.ends_with("may be there or not") && !words.contains("deadline"),
        "{words}"
    );
}
