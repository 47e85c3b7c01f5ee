//! What a node without room on its disk gives away, and says of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::log_lines::{Level, counted};
use crate::meta::ids::{PartitionId, ReplicaName};
use crate::node::{View, stall};

/// How often it is looked who cannot go on.
const LOOK: Duration = Duration::from_secs(1);

/// How long after a lead was given away it is given away again, if it came back to one that still
/// does not go on, and twice as long after each further time: whoever got it may have no room
/// either, and who asks there waits while it is tried.
const AGAIN: Duration = Duration::from_secs(3);

/// The longest such time: somebody may have made room elsewhere.
const AGAIN_MAX: Duration = Duration::from_secs(48);

/// A lead that was given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Evaded {
    /// How often.
    count: usize,
    /// Not again before this.
    until: Duration,
}

/// What cannot go on here. The thread of consensus has it.
#[derive(Debug, Default)]
pub(crate) struct Shortage {
    /// The disk has no room for the raft log.
    pub(crate) log_is_full: bool,
    /// Leads that were given away, and when.
    evaded: BTreeMap<GroupId, Evaded>,
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

    /// Whether that one is better led elsewhere, now.
    pub(crate) fn evades(&self, view: &View) -> bool {
        let is_short = self.log_is_full || view.is_stalled();
        let now = self.looked.unwrap_or_default();
        let evaded = self.evaded.get(&view.member.group);
        is_short && evaded.is_none_or(|evaded| now >= evaded.until)
    }

    /// Who is to lead in the place of `myself`: each time another one of those that are up, for
    /// the one before may have no room.
    pub(crate) fn heir(
        &self,
        (group, myself): (GroupId, ReplicaId),
        members: &Configuration,
        is_up: impl Fn(NodeId) -> bool,
    ) -> Option<ReplicaId> {
        let nodes = members.nodes.iter();
        let others = nodes.filter(|row| *row.0 != myself && members.votes(*row.0));
        let up: Vec<ReplicaId> = others
            .filter(|row| is_up(*row.1))
            .map(|row| *row.0)
            .collect();
        let tried = self.evaded.get(&group).map_or(0, |evaded| evaded.count);
        let at = tried.checked_rem(up.len())?;
        up.get(at).copied()
    }

    /// These leads were given away. The line of it, if that is new of one of them.
    pub(crate) fn gave(
        &mut self,
        groups: &[GroupId],
        now: Duration,
        why: impl Fn(GroupId) -> String,
    ) -> Option<String> {
        let mut new = Vec::new();
        for group in groups {
            let count = self.evaded.get(group).map_or(0, |evaded| evaded.count);
            if count == 0 {
                new.push(*group);
            }
            // Doubled so often that the longest is reached, and not so often that it overflows.
            let doublings = u32::try_from(count).unwrap_or(u32::MAX).min(8);
            let rest = (AGAIN * 2_u32.pow(doublings)).min(AGAIN_MAX);
            let evaded = Evaded {
                count: count + 1,
                until: now + rest,
            };
            self.evaded.insert(*group, evaded);
        }
        let first = *new.first()?;
        let are = if new.len() == 1 { "is" } else { "are" };
        let count = counted(new.len(), "partition");
        Some(format!(
            "{count} {are} to be led elsewhere, {} for one: {}",
            PartitionId::of(first),
            why(first)
        ))
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
