//! What the range deletes of one memtable hide, kept up with as they come.
//!
//! A memtable that is written to may get a range delete between any two reads, and building a
//! To make [`RangeTombstones`] costs as much as there are deletes in them. So there are several,
//! each of deletes that came one after the other, the older ones larger: what came since the last
//! read makes a new one, and takes in those before it that are less than twice its size. Then each
//! is at least twice as large as the next, which bounds their number by the logarithm of that of
//! the deletes; and a delete that is worked in anew lands in a part at least half as large again as
//! its last one, which bounds how often that happens to it. Built by one read, found by all that
//! follow.

use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};

use crate::base::types::comparator::Comparator;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::range_tombstones::RangeTombstones;
use crate::store::mem::range_deletes::RangeDeletes;

/// The range tombstones of one memtable as far as they were known when last asked for. Any thread
/// may ask; none waits.
#[derive(Debug, Default)]
pub struct MemtableTombstones(ArcSwapOption<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The newest of the deletes that are in.
    newest: SeqNo,
    count: usize,
    /// Oldest first.
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    count: usize,
    tombstones: Arc<RangeTombstones>,
}

impl MemtableTombstones {
    /// The newest of `deletes` that is visible at `at` and covers `key`.
    pub fn newest_cover(
        &self,
        comparator: &Comparator,
        deletes: &RangeDeletes,
        key: &[u8],
        at: SeqNo,
    ) -> Option<SeqNo> {
        let known = self.known(comparator, deletes, at);
        // Newer parts have larger numbers throughout.
        let mut newest_first = known.as_ref()?.parts.iter().rev();
        newest_first.find_map(|part| part.tombstones.newest_cover(key, at))
    }

    /// The range tombstones of `deletes`, complete for a reader at `at`.
    pub fn all(
        &self,
        comparator: &Comparator,
        deletes: &RangeDeletes,
        at: SeqNo,
    ) -> Vec<Arc<RangeTombstones>> {
        let known = self.known(comparator, deletes, at);
        let parts = known.iter().flat_map(|known| &known.parts);
        parts.map(|part| Arc::clone(&part.tombstones)).collect()
    }

    fn known(
        &self,
        comparator: &Comparator,
        deletes: &RangeDeletes,
        at: SeqNo,
    ) -> Guard<Option<Arc<Known>>> {
        let known = self.0.load();
        // They come in the order of their numbers, so what is missing is too new for who asks.
        let is_enough = |known: &Known| known.count >= deletes.len() || known.newest >= at;
        if known.as_deref().is_some_and(is_enough) {
            return known;
        }
        let next = Arc::new(Known::next(comparator, deletes, known.as_deref()));
        // Of two threads that add at once, the one that knows more is kept.
        self.0.rcu(|now| match now {
            Some(now) if now.count >= next.count => Some(Arc::clone(now)),
            _ => Some(Arc::clone(&next)),
        });
        self.0.load()
    }
}

impl Known {
    /// With all of `deletes`, of which those in `last` are a beginning.
    fn next(comparator: &Comparator, deletes: &RangeDeletes, last: Option<&Known>) -> Known {
        let mut parts = last.map_or_else(Vec::new, |last| last.parts.clone());
        let mut from = last.map_or(0, |last| last.count);
        // Those that come meanwhile are for the next who asks.
        let count = deletes.len();
        while let Some(part) = parts.pop_if(|part| part.count < 2 * (count - from)) {
            from -= part.count;
        }
        let fresh = || deletes.since(from).take(count - from);
        parts.push(Part {
            count: count - from,
            tombstones: Arc::new(RangeTombstones::new(comparator, fresh())),
        });
        Known {
            newest: fresh().last().map_or(SeqNo::ZERO, |delete| delete.seqno),
            count,
            parts,
        }
    }
}

#[cfg(test)]
mod tests;
