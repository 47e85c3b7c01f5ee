//! Which meta service there is, and what becomes of a replica here of one that there is no more.
//!
//! A node that hears of a later epoch (`meta/epoch.rs`) lets go of its replica of meta, whatever
//! its id: it can be of the later one only where it is the one that went on, for until the node
//! says the later epoch nobody of that converses with it. When it is gone the node keeps the epoch,
//! and then says it. The node of which the epoch says that its replica goes on has that go on
//! alone, as often as it takes until an entry says so.
//!
//! Nobody heeds the epoch of a node that was removed from the cluster, as far as it knows that:
//! what those have decided that let it go is no less than what it has, and they may be well.
//!
//! Until another entry has the epoch as well, that node says that its service is *about to* go on,
//! and nobody lets go of anything for that: if its disk is lost in those moments, what others have
//! is all that there is. A replica that is held stays so meanwhile. So says any other node, too,
//! that neither has a replica of the later service nor has heard its leader just now.
//!
//! A replica of meta is held when its node is opened, as those of tables are: two that come back
//! would elect one of them before they have heard of the third, which went on without them. Nobody
//! else can say that it is free, so it is when all members were greeted, who would have known, or
//! when some have not answered for a while.

use std::fmt;
use std::time::Duration;

use esker_raft::{Member, NodeId, ReplicaId, Status};

use crate::log_lines::Level;
use crate::meta::epoch::{Claim, Epoch};
use crate::meta::ids::{META, ReplicaName};

/// How long members that do not answer are waited for before a replica of meta takes part: it is
/// what a meta service of which one member is away takes longer to have a leader.
const GREETING_MAX: Duration = Duration::from_secs(2);

/// How long a replica that is held waits for a service that is about to go on: more than it takes.
/// One that cannot, for its disk is full, say, keeps nobody for longer.
const COMING_MAX: Duration = Duration::from_secs(60);

/// How long until a replica that is to go, and is still here, is told so again.
const AGAIN: Duration = Duration::from_secs(1);

/// What is to be done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The replica of meta here is of before, and goes.
    Purge(Member),
    /// The epoch is kept, durably.
    Keep(Epoch),
    /// Others are greeted with that from now on.
    Say(Claim),
    /// That one is not heeded: its node was removed.
    Refuse(Epoch),
    /// The replica of meta here waits whether that one goes on.
    Await(Epoch),
    /// The replica of meta here goes on without all others up to that id.
    GoOnAlone(Member, ReplicaId),
    /// The replica of meta here takes part.
    Free,
}

impl Due {
    /// How much whoever reads the log is to care: a node that is refused is to be stopped.
    pub fn level(&self) -> Level {
        match self {
            Due::Refuse(_) => Level::Error,
            _ => Level::Warning,
        }
    }
}

impl fmt::Display for Due {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Due::Keep(epoch) => write!(out, "from now on this node heeds {epoch}"),
            Due::Purge(member) => {
                let name = ReplicaName(*member);
                write!(out, "{name} is of a meta service of before, and goes")
            }
            Due::Say(claim) => write!(out, "others are told of {}", claim.epoch),
            Due::Refuse(epoch) => write!(
                out,
                "this node hears of {epoch}, and does not heed it: node {node} was removed from \
                 the cluster. Stop node {node}, and remove its directory",
                node = epoch.node.0
            ),
            Due::Await(epoch) => write!(
                out,
                "this node hears of {epoch}, which is about to go on: its own replica of the meta \
                 service waits for that, for {} s at most, if it does not take part yet",
                COMING_MAX.as_secs()
            ),
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
    /// What others are greeted with, if that was said.
    said: Option<Claim>,
    is_holding: bool,
    /// The later service that is about to go on and that a replica here waits for, and since when.
    awaited: (Epoch, Duration),
    /// When it was opened.
    since: Option<Duration>,
    /// When its replica was told last that it goes.
    purged: Option<Duration>,
    /// The latest epoch that is not heeded, for its node was removed. The rows that said so may not
    /// be there again when the node was opened.
    refused: Epoch,
    /// The same, if it was told in this life.
    told: Epoch,
}

impl Succession {
    /// Of a node that has kept that epoch, and that holds its replica of meta, if it does.
    pub fn new(node: NodeId, epoch: Epoch, is_holding: bool) -> Succession {
        Succession {
            node,
            epoch,
            said: None,
            is_holding,
            awaited: (Epoch::default(), Duration::ZERO),
            since: None,
            purged: None,
            refused: Epoch::default(),
            told: Epoch::default(),
        }
    }

    /// The same of one that does not heed that epoch, by what it has kept.
    pub fn refusing(self, refused: Epoch) -> Succession {
        Succession { refused, ..self }
    }

    /// The latest epoch that it knows of.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether the replica that went on is on this node.
    pub fn is_base(&self) -> bool {
        self.epoch.node == self.node
    }

    /// From the beginning others are greeted with what is so: as one of before, as long as a
    /// replica is here that is to go first. `known` is the epoch that the rows of the replica have.
    pub fn greet(&mut self, (meta, known): (Option<&Status>, Epoch)) {
        let goes_first = meta.is_some_and(|status| self.epoch.is_lost(meta_member(status)));
        let claim = self.claim(meta.map(meta_member), known, false);
        self.said = (!goes_first).then_some(claim);
    }

    /// What others are greeted with.
    pub fn said(&self) -> Claim {
        self.said.unwrap_or_default()
    }

    /// What it says of its epoch: that it has gone on, if somebody who has it is here or answers.
    /// What was so once costs nobody a copy that may be the last one.
    fn claim(&self, here: Option<Member>, known: Epoch, is_led: bool) -> Claim {
        let epoch = self.epoch;
        let is_later = here.is_some_and(|here| here.replica > epoch.last);
        Claim {
            epoch,
            has_gone_on: is_led || known >= epoch || is_later,
        }
    }

    /// What a node has said of a later epoch, of all that were said: one that has gone on before
    /// one that is about to, which may never do so. With that what is due if a later one is not
    /// heeded, for its node `was_removed`, as far as is known here; once for each.
    pub fn choose(
        &mut self,
        claims: &[Claim],
        was_removed: impl Fn(NodeId) -> bool,
    ) -> (Option<Claim>, Option<Due>) {
        let later = claims.iter().filter(|claim| claim.epoch > self.epoch);
        let (void, later): (Vec<Claim>, Vec<Claim>) =
            later.partition(|it| it.epoch == self.refused || was_removed(it.epoch.node));
        let latest = later.iter().max_by_key(|it| (it.has_gone_on, it.epoch));
        let void = void.iter().map(|claim| claim.epoch).max();
        let news = void.filter(|epoch| *epoch != self.told);
        if let Some(epoch) = news {
            (self.refused, self.told) = (epoch, epoch);
        }
        (latest.copied(), news.map(Due::Refuse))
    }

    /// What is due on a node with such a replica of meta, whose rows have the epoch `known`.
    /// `later` is what a node has said of a later epoch, and whether the leader of this one has
    /// answered lately; `is_up` says which nodes were greeted, and say the same epoch.
    pub fn pass(
        &mut self,
        (later, is_led): (Option<Claim>, bool),
        (meta, known): (Option<&Status>, Epoch),
        is_up: impl Fn(NodeId) -> bool,
        now: Duration,
    ) -> Vec<Due> {
        let mut due = Vec::new();
        let since = *self.since.get_or_insert(now);
        let here = meta.map(meta_member);
        let later = later.filter(|later| later.epoch > self.epoch);
        let coming = later.filter(|later| !later.has_gone_on);
        let later = later.filter(|later| later.has_gone_on).map(|it| it.epoch);
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
            self.purged = None;
            // It is said in the next pass: by then it is kept, as a rule.
            due.push(Due::Keep(later));
            return due;
        }
        let claim = self.claim(here, known, is_led);
        if self.said.replace(claim) != Some(claim) {
            due.push(Due::Say(claim));
        }
        let (Some(status), Some(member)) = (meta, here) else {
            return due;
        };
        let members = &status.configuration;
        if let Some(Claim { epoch, .. }) = coming.filter(|it| it.epoch != self.awaited.0) {
            self.awaited = (epoch, now);
            due.push(Due::Await(epoch));
        }
        let goes_on = (self.epoch.node, self.epoch.base) == (self.node, member.replica);
        if goes_on && (members.replica_max < self.epoch.last.0 || status.is_going_alone) {
            due.push(Due::GoOnAlone(member, self.epoch.last));
            return due;
        }
        if coming.is_some() && now.saturating_sub(self.awaited.1) < COMING_MAX {
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
