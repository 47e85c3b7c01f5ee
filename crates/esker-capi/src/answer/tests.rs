//! Tests of codes, texts, and of panics that stay inside.

use super::*;

/// The file that has the kinds of errors: the list of them is nowhere else.
const ERRORS: &str = include_str!("../../../esker/src/base/types/error.rs");
const HEADER: &str = include_str!("../../include/esker/c.h");

fn text() -> String {
    LAST.with(|last| {
        let last = last.borrow();
        let text = CStr::from_bytes_until_nul(&last).unwrap();
        text.to_str().unwrap().to_owned()
    })
}

#[test]
fn every_kind_of_error_has_a_code() {
    let (_, words) = ERRORS.split_once("match self {").unwrap();
    let (words, _) = words.split_once("\n        }\n").unwrap();
    let arms: Vec<(&str, &str)> = words
        .lines()
        .filter_map(|line| line.trim().strip_prefix("ErrorKind::"))
        .filter_map(|arm| arm.split_once(" => "))
        .collect();
    assert!(arms.len() >= 15, "{arms:?}");
    for (kind, told) in &arms {
        let told = told.trim_matches(['"', ',']);
        let row = CODES
            .iter()
            .find(|row| row.1.is_some_and(|of_row| format!("{of_row:?}") == *kind));
        let row = row.unwrap_or_else(|| panic!("{kind} has no code: add it to CODES and c.h"));
        assert_eq!(row.2.to_str(), Ok(told));
        assert_eq!(code_of(row.1.unwrap()), row.0);
    }
    assert_eq!(
        arms.len(),
        CODES.iter().filter(|row| row.1.is_some()).count()
    );
}

#[test]
fn the_header_has_the_same_codes() {
    for (code, _, word) in CODES {
        let name = word.to_str().unwrap().to_uppercase().replace(' ', "_");
        let line = format!("#define ESKER_{name} {code}\n");
        let spaced: String = HEADER
            .lines()
            .map(|line| {
                line.split_whitespace()
                    .take(3)
                    .collect::<Vec<_>>()
                    .join(" ")
                    + "\n"
            })
            .collect();
        assert!(spaced.contains(&line), "the header has no {line}");
    }
}

#[test]
fn a_failure_is_told_and_a_missing_key_is_none() {
    assert_eq!(answer(|| Err(Error::invalid("key is NULL"))), 2);
    assert_eq!(text(), "invalid: key is NULL");
    assert_eq!(answer(|| Ok(Done::NotFound)), 1);
    assert_eq!(answer(|| Ok(Done::Ok)), 0);
    assert_eq!(text(), "invalid: key is NULL");
    assert_eq!(answer(|| Err(Error::invalid("a\0b"))), 2);
    assert_eq!(text(), "invalid: a b");
}

#[test]
fn a_text_that_is_too_long_is_cut_and_stays_where_it_is() {
    // Not within a letter: a report may name keys of any bytes.
    let place = last_text();
    let long = "é".repeat(TEXT_BYTES_MAX);
    assert_eq!(answer(|| Err(Error::invalid(long))), 2);
    assert!(text().len() >= TEXT_BYTES_MAX - 2 && text().ends_with('é'));
    assert_eq!(answer(|| Err(Error::invalid("short"))), 2);
    assert_eq!(text(), "invalid: short");
    assert_eq!(last_text(), place);
}

#[test]
fn a_panic_stays_inside() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("and again");
        }
    }
    assert_eq!(answer(|| panic!("at sea")), PANIC);
    assert!(text().starts_with("panic: at sea;"), "{}", text());
    assert_eq!(answer(|| std::panic::panic_any(PanicsAgain)), PANIC);
    assert!(text().starts_with("panic: it said nothing;"), "{}", text());
    assert_eq!(told(7, || panic!("in harbour")), 7);
    assert!(text().starts_with("panic: in harbour;"), "{}", text());
}

#[test]
fn codes_have_words_and_say_whether_to_try_again() {
    assert_eq!(word(13), Some(c"lock timeout"));
    assert_eq!(word(-1), None);
    assert!(is_retryable(13) && is_retryable(8) && is_retryable(11));
    assert!(!is_retryable(0) && !is_retryable(2) && !is_retryable(6) && !is_retryable(99));
}
