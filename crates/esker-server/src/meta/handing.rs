//! Leads that are on their way from one replica to another, as the leader of meta remembers them.
//!
//! The old leader reports that it leads no more before the new one reports that it does. Whoever
//! counted in between would hand over another lead for the same reason, and back again afterwards.

use std::collections::BTreeMap;

use esker_raft::{GroupId, ReplicaId};

/// How long a lead may be on its way: the heir catches up, and reports.
const UNDER_WAY_MS: u64 = 5_000;

/// How long a group is left alone whose heir did not take the lead. Each try stops its writes for
/// an election timeout.
const TRY_AGAIN_MS: u64 = 60_000;

/// How a lead that was to be handed over fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handing {
    /// This replica is about to lead.
    UnderWay(ReplicaId),
    /// The heir did not take it.
    Failed,
}

/// All leads that were to be handed over a while ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handings(BTreeMap<GroupId, (ReplicaId, u64)>);

impl Handings {
    /// From now on `to` is to lead the group.
    pub(crate) fn begin(&mut self, group: GroupId, to: ReplicaId, now_ms: u64) {
        self.0.insert(group, (to, now_ms));
    }

    /// A replica leads the group.
    pub(crate) fn leads(&mut self, group: GroupId, replica: ReplicaId) {
        if self.0.get(&group).is_some_and(|one| one.0 == replica) {
            self.0.remove(&group);
        }
    }

    /// Forgets what was long ago.
    pub(crate) fn pass(&mut self, now_ms: u64) {
        self.0.retain(|_, one| now_ms - one.1 < TRY_AGAIN_MS);
    }

    /// How many are under way.
    pub(crate) fn under_way(&self, now_ms: u64) -> usize {
        let began = self.0.values().map(|one| one.1);
        began
            .filter(|began_ms| is_under_way(*began_ms, now_ms))
            .count()
    }

    /// How the lead of that group fares, if it was to be handed over.
    pub(crate) fn of(&self, group: GroupId, now_ms: u64) -> Option<Handing> {
        let (to, began_ms) = *self.0.get(&group)?;
        Some(match is_under_way(began_ms, now_ms) {
            true => Handing::UnderWay(to),
            false => Handing::Failed,
        })
    }
}

fn is_under_way(began_ms: u64, now_ms: u64) -> bool {
    now_ms - began_ms < UNDER_WAY_MS
}
