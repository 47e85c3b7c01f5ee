//! The directory of a node: what all threads, and the engine's hooks, know of its replicas.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use esker::OwnLog;
use esker_raft::{GroupId, Member};

use crate::meta::ids::META;
use crate::meta::state::State;
use crate::node::keyspace_name::{ReplicaKeyspace, partition_of};
use crate::node::stall;
use crate::node::view::View;
use crate::partition::mark::ReplicaMark;

/// The replicas of a node by their groups, and what they must know of their tables.
///
/// Any thread may call anything; no lock is held over anything but a look or a change.
#[derive(Default)]
pub struct Replicas {
    views: RwLock<BTreeMap<GroupId, Arc<View>>>,
    /// Seconds that a value lives, by the number of its table.
    default_ttls: RwLock<BTreeMap<u32, u32>>,
    /// Who has more in files since somebody last asked, and up to which entry.
    flushed: Mutex<BTreeMap<Member, u64>>,
    /// Whose leases were used since somebody last asked.
    used_leases: Mutex<Vec<GroupId>>,
    /// Bytes of entries that are committed and not applied.
    unapplied_bytes: AtomicUsize,
    /// The disk has no room for the raft log, so no replica goes on.
    log_is_full: AtomicBool,
}

impl Replicas {
    /// The replica of a group here.
    pub fn view(&self, group: GroupId) -> Option<Arc<View>> {
        // A map of pointers is whole whatever a thread that panicked was about to do, here and
        // below.
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        views.get(&group).cloned()
    }

    /// The view of that very replica, if it has applied so much: where a read that was cleared may
    /// be served. `None` says that the read is to be asked for again.
    pub fn cleared_view(&self, member: Member, index: u64) -> Option<Arc<View>> {
        let view = self.view(member.group)?;
        (view.member == member && view.applied() >= index).then_some(view)
    }

    /// What a read of that view must see, if the view has it and a lease says that it may be served
    /// without asking consensus. `clock` is the time that turns are given.
    pub fn leased(&self, view: &View, clock: Duration) -> Option<u64> {
        let index = view.lease.index(clock)?;
        let is_there = view.applied() >= index;
        if is_there && view.lease.note_use() {
            self.used_leases_cell().push(view.member.group);
        }
        is_there.then_some(index)
    }

    /// The groups whose leases were used since this was last asked.
    pub fn take_used_leases(&self) -> Vec<GroupId> {
        let used = std::mem::take(&mut *self.used_leases_cell());
        for group in &used {
            if let Some(view) = self.view(*group) {
                view.lease.forget_use();
            }
        }
        used
    }

    /// What the meta service knows, by the replica of it here; nothing while there is none.
    pub fn meta_state(&self) -> Arc<State> {
        let view = self.view(META);
        view.and_then(|view| view.meta()).unwrap_or_default()
    }

    /// All of them.
    pub fn views(&self) -> Vec<Arc<View>> {
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        views.values().cloned().collect()
    }

    /// From now on that is the view of its group.
    pub fn set_view(&self, view: Arc<View>) {
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        views.insert(view.member.group, view);
    }

    /// The replica is here no more.
    pub fn remove_view(&self, member: Member) {
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        let found = views.get(&member.group);
        if found.is_some_and(|view| view.member == member) {
            views.remove(&member.group);
        }
    }

    /// Says how many seconds a value of a table lives from now on of which the client says nothing;
    /// 0 for ever.
    pub fn set_default_ttl(&self, table: u32, seconds: u32) {
        let ttls = self.default_ttls.write();
        let mut ttls = ttls.unwrap_or_else(PoisonError::into_inner);
        ttls.insert(table, seconds);
    }

    /// The same of the table of a group.
    pub fn default_ttl_s(&self, group: GroupId) -> u32 {
        let ttls = self.default_ttls.read();
        let ttls = ttls.unwrap_or_else(PoisonError::into_inner);
        let found = ttls.get(&partition_of(group).0);
        found.copied().unwrap_or_default()
    }

    /// Who has more in files since this was last asked, and up to which entry.
    pub fn take_flushed(&self) -> BTreeMap<Member, u64> {
        std::mem::take(&mut *self.flushed_cell())
    }

    /// Whether the disk has no room for the raft log.
    pub fn set_log_is_full(&self, is_full: bool) {
        self.log_is_full.store(is_full, Ordering::SeqCst);
    }

    /// Why the replica of a view does not go on for now, if it does not: for its own reason, or
    /// for that of all.
    pub fn stall_of(&self, view: &View) -> Option<String> {
        let is_full = self.log_is_full.load(Ordering::SeqCst);
        let of_all = is_full.then(|| stall::LOG_HAS_NO_ROOM.to_owned());
        view.stall().or(of_all)
    }

    /// Bytes of entries that are committed and not applied.
    pub fn unapplied_bytes(&self) -> usize {
        self.unapplied_bytes.load(Ordering::SeqCst)
    }

    /// Whether a group has so many of them that it takes no more: one that waits for its keyspace
    /// must not fill the room of all.
    pub fn is_behind(&self, group: GroupId) -> bool {
        let view = self.view(group);
        view.is_some_and(|view| view.is_behind())
    }

    /// So many more bytes of entries of a group are to be applied.
    pub fn add_unapplied(&self, group: GroupId, bytes: usize) {
        self.unapplied_bytes.fetch_add(bytes, Ordering::SeqCst);
        if let Some(view) = self.view(group) {
            view.add_unapplied(bytes);
        }
    }

    /// So many bytes of entries of a group are applied, or never will be.
    pub fn take_unapplied(&self, group: GroupId, bytes: usize) {
        self.unapplied_bytes.fetch_sub(bytes, Ordering::SeqCst);
        if let Some(view) = self.view(group) {
            view.take_unapplied(bytes);
        }
    }

    fn flushed_cell(&self) -> MutexGuard<'_, BTreeMap<Member, u64>> {
        let flushed = &self.flushed;
        flushed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used_leases_cell(&self) -> MutexGuard<'_, Vec<GroupId>> {
        let used = &self.used_leases;
        used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // The view of a keyspace, if that is the one that its group has.
    fn view_of(&self, name: &str) -> Option<Arc<View>> {
        let keyspace = ReplicaKeyspace::parse(name)?;
        let view = self.view(keyspace.member.group)?;
        (view.keyspace.name() == name).then_some(view)
    }
}

/// The raft log, as the engine asks for it before and after a flush.
pub struct RaftLogHooks(pub Arc<Replicas>);

impl OwnLog for RaftLogHooks {
    fn is_durable(&self, keyspace: &str, mark: &[u8]) -> bool {
        let Ok(mark) = ReplicaMark::decode(mark) else {
            return false;
        };
        // What a replica began with did not come from the log, nor did an image that is on its way.
        if mark.is_as_begun() {
            return true;
        }
        // `raft` hands out nothing that is not durable here, as far as it knows. The log is asked
        // all the same: a flush of what it may lose would be a damaged replica.
        let view = self.0.view_of(keyspace);
        view.is_some_and(|view| mark.raft.applied.index <= view.durable())
    }

    fn flushed(&self, keyspace: &str, mark: &[u8]) {
        let (Ok(mark), Some(view)) = (ReplicaMark::decode(mark), self.0.view_of(keyspace)) else {
            return;
        };
        let index = mark.raft.applied.index;
        view.set_flushed(index);
        self.0.flushed_cell().insert(view.member, index);
    }
}
