//! What the rest of the database is to do because of a write.

/// One thing to do because of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FollowUp {
    /// A memtable was sealed: flush it.
    Flush,
    /// A new segment of the log was begun: prepare the next one.
    PrepareSegment,
    /// Live memtables or waiting values took notably more memory: the others make room.
    ShareMemory,
    /// A new segment of the value log was begun: look at the space.
    LookAtSpace,
    /// Much of the value log is unsynced: sync it.
    FlushValues,
    /// Large values wait to be written or synced, and nobody looks after them later: watch them.
    WatchValues,
}

/// A set of [`FollowUp`]s: one byte, because every write looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowUps(u8);

impl FollowUps {
    /// Adds one where `is_due`.
    #[inline]
    pub fn add_if(&mut self, is_due: bool, one: FollowUp) {
        self.0 |= u8::from(is_due) << one as u8;
    }

    /// Whether that is to be done.
    #[inline]
    pub fn has(self, one: FollowUp) -> bool {
        self.0 & (1 << one as u8) != 0
    }

    /// Whether nothing is to be done, as after most writes.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All but that one.
    pub fn without(self, one: FollowUp) -> FollowUps {
        FollowUps(self.0 & !(1 << one as u8))
    }
}

#[cfg(test)]
mod tests;
