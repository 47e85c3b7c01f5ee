//! Which sealed memtables are to be flushed, and which of them by one job.

use std::sync::Arc;

use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::current::Sealed;

/// Bytes of memtables that one job flushes together at the most, when they are of several
/// keyspaces: so many take no longer than the syncs do, and whoever waits for one of them does not
/// wait for long.
const GROUP_BYTES: usize = 2 << 20;

/// Keyspaces that one job flushes at the most.
const GROUP_KEYSPACES: usize = 256;

/// The sealed memtables of a keyspace that are to be flushed, oldest first; at least one.
pub struct DueFlush {
    /// The keyspace.
    pub parts: Arc<KeyspaceParts>,
    /// Its memtables.
    pub sealed: Vec<Sealed>,
}

impl DueFlush {
    /// What may be flushed of a keyspace now.
    pub fn now(core: &Core, parts: Arc<KeyspaceParts>) -> Option<DueFlush> {
        // Looked at before the barrier: what was sealed behind it is then held back for certain.
        let mut due = DueFlush::all(parts)?;
        // A yes is known by the newest mark that has one: that may be of one behind the barrier.
        due.sealed
            .retain(|sealed| core.work.may_flush(sealed.last_seqno));
        (!due.sealed.is_empty()).then_some(due)
    }

    /// Everything that is sealed and that the user's own log has said yes to, for closing: there is
    /// no barrier any more.
    pub fn all(parts: Arc<KeyspaceParts>) -> Option<DueFlush> {
        let mut sealed = parts.current.sealed();
        if let Some(hold) = &parts.hold {
            sealed.truncate(hold.cleared_count(&sealed));
        }
        (!sealed.is_empty()).then_some(DueFlush { parts, sealed })
    }

    /// Whether something is sealed of a keyspace that the user's own log has not said yes to.
    pub fn is_held_back(parts: &KeyspaceParts) -> bool {
        let hold = parts.hold.as_ref();
        hold.is_some_and(|hold| {
            let sealed = parts.current.sealed();
            hold.cleared_count(&sealed) < sealed.len()
        })
    }

    fn size_bytes(&self) -> usize {
        let tables = self.sealed.iter().map(|sealed| &sealed.table);
        tables.map(|table| table.used_bytes()).sum()
    }
}

/// Puts small flushes together, each group to be recorded by one edit: with thousands of keyspaces
/// what goes over all of them once for each edit would cost more than the flushes.
pub fn in_groups(due: impl IntoIterator<Item = DueFlush>) -> Vec<Vec<DueFlush>> {
    let mut groups: Vec<Vec<DueFlush>> = Vec::new();
    let (mut small, mut small_bytes) = (Vec::new(), 0);
    for flush in due {
        let size_bytes = flush.size_bytes();
        if size_bytes > GROUP_BYTES {
            groups.push(vec![flush]);
            continue;
        }
        if small_bytes + size_bytes > GROUP_BYTES || small.len() == GROUP_KEYSPACES {
            groups.push(std::mem::take(&mut small));
            small_bytes = 0;
        }
        small.push(flush);
        small_bytes += size_bytes;
    }
    groups.extend((!small.is_empty()).then_some(small));
    groups
}

#[cfg(test)]
mod tests;
