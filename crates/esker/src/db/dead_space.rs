//! How much may be dead: under load, and in a database at rest.

use crate::base::types::ids::Level;
use crate::db::core::Core;
use crate::db::space;
use crate::db::work::WorkState;
use crate::flow::compact::values::ValueLimits;
use crate::store::version::levels::Levels;

/// Dead bytes of values that are allowed beside any number of live ones, in a database at rest:
/// less would have small databases moved about for next to nothing.
pub const SETTLED_DEAD_BYTES: u64 = 1 << 20;

/// The limits that hold now. Under load a segment's worth may be dead whatever lives, since in a
/// small database less could only be had by moving everything all the time.
pub fn limits(core: &Core, state: &WorkState) -> ValueLimits {
    let segment_bytes = core.values.segment_bytes();
    ValueLimits {
        max_space_amp: space::max_space_amp(core),
        spare_bytes: match state.rest.is_settling() {
            true => segment_bytes.min(SETTLED_DEAD_BYTES),
            false => segment_bytes,
        },
    }
}

/// Whether level 0 may hide more of what lies below, and its runs of each other, than the limit
/// allows.
pub fn may_hide(levels: &Levels, limits: &ValueLimits) -> bool {
    let l0_bytes = levels.size_bytes(Level::ZERO);
    let below: u64 = Level::all()
        .skip(1)
        .map(|level| levels.size_bytes(level))
        .sum();
    let allowed = (below as f64 * (limits.max_space_amp - 1.0)) as u64;
    let is_over_others = levels.l0().len() > 1 || below > 0;
    is_over_others && l0_bytes > allowed.max(limits.spare_bytes)
}
