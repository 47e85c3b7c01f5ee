//! Runs of level 0 merged with one another beside compactions, on an urgent thread of its own.

use std::sync::Arc;

use crate::db::compaction::may_begin;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::db::occasion::picker_of;
use crate::db::running_compaction::{Running, book};
use crate::db::space;
use crate::flow::compact::intra_l0::is_intra_l0_due;

/// Picks what is to be merged within level 0, once no compaction can begin, and books it.
/// `None` when nothing is, or while somewhere such a merge runs.
pub fn begin(core: &Arc<Core>) -> Option<Running> {
    // Looked at first: every flush asks, and the disk need not be asked in vain.
    let is_due = |parts: &KeyspaceParts| {
        let view = parts.current.view();
        is_intra_l0_due(view.parts().levels.l0(), &parts.options().compaction)
    };
    let mut due = core.work.state().looks.intra_l0.take(&core.keyspaces);
    due.retain(|parts| is_due(parts));
    if due.is_empty() {
        return None;
    }
    {
        let mut state = core.work.state();
        due.iter()
            .for_each(|parts| state.looks.intra_l0.note(parts.id));
    }
    let room_bytes = space::room_for_compaction(core);
    let mut state = core.work.state();
    if !may_begin(core, &state) || state.is_intra_l0_running {
        return None;
    }
    let version = core.history.current();
    for parts in due {
        let options = parts.options();
        let Some(known) = version.keyspace(parts.id) else {
            continue;
        };
        if !options.compaction.is_automatic {
            continue;
        }
        let view = parts.current.view();
        let picker = picker_of(core, &parts, &options, &view, &state);
        let plan = picker.pick_intra_l0(known.flushed);
        if let Some(plan) = plan.filter(|plan| plan.space_needed_bytes() <= room_bytes) {
            return Some(book(core, &mut state, &parts, &view, plan, 1));
        }
    }
    None
}
