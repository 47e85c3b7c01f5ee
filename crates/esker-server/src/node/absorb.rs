//! What a turn of the groups means for the other stages, and for those who wait.

use esker_raft::{
    Apply, Committed, Effect, Event, GroupId, Install, Member, Outcome, Output, ReplicaId, Token,
    encode_frames,
};

use crate::node::ask::{Entry, EntryTimes, Work};
use crate::node::consensus::Consensus;
use crate::node::limits::UNSURE_MAX;
use crate::node::request::{Now, Reply, RequestId};
use crate::node::seat::{Lead, Waiting};
use crate::node::turn::{Cleared, NodeEvent};

impl Consensus {
    /// Takes what came out of the shard.
    pub(crate) fn absorb(&mut self, output: Output, now: Now) {
        // What is said again is in no save of its own: it waits for the last one that there was.
        if !output.save.records.is_empty() {
            self.last_saved = output.save.number;
        }
        let number = self.last_saved;
        let destroying = std::mem::take(&mut self.destroying).into_iter();
        let beginning = std::mem::take(&mut self.beginning).into_iter();
        let work = beginning.map(Work::Begun).chain(destroying.map(Work::Drop));
        for work in work.collect::<Vec<_>>() {
            match number <= self.last_durable {
                true => self.do_after_save(work),
                false => self.after_saves.push_back((number, work)),
            }
        }
        for Install { member, ticket } in output.installs {
            self.out.work.push(Work::Install(member, ticket));
            // The log's new beginning is the switch: until it is durable a crash leaves the old
            // one.
            let dropped = Work::DropReplaced(member);
            self.after_saves.push_back((number, dropped));
        }
        if !output.save.records.is_empty() {
            self.out.saves.push(output.save);
        }
        for (node, messages) in output.sends {
            let frames = encode_frames(&messages).into_iter();
            self.out.frames.extend(frames.map(|frame| (node, frame)));
        }
        for apply in output.applies {
            self.apply(apply, now);
        }
        for read in output.reads {
            if let Some(Waiting::Read(request)) = self.waiting.remove(&read.token) {
                self.clear(request, read.group, read.index);
            }
        }
        for event in output.events {
            self.hear(event, now);
        }
    }

    fn clear(&mut self, request: RequestId, group: GroupId, index: u64) {
        let Some(member) = self.seats.get(&group).map(|seat| seat.member) else {
            self.reply(request, Reply::NotLeader(None));
            return;
        };
        self.out.cleared.push(Cleared {
            request,
            member,
            index,
        });
    }

    fn apply(&mut self, apply: Apply, now: Now) {
        let mut bytes = 0;
        let entries = apply.entries.into_iter().map(|committed| {
            bytes += entry_bytes(&committed);
            let mut times = EntryTimes {
                proposed: now.monotonic,
                committed: now.monotonic,
            };
            let requests = match committed.token.and_then(|it| self.waiting.remove(&it)) {
                Some(Waiting::Writes(writes)) => {
                    self.waiting_bytes -= writes.bytes;
                    times.proposed = writes.time;
                    writes.requests
                }
                Some(Waiting::Change(request) | Waiting::Read(request)) => vec![request],
                None => Vec::new(),
            };
            Entry {
                committed,
                requests,
                times,
            }
        });
        let entries = entries.collect();
        self.replicas.add_unapplied(apply.member.group, bytes);
        self.out.work.push(Work::Apply(apply.member, entries));
    }

    fn hear(&mut self, event: Event, now: Now) {
        match event {
            Event::Proposal(_, token, outcome) => self.give_up(token, outcome),
            Event::ReadFailed(group, token) => {
                if let Some(Waiting::Read(request)) = self.waiting.remove(&token) {
                    let node = match self.seats.get(&group).map(|seat| seat.lead) {
                        Some(Lead::There(node)) => node,
                        _ => None,
                    };
                    self.reply(request, Reply::NotLeader(node));
                }
            }
            Event::Leader {
                group,
                term,
                leader,
            } => self.hear_leader(group, term, leader, now),
            Event::Established(member) => self.out.events.push(NodeEvent::Established(member)),
            Event::Lease(member, lease) => {
                if let Some(view) = self.replicas.view(member.group)
                    && view.member == member
                {
                    view.lease.set(lease);
                }
            }
            Event::ImageWanted(member, index) => {
                self.out.work.push(Work::MakeImage(member, index));
            }
            Event::ImageOffered {
                member,
                from,
                from_node,
                ticket,
            } => self.out.events.push(NodeEvent::ImageOffered {
                member,
                from: Member {
                    group: member.group,
                    replica: from,
                },
                from_node,
                ticket,
            }),
            Event::ImageUnused(member, index) => {
                self.out.work.push(Work::DropImage(member, index));
            }
            Event::Left(group, replica) => {
                let member = Member { group, replica };
                self.out.events.push(NodeEvent::Left(member));
                self.out.work.push(Work::Purge(member));
            }
            Event::PeerDestroyed(group, replica) => {
                let peer = Member { group, replica };
                self.out.events.push(NodeEvent::PeerDestroyed(peer));
            }
            Event::Stray {
                group,
                to,
                from_node,
                ..
            } => {
                let to = Member { group, replica: to };
                self.out.events.push(NodeEvent::Stray { to, from_node });
            }
            Event::PeerDamaged(group, replica, why) => {
                let peer = Member { group, replica };
                self.out.events.push(NodeEvent::PeerDamaged(peer, why));
            }
            Event::Damaged(member, why) => self.damaged(member, why.to_owned()),
        }
    }

    fn give_up(&mut self, token: Token, outcome: Outcome) {
        let reply = match outcome {
            Outcome::NotProposed | Outcome::Overwritten | Outcome::Refused => Reply::Undone,
            Outcome::Unknown => Reply::Unknown,
        };
        match self.waiting.remove(&token) {
            Some(Waiting::Writes(writes)) => {
                self.waiting_bytes -= writes.bytes;
                for request in writes.requests {
                    self.reply(request, reply.clone());
                }
            }
            Some(Waiting::Change(request) | Waiting::Read(request)) => self.reply(request, reply),
            None => {}
        }
    }

    /// Writes that this node has proposed and of which it cannot say what became: another one leads
    /// by now, or nobody does, and whoever could tell may be away for days.
    pub(crate) fn let_go_of_unsure(&mut self, now: Now) {
        let is_led_here = |group: GroupId| {
            let seat = self.seats.get(&group);
            seat.is_some_and(|seat| seat.lead == Lead::Here)
        };
        let is_unsure = |waiting: &Waiting| match waiting {
            Waiting::Writes(writes) => {
                writes.time + UNSURE_MAX <= now.monotonic && !is_led_here(writes.group)
            }
            Waiting::Change(_) | Waiting::Read(_) => false,
        };
        let unsure = self.waiting.iter().filter(|row| is_unsure(row.1));
        for token in unsure.map(|row| *row.0).collect::<Vec<_>>() {
            self.give_up(token, Outcome::Unknown);
        }
    }

    fn damaged(&mut self, member: Member, why: String) {
        if let Some(seat) = self.seats.get_mut(&member.group) {
            seat.is_damaged = true;
            seat.lead = Lead::Nobody;
        }
        self.answer_seat(member.group);
        self.out.work.push(Work::Retire(member, why.clone()));
        self.out.events.push(NodeEvent::Damaged(member, why));
    }

    fn hear_leader(&mut self, group: GroupId, term: u64, leader: Option<ReplicaId>, now: Now) {
        let at = leader.map(|leader| (leader, self.node_of(group, leader)));
        let Some(seat) = self.seats.get_mut(&group).filter(|seat| !seat.is_damaged) else {
            return;
        };
        let member = seat.member;
        seat.lead = match at {
            None => Lead::Nobody,
            Some((leader, _)) if leader == member.replica => Lead::Here,
            Some((_, node)) => Lead::There(node),
        };
        let lead = seat.lead;
        match lead {
            Lead::There(None) => self.unplaced.insert(group),
            _ => self.unplaced.remove(&group),
        };
        if let Some(view) = self.replicas.view(group).filter(|it| it.member == member) {
            view.set_standing(|standing| {
                standing.term = term;
                standing.leader = at;
            });
        }
        let leader = at;
        self.out.events.push(NodeEvent::Leader {
            member,
            term,
            leader,
        });
        match lead {
            Lead::Nobody | Lead::Leaving => {}
            Lead::There(_) => self.answer_seat(group),
            Lead::Here => self.admit_held(group, now),
        }
    }

    /// A replica that has just joined hears its leader before it knows the members of its group.
    /// Nobody tells it of that leader again, so it looks itself whether the node is known by now.
    pub(crate) fn place_leaders(&mut self, now: Now) {
        for group in self.unplaced.clone() {
            let Some(status) = self.shard.status(group) else {
                self.unplaced.remove(&group);
                continue;
            };
            let node = status.leader.and_then(|it| self.node_of(group, it));
            if node.is_some() {
                self.unplaced.remove(&group);
                self.hear_leader(group, status.term, status.leader, now);
            }
        }
    }

    /// Whether nobody else could lead the group.
    pub(crate) fn is_alone(&self, group: GroupId) -> bool {
        let status = self.shard.status(group);
        status.is_some_and(|status| status.configuration.voters.len() < 2)
    }

    // Who has waited for a leader is served by this one.
    pub(crate) fn admit_held(&mut self, group: GroupId, now: Now) {
        let Some(seat) = self.seats.get_mut(&group) else {
            return;
        };
        let held = std::mem::take(&mut seat.held);
        self.holding.remove(&group);
        for (_, held) in held {
            self.waiting_bytes -= held.size_bytes();
            self.admit(group, held, now);
        }
    }
}

/// Bytes that an entry counts for while it waits to be applied.
pub fn entry_bytes(committed: &Committed) -> usize {
    let payload = match &committed.effect {
        Effect::Write(bytes) => bytes.len(),
        Effect::Nothing | Effect::Configuration(_) => 0,
    };
    payload + size_of::<Committed>()
}
