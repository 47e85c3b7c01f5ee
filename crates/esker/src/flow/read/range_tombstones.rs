//! What range deletions hide.
//!
//! The deletions of one or more sources cut the key space at their starts and ends into
//! *fragments*, inside which every key is covered by the same deletions. The sequence numbers
//! that cover a fragment are not listed with it, because a thousand nested deletions would then
//! cost a million numbers: they hang in a segment tree over the fragments, where each deletion
//! lies on at most two nodes of each height, newest first. `n` deletions take `O(n log n)`
//! memory, and one question one binary search over the bounds and one walk to the root.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;

/// Fragments that one skip looks ahead over. A look costs about 30 ns and the seek that follows
/// about a microsecond, so that a scan over many adjacent small deletions seeks rarely, and a
/// short scan does not pay for fragments it will never reach.
const SKIP_FRAGMENTS_MAX: usize = 64;

/// The range deletions of one or more sources, ready to be asked.
///
/// Immutable; shared by reference between readers at any sequence number.
#[derive(Debug, Default)]
pub struct RangeTombstones {
    comparator: Comparator,
    /// Where fragments begin and end, ascending; fragment `i` lies between bounds `i` and `i + 1`.
    bounds: Vec<Bytes>,
    /// Where the numbers of each tree node begin in `seqnos`, and one more. Node 1 is the root,
    /// the parent of `n` is `n / 2`, fragment `i` is node `i + fragment_count`.
    node_starts: Vec<u32>,
    seqnos: Vec<SeqNo>,
}

/// A stretch of keys between two neighbouring bounds, covered by the same deletions.
///
/// `None` as `lower` or `upper` means that the stretch has no end on that side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// First key of the stretch.
    pub lower: Option<&'a Bytes>,
    /// First key behind it.
    pub upper: Option<&'a Bytes>,
    /// The newest deletion visible to the reader who asked that covers the stretch.
    pub cover: Option<SeqNo>,
}

/// A stretch of keys and the deletions that must be written out for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First key that is hidden.
    pub start: Bytes,
    /// First key behind the stretch that is not.
    pub end: Bytes,
    /// Numbers of the deletions, newest first; never empty.
    pub seqnos: Vec<SeqNo>,
}

impl RangeTombstones {
    /// The range tombstones of `deletes`, in any sequence and overlapping at will. Empty and
    /// inverted ranges hide nothing.
    pub fn new<'a>(
        comparator: &Comparator,
        deletes: impl IntoIterator<Item = &'a RangeDelete>,
    ) -> RangeTombstones {
        let mut deletes: Vec<&RangeDelete> = deletes
            .into_iter()
            .filter(|delete| comparator.compare(&delete.start, &delete.end) == Ordering::Less)
            .collect();
        if deletes.is_empty() {
            return RangeTombstones {
                comparator: comparator.clone(),
                ..RangeTombstones::default()
            };
        }
        deletes.sort_unstable_by_key(|delete| std::cmp::Reverse(delete.seqno));
        let mut bounds: Vec<Bytes> = deletes
            .iter()
            .flat_map(|delete| [delete.start.clone(), delete.end.clone()])
            .collect();
        bounds.sort_unstable_by(|left, right| comparator.compare(left, right));
        bounds.dedup();
        let mut tombstones = RangeTombstones {
            comparator: comparator.clone(),
            bounds,
            ..RangeTombstones::default()
        };
        tombstones.hang(&deletes);
        tombstones
    }

    /// Whether nothing is hidden from anyone. Ask first: it costs one comparison.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The newest deletion visible at `at` that covers `key`.
    pub fn newest_cover(&self, key: &[u8], at: SeqNo) -> Option<SeqNo> {
        self.cover_of(self.fragment_of(key)?, at)
    }

    /// Whether an entry of `key` with number `seqno` is hidden from a reader at `at`.
    pub fn hides(&self, key: &[u8], seqno: SeqNo, at: SeqNo) -> bool {
        self.newest_cover(key, at) > Some(seqno)
    }

    /// The stretch around `key` in which a reader at `at` gets the same answer everywhere.
    pub fn span(&self, key: &[u8], at: SeqNo) -> Span<'_> {
        let upper = self.bounds_not_after(key);
        Span {
            lower: upper
                .checked_sub(1)
                .and_then(|lower| self.bounds.get(lower)),
            upper: self.bounds.get(upper),
            cover: self
                .fragment_of(key)
                .and_then(|fragment| self.cover_of(fragment, at)),
        }
    }

    /// How far a scan at `at` may seek when everything from `key` on is covered: the first key
    /// behind the deleted stretch, or a key within it when the stretch is long; `None` when
    /// `key` is not covered.
    ///
    /// Hidden is only what is older than the deletions: seek sources older than all of them.
    pub fn skip_forward(&self, key: &[u8], at: SeqNo) -> Option<&Bytes> {
        let first = self.fragment_of(key)?;
        let covered = (first..self.fragment_count())
            .take(SKIP_FRAGMENTS_MAX)
            .take_while(|&fragment| self.cover_of(fragment, at).is_some());
        self.bounds.get(covered.last()? + 1)
    }

    /// As [`RangeTombstones::skip_forward`] for a scan that moves backward: the first deleted key
    /// of the stretch, or a key within it; the scan goes on before that key.
    pub fn skip_backward(&self, key: &[u8], at: SeqNo) -> Option<&Bytes> {
        let last = self.fragment_of(key)?;
        let covered = (0..=last)
            .rev()
            .take(SKIP_FRAGMENTS_MAX)
            .take_while(|&fragment| self.cover_of(fragment, at).is_some());
        self.bounds.get(covered.last()?)
    }

    /// Whether an entry of `key` with number `seqno` is hidden from everyone: from each of the
    /// `snapshots` (ascending) that see it, and from readers after the last of them.
    ///
    /// Every reader who sees an entry also sees a deletion that lies in the entry's own stripe,
    /// the numbers up to the next snapshot; so the entry can go if one such deletion is newer.
    pub fn is_hidden_in_stripe(&self, key: &[u8], seqno: SeqNo, snapshots: &[SeqNo]) -> bool {
        !self.is_empty() && self.hides(key, seqno, stripe_top(seqno, snapshots))
    }

    /// The deletions as they must be written out while `snapshots` (ascending) live: in the
    /// order of keys, without overlap, of each stripe only the newest.
    pub fn pieces(&self, snapshots: &[SeqNo]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (fragment, bounds) in self.bounds.windows(2).enumerate() {
            let seqnos = self.newest_of_each_stripe(fragment, snapshots);
            if seqnos.is_empty() {
                continue;
            }
            let [start, end] = bounds else {
                unreachable!("windows of two hold two bounds")
            };
            match pieces.last_mut() {
                Some(last) if last.end == *start && last.seqnos == seqnos => {
                    last.end = end.clone();
                }
                _ => pieces.push(Piece {
                    start: start.clone(),
                    end: end.clone(),
                    seqnos,
                }),
            }
        }
        pieces
    }

    /// Hangs each deletion, newest first, on the fewest nodes that span its fragments.
    fn hang(&mut self, deletes: &[&RangeDelete]) {
        let mut counts = vec![0_u32; 2 * self.fragment_count() + 1];
        for delete in deletes {
            self.for_each_node(delete, |node| counts[node] += 1);
        }
        let mut total = 0;
        for count in &mut counts {
            total += std::mem::replace(count, total);
        }
        self.seqnos = vec![SeqNo::ZERO; total as usize];
        let mut seqnos = std::mem::take(&mut self.seqnos);
        let mut ends = counts.clone();
        for delete in deletes {
            self.for_each_node(delete, |node| {
                seqnos[ends[node] as usize] = delete.seqno;
                ends[node] += 1;
            });
        }
        self.seqnos = seqnos;
        self.node_starts = counts;
    }

    fn for_each_node(&self, delete: &RangeDelete, mut visit: impl FnMut(usize)) {
        let bound = |key: &[u8]| self.bounds_not_after(key) - 1 + self.fragment_count();
        let (mut lower, mut upper) = (bound(&delete.start), bound(&delete.end));
        while lower < upper {
            if lower % 2 == 1 {
                visit(lower);
                lower += 1;
            }
            if upper % 2 == 1 {
                upper -= 1;
                visit(upper);
            }
            lower /= 2;
            upper /= 2;
        }
    }

    fn fragment_count(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    fn bounds_not_after(&self, key: &[u8]) -> usize {
        self.bounds
            .partition_point(|bound| self.comparator.compare(bound, key) != Ordering::Greater)
    }

    fn fragment_of(&self, key: &[u8]) -> Option<usize> {
        let fragment = self.bounds_not_after(key).checked_sub(1)?;
        (fragment < self.fragment_count()).then_some(fragment)
    }

    fn cover_of(&self, fragment: usize, at: SeqNo) -> Option<SeqNo> {
        self.numbers_over(fragment)
            .filter_map(|newest_first| {
                let visible = newest_first.partition_point(|&seqno| seqno > at);
                newest_first.get(visible).copied()
            })
            .max()
    }

    /// The lists of numbers on the way from a fragment to the root.
    fn numbers_over(&self, fragment: usize) -> impl Iterator<Item = &[SeqNo]> {
        let leaf = fragment + self.fragment_count();
        std::iter::successors(Some(leaf), |&node| (node > 1).then_some(node / 2)).map(|node| {
            &self.seqnos[self.node_starts[node] as usize..self.node_starts[node + 1] as usize]
        })
    }

    fn newest_of_each_stripe(&self, fragment: usize, snapshots: &[SeqNo]) -> Vec<SeqNo> {
        let mut seqnos = Vec::new();
        let mut top = Some(SeqNo::MAX);
        while let Some(newest) = top.and_then(|top| self.cover_of(fragment, top)) {
            seqnos.push(newest);
            // The stripe of `newest` begins behind the last snapshot before it.
            let older = snapshots.partition_point(|&snapshot| snapshot < newest);
            top = older
                .checked_sub(1)
                .and_then(|last| snapshots.get(last))
                .copied();
        }
        seqnos
    }
}

impl Piece {
    /// The part of the piece from `lower` up to `upper`, exclusive; `None` when nothing is left.
    /// A side without a bound stays as it is.
    pub fn clip(
        &self,
        comparator: &Comparator,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
    ) -> Option<Piece> {
        let start = match lower {
            Some(lower) if comparator.compare(lower, &self.start) == Ordering::Greater => {
                Bytes::copy_of(lower)
            }
            _ => self.start.clone(),
        };
        let end = match upper {
            Some(upper) if comparator.compare(upper, &self.end) == Ordering::Less => {
                Bytes::copy_of(upper)
            }
            _ => self.end.clone(),
        };
        let is_left = comparator.compare(&start, &end) == Ordering::Less;
        is_left.then(|| Piece {
            start,
            end,
            seqnos: self.seqnos.clone(),
        })
    }

    /// One record for each deletion of the piece, newest first.
    pub fn deletes(&self) -> impl Iterator<Item = RangeDelete> {
        self.seqnos.iter().map(|&seqno| RangeDelete {
            start: self.start.clone(),
            end: self.end.clone(),
            seqno,
        })
    }
}

/// The largest number that every reader who sees `seqno` sees too, `snapshots` ascending.
fn stripe_top(seqno: SeqNo, snapshots: &[SeqNo]) -> SeqNo {
    let older = snapshots.partition_point(|&snapshot| snapshot < seqno);
    snapshots.get(older).copied().unwrap_or(SeqNo::MAX)
}

#[cfg(test)]
mod tests;
