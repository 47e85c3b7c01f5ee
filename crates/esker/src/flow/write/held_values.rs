//! Large values of a batch that is being written.

use crate::flow::values::value_log::Pending;
use crate::flow::write::gate::Gate;

/// Values of a batch on its way. Unless memtables took them over, the room that they have in memory
/// is given back when this is dropped, however the write ended, and who waits for it is woken.
pub struct HeldValues<'a> {
    /// Where they are.
    pub pending: Option<Pending>,
    /// Whether they have room that is to be given back.
    pub has_room: bool,
    /// Where those wait who want it.
    pub gate: &'a Gate,
}

impl Drop for HeldValues<'_> {
    fn drop(&mut self) {
        // Given back before anybody is woken to look for it.
        if self.pending.take().is_some() && self.has_room {
            self.gate.changed.raise();
        }
    }
}
