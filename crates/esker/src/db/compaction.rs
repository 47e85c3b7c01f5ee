//! Which compaction comes next, for the background and for who asks for one.

use std::sync::Arc;

use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::range::KeyRange;
use crate::db::compaction_memory;
use crate::db::core::Core;
use crate::db::dead_space;
use crate::db::keyspace::KeyspaceParts;
use crate::db::looks::CompactionMoment;
use crate::db::occasion::{occasion, picker_of};
use crate::db::running_compaction::{Running, book};
use crate::db::space;
use crate::db::work::WorkState;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::Plan;
use crate::flow::compact::recompression::Remainder;
use crate::flow::compact::values::ValueLimits;
use crate::flow::read::view::View;
use crate::flow::values::garbage::Holdings;

/// Picks the next compaction that is due, and books it. `None` when none is, or when every
/// thread has one already.
pub fn begin(core: &Arc<Core>) -> Option<Running> {
    // Asked before the books are taken: they are never held over I/O.
    let room_bytes = space::room_for_compaction(core);
    let mut state = core.work.state();
    if !may_begin(core, &state) {
        return None;
    }
    let free_threads = core
        .env
        .pool
        .thread_count()
        .saturating_sub(state.compaction_count);
    if free_threads == 0 {
        return None;
    }
    if state.compaction_count > 0 && !compaction_memory::is_there(core, &state) {
        return None;
    }
    let limits = dead_space::limits(core, &state);
    look_again(core, &mut state, limits);
    let fits = |plan: &Plan| plan.space_needed_bytes() <= room_bytes;
    // What the shape of any tree calls for comes before what can wait in another.
    let mut shapely = Vec::new();
    for tree in by_need(core, &mut state) {
        let plan = tree.picker(core, &state).pick();
        match plan {
            None => shapely.push(tree),
            Some(plan) if fits(&plan) => {
                return Some(tree.book(core, &mut state, plan, free_threads));
            }
            Some(_) => {}
        }
    }
    for tree in shapely {
        let picker = tree.picker(core, &state);
        let occasion = occasion(&picker, &tree.parts, &state, limits, free_threads);
        match picker.pick_patient(&occasion) {
            // Whether files are compressed anew depends on more than is noted.
            None if picker.is_searchable_wanted => {
                if picker.is_put_off(&occasion) {
                    state.rest.put_off();
                }
            }
            None => state.looks.compaction.is_idle(tree.parts.id),
            Some(plan) if fits(&plan) => {
                return Some(tree.book(core, &mut state, plan, free_threads));
            }
            Some(_) => {}
        }
    }
    let is_automatic = |parts: &KeyspaceParts| parts.options().compaction.is_automatic;
    let (parts, view, plan) = pick_collection(core, &state, is_automatic)?;
    fits(&plan).then(|| book(core, &mut state, &parts, &view, plan, free_threads))
}

/// A keyspace as it is while a compaction is picked.
struct Tree {
    parts: Arc<KeyspaceParts>,
    options: Arc<KeyspaceOptions>,
    view: Arc<View>,
}

impl Tree {
    fn picker<'a>(&'a self, core: &Core, state: &'a WorkState) -> CompactionPicker<'a> {
        picker_of(core, &self.parts, &self.options, &self.view, state)
    }

    fn book(&self, core: &Arc<Core>, state: &mut WorkState, plan: Plan, threads: usize) -> Running {
        book(core, state, &self.parts, &self.view, plan, threads)
    }
}

// Where something may be due by now that was not when all were looked at, all are again.
fn look_again(core: &Core, state: &mut WorkState, limits: ValueLimits) {
    let now = CompactionMoment {
        unix_s: core.env.clock.unix_millis() / 1000,
        snapshots: core.snapshots.seqnos(),
        limits,
        is_settling: state.rest.is_settling(),
        is_closing: state.rest.is_closing(),
    };
    let looks = &mut state.looks;
    let before = looks.moment.as_ref();
    if before.is_none_or(|before| now.may_free(before)) {
        looks.compaction.note_all();
    }
    looks.moment = Some(now);
}

/// The keyspaces to be looked at that are compacted by themselves, those first whose shape calls
/// for it most: where all are behind, none waits until everything is done in those before it.
fn by_need(core: &Core, state: &mut WorkState) -> Vec<Tree> {
    let mut looks = state.looks.compaction.list(&core.keyspaces);
    looks.retain(|parts| {
        let is_automatic = parts.options().compaction.is_automatic;
        if !is_automatic {
            // Until its settings are changed.
            state.looks.compaction.is_idle(parts.id);
        }
        is_automatic
    });
    let state = &*state;
    let trees = looks.into_iter().map(|parts| Tree {
        options: Arc::clone(&parts.options()),
        view: parts.current.view(),
        parts,
    });
    let mut ranked: Vec<_> = trees
        .map(|tree| (tree.picker(core, state).need(), tree))
        .collect();
    // Stable, so the same run of a simulation is the same.
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    ranked.into_iter().map(|(_, tree)| tree).collect()
}

/// Whether compactions may begin by themselves. Not, among others, where the database was only
/// opened for reading: its files are another's.
pub fn may_begin(core: &Core, state: &WorkState) -> bool {
    core.gate.check_upkeep().is_ok() && state.manual_count == 0 && !state.is_short_of_space
}

/// Picks and books the next rewrite that moves values of the keyspace out of mostly dead segments,
/// for who asked for a compaction and waits. Errors as [`begin_range`], without `Busy`.
pub fn begin_collection(core: &Arc<Core>, parts: &KeyspaceParts) -> Result<Option<Running>> {
    let room_bytes = space::room_for_compaction(core);
    let mut state = core.work.state();
    core.gate.check_upkeep()?;
    let is_asked = |other: &KeyspaceParts| other.id == parts.id;
    let Some((parts, view, plan)) = pick_collection(core, &state, is_asked) else {
        return Ok(None);
    };
    if plan.space_needed_bytes() > room_bytes {
        return Err(no_room(&plan, room_bytes));
    }
    let threads = core.env.pool.thread_count();
    let running = book(core, &mut state, &parts, &view, plan, threads);
    Ok(Some(running))
}

/// The next rewrite that moves values out of mostly dead segments, in one of the keyspaces that
/// may take part.
fn pick_collection(
    core: &Core,
    state: &WorkState,
    may_take_part: impl Fn(&KeyspaceParts) -> bool,
) -> Option<(Arc<KeyspaceParts>, Arc<View>, Plan)> {
    let settled = core.values.settled();
    if settled.is_empty() {
        return None;
    }
    let limits = dead_space::limits(core, state);
    let holdings = Holdings {
        settled: &settled,
        live: &core.history.peek().live_values(),
        stuck: &state.stuck_values,
        segment_bytes: core.values.segment_bytes(),
        spare_bytes: limits.spare_bytes,
        max_space_amp: limits.max_space_amp,
    };
    let victims = Arc::new(holdings.victims());
    if victims.is_empty() {
        return None;
    }
    let mut all = core.keyspaces.all().into_iter();
    all.find_map(|parts| {
        let view = parts.current.view();
        let options = parts.options();
        let picker = picker_of(core, &parts, &options, &view, state);
        let plan = picker.pick_collection(&victims);
        let plan = plan.filter(|_| may_take_part(&parts))?;
        Some((parts, view, plan))
    })
}

/// Picks and books the merge of everything in `range`. `Busy` when a running compaction must
/// end first; `OutOfSpace` when writes are refused for that and the merge might not fit; `None`
/// when there is nothing to do.
pub fn begin_range(
    core: &Arc<Core>,
    parts: &Arc<KeyspaceParts>,
    range: &KeyRange,
) -> Result<Option<Running>> {
    begin_within(core, parts, range, |picker| picker.pick_range(range))
}

/// Picks and books what comes next of such a merge, where it goes by the piece. As [`begin_range`].
pub fn begin_rest(
    core: &Arc<Core>,
    parts: &Arc<KeyspaceParts>,
    remainder: &Remainder,
) -> Result<Option<Running>> {
    begin_within(core, parts, &remainder.range, |picker| {
        picker.pick_rest(remainder)
    })
}

fn begin_within(
    core: &Arc<Core>,
    parts: &Arc<KeyspaceParts>,
    range: &KeyRange,
    pick: impl FnOnce(&CompactionPicker<'_>) -> Option<Plan>,
) -> Result<Option<Running>> {
    let room_bytes = match core.gate.full() {
        Some(_) => space::room_for_compaction(core),
        // It may need less than its plan says, and nothing breaks if it needs more.
        None => u64::MAX,
    };
    let mut state = core.work.state();
    // Looked at under the lock: `close` waits for what is on the books when the gate shuts.
    core.gate.check_upkeep()?;
    let view = parts.current.view();
    let options = parts.options();
    let picker = picker_of(core, parts, &options, &view, &state);
    match pick(&picker) {
        Some(plan) if plan.space_needed_bytes() > room_bytes => Err(no_room(&plan, room_bytes)),
        Some(plan) => {
            let threads = core.env.pool.thread_count();
            Ok(Some(book(core, &mut state, parts, &view, plan, threads)))
        }
        None => match picker.busy_files(range) {
            numbers if numbers.is_empty() && !picker.is_claimed_within(range) => Ok(None),
            numbers if state.is_at_rest() => Err(state.left_out.refusal(&parts.name, &numbers)),
            _ => Err(Error::new(
                ErrorKind::Busy,
                "a running compaction reads files of the range",
            )),
        },
    }
}

fn no_room(plan: &Plan, room_bytes: u64) -> Error {
    let needed_bytes = plan.space_needed_bytes();
    let message = format!(
        "the merge may write {needed_bytes} bytes, and {room_bytes} can be written without \
         touching what is kept for flushes (setting disk.free_min); make space on the disk, or \
         compact a smaller range of keys, which may need less"
    );
    Error::new(ErrorKind::OutOfSpace, message)
}

#[cfg(test)]
mod tests;
