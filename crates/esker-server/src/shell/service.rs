//! A node as clients see it, and what it answers them about tables.

use std::sync::{Arc, Weak};
use std::time::Duration;

use esker_raft::{GroupId, NodeId};
use esker_rpc::codec::reply_reader::ReplyReader;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::call::Access;
use esker_rpc::message::data::KeyAnswer;
use esker_rpc::message::meta::{MetaAnswer, MetaCall, TableDescription, TableStatus};
use esker_rpc::message::node::{NodeAnswer, NodeCall, QueryTablesResponse};
use esker_rpc::message::service::NegotiationResponse;

use crate::front::{KeysCall, Page, Service};
use crate::meta::admin;
use crate::meta::directive::TableFacts;
use crate::meta::ids::META;
use crate::meta::leaderless::{Seen, partitions};
use crate::node::Replicas;
use crate::peer::ask::{Answer, Ask as PeerAsk, Asker, ForwardedMeta};
use crate::peer::format::ANSWER_BYTES_MAX;
use crate::peer::links::Links;
use crate::reconcile::Untold;
use crate::reply::{Reply, Responder};
use crate::shell::delays::Delays;
use crate::shell::inbox::{CallBack, Inbox, Told};
use crate::shell::known::Known;
use crate::shell::moments::Moments;
use crate::shell::pages::Pages;
use crate::shell::pending::Pending;
use crate::shell::quick_reads::QuickReads;
use crate::shell::read_threads::{ReadQueue, Reader};

/// How long the answer to a forwarded call is waited for: longer than clients wait by default, and
/// than a table takes to be made.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Nodes that one without a replica of meta asks for a client, at most.
const META_TRIES_MAX: usize = 16;

/// A node, behind all of its doors. Any thread may call; nothing waits, but for a read of one row
/// that a lease has cleared, while such reads are quick.
pub(crate) struct NodeService {
    /// Itself, for calls that wait.
    pub(crate) again: Weak<NodeService>,
    pub(crate) delays: Delays,
    pub(crate) pages: Pages,
    pub(crate) myself: NodeId,
    pub(crate) cluster: u64,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) known: Arc<Known>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) inbox: Inbox,
    pub(crate) links: Arc<Links>,
    pub(crate) moments: Moments,
    pub(crate) reads: ReadQueue,
    pub(crate) reader: Reader,
    pub(crate) quick_reads: QuickReads,
    /// From so long on a call is slow, unless its table says otherwise; nothing for never.
    pub(crate) slow_query: Duration,
}

impl NodeService {
    /// A call about tables, of a client: what is not led here is forwarded once.
    pub(crate) fn administer(
        &self,
        call: MetaCall,
        arguments: Vec<u8>,
        reply: Responder<MetaAnswer>,
    ) {
        if self.replicas.view(META).is_none() {
            // Whoever leads it is asked through those that have one, one after the other.
            let mut others = self.metas();
            others.truncate(META_TRIES_MAX);
            return forward_meta(&self.links, others, (call, arguments), reply);
        }
        let links = Arc::clone(&self.links);
        let (myself, again) = (self.myself, Weak::clone(&self.again));
        let asked = call.clone();
        let back: CallBack<MetaAnswer> = Box::new(move |told| match told {
            Ok(answer) => reply.answer(answer),
            Err(Untold::NotLeader(Some(node))) if node != myself => {
                forward_meta(&links, vec![node], (asked, arguments), reply);
            }
            Err(Untold::NotLeader(_)) => match again.upgrade() {
                Some(service) => reply.answer(service.without_leader(&asked)),
                // A node that has ended answers nobody.
                None => reply.reply(Reply::Unknown),
            },
            Err(Untold::Unknown) => reply.answer(unsure(&asked)),
        });
        self.inbox.tell(Told::Admin(call, back));
    }

    /// The answer while nobody is known to lead the meta service.
    fn without_leader(&self, call: &MetaCall) -> MetaAnswer {
        // Clients ask the other addresses of the meta service then, one after the other.
        self.seen_partitions(call)
            .unwrap_or_else(|| admin::refused(call, ErrorCode::ForwardToOthers))
    }

    /// Where the partitions of a table are, if that is asked, as this node sees it by itself: no
    /// sooner than a leader had the time to be elected, who knows better.
    pub(crate) fn seen_partitions(&self, call: &MetaCall) -> Option<MetaAnswer> {
        let MetaCall::QueryConfig(request) = call else {
            return None;
        };
        let is_away = self.known.meta.is_away();
        let told = is_away.then(|| partitions(&self.replicas.meta_state(), self, request));
        told.flatten().map(MetaAnswer::QueryConfig)
    }

    pub(crate) fn some_meta(&self) -> Option<NodeId> {
        self.metas().first().copied()
    }

    /// Nodes that are connected and may have a replica of meta.
    fn metas(&self) -> Vec<NodeId> {
        let knowledge = self.known.get();
        let metas = knowledge.metas().map(|facts| facts.node);
        metas.filter(|node| self.links.is_up(node.0)).collect()
    }

    fn tables(&self) -> Vec<TableDescription> {
        let knowledge = self.known.get();
        let open = knowledge.tables.values().filter(|facts| !facts.is_dropped);
        open.map(describe).collect()
    }
}

impl Seen for NodeService {
    fn leader(&self, group: GroupId) -> Option<(u64, Option<NodeId>)> {
        let standing = self.replicas.view(group)?.standing();
        Some((standing.term, standing.leader.and_then(|leader| leader.1)))
    }

    fn is_alive(&self, node: NodeId) -> bool {
        node == self.myself || self.links.is_up(node.0)
    }
}

impl Service for NodeService {
    fn keys(&self, call: KeysCall, reply: Responder<KeyAnswer>) {
        self.submit(call, reply, true);
    }

    fn meta(&self, call: MetaCall, arguments: Vec<u8>, reply: Responder<MetaAnswer>) {
        self.administer(call, arguments, reply);
    }

    fn node(&self, call: NodeCall, reply: Responder<NodeAnswer>) {
        reply.answer(match call {
            NodeCall::QueryTables(_) => NodeAnswer::QueryTables(QueryTablesResponse {
                err: ErrorName::OK,
                apps: self.tables(),
            }),
            NodeCall::NodeCommand(command) => NodeAnswer::NodeCommand(admin::obey(&command)),
            NodeCall::NodeNegotiation(_) => {
                NodeAnswer::NodeNegotiation(NegotiationResponse::disabled())
            }
        });
    }

    fn page(&self, path: &str) -> Page {
        self.pages.page(path)
    }
}

/// Asks the first of `nodes`, and the next one if that does not lead: whom it names, or the second.
/// Who does not lead has not begun it.
fn forward_meta(
    links: &Arc<Links>,
    mut nodes: Vec<NodeId>,
    (call, arguments): (MetaCall, Vec<u8>),
    reply: Responder<MetaAnswer>,
) {
    if nodes.is_empty() {
        // The client asks again, and elsewhere.
        return reply.answer(admin::refused(&call, ErrorCode::ForwardToOthers));
    }
    let node = nodes.remove(0);
    let name = call.row().name;
    let ask = PeerAsk::Meta(ForwardedMeta {
        name: name.to_owned(),
        arguments: arguments.clone(),
    });
    let again = Arc::clone(links);
    let asker = Asker::new(move |answer| match answer {
        Answer::Done(bytes) => {
            reply.reply(read_reply(&bytes, |result| {
                MetaAnswer::read(name, result).ok()
            }));
        }
        Answer::NotLeader(named) => {
            if let Some(named) = named.map(NodeId)
                && let Some(place) = nodes.iter().position(|other| *other == named)
            {
                nodes.swap(0, place);
            }
            forward_meta(&again, nodes, (call, arguments), reply);
        }
        Answer::Refused(error) => reply.answer(admin::refused(&call, error.code())),
        Answer::Unknown => reply.answer(unsure(&call)),
    });
    links.ask(node.0, &ask, PATIENCE, asker);
}

/// The answer to a call about tables of which nobody knows what came. Who only asks does so again,
/// and elsewhere; whoever has changed something looks whether that is so.
fn unsure(call: &MetaCall) -> MetaAnswer {
    let code = match call.row().access {
        Access::Reads => ErrorCode::ForwardToOthers,
        Access::Writes | Access::Updates => ErrorCode::Timeout,
    };
    admin::refused(call, code)
}

/// The reply in a frame that another node has made; unknown if it makes no sense.
pub(crate) fn read_reply<A>(bytes: &[u8], read: impl FnOnce(&[u8]) -> Option<A>) -> Reply<A> {
    let mut reader = ReplyReader::new(ANSWER_BYTES_MAX);
    reader.buffer().extend_from_slice(bytes);
    let frame = reader.next().ok().flatten();
    let answer = frame
        .and_then(|frame| frame.result)
        .and_then(|result| read(&result));
    answer.map_or(Reply::Unknown, Reply::Answer)
}

fn describe(facts: &TableFacts) -> TableDescription {
    TableDescription {
        status: TableStatus::AS_AVAILABLE,
        app_type: "pegasus".to_owned(),
        app_name: facts.name.clone(),
        app_id: facts.table.wire(),
        partition_count: i32::try_from(facts.partition_count).unwrap_or(i32::MAX),
        envs: facts.envs.clone(),
        is_stateful: true,
        ..TableDescription::default()
    }
}
