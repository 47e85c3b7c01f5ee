//! What range deletions hide from one moving reader.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::range_tombstones::RangeTombstones;

/// The range tombstones of all sources as one reader at one sequence number meets them, key by key.
///
/// Remembers the stretch of keys around the last one asked for in which the answer stays the
/// same, so that a scan searches once for each stretch and compares twice for each key.
#[derive(Debug)]
pub struct TombstoneAggregator {
    comparator: Comparator,
    at: SeqNo,
    /// Newest source first: its place among the sources of the read, and its range tombstones.
    tombstone_lists: Vec<(usize, Arc<RangeTombstones>)>,
    /// Whether the four fields below hold an answer.
    is_known: bool,
    lower: Option<Bytes>,
    upper: Option<Bytes>,
    cover: Option<SeqNo>,
    /// The newest source of those whose deletions cover the stretch.
    cover_source: usize,
}

impl TombstoneAggregator {
    /// The aggregator for a reader at `at`. `tombstone_lists` come newest source first, each with
    /// its source's place among all sources of the read; a source may have several.
    pub fn new(
        comparator: Comparator,
        at: SeqNo,
        tombstone_lists: Vec<(usize, Arc<RangeTombstones>)>,
    ) -> TombstoneAggregator {
        assert!(tombstone_lists.is_sorted_by_key(|(source, _)| *source));
        TombstoneAggregator {
            comparator,
            at,
            tombstone_lists: tombstone_lists
                .into_iter()
                .filter(|(_, tombstones)| !tombstones.is_empty())
                .collect(),
            is_known: false,
            lower: None,
            upper: None,
            cover: None,
            cover_source: 0,
        }
    }

    /// Whether nothing is hidden.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tombstone_lists.is_empty()
    }

    /// Whether an entry of `key` with that number is hidden.
    #[inline]
    pub fn hides(&mut self, key: &[u8], seqno: SeqNo) -> bool {
        if self.is_empty() {
            return false;
        }
        if !self.is_known || !self.is_inside(key) {
            self.look(key);
        }
        self.cover > Some(seqno)
    }

    /// Where source `source` may be sent when `key` is hidden in it: everything of that source
    /// from `key` up to the answer, exclusive, is hidden. `None` when the deletions lie in no
    /// newer source, for then some entries of the source may be newer than they.
    pub fn skip_forward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.tombstone_lists_over(source)
            .filter_map(|tombstones| tombstones.skip_forward(key, self.at))
            .max_by(|left, right| self.comparator.compare(left, right))
            .cloned()
    }

    /// As [`TombstoneAggregator::skip_forward`], backward: everything of the source from the
    /// answer, inclusive, up to `key` is hidden.
    pub fn skip_backward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.tombstone_lists_over(source)
            .filter_map(|tombstones| tombstones.skip_backward(key, self.at))
            .min_by(|left, right| self.comparator.compare(left, right))
            .cloned()
    }

    /// The range tombstones of sources newer than `source`, if one of them covers the last key.
    fn tombstone_lists_over(&self, source: usize) -> impl Iterator<Item = &RangeTombstones> {
        let is_covered = self.cover.is_some() && self.cover_source < source;
        self.tombstone_lists
            .iter()
            .take_while(move |(newer, _)| is_covered && *newer < source)
            .map(|(_, tombstones)| &**tombstones)
    }

    fn is_inside(&self, key: &[u8]) -> bool {
        let compare = |bound: &Bytes| self.comparator.compare(key, bound);
        self.upper
            .as_ref()
            .is_none_or(|upper| compare(upper).is_lt())
            && self
                .lower
                .as_ref()
                .is_none_or(|lower| compare(lower).is_ge())
    }

    /// Narrows everything down to the stretch around `key` that no tombstone's bounds part.
    fn look(&mut self, key: &[u8]) {
        let (mut lower, mut upper): (Option<&Bytes>, Option<&Bytes>) = (None, None);
        self.cover = None;
        for (source, tombstones) in &self.tombstone_lists {
            let span = tombstones.span(key, self.at);
            if let Some(own) = span.lower {
                let is_narrower = |lower: &Bytes| self.comparator.compare(own, lower).is_gt();
                if lower.is_none_or(is_narrower) {
                    lower = Some(own);
                }
            }
            if let Some(own) = span.upper {
                let is_narrower = |upper: &Bytes| self.comparator.compare(own, upper).is_lt();
                if upper.is_none_or(is_narrower) {
                    upper = Some(own);
                }
            }
            if self.cover.is_none() && span.cover.is_some() {
                self.cover_source = *source;
            }
            self.cover = self.cover.max(span.cover);
        }
        (self.lower, self.upper) = (lower.cloned(), upper.cloned());
        self.is_known = true;
    }
}
