//! Which keyspaces have segments of their own, and which of these are written to.

use std::collections::BTreeMap;

use crate::base::types::ids::{FileNumber, KeyspaceId};

/// Keyspaces whose values lie apart from those of all others.
#[derive(Default)]
pub(in crate::flow) struct Owners {
    owners: BTreeMap<KeyspaceId, Owner>,
    /// Those that have a live segment, by when something was written to it last.
    by_use: BTreeMap<u64, KeyspaceId>,
    /// How often a part of an own segment was set aside, or one begun.
    use_count: u64,
}

#[derive(Default)]
struct Owner {
    live: Option<Live>,
    /// Bytes that its files point to.
    filed_bytes: u64,
    /// Bytes of records that were written and that may be named by memtables alone.
    written_bytes: u64,
}

struct Live {
    number: FileNumber,
    /// What `use_count` was when it was written to last.
    used_at: u64,
}

impl Owners {
    /// Adds a keyspace whose files point to `held_bytes`.
    pub(in crate::flow) fn add(&mut self, keyspace: KeyspaceId, held_bytes: u64) {
        let owner = self.owners.entry(keyspace).or_default();
        owner.filed_bytes = held_bytes;
    }

    /// Takes one out that has no live segment.
    pub(in crate::flow) fn remove(&mut self, keyspace: KeyspaceId) {
        let gone = self.owners.remove(&keyspace);
        assert!(gone.is_none_or(|owner| owner.live.is_none()), "it is live");
    }

    /// Whether that keyspace is one of them.
    pub(in crate::flow) fn contains(&self, keyspace: KeyspaceId) -> bool {
        self.owners.contains_key(&keyspace)
    }

    /// How many there are.
    pub(in crate::flow) fn count(&self) -> usize {
        self.owners.len()
    }

    /// How many have a live segment.
    pub(in crate::flow) fn live_count(&self) -> usize {
        self.by_use.len()
    }

    /// The live segment of that keyspace.
    pub(in crate::flow) fn live_of(&self, keyspace: KeyspaceId) -> Option<FileNumber> {
        let live = self.owners.get(&keyspace)?.live.as_ref()?;
        Some(live.number)
    }

    /// All live segments, those first that were written to longest ago.
    pub(in crate::flow) fn live(&self) -> impl Iterator<Item = FileNumber> {
        let keyspaces = self.by_use.values();
        keyspaces.filter_map(|keyspace| self.live_of(*keyspace))
    }

    /// Bytes that the files of that keyspace point to, and those written since they were flushed.
    pub(in crate::flow) fn held_bytes(&self, keyspace: KeyspaceId) -> u64 {
        let owner = self.owners.get(&keyspace);
        owner.map_or(0, |owner| owner.filed_bytes + owner.written_bytes)
    }

    /// The files of that keyspace point to `filed_bytes` now, and its memtables name no more than
    /// `named_bytes`.
    pub(in crate::flow) fn set_held(
        &mut self,
        keyspace: KeyspaceId,
        filed_bytes: u64,
        named_bytes: u64,
    ) {
        if let Some(owner) = self.owners.get_mut(&keyspace) {
            owner.filed_bytes = filed_bytes;
            owner.written_bytes = owner.written_bytes.min(named_bytes);
        }
    }

    /// Makes `number` the live segment of a keyspace that has none.
    pub(in crate::flow) fn begin(&mut self, keyspace: KeyspaceId, number: FileNumber) {
        self.use_count += 1;
        let used_at = self.use_count;
        let owner = self.owners.get_mut(&keyspace).expect("it is an owner");
        let before = owner.live.replace(Live { number, used_at });
        assert!(before.is_none(), "two are live");
        self.by_use.insert(used_at, keyspace);
    }

    /// A record of `bytes` is written of that keyspace, if it is one of them: to its live segment
    /// where it has one.
    pub(in crate::flow) fn note_write(&mut self, keyspace: KeyspaceId, bytes: u64) {
        let Some(owner) = self.owners.get_mut(&keyspace) else {
            return;
        };
        owner.written_bytes += bytes;
        if let Some(live) = &mut owner.live {
            self.use_count += 1;
            self.by_use.remove(&live.used_at);
            live.used_at = self.use_count;
            self.by_use.insert(live.used_at, keyspace);
        }
    }

    /// Takes out the live segment of that keyspace.
    pub(in crate::flow) fn take_live(&mut self, keyspace: KeyspaceId) -> Option<FileNumber> {
        let live = self.owners.get_mut(&keyspace)?.live.take()?;
        self.by_use.remove(&live.used_at);
        Some(live.number)
    }

    /// Takes out the live segment that was written to longest ago.
    pub(in crate::flow) fn take_oldest(&mut self) -> Option<FileNumber> {
        let keyspace = *self.by_use.values().next()?;
        self.take_live(keyspace)
    }
}
