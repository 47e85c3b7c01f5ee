//! What comes out of a turn, and in which order its owner does it.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::configuration::Configuration;
use crate::ids::{GroupId, Member, NodeId, ReplicaId, SaveNumber, Token};
use crate::lease::Lease;
use crate::log::Save;
use crate::message::Envelope;
use crate::proposals::Outcome;
use crate::record::Record;
use crate::ticket::Ticket;

/// Everything that one turn wants done, for all groups of a shard.
///
/// First `installs`, each to its end and durably; then `save` to the log. `sends` need not wait for
/// either: what must wait for the log is held back inside and comes out of a later turn. `applies`
/// are done in their order for each group, in whatever time, and reported with `Shard::applied`.
#[derive(Debug)]
pub struct Output {
    /// Images that take the place of a group's state.
    pub installs: Vec<Install>,
    /// For the shared log.
    pub save: Save,
    /// Messages by destination, one frame for each.
    pub sends: BTreeMap<NodeId, Vec<Envelope>>,
    /// Committed entries, for the state machines.
    pub applies: Vec<Apply>,
    /// Reads that may be served from the state machine now.
    pub reads: Vec<ServedRead>,
    /// Whatever else the owner must know.
    pub events: Vec<Event>,
}

impl Output {
    pub(crate) fn new(number: SaveNumber) -> Output {
        Output {
            installs: Vec::new(),
            save: Save {
                number,
                records: Vec::new(),
                must_sync: false,
            },
            sends: BTreeMap::new(),
            applies: Vec::new(),
            reads: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, node: NodeId, envelope: Envelope) {
        self.sends.entry(node).or_default().push(envelope);
    }

    pub(crate) fn record(&mut self, record: Record) {
        self.save.records.push(record);
    }
}

/// An image that becomes the state of a group.
///
/// Trap 2 of the eight: the owner switches to the image before it saves this turn's records, and
/// the group takes no input until that save is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Install {
    /// The replica.
    pub member: Member,
    /// The image, which the owner has fetched before.
    pub ticket: Ticket,
}

/// Committed entries of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Apply {
    /// The replica.
    pub member: Member,
    /// One after the other, none left out.
    pub entries: Vec<Committed>,
}

/// One committed entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// Its index.
    pub index: u64,
    /// Its term.
    pub term: u64,
    /// What it does.
    pub effect: Effect,
    /// Who is to be told once it is applied, if it was proposed here.
    pub token: Option<Token>,
}

/// What a committed entry does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing; the state machine only notes the index.
    Nothing,
    /// A write, as it was proposed.
    Write(Bytes),
    /// The configuration from this index on, which the state machine keeps with its mark.
    Configuration(Configuration),
}

/// A read that sees everything that was acknowledged before it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRead {
    /// The group.
    pub group: GroupId,
    /// Given with the read.
    pub token: Token,
    /// It had to wait until this was applied.
    pub index: u64,
}

/// What happened to a group, or is asked of its owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A proposal will not come out with an entry.
    Proposal(GroupId, Token, Outcome),
    /// No leader confirmed the read in time; it may be asked for again.
    ReadFailed(GroupId, Token),
    /// Who leads, as far as this replica knows.
    Leader {
        /// The group.
        group: GroupId,
        /// In which term.
        term: u64,
        /// `None` while there is none.
        leader: Option<ReplicaId>,
    },
    /// This replica is established: it leads, and an entry of its term is committed. Told once in
    /// each term.
    Established(Member),
    /// Until when this replica may read without asking, and from which entry on; or that it may
    /// not.
    Lease(Member, Option<Lease>),
    /// A follower lacks what is compacted: make an image of at least this index, and offer it.
    ImageWanted(Member, u64),
    /// The leader offers an image: fetch it, and say so.
    ImageOffered {
        /// The replica that is to fetch it.
        member: Member,
        /// The replica that offers it.
        from: ReplicaId,
        /// Where to fetch it.
        from_node: NodeId,
        /// What it is.
        ticket: Ticket,
    },
    /// An image that was fetched is not needed.
    ImageUnused(Member, u64),
    /// This replica has left its group, by a committed change, and a majority of those who stay
    /// know: it may be destroyed.
    Left(GroupId, ReplicaId),
    /// Another replica of the group was destroyed on its node: it may be removed from the group.
    PeerDestroyed(GroupId, ReplicaId),
    /// A message for a replica that is not here and was not destroyed here.
    Stray {
        /// The group.
        group: GroupId,
        /// The replica that is spoken to.
        to: ReplicaId,
        /// The replica that spoke.
        from: ReplicaId,
        /// Its node.
        from_node: NodeId,
    },
    /// A message of another replica cannot be: it is damaged, or none of the group.
    PeerDamaged(GroupId, ReplicaId, &'static str),
    /// This replica's log lacks what it once acknowledged, or its owner said that it is damaged: it
    /// must not vote, and is to be replaced.
    Damaged(Member, &'static str),
}
