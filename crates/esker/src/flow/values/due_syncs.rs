//! Which segments are to be synced, and which of them at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::env::fs::LogSync;
use crate::flow::values::segments::{Segment, Segments};

/// Own segments that one sync makes durable: writers whose records wait for the next one wait for
/// no more than these.
pub(in crate::flow) const OWN_SYNCED_MAX: usize = 4;

/// From so many own segments on that have ended and are open until they are synced, they are: a
/// part of the files that the process keeps for what is written to.
const ENDED_OWN_MAX: usize = 64;

/// The same where few files may be open at all.
const ENDED_OWN_MIN: usize = 4;

/// Segments that are to be synced: what syncs each, and whether its directory entry is durable.
pub(in crate::flow) type Dirty = Vec<(FileNumber, Arc<dyn LogSync>, bool)>;

impl Segments {
    /// The own segments of `owners` that are to be synced before files point to what was written to
    /// them so far.
    pub(in crate::flow) fn due_own(&self, owners: &BTreeSet<KeyspaceId>) -> Vec<FileNumber> {
        let is_theirs = |segment: &Segment| segment.owner.is_some_and(|it| owners.contains(&it));
        self.dirty(is_theirs)
    }

    /// The own segments that nothing more is written to and that are to be synced.
    pub(in crate::flow) fn due_ended(&mut self) -> Vec<FileNumber> {
        self.ended_own_count = 0;
        self.dirty(Segment::is_ended_own)
    }

    fn dirty(&self, is_meant: impl Fn(&Segment) -> bool) -> Vec<FileNumber> {
        let segments = self.segments.iter();
        let dirty = segments.filter(|(_, segment)| segment.is_dirty && is_meant(segment));
        dirty.map(|(number, _)| *number).collect()
    }

    /// Bytes of a segment that were written since it was synced last.
    pub(in crate::flow) fn dirty_bytes(&self, number: FileNumber) -> u64 {
        let segment = self.segments.get(&number);
        segment.map_or(0, |segment| segment.dirty_bytes)
    }

    /// What is to be synced next: segments that keyspaces share, these own ones, and where they are
    /// few, and less than `bytes_max`, some that nobody writes to any more, once, so that their
    /// files need not stay open.
    pub(in crate::flow) fn take_dirty(&mut self, own: &[FileNumber], bytes_max: u64) -> Dirty {
        self.unsynced_bytes = 0;
        let own_bytes: u64 = own.iter().map(|number| self.dirty_bytes(*number)).sum();
        let mut room_bytes = bytes_max.saturating_sub(own_bytes);
        let mut room = OWN_SYNCED_MAX.saturating_sub(own.len());
        let mut dirty = Vec::new();
        for (number, segment) in &mut self.segments {
            let is_listed = segment.owner.is_none() || own.contains(number);
            let has_room = room > 0 && segment.dirty_bytes <= room_bytes;
            let is_due = is_listed || (segment.is_finished() && has_room);
            match &segment.syncer {
                Some(syncer) if segment.is_dirty && is_due => {
                    segment.is_dirty = false;
                    let bytes = std::mem::take(&mut segment.dirty_bytes);
                    if !is_listed {
                        room -= 1;
                        room_bytes -= bytes;
                    }
                    dirty.push((*number, Arc::clone(syncer), segment.is_named));
                }
                _ => segment.close_finished(),
            }
        }
        dirty
    }

    pub(in crate::flow) fn synced(&mut self, number: FileNumber) {
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.is_named = true;
            segment.close_finished();
        }
    }

    /// Whether so many own segments have ended since [`Segments::due_ended`] that they are due, if
    /// `own_max` may be live.
    pub(in crate::flow) fn has_many_ended(&self, own_max: usize) -> bool {
        self.ended_own_count >= own_max.clamp(ENDED_OWN_MIN, ENDED_OWN_MAX)
    }

    /// Whether own segments have ended that are open still. The count above knows nothing of those
    /// that a sync of the log has closed.
    pub(in crate::flow) fn has_open_ended(&self) -> bool {
        let mut segments = self.segments.values();
        segments.any(|segment| segment.is_ended_own() && segment.syncer.is_some())
    }
}
