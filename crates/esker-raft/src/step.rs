//! What comes to a group from its peers and from the clock.

use std::time::Duration;

use raft::eraftpb::{Message, MessageType};
use raft::{SnapshotStatus, StateRole};

use crate::group::{Group, Offered};
use crate::ids::{NodeId, Point, ReplicaId};
use crate::limits::LEARNED_ADDRESSES_MAX;
use crate::message::{Body, Envelope, Step};
use crate::output::{Event, Output};
use crate::read::Patience;
use crate::screen::{Damage, damage};
use crate::ticket::Ticket;

impl Group {
    /// Takes a message that is for this replica.
    pub(crate) fn step(&mut self, envelope: Envelope, clock: Duration, out: &mut Output) {
        if !self.is_open() || self.is_held() {
            return;
        }
        let from = envelope.from;
        let step = match envelope.body {
            Body::Destroyed => {
                if self.configuration.contains(from) {
                    out.events.push(Event::PeerDestroyed(self.id, from));
                }
                return;
            }
            Body::Removed(configuration) => {
                self.hear_removed(from, &configuration, out);
                return;
            }
            Body::Leaving => {
                if self.configuration.has_left(from) {
                    self.tell_removed(from, envelope.from_node, out);
                }
                return;
            }
            Body::Step(step) => *step,
        };
        if self.configuration.has_left(from) {
            // Its vote must not disturb the group; and it must learn that it is out, though those
            // who would replicate that to it have forgotten it.
            if is_asking(&step.0) {
                self.tell_removed(from, envelope.from_node, out);
            }
            return;
        }
        if self.configuration.contains(from) {
            self.heard.insert(from, self.now);
        } else if self.addresses.len() < LEARNED_ADDRESSES_MAX {
            self.addresses.insert(from, envelope.from_node);
        }
        if self.leases.refuses(&step.0, clock) {
            return;
        }
        match damage(&self.raw.raft, &step.0) {
            // From a stranger it says nothing of this replica.
            Some(Damage::Here(why)) if self.configuration.contains(from) => self.retire(why, out),
            Some(Damage::Here(_)) => {}
            Some(Damage::There(why)) => out.events.push(Event::PeerDamaged(self.id, from, why)),
            None => {
                if step.0.term >= self.raw.raft.term {
                    self.leases.hear(&step.0, clock);
                }
                self.step_sound(step, envelope.from_node, out);
            }
        }
    }

    fn step_sound(&mut self, step: Step, from_node: NodeId, out: &mut Output) {
        let is_new = step.0.term >= self.raw.raft.term;
        match step.ticket() {
            Some(ticket) if is_new && ticket.index > self.raw.raft.raft_log.committed => {
                self.offer(step.0, from_node, ticket, out);
            }
            _ => self.step_raft(step.0),
        }
    }

    // `raft` answers with an error to messages of replicas that it does not know and to what it
    // drops; the sender finds out by itself.
    pub(crate) fn step_raft(&mut self, message: Message) {
        if message.get_msg_type() == MessageType::MsgTimeoutNow && !self.may_campaign() {
            return;
        }
        // An error says that `raft` has dropped it, and the sender will find out.
        let _ = self.raw.step(message);
        self.set_timeout();
    }

    // The image is fetched before `raft` hears of it: from then on it must be there.
    fn offer(&mut self, message: Message, from_node: NodeId, ticket: Ticket, out: &mut Output) {
        let (index, term) = (ticket.index, ticket.term);
        let point = Point { index, term };
        if let Some(offered) = self
            .offered
            .as_mut()
            .filter(|offered| offered.point == point)
        {
            offered.message = message;
            return;
        }
        let is_fetched = false;
        let from = ReplicaId(message.from);
        self.offered = Some(Offered {
            message,
            point,
            is_fetched,
        });
        out.events.push(Event::ImageOffered {
            member: self.member(),
            from,
            from_node,
            ticket,
        });
    }

    /// One tick. Returns whether the group has something to say.
    pub(crate) fn tick(&mut self, clock: Duration, out: &mut Output) -> bool {
        if !self.is_open() {
            return false;
        }
        self.now += 1;
        let mut is_dirty = self.may_tick(clock) && self.raw.tick();
        let ticks_max = self.options.image_ticks_max;
        let late = self.desk().tick(ticks_max);
        for replica in late {
            self.image_sent(replica, false);
            is_dirty = true;
        }
        if !self.reads.are_idle() {
            is_dirty |= self.tick_reads(out);
        }
        if !self.is_held() {
            self.ask_to_leave(out);
        }
        self.set_timeout();
        self.ask_again_soon();
        is_dirty
    }

    // Whoever has promised to leave its leader alone waits with its campaign, and then for its
    // rank: the promises of all may end at once. Asked in every tick, so that who starts again
    // begins to wait at once.
    fn may_tick(&mut self, clock: Duration) -> bool {
        let is_bound = self.leases.is_bound(clock);
        let waits = is_bound && !self.was_ever_alone() || self.is_held();
        // Few wait, and the rank is dear: this is asked of every group in every tick.
        self.may_campaign() && !(waits && self.would_campaign())
    }

    fn would_campaign(&self) -> bool {
        let raft = &self.raw.raft;
        raft.state != StateRole::Leader
            && raft.election_elapsed + 1 + self.draw().turned_rank()
                >= raft.randomized_election_timeout()
    }

    fn tick_reads(&mut self, out: &mut Output) -> bool {
        let patience = Patience {
            retry_ticks: self.options.heartbeat_ticks as u64,
            ticks_max: 4 * self.options.election_ticks as u64,
        };
        let (again, failed) = self.reads.tick(self.now, patience);
        let events = failed
            .into_iter()
            .map(|token| Event::ReadFailed(self.id, token));
        out.events.extend(events);
        let is_dirty = !again.is_empty();
        for name in again {
            self.raw.read_index(name);
        }
        is_dirty
    }

    /// The connection to `replica` broke: if it led, there is a vote without waiting, but for what
    /// was promised.
    pub(crate) fn peer_gone(&mut self, replica: ReplicaId) {
        if !self.is_open() {
            return;
        }
        self.heard.remove(&replica);
        if self.raw.raft.state == StateRole::Leader {
            self.raw.report_unreachable(replica.0);
            // It will not take the lead, and nothing is proposed while that is waited for.
            if self.raw.raft.lead_transferee == Some(replica.0) {
                self.raw.raft.abort_leader_transfer();
            }
            // The offer of an image may be lost, or forgotten by a process that has ended, and so
            // may the word of a fetch that failed: it would count as under way for ten minutes.
            if self.desk().interrupted(replica) {
                self.raw.report_snapshot(replica.0, SnapshotStatus::Failure);
            }
        } else if self.raw.raft.leader_id == replica.0 {
            // Without a leader this replica grants votes as soon as it may. Its own turn comes by
            // its rank, so that not all ask at the same time.
            let term = self.raw.raft.term;
            self.raw.raft.become_follower(term, raft::INVALID_ID);
            self.set_timeout();
            self.campaign_in(1);
        }
    }

    /// It takes part again. Nobody was elected while a majority was held, and whoever of it is
    /// freed last is not always one with all entries: until there is a leader, all ask often.
    pub(crate) fn free(&mut self) {
        let was_held = self.is_held();
        self.leases.free();
        if was_held && self.is_open() && self.raw.raft.leader_id == raft::INVALID_ID {
            self.eager_until = self.now + 4 * self.options.election_ticks as u64;
            self.set_timeout();
            self.campaign_in(1);
        }
    }

    // A replica that was freed lately has just asked whether others would vote for it, and will
    // ask again long before a vote would be due. That question alone changes no term.
    fn ask_again_soon(&mut self) {
        let raft = &self.raw.raft;
        let has_asked = raft.state == StateRole::PreCandidate && raft.election_elapsed == 0;
        if has_asked && self.now < self.eager_until {
            self.campaign_in(self.options.heartbeat_ticks);
        }
    }

    // Its campaign is due after so many ticks, and then by its rank.
    fn campaign_in(&mut self, ticks: usize) {
        let timeout = self.raw.raft.randomized_election_timeout();
        let before = ticks + self.draw().turned_rank();
        self.raw.raft.election_elapsed = timeout.saturating_sub(before);
    }
}

fn is_asking(message: &Message) -> bool {
    matches!(
        message.get_msg_type(),
        MessageType::MsgRequestVote
            | MessageType::MsgRequestPreVote
            | MessageType::MsgAppend
            | MessageType::MsgHeartbeat
            | MessageType::MsgReadIndex
    )
}
