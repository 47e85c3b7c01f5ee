//! A node as other nodes see it: what they forward, report and ask for.

use std::sync::{Arc, Weak};
use std::time::Duration;

use esker_raft::NodeId;
use esker_rpc::error::ErrorCode;
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use tokio::time::Instant;

use crate::front::{Caller, KeysCall};
use crate::meta::command::{NewNode, Registered};
use crate::meta::ids::{ClusterId, META};
use crate::meta::report::Report;
use crate::peer::ask::{Answer, Ask, Asker, ForwardedKeys, ForwardedMeta};
use crate::peer::format::Speaker;
use crate::peer::listener::PeerService;
use crate::reconcile::{self, Untold};
use crate::reply::{Reply, Responder};
use crate::shell::inbox::{CallBack, Told};
use crate::shell::service::{NodeService, PATIENCE};

/// How long the answer to a report that is handed on is waited for: another follows in a second.
const REPORT_PATIENCE: Duration = Duration::from_secs(1);

impl PeerService for NodeService {
    fn raft(&self, _from: u64, frame: Vec<u8>) {
        self.inbox.frame(frame);
    }

    fn ask(&self, from: Speaker, ask: Ask, asker: Asker) {
        match ask {
            Ask::Keys(forwarded) => self.take_keys(from, forwarded, asker),
            Ask::Meta(forwarded) => self.take_meta(forwarded, asker),
            Ask::Report(bytes) => self.hear(from, bytes, asker),
            Ask::Register(bytes) => self.register(from, &bytes, asker),
            Ask::Page(request) => self.inbox.tell(Told::Page(request, asker)),
        }
    }
}

impl NodeService {
    /// A client's call on keys, which another node has forwarded.
    fn take_keys(&self, from: Speaker, forwarded: ForwardedKeys, asker: Asker) {
        let ForwardedKeys {
            gpid,
            partition_hash,
            is_backup_request,
            name,
            arguments,
        } = forwarded;
        let Ok(call) = KeyCall::read(&name, &arguments) else {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        };
        let call = KeysCall {
            gpid,
            partition_hash,
            is_backup_request,
            call,
            arguments,
            caller: Caller::Node(from.node),
            received: Instant::now(),
        };
        let reply = Responder::new(move |reply: Reply<KeyAnswer>| {
            asker.tell(match reply {
                Reply::Answer(answer) => Answer::Done(framed(|out| answer.put(out, 0))),
                Reply::Refused(error) => Answer::Refused(error),
                Reply::Unknown => Answer::Unknown,
            });
        });
        self.submit(call, reply, false);
    }

    /// A client's call about tables, which another node has forwarded.
    fn take_meta(&self, forwarded: ForwardedMeta, asker: Asker) {
        let ForwardedMeta { name, arguments } = forwarded;
        let Ok(call) = MetaCall::read(&name, &arguments) else {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        };
        let (again, asked) = (Weak::clone(&self.again), call.clone());
        let back: CallBack<MetaAnswer> = Box::new(move |told| {
            let seen = match (&told, again.upgrade()) {
                (Err(Untold::NotLeader(None)), Some(service)) => service.seen_partitions(&asked),
                _ => None,
            };
            let told = seen.map_or(told, Ok);
            tell(asker, told, |answer| framed(|out| answer.put(out, 0)));
        });
        self.inbox.tell(Told::Admin(call, back));
    }

    /// A report: of the node that sends it, or handed on by one that does not lead meta.
    fn hear(&self, from: Speaker, bytes: Vec<u8>, asker: Asker) {
        let Ok(report) = Report::decode(&bytes) else {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        };
        let is_own = report.node.0 == from.node;
        let (links, myself) = (Arc::clone(&self.links), self.myself);
        let back: CallBack<Vec<u8>> = Box::new(move |told| match told {
            Err(Untold::NotLeader(Some(node))) if is_own && node != myself => {
                links.ask(node.0, &Ask::Report(bytes), REPORT_PATIENCE, asker);
            }
            told => tell(asker, told, |directives| directives),
        });
        match self.replicas.view(META) {
            Some(_) => self.inbox.tell(Told::Report(Box::new(report), back)),
            None => back(Err(Untold::NotLeader(self.some_meta()))),
        }
    }

    /// A node without a number asks for one.
    fn register(&self, from: Speaker, bytes: &[u8], asker: Asker) {
        let Ok(node) = NewNode::decode(bytes) else {
            return asker.tell(Answer::refused(ErrorCode::InvalidData));
        };
        let (links, bytes) = (Arc::clone(&self.links), bytes.to_vec());
        let cluster = ClusterId(self.cluster);
        let may_forward = from.node == 0;
        let back: CallBack<Result<NodeId, ErrorCode>> = Box::new(move |told| match told {
            // It knows nobody but this node, and cannot ask that one.
            Err(Untold::NotLeader(Some(node))) if may_forward => {
                links.ask(node.0, &Ask::Register(bytes), PATIENCE, asker);
            }
            Ok(Err(code)) => asker.tell(Answer::refused(code)),
            Ok(Ok(node)) => asker.tell(Answer::Done(Registered { cluster, node }.encode())),
            Err(why) => asker.tell(untold(why)),
        });
        match self.replicas.view(META) {
            Some(_) => self.inbox.tell(Told::Register(node, back)),
            None => back(Err(Untold::NotLeader(self.some_meta()))),
        }
    }
}

/// Tells another node what came of its call to the leader of meta; `put` writes it down.
fn tell<T>(asker: Asker, told: reconcile::Told<T>, put: impl FnOnce(T) -> Vec<u8>) {
    asker.tell(match told {
        Ok(done) => Answer::Done(put(done)),
        Err(why) => untold(why),
    });
}

fn untold(why: Untold) -> Answer {
    match why {
        Untold::NotLeader(node) => Answer::NotLeader(node.map(|node| node.0)),
        Untold::Unknown => Answer::Unknown,
    }
}

/// The frame that a client would have got.
fn framed(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes);
    bytes
}
