//! A change of the state, as an entry of the meta group's log says it.
//!
//! The number of the layout (u8: 1; 2 of [`Deed::LeaveNode`]; 3 of [`Deed::Recover`] and
//! [`Deed::NoteRecovered`]; 4 of [`Deed::RecoverMeta`]; 5 of [`Deed::MakeAnew`]), then
//! [`Command`] as `codec.rs` writes it. Time and whatever only the leader knows are in it, so that
//! every replica comes to the same state. A new deed, or a new field, raises the number of the
//! layout: whoever does not know it must stop.
//!
//! A node that asks for a number sends the number of that layout (u8, 1), then [`NewNode`], and is
//! answered by [`Registered`] alone: the cluster (u64) and its own number (u64).

use std::collections::BTreeMap;

use esker_raft::codec::{DecodeError, Reader};
use esker_raft::{GroupId, NodeId, ReplicaId};

use crate::meta::codec::{Field, choices, decode, encode, fields};
use crate::meta::epoch::Epoch;
use crate::meta::ids::{ClusterId, TableId};
use crate::meta::limits::{COMMAND_BYTES_MAX, NEW_NODE_BYTES_MAX};
use crate::meta::rows::{Addresses, Level};

/// The newest layout: 2 has the deed by which a node leaves, 3 those of recovery, 4 that of meta's
/// own, 5 that by which a table is made anew.
pub const VERSION: u8 = 5;

/// Layout of a node that asks for a number.
const NEW_NODE_VERSION: u8 = 1;

fields! {
    /// A change, and when it was proposed.
    pub struct Command {
        /// The leader's clock: milliseconds since 1970.
        pub unix_ms: u64,
        /// What is to be done.
        pub deed: Deed,
    }
}

fields! {
    /// What a node says of itself when it asks for a number.
    pub struct NewNode {
        /// Drawn once by the node; the same number for the same node.
        pub nonce: u64,
        /// Where it is reached.
        pub addresses: Addresses,
        /// The host or the rack that it shares with others; empty for none.
        pub label: String,
    }
}

fields! {
    /// What a node is answered that asked for a number.
    pub struct Registered {
        /// The cluster that it is of from now on.
        pub cluster: ClusterId,
        /// Its number there.
        pub node: NodeId,
    }
}

fields! {
    /// What a new table is like.
    pub struct NewTable {
        /// Its name.
        pub name: String,
        /// Partitions: a power of two.
        pub partition_count: u32,
        /// Replicas of each.
        pub replica_count: u32,
        /// What the client calls its kind.
        pub kind: String,
        /// Its settings.
        pub envs: BTreeMap<String, String>,
        /// A table that is just like this one is as good.
        pub or_same: bool,
        /// The nodes that live.
        pub candidates: Vec<NodeId>,
    }
}

choices! {
    /// What becomes of a table's settings.
    pub enum EnvChange {
        /// These are set.
        0 => Set { /** The settings. */ envs: BTreeMap<String, String>, },
        /// These go.
        1 => Remove { /** Their keys. */ keys: Vec<String>, },
        /// All go whose key begins with this and a dot; for an empty one all.
        2 => Clear { /** The beginning. */ prefix: String, },
    }
}

choices! {
    /// What is to be done.
    pub enum Deed {
        /// The cluster begins, with one node that is its meta group.
        0 => Begin {
            /// Drawn by the first start.
            cluster: ClusterId,
            /// How people call it.
            name: String,
            /// The first node, which gets number 1.
            node: NewNode,
        },
        /// A node gets a number.
        1 => RegisterNode { /** The node. */ node: NewNode, },
        /// A node was opened anew, or is reached elsewhere.
        2 => UpdateNode {
            /// The node.
            node: NodeId,
            /// How often it was opened.
            incarnation: u64,
            /// Where it is reached.
            addresses: Addresses,
            /// The host or the rack that it shares with others.
            label: String,
        },
        /// A node is to leave, or may stay after all.
        3 => DrainNode { /** The node. */ node: NodeId, /** It leaves. */ is_draining: bool, },
        /// A node is to leave, and its number goes once nothing counts on it.
        17 => LeaveNode { /** The node. */ node: NodeId, },
        /// A node that has no replica leaves for ever.
        4 => RemoveNode { /** The node. */ node: NodeId, },
        /// A table is created.
        5 => CreateTable { /** What it is like. */ table: NewTable, },
        /// Every partition of a table has a leader.
        6 => OpenTable { /** The table. */ table: TableId, },
        /// A table is dropped.
        7 => DropTable {
            /// Its name.
            name: String,
            /// Seconds that it can be recalled.
            reserve_s: u64,
            /// That there is no such table is as good.
            or_absent: bool,
        },
        /// A dropped table comes back.
        8 => RecallTable {
            /// The table.
            table: TableId,
            /// Its name from now on; empty for the one that it had.
            name: String,
        },
        /// A table gets another name.
        9 => RenameTable { /** The old name. */ old: String, /** The new one. */ new: String, },
        /// Settings of a table change.
        10 => SetEnvs { /** Its name. */ name: String, /** The change. */ change: EnvChange, },
        /// A table is to have more or fewer replicas.
        11 => SetReplicaCount {
            /// Its name.
            name: String,
            /// Replicas of each partition.
            count: u32,
            /// Hosts that stay, whether they live at the moment or not.
            hosts: u32,
        },
        /// A dropped table's time is over.
        12 => ForgetTable { /** The table. */ table: TableId, },
        /// Other replicas of a group are wished.
        13 => Wish { /** The change. */ wish: Wish, },
        /// Nodes have reported these replicas for the first time.
        16 => NoteMade { /** The replicas. */ replicas: Vec<(GroupId, ReplicaId)>, },
        /// A group goes on with one of its replicas, for most of its voters are lost for ever.
        18 => Recover { /** How. */ recover: Recover, },
        /// These groups have gone on, with that replica.
        19 => NoteRecovered { /** The groups. */ groups: Vec<(GroupId, ReplicaId)>, },
        /// The meta group itself has gone on so.
        20 => RecoverMeta { /** With which replica. */ epoch: Epoch, },
        /// A table that cannot be made where it was placed is placed elsewhere, as another one.
        21 => MakeAnew {
            /// The table of before, which nobody can have written to.
            table: TableId,
            /// Nodes that live and have room.
            candidates: Vec<NodeId>,
        },
        /// The brain does more or less by itself.
        14 => SetLevel { /** The level. */ level: Level, },
        /// The meta group is to have more or fewer replicas.
        15 => SetMetaReplicas { /** How many. */ count: u32, },
    }
}

fields! {
    /// A change of which replicas of a group are wished.
    pub struct Wish {
        /// The group.
        pub group: GroupId,
        /// The version that it changes.
        pub version: u64,
        /// Nodes that get a new replica.
        pub add: Vec<NodeId>,
        /// Replicas of before that are wished again.
        pub adopt: Vec<(ReplicaId, NodeId)>,
        /// Replicas that are wished no more.
        pub drop: Vec<ReplicaId>,
    }
}

fields! {
    /// How a group goes on with one of its replicas.
    pub struct Recover {
        /// The group.
        pub group: GroupId,
        /// The version of what is wished of it, when that was decided.
        pub version: u64,
        /// The replica.
        pub base: ReplicaId,
        /// Where that is.
        pub node: NodeId,
    }
}

impl NewNode {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        encode(NEW_NODE_VERSION, self)
    }

    /// The node that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Result<NewNode, DecodeError> {
        decode(NEW_NODE_VERSION, bytes, NEW_NODE_BYTES_MAX)
    }
}

impl Registered {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// The answer that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Result<Registered, DecodeError> {
        let mut reader = Reader::new(bytes);
        let told = Registered::take(&mut reader)?;
        reader.end()?;
        Ok(told)
    }
}

impl Deed {
    /// The first layout that has it: whoever knows less reads all but what is new.
    fn layout(&self) -> u8 {
        match self {
            Deed::LeaveNode { .. } => 2,
            Deed::Recover { .. } | Deed::NoteRecovered { .. } => 3,
            Deed::RecoverMeta { .. } => 4,
            Deed::MakeAnew { .. } => 5,
            _ => 1,
        }
    }
}

impl Command {
    /// The bytes of an entry.
    pub fn encode(&self) -> Vec<u8> {
        encode(self.deed.layout(), self)
    }

    /// The command that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Result<Command, DecodeError> {
        let told = bytes.first().copied().filter(|told| *told <= VERSION);
        let version = told.unwrap_or(VERSION);
        let command: Command = decode(version, bytes, COMMAND_BYTES_MAX)?;
        match command.deed.layout() == version {
            true => Ok(command),
            false => Err(Reader::new(bytes).refuse("deed of that layout")),
        }
    }
}
