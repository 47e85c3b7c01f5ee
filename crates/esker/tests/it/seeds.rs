//! How many seeds a test goes through: one, or as many as ESKER_SEEDS says.

use std::ops::Range;

/// The seeds from `first` on.
pub fn from(first: u64) -> Range<u64> {
    first..first + count()
}

/// How many seeds: 1, unless the environment variable ESKER_SEEDS says more.
pub fn count() -> u64 {
    let asked = std::env::var("ESKER_SEEDS").ok();
    asked.map_or(1, |text| text.parse().expect("ESKER_SEEDS is a number"))
}
