//! What callers ask of a group: writes, changes of the members, reads, the lead for another.

use std::collections::BTreeMap;

use bytes::Bytes;
use raft::StateRole;
use raft::eraftpb::{Entry, Message, MessageType};

use crate::alone::Forcing;
use crate::change::Change;
use crate::group::{Group, Refusal};
use crate::ids::{Point, ReplicaId, Token};
use crate::limits::ENTRY_BYTES_MAX;
use crate::membership::{ChangeRefusal, Facts, check};
use crate::output::{Event, Output};
use crate::proposals::Outcome;

impl Group {
    /// Proposes a write; `token` comes back with the entry, or with what became of it.
    pub(crate) fn propose(&mut self, token: Token, payload: Bytes) -> Result<(), Refusal> {
        if payload.is_empty() || payload.len() > ENTRY_BYTES_MAX {
            return Err(Refusal::Size);
        }
        self.admit(payload.len())?;
        self.proposals.queue(token, payload);
        Ok(())
    }

    /// Hands all writes of this turn to `raft` at once, so that each follower gets one message for
    /// them.
    pub(crate) fn propose_queued(&mut self, out: &mut Output) {
        let queued = self.proposals.take_queued();
        if queued.is_empty() {
            return;
        }
        let mut message = Message::default();
        message.set_msg_type(MessageType::MsgPropose);
        message.from = self.replica.0;
        let entries = queued.iter().map(|(_, payload)| {
            let data = payload.clone();
            Entry {
                data,
                ..Entry::default()
            }
        });
        message.set_entries(entries.collect::<Vec<_>>().into());
        // Messages of this turn may have ended the lead. And trap 6: beyond its own limit `raft`
        // refuses.
        let leads = self.raw.raft.state == StateRole::Leader && self.is_open();
        if !leads || self.raw.raft.step(message).is_err() {
            let dropped = queued.into_iter();
            let event = |token| Event::Proposal(self.id, token, Outcome::NotProposed);
            out.events.extend(dropped.map(|(token, _)| event(token)));
            return;
        }
        let term = self.raw.raft.term;
        let last = self.raw.raft.raft_log.last_index();
        let first = last + 1 - queued.len() as u64;
        for (index, (token, payload)) in (first..).zip(queued) {
            self.proposals
                .add(Point { index, term }, token, payload.len());
        }
    }

    /// Proposes a change of the configuration, if every rule allows it.
    pub(crate) fn change(
        &mut self,
        token: Token,
        change: &Change,
        out: &mut Output,
    ) -> Result<(), Refusal> {
        self.admit(0)?;
        let facts = Facts {
            leader: self.replica,
            is_pending: self.raw.raft.has_pending_conf() || self.forcing != Forcing::No,
            is_current: self.current_replicas(),
        };
        check(&self.configuration, change, &facts).map_err(Refusal::Change)?;
        self.propose_queued(out);
        let proposed = self
            .raw
            .propose_conf_change(change.encode(), change.as_raft());
        proposed.map_err(|_| Refusal::Busy)?;
        let index = self.raw.raft.raft_log.last_index();
        let term = self.raw.raft.term;
        self.proposals.add(Point { index, term }, token, 0);
        Ok(())
    }

    // 0.7.0 hands proposals of followers on to the leader without a word, and answers nobody. So
    // only a leader proposes.
    pub(crate) fn admit(&self, bytes: usize) -> Result<(), Refusal> {
        let raft = &self.raw.raft;
        if raft.state != StateRole::Leader || !self.is_open() {
            return Err(Refusal::NotLeader(self.leader()));
        }
        if raft.lead_transferee.is_some() {
            return Err(Refusal::Transferring);
        }
        let is_full = self.proposals.len() >= self.options.proposals_max
            || self.proposals.bytes() + bytes > self.options.proposal_bytes_max
            || raft.raft_log.last_index() - self.applied >= self.options.apply_lag_max;
        if is_full { Err(Refusal::Busy) } else { Ok(()) }
    }

    fn current_replicas(&self) -> BTreeMap<ReplicaId, bool> {
        let commit = self.raw.raft.raft_log.committed;
        let replicas = self.configuration.nodes.keys().map(|&replica| {
            let matched = self
                .raw
                .raft
                .prs()
                .get(replica.0)
                .map_or(0, |pr| pr.matched);
            let is_near = matched + self.options.catch_up_max >= commit;
            (replica, is_near && self.is_live(replica))
        });
        replicas.collect()
    }

    /// Reads whatever is acknowledged by now; `token` comes back when it may be read.
    pub(crate) fn read(&mut self, token: Token) -> Result<(), Refusal> {
        if !self.is_open() {
            return Err(Refusal::NotLeader(None));
        }
        if self.reads.len() >= self.options.reads_max {
            return Err(Refusal::Busy);
        }
        self.reads.queue(token);
        Ok(())
    }

    /// Has a lease confirmed again, or gets one.
    pub(crate) fn renew(&mut self) {
        let raft = &self.raw.raft;
        if raft.state == StateRole::Leader && self.is_open() && self.leases.are_used(raft.term) {
            self.reads.want_round();
        }
    }

    /// Hands the lead to `replica`, if this one has it.
    pub(crate) fn transfer(&mut self, replica: ReplicaId) -> Result<(), Refusal> {
        if self.raw.raft.state != StateRole::Leader || !self.is_open() {
            return Err(Refusal::NotLeader(self.leader()));
        }
        if !self.configuration.voters.contains(&replica) {
            return Err(Refusal::Change(ChangeRefusal::WrongRole(replica)));
        }
        if replica != self.replica {
            // Until a transfer is given up nothing is proposed: none is begun to one that is gone.
            if self.current_replicas().get(&replica) != Some(&true) {
                return Err(Refusal::Change(ChangeRefusal::NotCaughtUp(replica)));
            }
            let term = self.raw.raft.term;
            self.leases.hand_over(term);
        }
        self.raw.transfer_leader(replica.0);
        Ok(())
    }
}
