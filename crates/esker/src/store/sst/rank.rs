//! About how much of a sorted file lies before a place, by its index alone.

use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;

/// A place between two keys of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap<'a> {
    /// In front of all entries of that user key.
    Before(&'a [u8]),
    /// Behind all of them.
    Behind(&'a [u8]),
}

/// How much of a file lies before a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Entries, deletes among them.
    pub entry_count: u64,
    /// Bytes of the file: index, filter and the like belong to entries by their bytes.
    pub size_bytes: u64,
}

impl<'a> Gap<'a> {
    /// The user key.
    pub fn user_key(self) -> &'a [u8] {
        match self {
            Gap::Before(key) | Gap::Behind(key) => key,
        }
    }

    /// The trailer with which the place is looked for.
    pub fn trailer(self) -> Trailer {
        match self {
            Gap::Before(_) => Trailer::seek(SeqNo::MAX),
            Gap::Behind(_) => Trailer::seek(SeqNo::ZERO),
        }
    }
}

impl Rank {
    /// That of a place behind `part` of `whole` equal parts of all that a file has.
    pub fn of_part(all: Rank, part: u64, whole: u64) -> Rank {
        Rank {
            entry_count: scaled(all.entry_count, part, whole),
            size_bytes: scaled(all.size_bytes, part, whole),
        }
    }
}

/// `part` in `whole` of `total`; all of it where there are no parts.
pub fn scaled(total: u64, part: u64, whole: u64) -> u64 {
    if part >= whole {
        return total;
    }
    let product = u128::from(total) * u128::from(part);
    u64::try_from(product / u128::from(whole)).expect("less than the total")
}

#[cfg(test)]
mod tests;
