//! A group that has lost most of its voters for ever goes on with one replica alone.
//!
//! Somebody outside has decided that, once for all, and sees to it that no other replica of before
//! takes part again: by holding those that start (`step.rs`) until they are known to be none of
//! them. Here it is two steps. First the members are forgotten in memory, so that this replica is
//! the only voter; it is elected, and with that all that is in its log is committed, acknowledged
//! or not. Then an entry says so, behind everything that it had: from there on it is so for every
//! replica that ever gets this log. A crash in between leaves the group as it was, with a longer
//! log, and it is told again.

use raft::StateRole;
use raft::eraftpb::{ConfChangeSingle, ConfChangeTransition, ConfChangeType, ConfChangeV2};

use crate::alone::Forcing;
use crate::change::{Change, ChangeStep};
use crate::configuration::Configuration;
use crate::group::{Group, Offered};
use crate::ids::ReplicaId;
use crate::output::Effect;

/// So many terms further on is the one in which a replica goes on alone: others may elect somebody
/// at the same time, and of two entries of one term and index all but one is taken for the other.
const TERMS_LEAPT: u64 = 1 << 20;

impl Group {
    /// Forgets all other members, and whoever else has an id up to `last`. False if that cannot be
    /// now: there is a leader, what is committed is not handed out, or an image is about to be
    /// installed, which has more than this log. Nor if the group has given a larger id since, for
    /// then it was said of a group of before. Who is alone already, by its log, is only held no
    /// more.
    pub(crate) fn go_on_alone(&mut self, last: ReplicaId) -> bool {
        let raft = &self.raw.raft;
        let is_behind = self.handed_out < raft.raft_log.committed;
        let is_led = raft.leader_id != raft::INVALID_ID;
        let is_fetched = |offered: &Offered| offered.is_fetched;
        let is_taking = is_behind || self.offered.as_ref().is_some_and(is_fetched);
        if !self.is_open() || is_led || is_taking || self.forcing != Forcing::No {
            return false;
        }
        if self.configuration.replica_max > last.0 {
            return false;
        }
        if self.is_alone() && self.configuration.nodes.len() == 1 {
            self.free();
            return false;
        }
        let term = raft.term + TERMS_LEAPT;
        let Some(next) = self.only(self.replica, last, self.configuration.version) else {
            return false;
        };
        self.raw.raft.become_follower(term, raft::INVALID_ID);
        self.set_configuration(next);
        self.forcing = Forcing::Forgotten;
        self.leaving = None;
        self.set_timeout();
        let timeout = self.raw.raft.randomized_election_timeout();
        self.raw.raft.election_elapsed = timeout.saturating_sub(1);
        true
    }

    /// Once it leads, and no change of its log is left to come, the entry is proposed.
    pub(crate) fn propose_alone(&mut self) {
        let raft = &self.raw.raft;
        let leads = raft.state == StateRole::Leader && self.is_open();
        if self.forcing != Forcing::Forgotten || !leads || raft.has_pending_conf() {
            return;
        }
        let last = ReplicaId(self.configuration.replica_max);
        let change = Change::of(ChangeStep::Alone(self.replica, last));
        let told = joint([(ConfChangeType::AddNode, self.replica)]);
        if self.raw.propose_conf_change(change.encode(), told).is_ok() {
            self.forcing = Forcing::Proposed;
        }
    }

    /// The entry is committed.
    pub(crate) fn apply_alone(
        &mut self,
        replica: ReplicaId,
        last: ReplicaId,
        index: u64,
    ) -> Effect {
        let Some(next) = self.only(replica, last, index) else {
            return Effect::Nothing;
        };
        self.set_configuration(next.clone());
        if std::mem::take(&mut self.forcing) != Forcing::No && replica == self.replica {
            self.leases.free();
        }
        // Another one may have led the members of before, with this entry in its log.
        self.stand_down_without_vote(&next);
        match next.has_left(self.replica) {
            true => self.leave(&next),
            false => self.leaving = None,
        }
        Effect::Configuration(next)
    }

    // The configuration of `replica` alone, which `raft` has from now on.
    fn only(&mut self, replica: ReplicaId, last: ReplicaId, version: u64) -> Option<Configuration> {
        let node = match replica == self.replica {
            true => self.node,
            false => *self.configuration.nodes.get(&replica)?,
        };
        let leave = ConfChangeV2::default();
        if self.configuration.is_joint() {
            self.raw.apply_conf_change(&leave).ok()?;
        }
        let others = self.configuration.nodes.keys().copied();
        let others = others.filter(|other| *other != replica);
        let removed = others.map(|other| (ConfChangeType::RemoveNode, other));
        let stays = std::iter::once((ConfChangeType::AddNode, replica));
        let told = joint(stays.chain(removed));
        self.raw.apply_conf_change(&told).ok()?;
        self.raw.apply_conf_change(&leave).ok()?;
        let replica_max = self.configuration.replica_max.max(replica.0).max(last.0);
        Some(Configuration {
            replica_max,
            ..Configuration::first(version, &[(replica, node)])
        })
    }
}

fn joint(steps: impl IntoIterator<Item = (ConfChangeType, ReplicaId)>) -> ConfChangeV2 {
    let singles = steps.into_iter().map(|(kind, replica)| {
        let mut single = ConfChangeSingle::default();
        single.set_change_type(kind);
        single.node_id = replica.0;
        single
    });
    let mut change = ConfChangeV2::default();
    change.set_transition(ConfChangeTransition::Implicit);
    change.set_changes(singles.collect::<Vec<_>>().into());
    change
}
