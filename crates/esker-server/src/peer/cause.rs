//! Why nodes do not speak to one another, or cease to.

use std::fmt;

use crate::log_lines::Seldom;
use crate::peer::format::{PeerError, Reason};
use crate::peer::registry::Stranger;

/// A reason, as it is counted: lines about one do not keep those about another from being due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerCause {
    /// As many connections as may be were there.
    TooMany,
    /// The machine gave no connection.
    Accept,
    /// The address cannot be reached, or may not be.
    Unreachable,
    /// The other end closed the connection, or the machine did.
    Closed,
    /// The other end said nothing.
    Silent,
    /// The other end did not read.
    Deaf,
    /// What came is not what nodes say.
    Malformed,
    /// It is of another cluster, or another node is wanted.
    Stranger,
    /// Somebody else holds its number.
    Holder,
    /// An earlier process of that number may live still.
    EarlierLives,
    /// It knows of another meta service.
    OtherEpoch,
    /// It refused, for a reason that this version does not know.
    Refused,
    /// It had more than one connection, and this was the oldest.
    Replaced,
    /// More frames of raft came than the service takes; some were dropped.
    RaftDropped,
    /// The service panicked.
    Panicked,
}

impl PeerCause {
    /// How many there are.
    pub const COUNT: usize = PeerCause::Panicked as usize + 1;
}

/// How often each has happened.
#[derive(Debug, Default)]
pub(crate) struct Causes([Seldom; PeerCause::COUNT]);

impl Causes {
    /// One more; the count so far if a line is due.
    pub(crate) fn count(&self, cause: PeerCause) -> Option<u64> {
        self.0[cause as usize].count()
    }

    /// How often that has happened.
    pub(crate) fn of(&self, cause: PeerCause) -> u64 {
        self.0[cause as usize].total()
    }
}

/// Why a connection ended or did not come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) cause: PeerCause,
    pub(crate) words: String,
}

impl Ended {
    pub(crate) fn new(cause: PeerCause, words: impl fmt::Display) -> Ended {
        Ended {
            cause,
            words: words.to_string(),
        }
    }

    pub(crate) fn closed() -> Ended {
        Ended::new(PeerCause::Closed, "it closed the connection")
    }

    /// A later incarnation has spoken since.
    pub(crate) fn outdated() -> Ended {
        Ended::new(PeerCause::Holder, "a later incarnation of it has spoken")
    }
}

impl From<PeerError> for Ended {
    fn from(error: PeerError) -> Ended {
        Ended::new(PeerCause::Malformed, error)
    }
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Ended {
        Ended::new(PeerCause::Closed, error)
    }
}

impl From<Stranger> for Ended {
    fn from(stranger: Stranger) -> Ended {
        let cause = match stranger {
            Stranger::OtherEpoch(_) => PeerCause::OtherEpoch,
            _ => Reason::from(stranger).into(),
        };
        Ended::new(cause, stranger)
    }
}

impl From<Reason> for PeerCause {
    fn from(reason: Reason) -> PeerCause {
        match reason {
            Reason::Other => PeerCause::Refused,
            Reason::OtherCluster | Reason::WrongNode => PeerCause::Stranger,
            Reason::Myself | Reason::Outdated | Reason::SecondHolder | Reason::Parted => {
                PeerCause::Holder
            }
            Reason::EarlierLives => PeerCause::EarlierLives,
            Reason::TooMany => PeerCause::TooMany,
        }
    }
}
