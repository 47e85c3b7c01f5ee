//! The order of choices: which compaction of a keyspace is to be next.

use crate::flow::compact::leveled::CompactionPicker;
use crate::flow::compact::plan::Plan;
use crate::flow::compact::values::ValueLimits;

/// What decides beside the tree itself.
pub struct Occasion {
    /// How much of the value log may be dead.
    pub limits: ValueLimits,
    /// Whether nobody writes, and the limits of a database at rest hold.
    pub is_settling: bool,
    /// Whether level 0 is in the way of readers, or may hide more than is allowed.
    pub is_l0_unwanted: bool,
    /// Whether there is time to compress files anew.
    pub may_recompress: bool,
    /// Whether much is being written.
    pub is_loaded: bool,
}

impl CompactionPicker<'_> {
    /// What the tree's shape asks for, if any step is worth taking.
    pub fn pick(&self) -> Option<Plan> {
        self.pick_expired()
            .or_else(|| self.pick_by_size())
            .or_else(|| self.pick_deletes())
    }

    /// The next compaction of those that can wait, where the tree's shape asks for none
    /// ([`CompactionPicker::pick`]): what gives space back, then what makes reads quicker, and then
    /// what only compresses.
    pub fn pick_patient(&self, occasion: &Occasion) -> Option<Plan> {
        let pick_for_readers = || {
            let is_wanted = occasion.is_l0_unwanted;
            is_wanted.then(|| self.pick_for_readers())?
        };
        let pick_recompression = || {
            let may = occasion.may_recompress;
            may.then(|| self.pick_recompression(occasion.is_loaded))?
        };
        self.pick_hidden(&occasion.limits)
            .or_else(|| self.pick_passed(&occasion.limits, occasion.is_settling))
            .or_else(pick_for_readers)
            .or_else(pick_recompression)
    }

    /// Whether that would find more if less were being written.
    pub fn is_put_off(&self, occasion: &Occasion) -> bool {
        let is_asked = occasion.may_recompress && occasion.is_loaded;
        is_asked && self.pick_recompression(false).is_some()
    }
}
