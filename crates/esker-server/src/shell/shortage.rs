//! What a node without room on its disk gives away, and says of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use esker_raft::GroupId;

use crate::log_lines::Level;
use crate::meta::ids::ReplicaName;
use crate::node::{View, stall};

/// How often it is looked who cannot go on.
const LOOK: Duration = Duration::from_secs(1);

/// How long after a lead was given away it is given away again, if it came back to one that still
/// does not go on: whoever got it may have no room either, and then it is all the same who has it.
const AGAIN: Duration = Duration::from_secs(3);

/// What cannot go on here. The thread of consensus has it.
#[derive(Debug, Default)]
pub(crate) struct Shortage {
    /// The disk has no room for the raft log.
    pub(crate) log_is_full: bool,
    /// Leads that were given away, and when.
    evaded: BTreeMap<GroupId, Duration>,
    looked: Option<Duration>,
    /// How many did not go on when it was looked last.
    stalled: usize,
}

impl Shortage {
    /// Whether it is time to look.
    pub(crate) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.looked.is_none_or(|then| now >= then + LOOK);
        if is_due {
            self.looked = Some(now);
            self.evaded.retain(|_, then| now < *then + AGAIN);
        }
        is_due
    }

    /// What goes on again is given away at once where it stops once more: who got it had room.
    pub(crate) fn forget_who_goes_on(&mut self, views: &[Arc<View>]) {
        let stalled = |group: &GroupId| {
            let mut views = views.iter().filter(|view| view.member.group == *group);
            views.any(|view| view.is_stalled())
        };
        if !self.log_is_full && !self.evaded.is_empty() {
            self.evaded.retain(|group, _| stalled(group));
        }
    }

    /// Whether that one is better led elsewhere.
    pub(crate) fn evades(&self, view: &View) -> bool {
        let is_short = self.log_is_full || view.is_stalled();
        is_short && !self.evaded.contains_key(&view.member.group)
    }

    /// These leads were given away.
    pub(crate) fn gave(&mut self, groups: &[GroupId], now: Duration) {
        let given = groups.iter().map(|group| (*group, now));
        self.evaded.extend(given);
    }

    /// A line about what does not go on, if that has changed.
    pub(crate) fn line(&mut self, views: &[Arc<View>]) -> Option<(Level, String)> {
        let mut stalled = views.iter().filter(|view| view.is_stalled());
        let first = stalled.next();
        let count = stalled.count() + usize::from(first.is_some());
        let before = std::mem::replace(&mut self.stalled, count);
        match first {
            Some(view) if before == 0 => {
                let why = view.stall().unwrap_or_default();
                let name = ReplicaName(view.member);
                let line = format!("{count} replicas do not go on, {name} for one: {why}");
                Some((Level::Warning, line))
            }
            None if before > 0 => Some((Level::Note, "all replicas go on again".to_owned())),
            _ => None,
        }
    }

    /// Why what this node leads is led elsewhere.
    pub(crate) fn why(view: Option<&View>) -> String {
        let why = view.and_then(View::stall);
        why.unwrap_or_else(|| stall::LOG_HAS_NO_ROOM.to_owned())
    }
}

#[cfg(test)]
mod tests;
