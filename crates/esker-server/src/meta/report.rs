//! What a node tells the brain of itself, each second and whenever something has changed.
//!
//! The number of the layout (u8, 4), then [`Report`] as `codec.rs` writes it.

use esker_raft::codec::DecodeError;
use esker_raft::{Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::codec::{choices, decode, encode, fields};
use crate::meta::ids::ClusterId;
use crate::meta::limits::REPORT_BYTES_MAX;
use crate::meta::rows::Addresses;

const VERSION: u8 = 4;

choices! {
    /// What a replica does in its group.
    #[derive(Copy)]
    pub enum Role {
        /// It leads, and an entry of its term is committed: its group can be written to.
        0 => Leader,
        /// It votes, or does not know that it does not any more; it may be about to lead.
        1 => Follower,
        /// It gets the log, or waits for its first image.
        2 => Learner,
    }
}

fields! {
    /// What is on one node.
    pub struct Report {
        /// The cluster that the node belongs to.
        pub cluster: ClusterId,
        /// The node.
        pub node: NodeId,
        /// How often it was opened.
        pub incarnation: u64,
        /// Where it is reached.
        pub addresses: Addresses,
        /// The host or the rack that it shares with others; empty for none.
        pub label: String,
        /// The revision of what it knows of tables.
        pub tables_revision: u64,
        /// The revision of what it knows of nodes.
        pub nodes_revision: u64,
        /// Bytes of its disk.
        pub space_total_bytes: u64,
        /// Bytes that are free there.
        pub space_free_bytes: u64,
        /// Every replica on its disk, also those that wait for an image or are damaged.
        pub replicas: Vec<ReplicaReport>,
        /// Replicas that it destroyed because its disk had lost something of them, and those that
        /// it was told to make and never will, for they were destroyed there before.
        pub lost: Vec<(GroupId, ReplicaId)>,
        /// The number of this report, if replicas of before are held here until meta says that
        /// their groups have not gone on without them; 0 if none are.
        pub asks: u64,
        /// The time of the day by the node's clock: milliseconds since 1970.
        pub unix_ms: u64,
    }
}

fields! {
    /// A replica on the reporting node.
    pub struct ReplicaReport {
        /// Its group.
        pub group: GroupId,
        /// Its id.
        pub replica: ReplicaId,
        /// What it does there.
        pub role: Role,
        /// Its term.
        pub term: u64,
        /// Up to where it has applied the log; 0 while it waits for its first image.
        pub applied: u64,
        /// Bytes that it takes on the disk, about.
        pub bytes: u64,
        /// Why it takes no part any more, if it does not.
        pub damage: Option<String>,
        /// Why it does not go on for now, if it does not: its disk is full, say. It is no copy that
        /// counts while that lasts, and it comes back by itself.
        pub stall: Option<String>,
        /// The members of its group, if it leads and an entry says who they are.
        pub configuration: Option<Configuration>,
        /// What it knows while nobody leads; of some replicas only, for there may be many.
        pub leaderless: Option<Leaderless>,
    }
}

fields! {
    /// What a replica knows of its group while nobody leads.
    pub struct Leaderless {
        /// The term of the last entry in its log.
        pub last_term: u64,
        /// The index of that.
        pub last: u64,
        /// The members, as of what it has handed out.
        pub configuration: Configuration,
    }
}

impl ReplicaReport {
    /// Whether it can be counted on: it takes part, and goes on.
    pub fn is_sound(&self) -> bool {
        self.damage.is_none() && self.stall.is_none()
    }
}

impl Report {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        encode(VERSION, self)
    }

    /// The report that `bytes` are.
    pub fn decode(bytes: &[u8]) -> Result<Report, DecodeError> {
        decode(VERSION, bytes, REPORT_BYTES_MAX)
    }

    /// What it says, but for the replicas.
    pub(crate) fn without_replicas(&self) -> Report {
        Report {
            cluster: self.cluster,
            node: self.node,
            incarnation: self.incarnation,
            addresses: self.addresses.clone(),
            label: self.label.clone(),
            tables_revision: self.tables_revision,
            nodes_revision: self.nodes_revision,
            space_total_bytes: self.space_total_bytes,
            space_free_bytes: self.space_free_bytes,
            replicas: Vec::new(),
            lost: self.lost.clone(),
            asks: self.asks,
            unix_ms: self.unix_ms,
        }
    }
}
