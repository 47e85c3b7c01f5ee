//! Which segments of the value log to empty, and which files to rewrite for it: a decision as data.
//!
//! What of a segment is live is known exactly: each sorted file says how many bytes of which
//! segments its entries point to, and a version is the sum of its files. What is not known is how
//! many of these pointers are themselves overwritten further up in the tree. So first the tree is
//! compacted as far as its upper levels may hide more than the limit allows, which is cheap where
//! values are large and the tree is small (`compact/leveled`); then the segments that bring the
//! most for the fewest bytes moved are emptied.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::types::ids::FileNumber;
use crate::flow::values::segments::SegmentSize;
use crate::store::vlog::live_bytes::ValueLiveBytes;

/// Live bytes that one step moves at most, in segments: a step is installed as a whole, so this
/// bounds what a crash throws away and how much space a step takes before it gives any back.
const MOVED_SEGMENTS_MAX: u64 = 4;

/// What is known of the value log at one moment.
#[derive(Clone, Debug)]
pub struct Holdings<'a> {
    /// Segments that nobody writes to and that no memtable names.
    pub settled: &'a [SegmentSize],
    /// Bytes that files of the current version point to.
    pub live: &'a ValueLiveBytes,
    /// Segments with values that cannot be read: they stay.
    pub stuck: &'a BTreeSet<FileNumber>,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// So many bytes may be dead whatever lives.
    pub spare_bytes: u64,
    /// How many times the live bytes all segments may have.
    pub max_space_amp: f64,
}

impl Holdings<'_> {
    /// The segments to empty next, if the dead ones among the bytes are beyond the limit.
    ///
    /// Segments without any live bytes are not among them: they are removed without being read,
    /// as soon as no reader holds them.
    pub fn victims(&self) -> BTreeSet<FileNumber> {
        let movable: Vec<(u64, u64, FileNumber)> = self
            .settled
            .iter()
            .map(|segment| {
                let live_bytes = self.live.of(segment.number).min(segment.size_bytes);
                (live_bytes, segment.size_bytes, segment.number)
            })
            .filter(|(live_bytes, _, number)| *live_bytes > 0 && !self.stuck.contains(number))
            .collect();
        let live_bytes: u64 = movable.iter().map(|(live, ..)| live).sum();
        let size_bytes: u64 = movable.iter().map(|(_, size, _)| size).sum();
        let mut excess = self.excess(live_bytes, size_bytes - live_bytes);
        let mut by_share: BTreeMap<(u64, FileNumber), (u64, u64)> = BTreeMap::new();
        for (live, size, number) in movable {
            // In thousandths: a total order, and no better known than that anyway.
            let share = live.saturating_mul(1_000) / size.max(1);
            by_share.insert((share, number), (live, size));
        }
        let mut victims = BTreeSet::new();
        let mut moved_bytes = 0;
        for ((_, number), (live, size)) in by_share {
            let is_dear = moved_bytes + live > self.segment_bytes * MOVED_SEGMENTS_MAX;
            if excess == 0 || (is_dear && !victims.is_empty()) || size == live {
                break;
            }
            victims.insert(number);
            moved_bytes += live;
            excess = excess.saturating_sub(size - live);
        }
        victims
    }

    /// Dead bytes beyond the limit.
    fn excess(&self, live_bytes: u64, dead_bytes: u64) -> u64 {
        let allowed = (live_bytes as f64 * (self.max_space_amp - 1.0)) as u64;
        dead_bytes.saturating_sub(allowed.max(self.spare_bytes))
    }
}

#[cfg(test)]
mod tests;
