//! Memory for compactions: whether there is some for one more, and how much each part gets.

use crate::base::stats::memory_budget::{MemoryOwner, Reservation};
use crate::db::core::Core;
use crate::db::work::WorkState;
use crate::flow::compact::buffers::Buffers;
use crate::flow::compact::plan::Plan;
use crate::flow::output::OutputSettings;

/// Whether there is memory for one more. The first one need not ask: something has to be done.
pub fn is_there(core: &Core, state: &WorkState) -> bool {
    let left = core.memory_budget.left_for_compactions(state.is_training);
    !state.is_training_awaited && left >= core.memory_budget.compaction_part_min()
}

/// How many parts there is memory for, at least one.
pub fn parts_max(core: &Core, state: &WorkState) -> usize {
    let left = core.memory_budget.left_for_compactions(state.is_training);
    let parts = left / core.memory_budget.compaction_part_min().max(1);
    usize::try_from(parts).unwrap_or(usize::MAX).max(1)
}

/// Who shares what is left for compactions.
#[derive(Clone, Copy, Debug)]
pub struct Sharers {
    /// Parts of the compaction.
    pub part_count: usize,
    /// Threads that it, and others beside it, may run on.
    pub thread_count: usize,
}

impl Sharers {
    /// So many parts, on so many threads.
    pub fn new(part_count: usize, thread_count: usize) -> Sharers {
        Sharers {
            part_count,
            thread_count,
        }
    }
}

/// Takes the memory for a compaction; makes its files smaller and its threads fewer where there is
/// little. Asked under the lock of the books, so that two do not take the same.
pub fn take(
    core: &Core,
    state: &WorkState,
    sharers: Sharers,
    plan: &Plan,
    settings: &mut OutputSettings,
) -> (Buffers, Reservation) {
    let left = core.memory_budget.left_for_compactions(state.is_training);
    // A part that runs alone leaves as much for one beside it.
    let sharer_count = sharers.part_count.max(sharers.thread_count.min(2)) as u64;
    let part_max = (left / sharer_count).max(core.memory_budget.compaction_part_min());
    let buffers = Buffers::within(part_max, plan, settings);
    let bytes = buffers.part_bytes * sharers.part_count as u64;
    (
        buffers,
        core.memory_budget.hold(MemoryOwner::Compaction, bytes),
    )
}
