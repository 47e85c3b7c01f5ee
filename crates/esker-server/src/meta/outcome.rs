//! What came of a command: what is told to whoever proposed it.

use std::fmt;

use esker_raft::codec::DecodeError;
use esker_raft::{NodeId, ReplicaId};
use esker_rpc::error::ErrorCode;

use crate::meta::codec::{choices, decode, encode, fields};
use crate::meta::ids::TableId;
use crate::meta::limits::TEXT_BYTES_MAX;
use crate::meta::rows::Level;

const VERSION: u8 = 1;

choices! {
    /// What came of a command.
    pub enum Outcome {
        /// It is done.
        0 => Done,
        /// It is about this table, and done.
        1 => Table { /** The table. */ table: TableId, },
        /// The node has this number.
        2 => Node { /** The node. */ node: NodeId, },
        /// The level was another one before.
        3 => Level { /** The level before. */ before: Level, },
        /// The group gets these replicas.
        4 => Replicas { /** Their ids, in the order of their nodes. */ replicas: Vec<ReplicaId>, },
        /// There were so many replicas before.
        5 => Count { /** How many. */ before: u32, },
        /// Nothing has changed.
        6 => Refused { /** Why. */ refusal: Refusal, },
    }
}

choices! {
    /// Why a command has changed nothing.
    #[derive(Copy)]
    pub enum Cause {
        /// The entry is no command.
        0 => Unreadable,
        /// The cluster has not begun, or it has.
        1 => Begun,
        /// There is no such table.
        2 => NoTable,
        /// A table has that name.
        3 => TableExists,
        /// A table has that name and is not like that.
        4 => OtherTableExists,
        /// An argument is not as it must be.
        5 => BadArgument,
        /// Fewer nodes live than replicas are wanted.
        6 => TooFewNodes,
        /// There is no such setting, or not that value.
        7 => BadSetting,
        /// The level does not allow it.
        8 => Frozen,
        /// There is no such node.
        9 => NoNode,
        /// The node has replicas.
        10 => NodeInUse,
        /// Something else was changed first.
        11 => Stale,
        /// As many as there may be.
        12 => TooMany,
        /// The table is not dropped.
        13 => NotDropped,
        /// The table's time is over, or not yet.
        14 => Timing,
        /// The group would have fewer copies than are wished.
        15 => TooFewCopies,
    }
}

fields! {
    /// That a command has changed nothing, and why.
    pub struct Refusal {
        /// Which kind.
        pub cause: Cause,
        /// In words, for who asked.
        pub why: String,
    }
}

impl Refusal {
    /// One with words of at most [`TEXT_BYTES_MAX`] bytes: longer ones are cut.
    pub fn new(cause: Cause, why: impl Into<String>) -> Refusal {
        let why = cut(why.into(), TEXT_BYTES_MAX);
        Refusal { cause, why }
    }

    /// An argument is not as it must be.
    pub fn bad(why: impl Into<String>) -> Refusal {
        Refusal::new(Cause::BadArgument, why)
    }

    /// What clients are told.
    pub fn code(&self) -> ErrorCode {
        match self.cause {
            Cause::Unreadable | Cause::Stale | Cause::TooFewCopies => ErrorCode::InvalidState,
            Cause::Begun => ErrorCode::ServiceNotActive,
            Cause::NoTable => ErrorCode::AppNotExist,
            Cause::TableExists | Cause::NotDropped => ErrorCode::AppExist,
            Cause::OtherTableExists | Cause::BadArgument | Cause::BadSetting => {
                ErrorCode::InvalidParameters
            }
            Cause::TooFewNodes => ErrorCode::NotEnoughMember,
            Cause::Frozen => ErrorCode::StateFreezed,
            Cause::NoNode => ErrorCode::ObjectNotFound,
            Cause::NodeInUse => ErrorCode::Busy,
            Cause::TooMany => ErrorCode::CapacityExceeded,
            Cause::Timing => ErrorCode::Expired,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.why)
    }
}

impl std::error::Error for Refusal {}

impl Outcome {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        encode(VERSION, self)
    }

    /// The outcome that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Result<Outcome, DecodeError> {
        decode(VERSION, bytes, 2 * TEXT_BYTES_MAX)
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Outcome {
        Outcome::Refused { refusal }
    }
}

/// `text`, of which no more than `bytes_max` bytes stay.
pub fn cut(mut text: String, bytes_max: usize) -> String {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
