//! How replicas come to a node and go: what is written down before the raft log hears of it.

use esker::{Error, Result};
use esker_raft::{Mark, Member, NodeId, ReplicaId, Start};

use crate::node::applying::Applying;
use crate::node::ask::{Ask, Begin};
use crate::node::keyspace_name::ReplicaKeyspace;
use crate::node::switch::{State, Switch};
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
    /// destroyed here; those of the engine.
    pub fn create(&mut self, create: Create) -> Result<Begin> {
        let member = create.member;
        let gone = self.log.destroyed(member.group);
        if gone.is_some_and(|gone| gone >= member.replica) {
            let message = format!("{member} was destroyed here: its successor needs a larger id");
            return Err(Error::invalid(message));
        }
        match self.switches.get(member.group)? {
            Some(known) if known.member == member && self.has(member) => {}
            // What is kept of one that was lost makes room for its successor.
            Some(known) if is_retired(&known) && known.member.replica < member.replica => {
                self.drop_replica(known.member)?;
                self.switches.set(&new_switch(&create))?;
            }
            Some(known) => {
                let message = format!("{} is here: {member} cannot be", known.member);
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
        if let Some(known) = self.switches.get(member.group)?
            && known.member == member
        {
            let state = State::Purging;
            self.switches.set(&Switch { state, ..known })?;
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

    fn has(&self, member: Member) -> bool {
        let found = self.machines.get(&member.group);
        found.is_some_and(|machine| machine.member == member)
    }
}

fn is_retired(switch: &Switch) -> bool {
    switch.state == State::Retired
}

fn new_switch(create: &Create) -> Switch {
    Switch {
        member: create.member,
        state: State::Beginning,
        first: create.first.clone(),
    }
}
