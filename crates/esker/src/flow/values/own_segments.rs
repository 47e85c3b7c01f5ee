//! Segments that have values of one unlogged keyspace and of no other.

use std::collections::BTreeSet;

use crate::base::types::ids::KeyspaceId;
use crate::flow::values::own_sizes::OwnSizes;
use crate::flow::values::segments::Segments;
use crate::flow::values::value_log::ValueLog;
use crate::store::vlog::live_bytes::ValueLiveBytes;

impl ValueLog {
    /// What sizes of own segments follow from.
    pub(in crate::flow) fn own_sizes(&self) -> OwnSizes {
        OwnSizes {
            segment_bytes: self.parts.segment_bytes,
            disk_limit: self.parts.disk_limit,
        }
    }

    /// Has values of `keyspace` lie apart from those of all others from now on: nothing of it is in
    /// the log, its files point to `held_bytes`, and whoever drops it has all of that back.
    pub fn keep_apart(&self, keyspace: KeyspaceId, held_bytes: u64) {
        self.state().keep_apart(keyspace, held_bytes);
    }

    /// The files of `keyspace` point to `live` now, and its memtables to `named_bytes` at the most:
    /// its live segment ends if too much of that is dead or not used.
    pub fn set_held(&self, keyspace: KeyspaceId, live: &ValueLiveBytes, named_bytes: u64) {
        let sizes = self.own_sizes();
        self.seal(|state| state.set_held(keyspace, live, named_bytes, &sizes));
    }

    /// Bytes of own segments that are allocated and that nothing was written to yet.
    pub fn unused_bytes(&self) -> u64 {
        self.state().unused_bytes(0)
    }

    /// The same without what the smallest have each: that is not worth that they end, for with each
    /// rest they would, and as many small ones be begun.
    pub fn spare_bytes(&self) -> u64 {
        let free_bytes = self.own_sizes().first_bytes();
        self.state().unused_bytes(free_bytes)
    }

    /// Whether more is allocated of own segments which are written to than a database may have that
    /// is near its limit.
    pub fn has_many_own(&self) -> bool {
        self.state().own_live_bytes() > self.own_sizes().live_bytes_max()
    }

    /// Gives back the ends of all segments that have ended, for which nobody waits.
    pub fn trim_ended(&self) {
        self.seal(|_| ());
    }

    /// Whether own segments have ended that are open still, until they are synced.
    pub fn has_ended(&self) -> bool {
        self.state().has_open_ended()
    }

    /// Whether these are so many that they are due.
    pub fn has_many_ended(&self) -> bool {
        self.state().has_many_ended(self.values().written_max())
    }

    /// Nothing more is written of `keyspace`, which is dropped.
    pub fn forget(&self, keyspace: KeyspaceId) {
        self.seal(|state| state.forget(keyspace));
    }

    /// Ends those live segments that values of `keyspaces` may lie in.
    pub fn seal_live_of(&self, keyspaces: &BTreeSet<KeyspaceId>) {
        self.seal(|state| {
            state.seal_shared();
            let owners = keyspaces.iter();
            owners.for_each(|owner| state.seal_own(*owner));
        });
    }

    /// Ends all live segments that are some keyspace's own, so that what is dead in them can be
    /// given back.
    pub fn seal_all_own(&self) {
        self.seal(Segments::seal_all_own);
    }
}
