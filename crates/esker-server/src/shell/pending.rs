//! Who waits for which request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_rpc::error::ErrorCode;
use esker_rpc::message::call::Access;
use esker_rpc::message::data::{KeyAnswer, KeyCall};

use crate::node::{Answer, Ask, EntryTimes, Reply, RequestId};
use crate::reply::{self, Responder};
use crate::shell::inbox::{Inbox, Told};
use crate::shell::moments::Moments;
use crate::shell::slow_log::{SlowLog, Trace};

/// Who waits for one request.
pub(crate) enum Waiting {
    /// Whoever wrote.
    Write(Responder<KeyAnswer>, Trace),
    /// Whoever reads.
    Read(Box<Reading>),
    /// The thread of consensus itself.
    Brain,
    /// Nobody: the next report says what came of it.
    Nobody,
}

/// A read that waits to be cleared.
pub(crate) struct Reading {
    pub(crate) call: KeyCall,
    pub(crate) reply: Responder<KeyAnswer>,
    /// How often it may be asked for again, if the replica that it was cleared for has gone.
    pub(crate) retries: u8,
    /// Bytes a second that may be read of the partition, if there is a limit.
    pub(crate) bytes_s_max: Option<u64>,
    pub(crate) trace: Trace,
    /// When consensus cleared it, if it was asked.
    pub(crate) cleared: Option<Duration>,
}

/// Everybody who waits. Any thread may call; the lock is held over a look-up alone.
pub(crate) struct Pending {
    waiting: Mutex<Requests>,
    inbox: Inbox,
    moments: Moments,
    /// Calls that took long.
    pub(crate) slow: SlowLog,
}

#[derive(Default)]
struct Requests {
    last: u64,
    by_id: HashMap<u64, Waiting>,
}

impl Pending {
    pub(crate) fn new(inbox: Inbox, moments: Moments) -> Pending {
        Pending {
            waiting: Mutex::default(),
            inbox,
            moments,
            slow: SlowLog::default(),
        }
    }

    /// Draws a name for a request that somebody waits for.
    pub(crate) fn add(&self, waiting: Waiting) -> RequestId {
        let mut requests = self.lock();
        requests.last += 1;
        let id = requests.last;
        requests.by_id.insert(id, waiting);
        RequestId(id)
    }

    /// Has consensus asked for a client who waits. One that finds too many before it is refused.
    pub(crate) fn ask(&self, waiting: Waiting, ask: impl FnOnce(RequestId) -> Ask) {
        let request = self.add(waiting);
        if self.inbox.request(ask(request)) {
            return;
        }
        match self.take(request) {
            Some(Waiting::Write(reply, _)) => reply.refuse(ErrorCode::Busy),
            Some(Waiting::Read(reading)) => reading.reply.refuse(ErrorCode::Busy),
            Some(Waiting::Brain | Waiting::Nobody) | None => {}
        }
    }

    /// Takes a request back, as far as nobody has answered it.
    pub(crate) fn take(&self, request: RequestId) -> Option<Waiting> {
        self.lock().by_id.remove(&request.0)
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        self.lock().by_id.len()
    }

    /// Answers.
    pub(crate) fn reply_all(&self, replies: Vec<(RequestId, Reply)>) {
        self.reply_applied(replies, &[]);
    }

    /// Answers what was applied; of the replies from an index on, those were the times of their
    /// entry.
    pub(crate) fn reply_applied(
        &self,
        replies: Vec<(RequestId, Reply)>,
        times: &[(usize, EntryTimes)],
    ) {
        if replies.is_empty() {
            return;
        }
        let mut requests = self.lock();
        let found: Vec<(RequestId, Option<Waiting>, Reply)> = replies
            .into_iter()
            .map(|(request, reply)| (request, requests.by_id.remove(&request.0), reply))
            .collect();
        drop(requests);
        let applied = (!times.is_empty()).then(|| self.moments.monotonic());
        let (mut rest, mut current) = (times.iter().peekable(), None);
        for (index, (request, waiting, reply)) in found.into_iter().enumerate() {
            while let Some((_, times)) = rest.next_if(|row| row.0 <= index) {
                current = Some(*times);
            }
            match waiting {
                Some(Waiting::Write(responder, trace)) => {
                    let is_done = matches!(reply, Reply::Done(_));
                    responder.reply(to_client(reply, trace.access));
                    if let (Some(applied), Some(times), true) = (applied, current, is_done)
                        && trace.is_slow(applied)
                    {
                        let now = self.moments.now();
                        let now = (now.monotonic, now.unix_us);
                        self.slow.wrote(&trace, (times, applied), now);
                    }
                }
                Some(Waiting::Read(reading)) => {
                    reading.reply.reply(to_client(reply, Access::Reads));
                }
                Some(Waiting::Brain) => self.inbox.tell(Told::Replied(request, reply)),
                Some(Waiting::Nobody) | None => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        // A panic between two lines of this file leaves the map as it was.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client is told. A refusal says that the call was surely not done, or that nobody knows.
fn to_client(reply: Reply, access: Access) -> reply::Reply<KeyAnswer> {
    match reply {
        Reply::Done(Answer::Key(answer)) => reply::Reply::Answer(answer),
        // The client asks meta anew, and tries there.
        Reply::Undone | Reply::NotLeader(_) => {
            reply::Reply::Refused(ErrorCode::InvalidState.into())
        }
        Reply::Busy => reply::Reply::Refused(ErrorCode::Busy.into()),
        Reply::Unknown => reply::Reply::unsure(access),
        // These are of no call on keys.
        Reply::Refused(_) | Reply::Done(Answer::Meta(_) | Answer::Nothing) => reply::Reply::Unknown,
    }
}
