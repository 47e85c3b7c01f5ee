//! How many seeds a test goes through: as many as it says, or as ESKER_SEEDS does.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are asked for more seeds by the environment"
)]

use std::ops::Range;

/// The seeds from `first` on, `count` of them unless the environment says otherwise.
pub fn from(first: u64, count: u64) -> Range<u64> {
    let asked = std::env::var("ESKER_SEEDS").ok();
    let count = asked.map_or(count, |text| text.parse().expect("ESKER_SEEDS is a number"));
    first..first + count
}
