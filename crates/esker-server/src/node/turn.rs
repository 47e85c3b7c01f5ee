//! What comes out of a turn of consensus.

use esker_raft::{Member, NodeId, ReplicaId, Save, Ticket};

use crate::node::ask::Work;
use crate::node::request::{Reply, RequestId};

/// All that follows from what was asked since the turn before.
///
/// `saves` go to the log in their order, `work` to the state machines in its order. Frames need
/// wait for neither.
#[derive(Debug, Default)]
pub struct Turn {
    /// For the raft log, in this order.
    pub saves: Vec<Save>,
    /// For the state machines.
    pub work: Vec<Work>,
    /// For other nodes.
    pub frames: Vec<(NodeId, Vec<u8>)>,
    /// Reads that may be served now.
    pub cleared: Vec<Cleared>,
    /// Answers.
    pub replies: Vec<(RequestId, Reply)>,
    /// What else happened.
    pub events: Vec<NodeEvent>,
}

/// A read that may be served, from the view of that very replica once it has applied that much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// Who asks.
    pub request: RequestId,
    /// The replica. Its successor may have applied nothing yet.
    pub member: Member,
    /// What the read must see.
    pub index: u64,
}

/// What happened to a group, for log lines, reports, and whoever fetches images.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// Who leads, as far as the replica here knows.
    Leader {
        /// The replica here.
        member: Member,
        /// In which term.
        term: u64,
        /// Who, and where; `None` while nobody does.
        leader: Option<(ReplicaId, Option<NodeId>)>,
    },
    /// The replica here leads, and an entry of its term is committed: its group can be written to.
    Established(Member),
    /// A leader offers an image: fetch it there, and say so.
    ImageOffered {
        /// The replica here, which needs it.
        member: Member,
        /// The replica that offers it.
        from: Member,
        /// Where to fetch it.
        from_node: NodeId,
        /// What it is.
        ticket: Ticket,
    },
    /// A message came for a replica that is not here and was not destroyed here.
    Stray {
        /// The replica that is spoken to.
        to: Member,
        /// Where it came from.
        from_node: NodeId,
    },
    /// This replica has left its group, and is being destroyed.
    Left(Member),
    /// This replica was destroyed, durably.
    Destroyed(Member),
    /// This replica takes no part any more: it is to be replaced under another id.
    Damaged(Member, String),
    /// Another replica of the group was destroyed on its node: it may be removed from the group.
    PeerDestroyed(Member),
    /// A message of another replica cannot be: it is damaged, or none of the group.
    PeerDamaged(Member, &'static str),
    /// A frame could not be read.
    BadFrame(String),
}
