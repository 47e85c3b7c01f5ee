//! What readers pay for level 0, and whether they have paid for its merge.
//!
//! Few runs of level 0 stay where they came, because each merge rewrites the level below. But every
//! seek looks into each of them, for as long as they stay, and nobody comes to merge them while
//! nothing is written. So the cost of reads is counted: once what they spent on level 0 would have
//! merged it, it is merged. Together both cost at most twice what they would if the future were
//! known (the ski rental problem; LevelDB merges a file after so many seeks in vain).
//!
//! Point reads pay nothing: a filter keeps them from most runs, and a sum that all threads add to
//! would cost them more than the runs do. Decision record: docs/decisions/0010.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::types::ids::Level;
use crate::store::version::levels::Levels;

/// What is merged in the time that a seek spends in one more run, in bytes: a microsecond.
const SEEK_BYTES: u64 = 128;

/// What is merged in the time by which several sources make a step dearer, in bytes.
const STEP_BYTES: u64 = 16;

/// A merge that costs less is not worth its file operations either.
const PAID_BYTES_MIN: u64 = 4 << 20;

/// Readers ask whether they have paid enough whenever so many bytes more were paid.
const LOOK_BYTES: u64 = 1 << 20;

/// What the readers of one keyspace paid since its files changed last, in bytes merged in the same
/// time. Any thread may call anything.
#[derive(Debug, Default)]
pub struct ReadCost {
    // Relaxed throughout: a sum that orders nothing else.
    paid_bytes: AtomicU64,
}

/// One reader's way through the files of a keyspace that has some in level 0.
#[derive(Clone, Debug)]
pub struct CostMeter {
    read_cost: Arc<ReadCost>,
    run_count: u64,
}

impl ReadCost {
    /// Whether so much was paid that level 0 of `levels`, which are the keyspace's, had better be
    /// merged.
    pub fn is_due(&self, levels: &Levels) -> bool {
        let paid_bytes = self.paid_bytes.load(Ordering::Relaxed);
        let has_several = levels.all_runs().nth(1).is_some();
        if levels.l0().is_empty() || !has_several || paid_bytes < PAID_BYTES_MIN {
            return false;
        }
        let below = levels.all_runs().find(|(level, _)| *level != Level::ZERO);
        let below_bytes = below.map_or(0, |(_, run)| run.size_bytes());
        paid_bytes >= levels.size_bytes(Level::ZERO) + below_bytes
    }

    /// The files have changed: nothing was paid for these.
    pub fn reset(&self) {
        self.paid_bytes.store(0, Ordering::Relaxed);
    }
}

impl CostMeter {
    /// The way of one who reads `levels`; `None` where level 0 is empty.
    pub fn through(levels: &Levels, read_cost: &Arc<ReadCost>) -> Option<CostMeter> {
        let run_count = levels.l0().len() as u64;
        (run_count > 0).then(|| CostMeter {
            read_cost: Arc::clone(read_cost),
            run_count,
        })
    }

    /// Pays for seeks and steps; says whether it is time to look if that is enough.
    pub fn pay(&self, seeks: u64, steps: u64) -> bool {
        let bytes = seeks * self.run_count * SEEK_BYTES + steps * STEP_BYTES;
        let before = self
            .read_cost
            .paid_bytes
            .fetch_add(bytes, Ordering::Relaxed);
        (before + bytes) / LOOK_BYTES > before / LOOK_BYTES
    }
}

#[cfg(test)]
mod tests;
