//! Keys at which an output had better be cut: where the files below the output begin.
//!
//! A file that moves down is merged with every file that it overlaps, however little. Where it
//! ends anywhere, the files below its ends stick out, and what sticks out is rewritten for nothing:
//! as much as one file, where its like lies above three or four. Where it ends at a boundary of
//! theirs, nothing does. (RocksDB aligns its outputs likewise. Measured: docs/experiments/0051.)

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;

/// The boundaries that an output of ascending keys has before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrandparentBoundaries {
    /// In order.
    keys: Vec<Bytes>,
    /// How many of them lie behind the output.
    passed_count: usize,
    /// Whether it is known how many: nobody looks until a file may be cut.
    is_watched: bool,
}

impl GrandparentBoundaries {
    /// Boundaries at those keys, which ascend.
    pub fn at(keys: Vec<Bytes>) -> GrandparentBoundaries {
        GrandparentBoundaries {
            keys,
            ..GrandparentBoundaries::default()
        }
    }

    /// Whether a boundary lies behind the key of the last call, which was of the same file, and at
    /// or before this one. Keys ascend.
    #[inline]
    pub fn is_met(&mut self, comparator: &Comparator, user_key: &[u8]) -> bool {
        let is_reached = |boundary: &Bytes| comparator.compare(boundary, user_key).is_le();
        let ahead = self.keys.get(self.passed_count..).unwrap_or_default();
        let was_watched = std::mem::replace(&mut self.is_watched, true);
        if !ahead.first().is_some_and(is_reached) {
            return false;
        }
        self.passed_count += ahead.partition_point(is_reached);
        was_watched
    }

    /// A new file begins.
    pub fn begin_file(&mut self) {
        self.is_watched = false;
    }
}

#[cfg(test)]
mod tests;
