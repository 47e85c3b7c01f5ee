//! How a call is answered: once, from whatever thread knows.

use std::fmt;

use esker_rpc::error::ErrorName;

/// What comes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<A> {
    /// It was done, and this is the response.
    Answer(A),
    /// It was not done; the name says why, and what the client does about it.
    Refused(ErrorName),
    /// Nobody knows what came of it: no reply is sent.
    Unknown,
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
