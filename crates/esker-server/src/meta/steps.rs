//! The next step of a group from the members that it has to those that are wished.
//!
//! A new replica is made, gets the log as a learner, and takes the vote of one that leaves in one
//! joint change: at no time are there fewer copies than are wished. Only where the new one must
//! stand on the node of one that is lost does that one go first, for no node holds two.

use esker_raft::{Change, ChangeStep, GroupId, NodeId, ReplicaId};

use crate::meta::live::{Live, LiveGroup, LiveNode};
use crate::meta::rows::PartitionRow;

/// What the leader of a group does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It proposes this change.
    Change(Change),
    /// It hands over to this replica.
    Transfer(ReplicaId),
}

/// A group on its way to what is wished.
struct Way<'a> {
    id: GroupId,
    row: &'a PartitionRow,
    group: &'a LiveGroup,
    live: &'a Live,
}

/// The next step of `group`, as its leader reported it last, to what is wished; none if it is
/// there, or if it must wait.
pub fn next_step(id: GroupId, row: &PartitionRow, group: &LiveGroup, live: &Live) -> Option<Step> {
    let way = Way {
        id,
        row,
        group,
        live,
    };
    let members = &group.configuration;
    if members.is_joint() || !members.voters.contains(&group.leader) {
        return None;
    }
    let stale = members
        .learners
        .iter()
        .find(|replica| !row.wished.contains_key(replica));
    if let Some(replica) = stale {
        return Some(change([ChangeStep::Remove(*replica)]));
    }
    way.add()
        .or_else(|| way.promote())
        .or_else(|| way.make_room())
        .or_else(|| way.add_any())
        .or_else(|| way.remove())
}

impl Way<'_> {
    /// A new replica that is made and waits gets the log.
    ///
    /// They come in the order of their ids, for a group never takes an id below one that it had.
    fn add(&self) -> Option<Step> {
        let (replica, node) = self.next_missing()?;
        let is_ready = self.holder(node).is_none() && self.is_made(replica, node);
        is_ready.then(|| change([ChangeStep::AddLearner(replica, node)]))
    }

    /// The same out of their order, where one cannot come before others have: its id is spent, and
    /// it is wished again under another one.
    fn add_any(&self) -> Option<Step> {
        let mut missing = self.missing();
        let (replica, node) = missing.find(|(replica, node)| {
            self.holder(*node).is_none() && self.is_made(*replica, *node)
        })?;
        let is_held = self
            .next_missing()
            .is_some_and(|next| self.holder(next.1).is_some());
        is_held.then(|| change([ChangeStep::AddLearner(replica, node)]))
    }

    /// A learner that has an image votes, and one that leaves does not any more. Whether it has
    /// caught up, the leader says: it refuses the change until then.
    fn promote(&self) -> Option<Step> {
        let members = &self.group.configuration;
        let has_image = |replica: &&ReplicaId| {
            let node = members.nodes[*replica];
            let reported = self.live.replica(node, self.id, **replica);
            self.is_there(**replica, node) && reported.is_some_and(|one| one.applied > 0)
        };
        let mut ready = members.learners.iter().filter(has_image).copied();
        let learner = ready.next()?;
        if let Some(leaving) = self.leaving() {
            let steps = [ChangeStep::Promote(learner), ChangeStep::Remove(leaving)];
            return Some(change(steps));
        }
        let (voters, wished) = (members.voters.len(), self.row.wished.len());
        let leads_and_leaves = !self.row.wished.contains_key(&self.group.leader);
        if leads_and_leaves && voters >= wished {
            return match self.heir() {
                Some(heir) => Some(Step::Transfer(heir)),
                None => Some(change([ChangeStep::Promote(learner)])),
            };
        }
        // From one odd number to the next by two at once: an even one bears no more losses.
        if voters % 2 == 1 && wished % 2 == 1 && wished >= voters + 2 {
            let steps = [
                ChangeStep::Promote(learner),
                ChangeStep::Promote(ready.next()?),
            ];
            return Some(change(steps));
        }
        Some(change([ChangeStep::Promote(learner)]))
    }

    /// A lost replica leaves the node on which the one in its place is to stand.
    fn make_room(&self) -> Option<Step> {
        let (_, node) = self.next_missing()?;
        self.without(self.holder(node)?)
    }

    /// With all that are wished at hand, one that is not leaves.
    fn remove(&self) -> Option<Step> {
        let voters = &self.group.configuration.voters;
        if !self
            .row
            .wished
            .keys()
            .all(|replica| voters.contains(replica))
        {
            return None;
        }
        let leader = self.group.leader;
        let leads_and_leaves = (!self.row.wished.contains_key(&leader)).then_some(leader);
        self.without(self.leaving().or(leads_and_leaves)?)
    }

    /// The step that removes `replica`: a leader hands over first.
    fn without(&self, replica: ReplicaId) -> Option<Step> {
        match replica == self.group.leader {
            true => self.heir().or_else(|| self.stand_in()).map(Step::Transfer),
            false => Some(change([ChangeStep::Remove(replica)])),
        }
    }

    /// The first of those whose node lives, and has made it or has room for it: others do not wait
    /// for one that a full disk keeps from being made. Its id is spent by who comes before it, and
    /// it is wished again under another one.
    fn next_missing(&self) -> Option<(ReplicaId, NodeId)> {
        let can_come = |(replica, node): &(ReplicaId, NodeId)| {
            let has_space = self.live.node(*node).is_some_and(LiveNode::has_space);
            self.live.is_alive(*node) && (has_space || self.is_made(*replica, *node))
        };
        self.missing().find(can_come)
    }

    /// Wished replicas that never were members.
    fn missing(&self) -> impl Iterator<Item = (ReplicaId, NodeId)> {
        let members = &self.group.configuration;
        let is_missing =
            |replica: ReplicaId| !members.contains(replica) && !members.has_left(replica);
        let all = self
            .row
            .wished
            .iter()
            .map(|(replica, node)| (*replica, *node));
        all.filter(move |(replica, _)| is_missing(*replica))
    }

    /// A voter that is not wished and does not lead; one that is silent or damaged comes first.
    fn leaving(&self) -> Option<ReplicaId> {
        let members = &self.group.configuration;
        let leaves = |replica: &&ReplicaId| {
            !self.row.wished.contains_key(replica) && **replica != self.group.leader
        };
        let leaving = members.voters.iter().filter(leaves).copied();
        leaving.min_by_key(|replica| self.is_there(*replica, members.nodes[replica]))
    }

    /// A voter that is wished and lives, other than the leader.
    fn heir(&self) -> Option<ReplicaId> {
        let mut others = self.others();
        others.find(|replica| self.row.wished.contains_key(replica))
    }

    /// A voter that lives, other than the leader: where none is wished yet.
    fn stand_in(&self) -> Option<ReplicaId> {
        self.others().next()
    }

    fn others(&self) -> impl Iterator<Item = ReplicaId> {
        let members = &self.group.configuration;
        let others = members.voters.iter().copied();
        others.filter(|replica| {
            *replica != self.group.leader && self.is_there(*replica, members.nodes[replica])
        })
    }

    /// The member that stands on `node`.
    fn holder(&self, node: NodeId) -> Option<ReplicaId> {
        let mut nodes = self.group.configuration.nodes.iter();
        nodes
            .find(|member| *member.1 == node)
            .map(|member| *member.0)
    }

    /// Whether a new replica may become a member: that it was made is noted for ever.
    fn is_made(&self, replica: ReplicaId, node: NodeId) -> bool {
        !self.row.unmade.contains(&replica) && self.is_there(replica, node)
    }

    /// Whether a node that lives reports the replica, sound, and not that it does not go on.
    fn is_there(&self, replica: ReplicaId, node: NodeId) -> bool {
        self.live.has_sound(node, self.id, replica)
    }
}

fn change<const LEN: usize>(steps: [ChangeStep; LEN]) -> Step {
    Step::Change(Change {
        steps: steps.to_vec(),
    })
}

#[cfg(test)]
mod tests;
