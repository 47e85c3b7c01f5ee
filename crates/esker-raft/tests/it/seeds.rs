//! Which seeds a test goes through.
//!
//! As many as it says, or as ESKER_SEEDS does, and from its own first one on, or from
//! ESKER_FIRST_SEED.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are asked for more seeds by the environment"
)]

use std::ops::Range;

/// The seeds from `first` on, `count` of them unless the environment says otherwise.
pub fn from(first: u64, count: u64) -> Range<u64> {
    let first = asked("ESKER_FIRST_SEED").unwrap_or(first);
    first..first + asked("ESKER_SEEDS").unwrap_or(count)
}

fn asked(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number")))
}
