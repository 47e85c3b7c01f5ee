//! By what a dictionary is known.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128;

/// Number of a dictionary: a hash of its bytes that is long enough to stand for them anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DictionaryId(pub u128);

impl DictionaryId {
    /// The number of the dictionary in these bytes.
    pub fn of(bytes: &[u8]) -> DictionaryId {
        DictionaryId(xxh3_128(bytes))
    }
}

impl fmt::Display for DictionaryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
