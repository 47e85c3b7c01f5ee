//! Many groups driven by one loop: a turn takes what came in, and gives out what follows from it.
//!
//! The owner's loop is: messages, answers of the disk and of the state machines in, one turn, the
//! output done. Whatever happened to however many groups, a turn has one save for the log and one
//! frame for each destination. A group costs nothing in a turn in which nothing happened to it, but
//! for its tick.
//!
//! A turn takes one tick or none. After a pause there is nothing to catch up: a leader that was
//! stopped for a minute must hear of it from others, and not by expiring everything it has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::change::Change;
use crate::collect::Keep;
use crate::group::{Group, Identity, Refusal, Status};
use crate::ids::{GroupId, Member, NodeId, ReplicaId, SaveNumber, Token};
use crate::limits::{INBOX_BYTES_MAX, INBOX_MESSAGES_MAX, TURN_MESSAGES_MAX};
use crate::log::LogRead;
use crate::message::{Body, Envelope};
use crate::options::Options;
use crate::output::{Event, Output};
use crate::record::Record;
use crate::start::{Start, StartError};

/// The groups of one thread of one node.
///
/// One thread calls it; there is no lock inside.
pub struct Shard {
    node: NodeId,
    options: Arc<Options>,
    log: Arc<dyn LogRead>,
    groups: BTreeMap<GroupId, Group>,
    destroyed: BTreeMap<GroupId, ReplicaId>,
    inbox: VecDeque<Envelope>,
    inbox_bytes: usize,
    dirty: BTreeSet<GroupId>,
    // Those in which something waits for what is to be applied.
    awaiting: BTreeSet<GroupId>,
    // The groups of each save that is not durable.
    saved: VecDeque<(SaveNumber, Vec<GroupId>)>,
    out: Output,
}

/// The inbox is full: the message is dropped, which Raft endures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxFull;

impl Shard {
    /// A shard of `node`. `destroyed` has, of each group, the largest replica id that was destroyed
    /// here.
    ///
    /// # Panics
    ///
    /// On settings that do not fit one another.
    pub fn new(
        node: NodeId,
        options: Options,
        log: Arc<dyn LogRead>,
        destroyed: BTreeMap<GroupId, ReplicaId>,
    ) -> Shard {
        assert!(options.are_sound());
        Shard {
            node,
            options: Arc::new(options),
            log,
            groups: BTreeMap::new(),
            destroyed,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            dirty: BTreeSet::new(),
            awaiting: BTreeSet::new(),
            saved: VecDeque::new(),
            out: Output::new(SaveNumber(1)),
        }
    }

    /// Starts a replica.
    pub fn start(
        &mut self,
        group: GroupId,
        replica: ReplicaId,
        start: Start,
    ) -> Result<(), StartError> {
        if let Some(&gone) = self.destroyed.get(&group).filter(|&&gone| gone >= replica) {
            return Err(StartError::Destroyed(gone));
        }
        if let Some(running) = self.groups.get(&group) {
            return Err(StartError::Running(running.replica));
        }
        let node = self.node;
        let who = Identity {
            group,
            replica,
            node,
        };
        let started = Group::new(who, start, &self.options, &self.log)?;
        self.groups.insert(group, started);
        self.dirty.insert(group);
        Ok(())
    }

    /// Destroys a replica, for good, whether or not it runs: one that does not start, since its
    /// disk has lost something, is destroyed as well. Messages to it are answered so from now on.
    pub fn destroy(&mut self, group: GroupId, replica: ReplicaId) {
        let running = self.groups.get(&group).map(|running| running.replica);
        let gone = self.destroyed.get(&group).copied();
        if running.is_some_and(|running| running > replica) || gone >= Some(replica) {
            return;
        }
        if let Some(mut ended) = self.groups.remove(&group) {
            ended.end(&mut self.out);
            self.dirty.remove(&group);
            self.awaiting.remove(&group);
        }
        self.destroyed.insert(group, replica);
        self.out.record(Record::Destroy { group, replica });
        self.out.save.must_sync = true;
    }

    /// Takes a message for the next turn.
    pub fn offer(&mut self, envelope: Envelope) -> Result<(), InboxFull> {
        let bytes = envelope.size_bytes();
        let is_full = self.inbox_bytes + bytes > INBOX_BYTES_MAX;
        if is_full || self.inbox.len() >= INBOX_MESSAGES_MAX {
            return Err(InboxFull);
        }
        self.inbox_bytes += bytes;
        self.inbox.push_back(envelope);
        Ok(())
    }

    /// Proposes a write. `token` comes back in an [`Event::Proposal`] or with the committed entry.
    pub fn propose(&mut self, group: GroupId, token: Token, payload: Bytes) -> Result<(), Refusal> {
        self.touch(group)?.propose(token, payload)
    }

    /// Asks for a linearizable read, from any replica. `token` comes back when it may be served.
    pub fn read(&mut self, group: GroupId, token: Token) -> Result<(), Refusal> {
        self.touch(group)?.read(token)
    }

    /// A lease of a group that this node leads is in use, and is to be confirmed again.
    pub fn renew(&mut self, group: GroupId) {
        if let Some(found) = self.groups.get_mut(&group) {
            found.renew();
            self.dirty.insert(group);
        }
    }

    /// Proposes a change of the configuration. `token` comes back as of a write.
    pub fn change(&mut self, group: GroupId, token: Token, change: &Change) -> Result<(), Refusal> {
        let found = self.groups.get_mut(&group).ok_or(Refusal::NoGroup)?;
        self.dirty.insert(group);
        found.change(token, change, &mut self.out)
    }

    /// Whether the lead of a group is being handed over, so that nothing is proposed.
    pub fn is_transferring(&self, group: GroupId) -> bool {
        let found = self.groups.get(&group);
        found.is_some_and(|group| group.raw.raft.lead_transferee.is_some())
    }

    /// Hands the lead of a group to a voter.
    pub fn transfer(&mut self, group: GroupId, to: ReplicaId) -> Result<(), Refusal> {
        self.touch(group)?.transfer(to)
    }

    /// Most voters of a group are lost for ever: it goes on with the replica here alone, and with
    /// all that it has in its log. `last` is the largest id that the group's replicas were ever
    /// given: all others up to it are lost, also those that this one never heard of. Whoever
    /// asks for that sees to it that none of them takes part again. May be said again; false if it
    /// cannot be begun now, or is done.
    pub fn go_on_alone(&mut self, member: Member, last: ReplicaId) -> bool {
        let Some(found) = running(&mut self.groups, member) else {
            return false;
        };
        self.dirty.insert(member.group);
        found.go_on_alone(last)
    }

    /// A replica takes no part in its group before it is freed, which may have gone on without it,
    /// with another one alone: it hears nobody, and so gives no vote, no acknowledgement and no
    /// promise. Who was the only member of its group ever is not held by that.
    pub fn hold(&mut self, group: GroupId) {
        if let Some(found) = self.groups.get_mut(&group) {
            found.leases.hold();
        }
    }

    /// All groups here are those that they were, but for those in `held`: they stay held.
    pub fn free(&mut self, held: &BTreeSet<GroupId>) {
        let groups = self.groups.iter_mut();
        let freed = groups.filter(|row| !held.contains(row.0));
        freed.for_each(|row| row.1.free());
    }

    /// The connection to a node broke: groups that it led vote without waiting.
    pub fn node_gone(&mut self, node: NodeId) {
        for (&id, group) in &mut self.groups {
            let there = group.configuration.nodes.iter().find(|row| *row.1 == node);
            if let Some((&replica, _)) = there {
                group.peer_gone(replica);
                self.dirty.insert(id);
            }
        }
    }

    /// Every save up to `number` is durable.
    ///
    /// # Panics
    ///
    /// On a number that no output had.
    pub fn durable(&mut self, number: SaveNumber) {
        assert!(number < self.out.save.number);
        while self.saved.front().is_some_and(|row| row.0 <= number) {
            let Some((_, groups)) = self.saved.pop_front() else {
                return;
            };
            for id in groups {
                if let Some(group) = self.groups.get_mut(&id) {
                    group.durable(number);
                    self.dirty.insert(id);
                }
            }
        }
    }

    /// The state machine of a replica has applied everything up to `index`. Unless
    /// [`Shard::awaits_applied`], that may be said with the next turn.
    pub fn applied(&mut self, member: Member, index: u64) {
        if let Some(found) = running(&mut self.groups, member)
            && found.applied(index, &mut self.out)
        {
            self.dirty.insert(member.group);
        }
    }

    /// Whether something waits for what state machines apply: a read, an image, a change of the
    /// members.
    pub fn awaits_applied(&self) -> bool {
        !self.awaiting.is_empty()
    }

    /// What a replica has applied is durable up to `index`: its log needs no more before that.
    pub fn compact(&mut self, member: Member, index: u64, keep: Keep) {
        if let Some(found) = running(&mut self.groups, member)
            && found.compact(index, keep)
        {
            self.dirty.insert(member.group);
        }
    }

    /// An image was made as of an index, or none could be.
    pub fn image_made(&mut self, member: Member, image: Option<(u64, Bytes)>) {
        if let Some(found) = running(&mut self.groups, member) {
            found.image_made(image);
        }
    }

    /// The image that was made as of `index` is not here any more: it is offered to nobody, and who
    /// was on the way to it is offered another.
    pub fn image_gone(&mut self, member: Member, index: u64) {
        if let Some(found) = running(&mut self.groups, member) {
            found.image_gone(index);
            self.dirty.insert(member.group);
        }
    }

    /// What became of the image that was offered to the replica `to`.
    pub fn image_sent(&mut self, member: Member, to: ReplicaId, arrived: bool) {
        if let Some(found) = running(&mut self.groups, member) {
            found.image_sent(to, arrived);
            self.dirty.insert(member.group);
        }
    }

    /// The image of `index` is fetched and can be switched to, or could not be fetched.
    pub fn image_fetched(&mut self, member: Member, index: u64, is_here: bool) {
        let Some(found) = running(&mut self.groups, member) else {
            return;
        };
        match is_here {
            true => found.image_fetched(index, &mut self.out),
            false => found.image_lost(index),
        }
        self.dirty.insert(member.group);
    }

    /// The state machine of a replica is damaged, for `why`: it takes no part any more, and whoever
    /// waits for it is answered. It promises nothing else from now on, and nothing is forgotten.
    pub fn retire(&mut self, member: Member, why: &'static str) {
        let running = running(&mut self.groups, member);
        if let Some(found) = running.filter(|found| found.damage.is_none()) {
            found.retire(why, &mut self.out);
            self.dirty.insert(member.group);
        }
    }

    /// What a group knows of itself.
    pub fn status(&self, group: GroupId) -> Option<Status> {
        self.groups.get(&group).map(Group::status)
    }

    /// The groups that have a replica here.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.groups.keys().copied()
    }

    /// One turn: takes messages off the inbox, ticks if it is time, and gives out what follows.
    ///
    /// `clock` is the time by a clock that never goes back and does not stop while the machine
    /// sleeps, read after the last message was offered.
    pub fn turn(&mut self, is_tick: bool, clock: Duration) -> Output {
        for _ in 0..TURN_MESSAGES_MAX {
            let Some(envelope) = self.inbox.pop_front() else {
                break;
            };
            self.inbox_bytes -= envelope.size_bytes();
            self.deliver(envelope, clock);
        }
        if is_tick {
            for (&id, group) in &mut self.groups {
                if group.tick(clock, &mut self.out) {
                    self.dirty.insert(id);
                }
            }
        }
        self.collect(clock);
        self.finish()
    }

    /// Whether another turn has something to do before anything comes in.
    pub fn is_busy(&self) -> bool {
        !self.dirty.is_empty() || !self.inbox.is_empty()
    }

    fn touch(&mut self, id: GroupId) -> Result<&mut Group, Refusal> {
        let group = self.groups.get_mut(&id).ok_or(Refusal::NoGroup)?;
        self.dirty.insert(id);
        Ok(group)
    }

    fn deliver(&mut self, envelope: Envelope, clock: Duration) {
        let id = envelope.group;
        let to = envelope.to;
        let mut gone = self.destroyed.get(&id).copied();
        match self.groups.get_mut(&id) {
            Some(group) if group.replica == to => {
                group.step(envelope, clock, &mut self.out);
                self.dirty.insert(id);
                return;
            }
            // A node has one replica of a group: an older one than this is no more.
            Some(group) if group.is_older(to) => gone = Some(group.replica),
            _ => {}
        }
        if !matches!(envelope.body, Body::Step(_) | Body::Leaving) {
            return;
        }
        if gone.is_some_and(|gone| to <= gone) {
            self.tell_destroyed(&envelope);
        } else if matches!(envelope.body, Body::Step(_)) {
            self.out.events.push(Event::Stray {
                group: id,
                to,
                from: envelope.from,
                from_node: envelope.from_node,
            });
        }
    }

    fn tell_destroyed(&mut self, envelope: &Envelope) {
        let answer = Envelope {
            group: envelope.group,
            from: envelope.to,
            from_node: self.node,
            to: envelope.from,
            version: 0,
            body: Body::Destroyed,
        };
        self.out.send(envelope.from_node, answer);
    }

    fn collect(&mut self, clock: Duration) {
        let number = self.out.save.number;
        // What has no group any more is in this save as well, and waits for nothing.
        let mut saved = Vec::new();
        for id in std::mem::take(&mut self.dirty) {
            let Some(group) = self.groups.get_mut(&id) else {
                continue;
            };
            group.settle_images();
            let before = self.out.save.records.len();
            if group.collect(number, clock, &mut self.out) {
                self.dirty.insert(id);
            }
            match group.awaits_applied() {
                true => self.awaiting.insert(id),
                false => self.awaiting.remove(&id),
            };
            if self.out.save.records.len() > before {
                saved.push(id);
            }
        }
        if !self.out.save.records.is_empty() {
            self.saved.push_back((number, saved));
        }
    }

    fn finish(&mut self) -> Output {
        let next = SaveNumber(self.out.save.number.0 + 1);
        std::mem::replace(&mut self.out, Output::new(next))
    }
}

// Reports about another replica than the one that runs say nothing of it.
fn running(groups: &mut BTreeMap<GroupId, Group>, member: Member) -> Option<&mut Group> {
    let found = groups.get_mut(&member.group)?;
    (found.replica == member.replica).then_some(found)
}

#[cfg(test)]
mod tests;
