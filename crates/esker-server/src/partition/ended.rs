//! How a replica's rows are kept by the engine, and when those that have ended leave the disk.
//!
//! A row says by its header when it ends; reads pass over it from then on. Compactions drop it by
//! a retain rule, which asks the keyspace's own clock: the partition's, as it comes with marks. So
//! every replica drops the same rows, whatever its machine takes the time for (record 0030).

use std::sync::Arc;

use esker::{Keyspace, KeyspaceOptions, Result, Retain, RetainEntry, RetainRule, WriteBatch};
use esker_raft::GroupId;
use esker_rpc::time::WireSecond;

use crate::meta::ids::META;
use crate::partition::mark::ReplicaMark;
use crate::partition::overlay::read_stored;

const MS_PER_S: u64 = 1000;

const US_PER_MS: u64 = 1000;

/// How the keyspace of a replica is to be made. The rows of the meta group have no header, and none
/// of them ends by itself.
pub fn keyspace_options(group: GroupId) -> KeyspaceOptions {
    let options = KeyspaceOptions {
        is_unlogged: true,
        ..KeyspaceOptions::default()
    };
    match group {
        META => options,
        _ => KeyspaceOptions {
            has_own_clock: true,
            ..options.retain_rule(Arc::new(EndedRows))
        },
    }
}

/// Puts the mark of a replica into its batch, with the partition's time.
pub fn put_mark(batch: &mut WriteBatch, (group, rows): (GroupId, &Keyspace), mark: &ReplicaMark) {
    match group {
        META => batch.mark(rows, mark.encode()),
        _ => batch.mark_at(rows, mark.encode(), mark.clock_us / US_PER_MS),
    };
}

/// Drops rows that have ended.
struct EndedRows;

impl RetainRule for EndedRows {
    fn name(&self) -> &str {
        "ended rows"
    }

    fn retain(&self, entry: &RetainEntry<'_>) -> Result<Retain> {
        let now = WireSecond::of_unix(entry.now_unix_ms / MS_PER_S);
        let stored = read_stored(entry.value()?)?;
        Ok(match stored.expiry.is_expired(now) {
            true => Retain::Drop,
            false => Retain::Keep,
        })
    }
}

#[cfg(test)]
mod tests;
