//! A call on keys, as a node takes it: to whoever leads, past limits of its table, to consensus.

use std::sync::Weak;
use std::time::Duration;

use esker_raft::GroupId;
use esker_raft::NodeId;
use esker_rpc::codec::thrift::{put_field, put_stop};
use esker_rpc::error::ErrorCode;
use esker_rpc::message::call::{Access, Row};
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall, QueryConfigRequest};

use crate::front::KeysCall;
use crate::meta::ids::{PartitionId, TableId};
use crate::node::{Ask, Traffic, View};
use crate::peer::ask::{Answer, Ask as PeerAsk, Asker, ForwardedKeys};
use crate::reconcile::Knowledge;
use crate::reply::{Reply, Responder};
use crate::shell::misdirected::Misdirection;
use crate::shell::pending::{Reading, Waiting};
use crate::shell::read_threads::Readable;
use crate::shell::service::{NodeService, PATIENCE, read_reply};
use crate::shell::slow_log::Trace;
use crate::throttle::{Arriving, Denied, Verdict};

/// How often a read is asked for again whose replica has gone.
const READ_RETRIES: u8 = 3;

/// How a call came to be submitted.
#[derive(Clone, Copy)]
struct Passage {
    /// Another node may be asked: no node has forwarded it before.
    may_forward: bool,
    /// It has waited so long as a limit of its table asks for.
    waited: Option<Duration>,
}

impl NodeService {
    /// A call on keys. One that another node forwarded is not forwarded again.
    pub(crate) fn submit(&self, call: KeysCall, reply: Responder<KeyAnswer>, may_forward: bool) {
        let waited = None;
        let passage = Passage {
            may_forward,
            waited,
        };
        self.pass(call, reply, passage);
    }

    fn pass(&self, call: KeysCall, reply: Responder<KeyAnswer>, passage: Passage) {
        let knowledge = self.known.get();
        let (table, group) = match group_of(&knowledge, &call) {
            Ok(found) => found,
            Err(why) => {
                self.pages.misdirected.count(why, &call);
                return reply.refuse(why.code());
            }
        };
        let Some(view) = self.replicas.view(group) else {
            return self.pass_on(&knowledge, (table, group), (call, reply, passage));
        };
        if let KeyCall::ClearScanner(_) = call.call {
            // Never answered; whether there was such a scan does not matter.
            let _ = view.serve(&call.call, &*self.moments.0);
            return;
        }
        let standing = view.standing();
        if standing.damage.is_some() {
            return self.pass_on(&knowledge, (table, group), (call, reply, passage));
        }
        if let Some((replica, Some(node))) = standing.leader
            && replica != view.member.replica
        {
            return match passage.may_forward && node != self.myself {
                true => self.forward_keys(node, call, reply),
                false => reply.refuse(ErrorCode::InvalidState),
            };
        }
        let is_read = call.call.row().access == Access::Reads;
        let rules = knowledge.rules(table);
        let limits = rules.and_then(|rules| rules.limits.as_ref());
        let now = self.moments.monotonic();
        if passage.waited.is_none() {
            let traffic = if is_read { &view.reads } else { &view.writes };
            traffic.call();
            if let Some(limits) = limits {
                let arriving = match is_read {
                    true => Arriving::Read,
                    false => Arriving::Write(call.arguments.len()),
                };
                let verdict = view.throttle.admit(limits, arriving, now);
                if verdict != Verdict::Now {
                    return self.hold_back(verdict, traffic, (call, reply, passage));
                }
            }
        }
        let slow = rules
            .and_then(|rules| rules.slow)
            .unwrap_or(self.slow_query);
        let waited = passage.waited.unwrap_or_default();
        let trace = Trace::of(&call, group, (now, waited, slow));
        match is_read {
            true => {
                let bytes_s_max = limits.and_then(|limits| limits.read_bytes);
                let reading = Box::new(Reading {
                    call: call.call,
                    reply,
                    retries: READ_RETRIES,
                    bytes_s_max,
                    trace,
                    cleared: None,
                });
                self.read(&view, reading, (now, passage.may_forward));
            }
            false => self.write(group, call, Waiting::Write(reply, trace)),
        }
    }

    /// A call that a limit of its table is against, or of whom nobody is to ask.
    fn hold_back(
        &self,
        verdict: Verdict,
        traffic: &Traffic,
        (call, reply, passage): (KeysCall, Responder<KeyAnswer>, Passage),
    ) {
        match verdict {
            Verdict::Now => {}
            Verdict::Later(wait) => {
                let Some(permit) = self.delays.permit() else {
                    traffic.reject();
                    return reply.refuse(ErrorCode::Busy);
                };
                traffic.delay();
                let again = Weak::clone(&self.again);
                let passage = Passage {
                    waited: Some(wait),
                    ..passage
                };
                self.delays.after(permit, wait, move || {
                    // A node that has ended answers nobody.
                    if let Some(service) = again.upgrade() {
                        service.pass(call, reply, passage);
                    }
                });
            }
            Verdict::Rejected(wait) => {
                traffic.reject();
                match self.delays.permit().filter(|_| !wait.is_zero()) {
                    Some(permit) => {
                        let refuse = move || reply.refuse(ErrorCode::Busy);
                        self.delays.after(permit, wait, refuse);
                    }
                    None => reply.refuse(ErrorCode::Busy),
                }
            }
            Verdict::Denied(how) => {
                traffic.deny();
                match how {
                    Denied::Silently => reply.reply(Reply::Unknown),
                    // The client asks meta anew where the partition is.
                    Denied::Elsewhere => reply.refuse(ErrorCode::InvalidState),
                }
            }
        }
    }

    /// Hands on a call on a partition that is on other nodes: the meta service is asked for its
    /// leader, as the client would next. Only a client that holds on to an old place comes here, so
    /// what it costs does not matter, and an error less is met by programs.
    fn pass_on(
        &self,
        knowledge: &Knowledge,
        (table, group): (TableId, GroupId),
        (call, reply, passage): (KeysCall, Responder<KeyAnswer>, Passage),
    ) {
        let facts = knowledge.open_table(table).filter(|_| passage.may_forward);
        let Some(facts) = facts.filter(|_| call.call.row().is_answered) else {
            return reply.refuse(ErrorCode::ObjectNotFound);
        };
        let request = QueryConfigRequest {
            app_name: facts.name.clone(),
            partition_indices: vec![call.gpid.partition_index],
        };
        let mut arguments = Vec::new();
        put_field(&mut arguments, 1, &request);
        put_stop(&mut arguments);
        let again = Weak::clone(&self.again);
        let told = Responder::new(move |told: Reply<MetaAnswer>| {
            // A node that has ended answers nobody.
            let Some(service) = again.upgrade() else {
                return;
            };
            match service.leader_in(&told, group) {
                Some(node) => service.forward_keys(node, call, reply),
                None => reply.refuse(ErrorCode::ObjectNotFound),
            }
        });
        self.administer(MetaCall::QueryConfig(request), arguments, told);
    }

    /// The node that leads a group by what meta has told of its table, if that is another one.
    fn leader_in(&self, told: &Reply<MetaAnswer>, group: GroupId) -> Option<NodeId> {
        let Reply::Answer(MetaAnswer::QueryConfig(told)) = told else {
            return None;
        };
        let id = PartitionId::of(group);
        let mut partitions = told.partitions.iter();
        let found = partitions.find(|one| {
            one.pid.app_id == id.table.wire()
                && u32::try_from(one.pid.partition_index) == Ok(id.index)
        });
        let primary = found?.primary.0?;
        let knowledge = self.known.get();
        let is_up = |node: NodeId| node == self.myself || self.links.is_up(node.0);
        let node = knowledge.node_at(primary, is_up)?;
        (node != self.myself).then_some(node)
    }

    fn read(&self, view: &View, reading: Box<Reading>, (now, is_own): (Duration, bool)) {
        let (member, group) = (view.member, view.member.group);
        if let Some(index) = self.replicas.leased(view, now) {
            let readable = Readable {
                member,
                index,
                reading,
            };
            // What another node has handed on came in where frames of raft do, which may never wait
            // for a disk.
            let quick = || self.quick_reads.kind_of(&readable.reading.call);
            if is_own && let Some(kind) = quick() {
                let done = self.reader.serve(readable, now);
                return self.quick_reads.took(kind, done.saturating_sub(now));
            }
            return self.reads.serve(vec![readable]);
        }
        let ask = |request| Ask::Read { request, group };
        self.pending.ask(Waiting::Read(reading), ask);
    }

    fn write(&self, group: GroupId, call: KeysCall, waiting: Waiting) {
        self.pending.ask(waiting, |request| Ask::Write {
            request,
            group,
            name: call.call.row().name,
            arguments: call.arguments,
        });
    }

    fn forward_keys(&self, node: NodeId, call: KeysCall, reply: Responder<KeyAnswer>) {
        let Row { name, access, .. } = call.call.row();
        let ask = PeerAsk::Keys(ForwardedKeys {
            gpid: call.gpid,
            partition_hash: call.partition_hash,
            is_backup_request: call.is_backup_request,
            name: name.to_owned(),
            arguments: call.arguments,
        });
        let asker = Asker::new(move |answer| match answer {
            Answer::Done(bytes) => reply.reply(read_reply(&bytes, |result| {
                KeyAnswer::read(name, result).ok()
            })),
            // It was not sent: the client asks meta anew, and tries there.
            Answer::Refused(error) if error.code() == ErrorCode::ServiceNotActive => {
                reply.refuse(ErrorCode::InvalidState);
            }
            Answer::Refused(error) => reply.refuse(error),
            Answer::NotLeader(_) => reply.refuse(ErrorCode::InvalidState),
            Answer::Unknown => reply.reply(Reply::unsure(access)),
        });
        self.links.ask(node.0, &ask, PATIENCE, asker);
    }
}

/// The table and the group that a call is for, if the table is there and its partition is the right
/// one.
fn group_of(knowledge: &Knowledge, call: &KeysCall) -> Result<(TableId, GroupId), Misdirection> {
    let table = TableId::of_wire(call.gpid.app_id).ok_or(Misdirection::NoTable)?;
    let facts = knowledge.open_table(table).ok_or(Misdirection::NoTable)?;
    let index = u32::try_from(call.gpid.partition_index).ok();
    let index = index.filter(|index| *index < facts.partition_count);
    let index = index.ok_or(Misdirection::NoPartition)?;
    // A whole table's scan says its partition in the place of a hash, which passes.
    let is_misplaced = call.partition_hash % u64::from(facts.partition_count) != index.into();
    if facts.validates_hash && is_misplaced {
        return Err(Misdirection::OtherHash);
    }
    Ok((table, PartitionId { table, index }.group()))
}
