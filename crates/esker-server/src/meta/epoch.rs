//! Which meta service a cluster has: how often it went on without its majority, and with whom.
//!
//! It begins with none. Every recovery (docs/decisions/0037) makes a later one, which every node
//! keeps and says in its greetings: nodes of two epochs do not converse, and of two the later one
//! holds. So whoever comes back with the meta service of before is told, and its replica of that
//! goes.

use std::fmt;

use esker_raft::codec::DecodeError;
use esker_raft::{Member, NodeId, ReplicaId};

use crate::meta::codec::{decode, encode, fields};
use crate::meta::ids::META;
use crate::meta::limits::{EPOCH_BYTES_MAX, EPOCHS_LEFT_OUT_MAX};

/// The name of the fact that a node keeps: the latest epoch that it knows of.
pub const FACT: &str = "epoch";

/// The name of the fact that a node keeps with a replica of meta: the latest epoch that it has
/// heard of, whether or not that went on. Who goes on instead of that one has a later number, for
/// it may have given some.
pub const HEARD: &str = "epoch-heard";

/// The name of the fact that a node keeps: the latest epoch that it does not heed, for its node was
/// removed. After an opening the rows of meta may be those of before that.
pub const REFUSED: &str = "epoch-refused";

const VERSION: u8 = 1;

fields! {
    /// A meta service that went on with one of its replicas. Later ones are greater; all are
    /// greater than the default, which is that of a cluster whose meta service never lost its
    /// majority.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Epoch {
        /// One above that of before; 0 of none.
        pub number: u64,
        /// Drawn when it was decided, for two may have been decided beside one another.
        pub drawn: u64,
        /// The replica that went on.
        pub base: ReplicaId,
        /// Where that is.
        pub node: NodeId,
        /// All others up to that id are lost.
        pub last: ReplicaId,
    }
}

impl Default for Epoch {
    fn default() -> Epoch {
        Epoch {
            number: 0,
            drawn: 0,
            base: ReplicaId(0),
            node: NodeId(0),
            last: ReplicaId(0),
        }
    }
}

impl Epoch {
    /// Whether that is a replica of the meta service of before, which the later one is without.
    pub fn is_lost(&self, member: Member) -> bool {
        member.group == META && member.replica <= self.last && member.replica != self.base
    }

    /// How many times as much is left out of numbers as one epoch may have given: those between
    /// `known` and the epoch `number` went on elsewhere, as far as anybody here knows.
    pub fn left_out(known: Epoch, number: u64) -> u64 {
        (number - known.number).clamp(1, EPOCHS_LEFT_OUT_MAX)
    }

    fn is_sound(&self) -> bool {
        match self.number {
            0 => *self == Epoch::default(),
            _ => self.base.0 > 0 && self.node.0 > 0 && self.base <= self.last,
        }
    }

    /// The bytes of the fact.
    pub fn encode(&self) -> Vec<u8> {
        encode(VERSION, self)
    }

    /// The epoch that the bytes of a fact are.
    pub fn decode(bytes: &[u8]) -> Result<Epoch, DecodeError> {
        decode(VERSION, bytes, EPOCH_BYTES_MAX)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => out.write_str("the meta service that the cluster began with"),
            number => write!(
                out,
                "the meta service that was recovered on node {} (the {number}. time)",
                self.node.0
            ),
        }
    }
}

/// What a node says of the meta service that it heeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which that is.
    pub epoch: Epoch,
    /// It has gone on, durably. Before that what others have of the meta service of before may be
    /// all that there is, and nothing of it goes.
    pub has_gone_on: bool,
}

impl Default for Claim {
    /// That of a node which has never heard of a recovery.
    fn default() -> Claim {
        Claim {
            epoch: Epoch::default(),
            has_gone_on: true,
        }
    }
}

impl Claim {
    /// Its numbers, in their order.
    pub fn words(&self) -> [u64; 6] {
        let Epoch {
            number,
            drawn,
            base,
            node,
            last,
        } = self.epoch;
        let has_gone_on = u64::from(self.has_gone_on);
        [number, drawn, base.0, node.0, last.0, has_gone_on]
    }

    /// The claim of those numbers; `None` if they can be none's.
    pub fn of_words([number, drawn, base, node, last, has_gone_on]: [u64; 6]) -> Option<Claim> {
        let epoch = Epoch {
            number,
            drawn,
            base: ReplicaId(base),
            node: NodeId(node),
            last: ReplicaId(last),
        };
        (epoch.is_sound() && has_gone_on <= 1).then_some(Claim {
            epoch,
            has_gone_on: has_gone_on == 1,
        })
    }
}

#[cfg(test)]
mod tests;
