//! Tests of `answer`.

use super::*;

#[test]
fn a_panic_ends_at_the_border() {
    // What a defect says is kept, in whichever shape it came; the caller gets -1.
    for act in [
        (|| panic!("plain words")) as fn() -> Result<(), Refusal>,
        || panic!("words with a number, {}", 7),
        || std::panic::panic_any(7),
    ] {
        let result = guarded(act);
        assert!(matches!(result, Err(Refusal::Panicked(_))));
        let text = result.as_ref().unwrap_err().to_string();
        assert!(text.contains("a defect of libkvs"), "{text}");
        assert_eq!(code(result), FAILED);
    }
}

#[test]
fn each_thread_has_its_own_reason() {
    // A failure here, none there; a text with a NUL inside is still a string.
    assert_eq!(code(Err(Refusal::Files("a\0b".into()))), FAILED);
    let here = text();
    assert_eq!(here, "a b");
    let there = std::thread::Builder::new().spawn(text).unwrap();
    assert_eq!(there.join().unwrap(), "");
    assert_eq!(code(Ok(())), DONE);
    assert_eq!(text(), here);
}

#[test]
fn the_two_kinds_of_function_answer_differently() {
    // The original's know 0 and -1; the others tell what is missing or small.
    let small = || Refusal::SmallBuffer {
        needed: 2,
        capacity: 1,
    };
    assert_eq!(code(Err(Refusal::Missing)), FAILED);
    assert_eq!(code(Err(small())), FAILED);
    assert_eq!(code_of_kvs(Err(Refusal::Missing)), MISSING);
    assert_eq!(code_of_kvs(Err(small())), SMALL);
    assert_eq!(code_of_kvs(Err(Refusal::NotOpen)), FAILED);
    assert_eq!(code_of_kvs(Ok(())), DONE);
    assert!(object::<u8>(Err(Refusal::NotOpen)).is_null());
}

fn text() -> String {
    LAST.with(|last| last.borrow().to_str().unwrap().to_owned())
}
