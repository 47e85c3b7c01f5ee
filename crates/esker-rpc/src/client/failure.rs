//! Why a call of a client has no result.

use std::fmt;

use crate::codec::thrift::Malformed;
use crate::error::{ErrorName, Status};

/// What a call comes to.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// A server refused it, or answered that it does not know what became of it.
    Refused(ErrorName),
    /// A meta server refused it, and says in words why.
    Explained(ErrorName, String),
    /// It was done, and the answer is not what was hoped for: 4 the request makes no sense, 7 the
    /// server stopped before the end.
    Status(Status),
    /// The deadline came before an answer. Nothing was written: the call is a read, or no server
    /// was ever sent it.
    TimedOut,
    /// The call was sent, and no server said what became of it. It may be done, or be done yet.
    OutcomeUnknown,
    /// No server could be reached before the deadline. Nothing was written.
    Unreachable,
    /// Servers answered, and none of them leads the meta service or knows who does. Nothing was
    /// done.
    Leaderless,
    /// A server that leads the meta service answered, and cannot say yet what was asked: it was
    /// chosen a moment ago, and has not heard all nodes. Nothing was done.
    TooEarly,
    /// A server answered with what cannot be read. A write may have been done.
    Malformed(Malformed),
    /// The answer is longer than the settings allow.
    TooLong,
    /// No server is asked for this: a hash key that is empty or too long where it may not be.
    Senseless(&'static str),
}

impl ClientError {
    /// True if a write that failed with it was surely not done.
    pub fn is_undone(&self) -> bool {
        match self {
            ClientError::Refused(name) | ClientError::Explained(name, _) => {
                name.code().is_refused_undone()
            }
            ClientError::Status(status) => {
                ![Status::CORRUPTION, Status::IO_ERROR, Status::UNSAID].contains(status)
            }
            ClientError::TimedOut
            | ClientError::Unreachable
            | ClientError::Leaderless
            | ClientError::TooEarly
            | ClientError::Senseless(_) => true,
            ClientError::OutcomeUnknown | ClientError::Malformed(_) | ClientError::TooLong => false,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Refused(name) => write!(formatter, "the server refuses: {name}"),
            ClientError::Explained(name, hint) => {
                write!(formatter, "the server refuses: {name}: {hint}")
            }
            ClientError::Status(status) => write!(formatter, "the server answers: {status}"),
            ClientError::TimedOut => {
                formatter.write_str("no answer came before the deadline; nothing was written")
            }
            ClientError::OutcomeUnknown => formatter
                .write_str("it was sent, and no answer came: what was written may be there or not"),
            ClientError::Unreachable => {
                formatter.write_str("no server could be reached before the deadline")
            }
            ClientError::Leaderless => formatter.write_str(
                "no server leads the meta service, or knows who does, though servers answer",
            ),
            ClientError::TooEarly => formatter.write_str(
                "the meta service cannot say that yet: its leader was chosen a moment ago",
            ),
            ClientError::Malformed(malformed) => {
                write!(formatter, "the answer cannot be read: {malformed}")
            }
            ClientError::TooLong => {
                formatter.write_str("the answer is longer than this client reads")
            }
            ClientError::Senseless(why) => formatter.write_str(why),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<Malformed> for ClientError {
    fn from(malformed: Malformed) -> ClientError {
        ClientError::Malformed(malformed)
    }
}
