//! What the thread of consensus is told, and how much of it may wait.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_raft::{GroupId, Member, NodeId};
use esker_rpc::error::ErrorCode;
use esker_rpc::message::meta::{MetaAnswer, MetaCall};

use crate::meta::command::NewNode;
use crate::meta::report::Report;
use crate::node::{Ask, Reply, RequestId};
use crate::peer::ask::{Answer, Asker};
use crate::reconcile::{self, Untold};

/// Requests of clients that wait for a turn: what one turn takes is far below.
const REQUESTS_MAX: usize = 1 << 16;

/// Bytes of frames that wait for a turn. Those beyond are dropped, which raft endures.
const FRAME_BYTES_MAX: usize = 64 << 20;

/// Who is told what came of a call to the leader of meta that brings a `T`.
pub(crate) type CallBack<T> = Box<dyn FnOnce(reconcile::Told<T>) + Send>;

/// Something that the thread of consensus is told.
pub(crate) enum Told {
    /// A client's request; it counts.
    Request(Ask),
    /// A frame of another node; it counts.
    Frame(Vec<u8>),
    /// What another stage has done. It does not count: a stage says one thing for all it did, and
    /// what it does is bounded. A stage that had to wait here could wait for ever.
    Stage(Ask),
    /// Something was applied, and that is waited for.
    Applied,
    /// What came of a request that this thread has made itself.
    Replied(RequestId, Reply),
    /// A call of administration.
    Admin(MetaCall, CallBack<MetaAnswer>),
    /// A node without a number asks for one.
    Register(NewNode, CallBack<Result<NodeId, ErrorCode>>),
    /// A node reports.
    Report(Box<Report>, CallBack<Vec<u8>>),
    /// What the leader of meta says must be true here.
    Directives(Vec<u8>),
    /// The node that was asked does not lead meta; that one may.
    Elsewhere(Option<NodeId>),
    /// A node asks for a page of an image.
    Page(Vec<u8>, Asker),
    /// The connection to a node broke.
    NodeGone(NodeId),
    /// What this node leads is to be led by others; the groups for which that has begun are told.
    HandOver(Box<dyn FnOnce(Vec<GroupId>) + Send>),
    /// The thread is to end.
    Stop,
}

impl Told {
    /// What the side of the leader, which is here, says to a report.
    pub(crate) fn of_leader(told: reconcile::Told<Vec<u8>>) -> Told {
        match told {
            Ok(bytes) => Told::Directives(bytes),
            Err(Untold::NotLeader(node)) => Told::Elsewhere(node),
            Err(Untold::Unknown) => Told::Elsewhere(None),
        }
    }

    /// What another node says to a report.
    pub(crate) fn of_answer(answer: Answer) -> Told {
        match answer {
            Answer::Done(bytes) => Told::Directives(bytes),
            Answer::NotLeader(node) => Told::Elsewhere(node.map(NodeId)),
            Answer::Refused(_) | Answer::Unknown => Told::Elsewhere(None),
        }
    }
}

/// The sending end. Copies are the same one; any thread may send, and none waits.
#[derive(Clone)]
pub(crate) struct Inbox {
    sender: Sender<Told>,
    waiting: Arc<Counts>,
}

/// The receiving end.
pub(crate) struct Outlet {
    pub(crate) receiver: Receiver<Told>,
    waiting: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: AtomicUsize,
    frame_bytes: AtomicUsize,
    applied: Mutex<AppliedNews>,
}

/// What was applied, and the thread of consensus was not told yet: it looks there in each turn.
/// Every write is applied on each of its nodes, and hardly ever does anything follow from that, so
/// nobody is woken for it unless it is waited for.
#[derive(Default)]
struct AppliedNews {
    last: BTreeMap<Member, u64>,
    is_awaited: bool,
}

/// Both ends.
pub(crate) fn inbox() -> (Inbox, Outlet) {
    let (sender, receiver) = channel();
    let waiting = Arc::<Counts>::default();
    let outlet = Outlet {
        receiver,
        waiting: Arc::clone(&waiting),
    };
    (Inbox { sender, waiting }, outlet)
}

impl Inbox {
    /// A client's request; false if too many wait, and when the thread has ended.
    pub(crate) fn request(&self, ask: Ask) -> bool {
        let waiting = self.waiting.requests.fetch_add(1, Ordering::SeqCst);
        let is_sent = waiting < REQUESTS_MAX && self.sender.send(Told::Request(ask)).is_ok();
        if !is_sent {
            self.waiting.requests.fetch_sub(1, Ordering::SeqCst);
        }
        is_sent
    }

    /// A frame of another node, dropped if too much waits.
    pub(crate) fn frame(&self, frame: Vec<u8>) {
        let len = frame.len();
        let waiting = self.waiting.frame_bytes.fetch_add(len, Ordering::SeqCst);
        let is_sent = waiting < FRAME_BYTES_MAX && self.sender.send(Told::Frame(frame)).is_ok();
        if !is_sent {
            self.waiting.frame_bytes.fetch_sub(len, Ordering::SeqCst);
        }
    }

    /// A replica has applied everything up to `index`.
    pub(crate) fn applied(&self, member: Member, index: u64) {
        let mut news = self.waiting.applied();
        news.last.insert(member, index);
        let is_awaited = std::mem::take(&mut news.is_awaited);
        drop(news);
        if is_awaited {
            self.tell(Told::Applied);
        }
    }

    /// Anything else. What is told to a thread that has ended is dropped, with who waits for it.
    pub(crate) fn tell(&self, told: Told) {
        // As just said: the node is ending.
        let _ = self.sender.send(told);
    }
}

impl Outlet {
    /// What was applied since this was asked last.
    pub(crate) fn take_applied(&self) -> BTreeMap<Member, u64> {
        std::mem::take(&mut self.waiting.applied().last)
    }

    /// The next thing that is applied is to be told at once; true if there is one already.
    pub(crate) fn await_applied(&self) -> bool {
        let mut news = self.waiting.applied();
        news.is_awaited = true;
        !news.last.is_empty()
    }

    /// What was received counts no more.
    pub(crate) fn count_off(&self, told: &Told) {
        match told {
            Told::Request(_) => {
                self.waiting.requests.fetch_sub(1, Ordering::SeqCst);
            }
            Told::Frame(frame) => {
                let frame_bytes = &self.waiting.frame_bytes;
                frame_bytes.fetch_sub(frame.len(), Ordering::SeqCst);
            }
            _ => {}
        }
    }
}

impl Counts {
    fn applied(&self) -> MutexGuard<'_, AppliedNews> {
        // Numbers are whole whatever a thread that panicked was about to do.
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
