//! Tests of who may call a database.

use crate::base::types::error::ErrorKind;
use crate::base::types::user_code;
use crate::env::process::Process;

#[test]
fn what_an_engine_calls_is_told_not_to_call_one() {
    // Not of one database alone: whichever it asks for, it holds up that which called it.
    let process = Process::current();
    process.check_call().unwrap();
    let refused = user_code::run(|| process.check_call()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    let text = refused.to_string();
    assert!(text.contains("called the database"), "{text}");
    // As to the process it is at home.
    user_code::run(|| process.check()).unwrap();
    process.check_call().unwrap();
}
