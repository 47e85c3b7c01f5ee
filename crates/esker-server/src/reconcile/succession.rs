//! Which meta service there is, and what becomes of a replica here of one that there is no more.
//!
//! A node that hears of a later epoch (`meta/epoch.rs`) lets go of its replica of meta, whatever
//! its id: it can be of the later one only where it is the one that went on, for until the node
//! says the later epoch nobody of that converses with it. When it is gone the node keeps the epoch,
//! and says it. The node of which the epoch says that its replica goes on has that go on alone, as
//! often as it takes until an entry says so.
//!
//! A replica of meta is held when its node is opened, as those of tables are: two that come back
//! would elect one of them before they have heard of the third, which went on without them. Nobody
//! else can say that it is free, so it is when all members were greeted, who would have known, or
//! when some have not answered for a while.

use std::fmt;
use std::time::Duration;

use esker_raft::{Member, NodeId, ReplicaId, Status};

use crate::meta::epoch::Epoch;
use crate::meta::ids::{META, ReplicaName};

/// How long members that do not answer are waited for before a replica of meta takes part: it is
/// what a meta service of which one member is away takes longer to have a leader.
const GREETING_MAX: Duration = Duration::from_secs(2);

/// How long until a replica that is to go, and is still here, is told so again.
const AGAIN: Duration = Duration::from_secs(1);

/// What is to be done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The replica of meta here is of before, and goes.
    Purge(Member),
    /// The epoch is kept, durably.
    Keep(Epoch),
    /// Others are greeted with the epoch from now on.
    Say(Epoch),
    /// The replica of meta here goes on without all others up to that id.
    GoOnAlone(Member, ReplicaId),
    /// The replica of meta here takes part.
    Free,
}

impl fmt::Display for Due {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Due::Keep(epoch) => write!(out, "from now on this node heeds {epoch}"),
            Due::Purge(member) => {
                let name = ReplicaName(*member);
                write!(out, "{name} is of a meta service of before, and goes")
            }
            Due::Say(epoch) => write!(out, "others are told of {epoch}"),
            Due::GoOnAlone(member, _) => write!(out, "{} goes on alone", ReplicaName(*member)),
            Due::Free => out.write_str("the replica of the meta service takes part"),
        }
    }
}

/// What a node does about which meta service there is.
#[derive(Debug)]
pub struct Succession {
    node: NodeId,
    epoch: Epoch,
    /// Others are greeted with it.
    is_said: bool,
    is_holding: bool,
    /// When it was opened.
    since: Option<Duration>,
    /// When its replica was told last that it goes.
    purged: Option<Duration>,
}

impl Succession {
    /// Of a node that has kept that epoch, and that holds its replica of meta, if it does.
    pub fn new(node: NodeId, epoch: Epoch, is_holding: bool) -> Succession {
        Succession {
            node,
            epoch,
            is_said: false,
            is_holding,
            since: None,
            purged: None,
        }
    }

    /// The latest epoch that it knows of.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether the replica that went on is on this node.
    pub fn is_base(&self) -> bool {
        self.epoch.node == self.node
    }

    /// The epoch that others are greeted with from the beginning: that of before, as long as a
    /// replica is here that is to go first.
    pub fn greets_with(&mut self, meta: Option<&Status>) -> Epoch {
        self.is_said = meta.is_none_or(|status| !self.epoch.is_lost(meta_member(status)));
        match self.is_said {
            true => self.epoch,
            false => Epoch::default(),
        }
    }

    /// What is due on a node with such a replica of meta. `later` is a later epoch that a node has
    /// said; `is_up` says which nodes were greeted, and say the same epoch.
    pub fn pass(
        &mut self,
        later: Option<Epoch>,
        meta: Option<&Status>,
        is_up: impl Fn(NodeId) -> bool,
        now: Duration,
    ) -> Vec<Due> {
        let mut due = Vec::new();
        let since = *self.since.get_or_insert(now);
        let here = meta.map(meta_member);
        let later = later.filter(|later| *later > self.epoch);
        let is_lost = |member: &Member| match later {
            Some(later) => (later.node, later.base) != (self.node, member.replica),
            None => self.epoch.is_lost(*member),
        };
        if let Some(lost) = here.filter(is_lost) {
            let is_due = |then: Duration| now.saturating_sub(then) >= AGAIN;
            if self.purged.is_none_or(is_due) {
                self.purged = Some(now);
                due.push(Due::Purge(lost));
            }
            return due;
        }
        if let Some(later) = later {
            self.epoch = later;
            self.is_said = false;
            self.purged = None;
            due.push(Due::Keep(later));
        }
        if !std::mem::replace(&mut self.is_said, true) {
            due.push(Due::Say(self.epoch));
        }
        let (Some(status), Some(member)) = (meta, here) else {
            return due;
        };
        let members = &status.configuration;
        let goes_on = (self.epoch.node, self.epoch.base) == (self.node, member.replica);
        if goes_on && (members.replica_max < self.epoch.last.0 || status.is_going_alone) {
            due.push(Due::GoOnAlone(member, self.epoch.last));
            return due;
        }
        let mut others = members.nodes.values().filter(|node| **node != self.node);
        let has_waited = now.saturating_sub(since) >= GREETING_MAX;
        if self.is_holding && (has_waited || others.all(|node| is_up(*node))) {
            self.is_holding = false;
            due.push(Due::Free);
        }
        due
    }
}

fn meta_member(status: &Status) -> Member {
    Member {
        group: META,
        replica: status.replica,
    }
}

#[cfg(test)]
mod tests;
