//! What one reader is: which entries it may see, and what hides or folds them.

use std::ops::Bound;
use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::key::Trailer;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::Visibility;
use crate::flow::read::fold::Folder;
use crate::flow::read::seek_target::{first_trailer, last_trailer, set_seek_target};
use crate::flow::read::tombstone_aggregator::TombstoneAggregator;
use crate::store::version::levels::Levels;
use crate::store::vlog::open_values::OpenValues;

/// What a reader is.
#[derive(Debug)]
pub struct Reader {
    /// The order of the keyspace.
    pub comparator: Comparator,
    /// The keys that the reader may see.
    pub range: KeyRange,
    /// The entries that the reader may see.
    pub at: Visibility,
    /// The wall time that decides about expiries, in unix milliseconds.
    pub now_unix_ms: u64,
    /// What range deletions hide from the reader.
    pub tombstones: TombstoneAggregator,
    /// Folds merge operands.
    pub folder: Folder,
    /// Where large values are read.
    pub values: Arc<OpenValues>,
    /// Keeps the segments that entries of files point into, if any do.
    pub kept: Option<Arc<Levels>>,
}

impl Reader {
    /// The trailer that sorts before every entry of a key that the reader may see.
    pub fn newest_trailer(&self) -> Trailer {
        Trailer::seek(self.at.newest())
    }

    /// Makes `target` the internal key at which the reader's range begins; `false` where it begins
    /// with the first key there is.
    pub fn set_first_target(&self, target: &mut Vec<u8>) -> bool {
        match &self.range.lower {
            Bound::Unbounded => return false,
            Bound::Included(lower) => set_seek_target(target, lower, self.newest_trailer()),
            Bound::Excluded(lower) => set_seek_target(target, lower, last_trailer()),
        }
        true
    }

    /// Makes `target` the internal key at which the reader's range ends; `false` where it ends with
    /// the last key there is.
    pub fn set_last_target(&self, target: &mut Vec<u8>) -> bool {
        match &self.range.upper {
            Bound::Unbounded => return false,
            Bound::Included(upper) => set_seek_target(target, upper, last_trailer()),
            Bound::Excluded(upper) => set_seek_target(target, upper, first_trailer()),
        }
        true
    }

    /// Whether the key lies before every key of the reader's range.
    #[inline]
    pub fn is_below(&self, user_key: &[u8]) -> bool {
        self.range.is_below(&self.comparator, user_key)
    }

    /// Whether the key lies behind every key of the reader's range.
    #[inline]
    pub fn is_above(&self, user_key: &[u8]) -> bool {
        self.range.is_above(&self.comparator, user_key)
    }
}
