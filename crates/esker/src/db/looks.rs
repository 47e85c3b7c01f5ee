//! Which keyspaces the background has to look at: those that changed since nothing was found there.
//!
//! Whatever may make work in a keyspace notes it here: an edit of its files, a compaction of it
//! that ended, readers that paid for a merge, settings. What may make work anywhere has all of them
//! looked at: a snapshot that was released, other limits, files that are tried again, and each
//! second that passes, since entries expire. So with thousands of them one that changes costs a
//! look at itself, and all of them are looked at once a second at the most.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::types::ids::KeyspaceId;
use crate::base::types::seqno::SeqNo;
use crate::db::keyspace::{KeyspaceParts, Keyspaces};
use crate::flow::compact::values::ValueLimits;

/// The keyspaces that are to be looked at for one kind of work. At first all of them.
#[derive(Debug)]
pub struct Looks {
    is_all: bool,
    /// Which, if not all.
    ids: BTreeSet<KeyspaceId>,
}

impl Default for Looks {
    fn default() -> Looks {
        Looks {
            is_all: true,
            ids: BTreeSet::new(),
        }
    }
}

impl Looks {
    /// Has one looked at.
    pub fn note(&mut self, id: KeyspaceId) {
        if !self.is_all {
            self.ids.insert(id);
        }
    }

    /// Has all looked at.
    pub fn note_all(&mut self) {
        self.is_all = true;
        self.ids.clear();
    }

    /// Those to be looked at, by number; they stay so.
    pub fn list(&mut self, keyspaces: &Keyspaces) -> Vec<Arc<KeyspaceParts>> {
        if std::mem::take(&mut self.is_all) {
            let all = keyspaces.all();
            self.ids = all.iter().map(|parts| parts.id).collect();
            return all;
        }
        let found = keyspaces.all_of(self.ids.iter().copied());
        if found.len() < self.ids.len() {
            // Of one that was dropped nobody finds anything.
            self.ids = found.iter().map(|parts| parts.id).collect();
        }
        found
    }

    /// The same; none of them is to be looked at any more.
    pub fn take(&mut self, keyspaces: &Keyspaces) -> Vec<Arc<KeyspaceParts>> {
        let found = self.list(keyspaces);
        self.ids.clear();
        found
    }

    /// Nothing is to be done in that one until it is noted again.
    pub fn is_idle(&mut self, id: KeyspaceId) {
        self.ids.remove(&id);
    }
}

/// What decides on the compactions of all keyspaces.
#[derive(Debug, PartialEq)]
pub struct CompactionMoment {
    /// The time, in unix seconds.
    pub unix_s: u64,
    /// The live snapshots, ascending.
    pub snapshots: Vec<SeqNo>,
    /// How much may be dead.
    pub limits: ValueLimits,
    /// Whether the limits of rest hold.
    pub is_settling: bool,
    /// Whether somebody waits until the database is closed.
    pub is_closing: bool,
}

impl CompactionMoment {
    /// Whether this may be the moment for something that was not due at `before`. A snapshot more
    /// is no such reason: it keeps, and frees nothing.
    pub fn may_free(&self, before: &CompactionMoment) -> bool {
        !self.snapshots.starts_with(&before.snapshots)
            || self.unix_s != before.unix_s
            || self.limits != before.limits
            || (self.is_settling, self.is_closing) != (before.is_settling, before.is_closing)
    }
}

/// The keyspaces to be looked at, for each kind of work.
#[derive(Debug, Default)]
pub struct AllLooks {
    /// For compactions, but for those within level 0.
    pub compaction: Looks,
    /// When all were looked at last for that.
    pub moment: Option<CompactionMoment>,
    /// For merges within level 0.
    pub intra_l0: Looks,
    /// For a dictionary that is to be trained.
    pub training: Looks,
}

impl AllLooks {
    /// Files of that keyspace changed, or came free.
    pub fn note(&mut self, id: KeyspaceId) {
        self.compaction.note(id);
        self.intra_l0.note(id);
        self.training.note(id);
    }

    /// The same of all of them.
    pub fn note_all(&mut self) {
        self.compaction.note_all();
        self.intra_l0.note_all();
        self.training.note_all();
    }
}

#[cfg(test)]
mod tests;
