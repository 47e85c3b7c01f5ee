//! What goes into consensus, and what it has the other stages do.

use std::collections::BTreeSet;
use std::time::Duration;

use esker_raft::{
    Change, Committed, GroupId, Member, NodeId, ReplicaId, SaveNumber, Start, Ticket,
};

use crate::disk_log::Pin;
use crate::node::request::RequestId;

/// Everything that happens to the groups of a node, as consensus is told.
#[derive(Debug)]
pub enum Ask {
    /// A frame of messages came from another node.
    Frame(Vec<u8>),
    /// A write of a client: the name and the arguments of its call, which were read before.
    Write {
        /// Who asks.
        request: RequestId,
        /// The partition.
        group: GroupId,
        /// The name of the call.
        name: &'static str,
        /// Its arguments, as they came.
        arguments: Vec<u8>,
    },
    /// A command for the machine of the meta service: an entry of its own.
    Command {
        /// Who asks.
        request: RequestId,
        /// The group of the meta service.
        group: GroupId,
        /// The command.
        bytes: Vec<u8>,
    },
    /// A read of a client, to be served once it is cleared.
    Read {
        /// Who asks.
        request: RequestId,
        /// The partition.
        group: GroupId,
    },
    /// A change of a group's members.
    Change {
        /// Who asks.
        request: RequestId,
        /// The group.
        group: GroupId,
        /// The change.
        change: Change,
    },
    /// The lead of a group is to be handed to a voter. Done is said once it is begun.
    Transfer {
        /// Who asks.
        request: RequestId,
        /// The group.
        group: GroupId,
        /// The voter.
        to: ReplicaId,
    },
    /// A replica whose keyspace and switch record are there takes part from now on.
    Begin(Begin),
    /// A replica is destroyed, for good, as `Applying::purge` has written down. May be said again.
    Destroy(Member),
    /// The replicas that were held when the node was opened take part, but for those groups.
    Free(BTreeSet<GroupId>),
    /// The group goes on with the replica here alone: all others up to that id are lost.
    GoOnAlone(Member, ReplicaId),
    /// The connection to a node broke.
    NodeGone(NodeId),
    /// The raft log is durable up to that save.
    Durable(SaveNumber),
    /// A replica has applied everything up to an entry.
    Applied(Member, u64),
    /// The state of a replica is damaged.
    Retired(Member),
    /// An image is offered as of that entry; or none could be made.
    ImageMade(Member, Option<u64>),
    /// The image that was offered to a replica has arrived there, or never will.
    ImageSent(Member, ReplicaId, bool),
    /// The image that was offered as of that entry is here no more.
    ImageGone(Member, u64),
    /// The image of that entry lies here and can be switched to; or could not be fetched.
    ImageFetched(Member, u64, bool),
    /// How full the raft log is.
    LogPressure(LogPressure),
}

/// A replica that takes part from now on.
#[derive(Debug)]
pub struct Begin {
    /// Which.
    pub member: Member,
    /// How.
    pub start: Start,
}

/// What the raft log asks of the groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPressure {
    /// The disk has no room for the log: what this node leads is better led elsewhere.
    pub has_no_room: bool,
    /// There is no room: writers are told that the node is busy.
    pub is_full: bool,
    /// Whoever lacks entries gets an image: nothing is kept for followers.
    pub is_tight: bool,
    /// Who keeps the oldest segment, if that is one too many.
    pub pins: Vec<Pin>,
}

/// When what happened to an entry, by the clock of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryTimes {
    /// It was proposed here, if it was.
    pub proposed: Duration,
    /// It was known to be on the medium of a majority.
    pub committed: Duration,
}

/// An entry to be applied, and who waits for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The entry.
    pub committed: Committed,
    /// Who waits: one for each write in it, in their order; nobody if it was not proposed here.
    pub requests: Vec<RequestId>,
    /// When what happened to it.
    pub times: EntryTimes,
}

/// What consensus has the state machines do, in this order for each replica.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Committed entries, one after the other.
    Apply(Member, Vec<Entry>),
    /// The image that was fetched becomes the state.
    Install(Member, Ticket),
    /// An image of at least that entry is wanted.
    MakeImage(Member, u64),
    /// The image that was fetched, as of that entry, is not needed.
    DropImage(Member, u64),
    /// The replica takes no part any more, for that reason; its state is kept.
    Retire(Member, String),
    /// The log begins anew behind the image, durably: the keyspace of before is not needed.
    DropReplaced(Member),
    /// The raft log knows the replica, durably.
    Begun(Member),
    /// The replica has left its group: it is to be destroyed, once that is written down.
    Purge(Member),
    /// The replica is destroyed, durably: nothing of it is needed.
    Drop(Member),
}
