//! How a call is answered: once, from whatever thread knows.

use std::fmt;

use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::call::Access;

/// What comes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<A> {
    /// It was done, and this is the response.
    Answer(A),
    /// It was not done; the name says why, and what the client does about it. `ERR_TIMEOUT` alone
    /// says that nobody knows.
    Refused(ErrorName),
    /// Nobody knows what came of it: no reply is sent.
    Unknown,
}

impl<A> Reply<A> {
    /// Nobody knows what came of a call on keys, and nobody here will. A read changes nothing, so
    /// it is sent again, to whoever leads by then. A write is said to be unsure: some clients send
    /// it again, and twice is as once. One that counts on what was there would be done twice by
    /// these, unseen by whoever asked: it has no reply, and the client's own time runs out.
    pub fn unsure(access: Access) -> Reply<A> {
        match access {
            Access::Reads => Reply::Refused(ErrorCode::InvalidState.into()),
            Access::Writes => Reply::Refused(ErrorCode::Timeout.into()),
            Access::Updates => Reply::Unknown,
        }
    }
}

/// Whoever waits for a reply. One that is dropped without a word has said `Unknown`.
pub struct Responder<A>(Option<Box<dyn FnOnce(Reply<A>) + Send>>);

impl<A> Responder<A> {
    /// The reply is given to `send`, which must not wait.
    pub fn new(send: impl FnOnce(Reply<A>) + Send + 'static) -> Responder<A> {
        Responder(Some(Box::new(send)))
    }

    /// Replies.
    pub fn reply(mut self, reply: Reply<A>) {
        if let Some(send) = self.0.take() {
            send(reply);
        }
    }

    /// Answers with a response.
    pub fn answer(self, answer: A) {
        self.reply(Reply::Answer(answer));
    }

    /// Refuses the call, which was surely not done.
    pub fn refuse(self, error: impl Into<ErrorName>) {
        self.reply(Reply::Refused(error.into()));
    }
}

impl<A> Drop for Responder<A> {
    fn drop(&mut self) {
        if let Some(send) = self.0.take() {
            send(Reply::Unknown);
        }
    }
}

impl<A> fmt::Debug for Responder<A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Responder")
    }
}
