//! What a search among a memtable's entries looks for.

use std::cmp::Ordering::{Equal, Greater, Less};

use crate::base::types::comparator::Comparator;
use crate::base::types::key::{self, Trailer};
use crate::store::mem::node::NodeRef;

/// A place among the entries: that of a key with a trailer.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// How user keys compare.
    pub comparator: &'a Comparator,
    /// The user key.
    pub key: &'a [u8],
    /// The trailer.
    pub trailer: Trailer,
    /// The key's fragment; the same for all keys where they do not compare as bytes.
    pub fragment: u64,
    /// Whether an entry with this key and this trailer counts as one before the target.
    pub is_inclusive: bool,
}

impl Target<'_> {
    /// Whether the target lies behind an entry of which the fragment is known, and which is
    /// fetched where that does not decide; `None` is the end, behind every target.
    #[inline]
    pub fn is_behind<'n>(
        &self,
        fragment: u64,
        entry: impl FnOnce() -> Option<NodeRef<'n>>,
    ) -> bool {
        if fragment != self.fragment {
            return fragment < self.fragment;
        }
        entry().is_some_and(|entry| self.is_behind_entry(entry))
    }

    /// Whether the target lies behind that entry.
    #[inline]
    pub fn is_behind_entry(&self, entry: NodeRef<'_>) -> bool {
        let (key, trailer) = key::split(entry.internal_key());
        match self.comparator.compare(key, self.key) {
            Less => true,
            Greater => false,
            Equal => trailer > self.trailer || self.is_inclusive && trailer == self.trailer,
        }
    }
}
