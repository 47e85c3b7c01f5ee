//! A keyspace as those see it who pick compactions.

use crate::base::options::keyspace::KeyspaceOptions;
use crate::db::core::Core;
use crate::db::dead_space;
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_time::files_unix_ms;
use crate::db::work::WorkState;
use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::picker::Occasion;
use crate::flow::compact::values::ValueLimits;
use crate::flow::read::view::View;

/// A keyspace as the pickers of compactions see it.
pub fn picker_of<'a>(
    core: &Core,
    parts: &KeyspaceParts,
    options: &'a KeyspaceOptions,
    view: &'a View,
    state: &'a WorkState,
) -> CompactionPicker<'a> {
    let visible = core.committer.visible();
    let snapshots = core.snapshots.seqnos();
    CompactionPicker {
        keyspace: parts.id,
        levels: &view.parts().levels,
        comparator: &options.comparator,
        options: &options.compaction,
        busy: &state.busy,
        claims: &state.claims,
        oldest_snapshot: snapshots.first().copied().unwrap_or(visible),
        snapshots,
        now_unix_s: files_unix_ms(core, parts) / 1000,
        is_searchable_wanted: parts.compression_dictionary().is_some(),
        file_size_bytes: options.sst.file_size_bytes,
        is_joining_useful: parts.dictionary_policy.is_joining_useful(),
        is_retaining: parts.retain_rule().is_some(),
    }
}

/// What decides on the next compaction of a keyspace beside its tree, while so many threads are
/// free.
pub fn occasion(
    picker: &CompactionPicker<'_>,
    parts: &KeyspaceParts,
    state: &WorkState,
    limits: ValueLimits,
    free_threads: usize,
) -> Occasion {
    let is_hiding = state.rest.is_settling() && dead_space::may_hide(picker.levels, &limits);
    Occasion {
        limits,
        is_settling: state.rest.is_settling(),
        is_l0_unwanted: is_hiding || parts.read_cost.is_due(picker.levels),
        may_recompress: may_recompress(picker, parts, state, free_threads),
        is_loaded: state.rest.is_loaded(),
    }
}

// Whether files may be compressed anew: with a thread to spare, since they take long, and nobody
// waits for them.
fn may_recompress(
    picker: &CompactionPicker<'_>,
    parts: &KeyspaceParts,
    state: &WorkState,
    free_threads: usize,
) -> bool {
    if state.rest.is_closing() {
        return false;
    }
    let has_thread = free_threads > 1 || state.compaction_count == 0;
    let is_wanted = has_thread && picker.is_searchable_wanted && !is_pressed(parts);
    is_wanted && !parts.dictionary_policy.is_training()
}

/// Whether level 0 calls for a merge, which may need files that are being compressed anew.
pub fn is_pressed(parts: &KeyspaceParts) -> bool {
    let runs = parts.current.view().parts().levels.l0().len();
    runs >= parts.options().compaction.l0_trigger
}
