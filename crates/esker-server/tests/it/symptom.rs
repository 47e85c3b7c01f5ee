//! What a run says that must fail, and whether that is what it must fail by.

use std::fmt::Debug;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of the panic that `run` ends with, if it does.
pub fn of(run: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| {
        let text = panic.downcast_ref::<&str>();
        text.unwrap_or(&"a panic").to_string()
    }))
}

/// Panics unless the run of one of `seeds` fails, and the first that does by a check that speaks of
/// one of `symptoms`: what stumbles over something else has found nothing.
pub fn is_found(
    mistake: &impl Debug,
    seeds: Range<u64>,
    symptoms: &[&str],
    run: impl Fn(u64) -> Option<String>,
) {
    let mut told = seeds.filter_map(|seed| Some((seed, run(seed)?)));
    let Some((seed, message)) = told.next() else {
        panic!("{mistake:?} is not found");
    };
    println!("{mistake:?} is found by seed {seed}: {message:.1000}");
    let is_expected = symptoms.iter().any(|symptom| message.contains(symptom));
    assert!(
        is_expected,
        "{mistake:?} was found by something else: {message}"
    );
}
