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
///
/// Nothing but a place for it where there are no range tombstones: nearly all cursors have none,
/// and each would make it, move it about and drop it for nothing.
#[derive(Debug)]
pub struct TombstoneAggregator(Option<Box<Aggregated>>);

#[derive(Debug)]
struct Aggregated {
    comparator: Comparator,
    /// Newest source first.
    tombstone_lists: Vec<SourceTombstones>,
    /// Whether the four fields below hold an answer.
    is_known: bool,
    lower: Option<Bytes>,
    upper: Option<Bytes>,
    cover: Option<SeqNo>,
    /// The newest source of those whose deletions cover the stretch.
    cover_source: usize,
}

/// Range tombstones of one source, as one reader meets them.
#[derive(Clone, Debug)]
pub struct SourceTombstones {
    /// The source's place among all sources of the read.
    pub source: usize,
    /// What its deletions hide.
    pub tombstones: Arc<RangeTombstones>,
    /// The newest of the source's numbers that the reader sees.
    pub at: SeqNo,
}

impl TombstoneAggregator {
    /// The aggregator for one reader. `tombstone_lists` come newest source first; a source may have
    /// several.
    #[inline]
    pub fn new(
        comparator: &Comparator,
        tombstone_lists: Vec<SourceTombstones>,
    ) -> TombstoneAggregator {
        TombstoneAggregator(match tombstone_lists.is_empty() {
            true => None,
            false => Aggregated::new(comparator.clone(), tombstone_lists).map(Box::new),
        })
    }

    /// Whether nothing is hidden.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether an entry of `key` with that number is hidden.
    #[inline]
    pub fn hides(&mut self, key: &[u8], seqno: SeqNo) -> bool {
        let aggregated = self.0.as_mut();
        aggregated.is_some_and(|aggregated| aggregated.hides(key, seqno))
    }

    /// Where source `source` may be sent when `key` is hidden in it: everything of that source
    /// from `key` up to the answer, exclusive, is hidden. `None` when the deletions lie in no
    /// newer source, for then some entries of the source may be newer than they.
    pub fn skip_forward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.0.as_ref()?.skip_forward(key, source)
    }

    /// As [`TombstoneAggregator::skip_forward`], backward: everything of the source from the
    /// answer, inclusive, up to `key` is hidden.
    pub fn skip_backward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.0.as_ref()?.skip_backward(key, source)
    }
}

impl Aggregated {
    /// `None` where nothing is hidden.
    fn new(
        comparator: Comparator,
        mut tombstone_lists: Vec<SourceTombstones>,
    ) -> Option<Aggregated> {
        assert!(tombstone_lists.is_sorted_by_key(|list| list.source));
        tombstone_lists.retain(|list| !list.tombstones.is_empty());
        (!tombstone_lists.is_empty()).then_some(Aggregated {
            comparator,
            tombstone_lists,
            is_known: false,
            lower: None,
            upper: None,
            cover: None,
            cover_source: 0,
        })
    }

    fn hides(&mut self, key: &[u8], seqno: SeqNo) -> bool {
        if !self.is_known || !self.is_inside(key) {
            self.look(key);
        }
        self.cover > Some(seqno)
    }

    fn skip_forward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.tombstone_lists_over(source)
            .filter_map(|list| list.tombstones.skip_forward(key, list.at))
            .max_by(|left, right| self.comparator.compare(left, right))
            .cloned()
    }

    fn skip_backward(&self, key: &[u8], source: usize) -> Option<Bytes> {
        self.tombstone_lists_over(source)
            .filter_map(|list| list.tombstones.skip_backward(key, list.at))
            .min_by(|left, right| self.comparator.compare(left, right))
            .cloned()
    }

    /// The range tombstones of sources newer than `source`, if one of them covers the last key.
    fn tombstone_lists_over(&self, source: usize) -> impl Iterator<Item = &SourceTombstones> {
        let is_covered = self.cover.is_some() && self.cover_source < source;
        self.tombstone_lists
            .iter()
            .take_while(move |list| is_covered && list.source < source)
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
        for list in &self.tombstone_lists {
            let span = list.tombstones.span(key, list.at);
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
                self.cover_source = list.source;
            }
            self.cover = self.cover.max(span.cover);
        }
        (self.lower, self.upper) = (lower.cloned(), upper.cloned());
        self.is_known = true;
    }
}
