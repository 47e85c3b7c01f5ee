//! How replicas come to a node and go: what is written down before the raft log hears of it.

use esker::{Error, Result};
use esker_raft::{Mark, Member, NodeId, ReplicaId, Start};

use crate::node::applying::Applying;
use crate::node::ask::{Ask, Begin};
use crate::node::keyspace_name::ReplicaKeyspace;
use crate::node::switch::{State, Switch, VOTERS_MAX};
use crate::partition::mark::ReplicaMark;

/// A replica that is to be here from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// Which.
    pub member: Member,
    /// The voters that the group begins with, it among them; none if it is added to a group.
    pub first: Vec<(ReplicaId, NodeId)>,
}

impl Applying {
    /// Makes room for a replica: its keyspace, and a durable record that it is the group's. What
    /// comes back is to be told to consensus. May be said again.
    ///
    /// Errors: `Invalid` while an older replica of the group is here, and for one that was
    /// destroyed here, or is to be; those of the engine.
    pub fn create(&mut self, create: Create) -> Result<Begin> {
        let member = create.member;
        let is_named = create.first.iter().any(|voter| voter.0 == member.replica);
        if create.first.len() > VOTERS_MAX || (!create.first.is_empty() && !is_named) {
            let message = format!("{member} is none of the voters that its group begins with");
            return Err(Error::invalid(message));
        }
        let gone = self.log.destroyed(member.group);
        if gone.is_some_and(|gone| gone >= member.replica) {
            let message = format!("{member} was destroyed here: its successor needs a larger id");
            return Err(Error::invalid(message));
        }
        match self.switches.get(member.group)? {
            // Consensus would take it for one that is damaged.
            Some(known) if known.member == member && known.state == State::Purging => {
                let message = format!("{member} is being destroyed here");
                return Err(Error::invalid(message));
            }
            Some(known) if known.member == member && self.may_go_on(&known) => {}
            Some(known) if known.member.replica < member.replica && self.was_never(&known) => {
                self.drop_keyspaces(known.member)?;
                self.switches.set(&new_switch(&create))?;
            }
            // What is kept of one that was lost is somebody's to give up, and not in passing.
            Some(known) => {
                let message = format!(
                    "{} is here: {member} cannot be before it is purged",
                    known.member
                );
                return Err(Error::invalid(message));
            }
            None => self.switches.set(&new_switch(&create))?,
        }
        let start = match create.first.is_empty() {
            true => (Start::Empty, Mark::default()),
            false => {
                let mark = Mark::first(&create.first);
                (Start::First(create.first), mark)
            }
        };
        let (start, raft) = start;
        if !self.has(member) {
            let image = None;
            let clock_us = 0;
            let keyspace = ReplicaKeyspace { member, image };
            self.open(keyspace, ReplicaMark { raft, clock_us })?;
        }
        Ok(Begin { member, start })
    }

    /// Writes down that a replica is to be destroyed. What comes back is to be told to consensus.
    /// May be said again, and of one that is not here.
    ///
    /// Errors: those of the engine.
    pub fn purge(&mut self, member: Member) -> Result<Ask> {
        match self.switches.get(member.group)? {
            Some(known) if known.member == member => {
                let state = State::Purging;
                self.switches.set(&Switch { state, ..known })?;
            }
            // It would end with its successor, which nobody has spoken of.
            Some(known) if known.member.replica < member.replica => {
                let message = format!("{} is here, and not {member}", known.member);
                return Err(Error::invalid(message));
            }
            _ => {}
        }
        Ok(Ask::Destroy(member))
    }

    // The raft log knows the replica.
    pub(crate) fn begun(&mut self, member: Member) -> Result<()> {
        match self.switches.get(member.group)? {
            Some(known) if known.member == member && known.state == State::Beginning => {
                let state = State::Living;
                self.switches.set_lazily(&Switch { state, ..known })
            }
            _ => Ok(()),
        }
    }

    // It was written down, and there was no room to make it: consensus never heard of it, and no
    // report tells of it, so nobody will ever say that it is to go.
    fn was_never(&self, known: &Switch) -> bool {
        let member = known.member;
        let log = self.log.state(member.group);
        known.state == State::Beginning
            && !self.has(member)
            && !self.is_being_retired(member)
            && log.is_none_or(|log| log.replica != member.replica)
    }

    // It is here, or was written down and could not be made: then it is made now.
    fn may_go_on(&self, known: &Switch) -> bool {
        self.has(known.member) || known.state == State::Beginning
    }

    fn has(&self, member: Member) -> bool {
        let found = self.machines.get(&member.group);
        found.is_some_and(|machine| machine.member == member)
    }
}

fn new_switch(create: &Create) -> Switch {
    Switch {
        member: create.member,
        state: State::Beginning,
        first: create.first.clone(),
    }
}
