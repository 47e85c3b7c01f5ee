//! What the brain tells a node in answer to its report: what must be true there.
//!
//! The number of the layout (u8: 2, or 3 where there is one of [`Directive::Free`],
//! [`Directive::Recover`] and [`Directive::Fence`]), then a list of [`Directive`] as `codec.rs`
//! writes it. A directive may be given again; a node that has done it does nothing.

use std::collections::BTreeMap;

use esker_raft::codec::{DecodeError, Reader};
use esker_raft::{Change, Configuration, GroupId, NodeId, ReplicaId};

use crate::meta::codec::{choices, decode, encode, fields};
use crate::meta::ids::TableId;
use crate::meta::limits::DIRECTIVES_BYTES_MAX;
use crate::meta::rows::Addresses;

/// The newest layout. Of the lists that nodes keep the layout stays 2: a program of before can open
/// what this one has kept.
const VERSION: u8 = 3;

fields! {
    /// What a node is to know of a table.
    pub struct TableFacts {
        /// The table.
        pub table: TableId,
        /// Its name.
        pub name: String,
        /// Its partitions.
        pub partition_count: u32,
        /// It answers nobody.
        pub is_dropped: bool,
        /// Seconds that a value lives of which a client says nothing; 0 for ever.
        pub default_ttl_s: u32,
        /// Whether a key must belong to the partition by its hash.
        pub validates_hash: bool,
        /// All of its settings.
        pub envs: BTreeMap<String, String>,
    }
}

fields! {
    /// What a node is to know of another.
    pub struct KnownNode {
        /// The node.
        pub node: NodeId,
        /// How often it was opened when it was reached there. Who hears it say another address in a
        /// later life knows better.
        pub incarnation: u64,
        /// Where it is reached.
        pub addresses: Addresses,
    }
}

choices! {
    /// What must be true on a node.
    pub enum Directive {
        /// These are the tables, all of them.
        0 => Tables {
            /// The revision of this list.
            revision: u64,
            /// The tables.
            tables: Vec<TableFacts>,
        },
        /// These are the nodes, all of them.
        1 => Nodes {
            /// The revision of this list.
            revision: u64,
            /// Where each is reached.
            nodes: Vec<KnownNode>,
        },
        /// The node has this replica. Never again one that was destroyed there.
        2 => Create {
            /// The group.
            group: GroupId,
            /// The replica.
            replica: ReplicaId,
            /// The voters that the group begins with; none if the replica waits for an image.
            first: Vec<(ReplicaId, NodeId)>,
        },
        /// The node does not have this replica, and never will.
        3 => Destroy {
            /// The group.
            group: GroupId,
            /// The replica.
            replica: ReplicaId,
            /// Members of the group, among which it never will be again; none if its table is
            /// forgotten.
            without: Option<Configuration>,
        },
        /// The group, which the node leads, changes its members.
        4 => Change {
            /// The group.
            group: GroupId,
            /// The configuration that is changed; nothing is done if it is another one by now.
            version: u64,
            /// The change.
            change: Change,
        },
        /// The node hands the lead over.
        5 => Transfer {
            /// The group.
            group: GroupId,
            /// Who is to lead.
            to: ReplicaId,
        },
        /// A replica that waits for its first image is not wished any more, and goes; one that had
        /// an image stays.
        7 => Discard {
            /// The group.
            group: GroupId,
            /// The replica.
            replica: ReplicaId,
        },
        /// The node is none of this cluster, or another process has its number: it must stop.
        6 => Stop {
            /// In words, for the log.
            why: String,
        },
        /// No group has gone on without its replica there, but for some that stay held. Follows a
        /// read of the meta group that was begun after the report had come.
        8 => Free {
            /// The number of that report.
            asked: u64,
            /// The groups that stay held.
            held: Vec<GroupId>,
        },
        /// The group goes on with this replica alone.
        9 => Recover {
            /// The group.
            group: GroupId,
            /// The replica.
            replica: ReplicaId,
            /// All others up to that id are lost.
            last: ReplicaId,
        },
        /// The group has gone on without this replica, which goes, for good, whatever it believes.
        10 => Fence {
            /// The group.
            group: GroupId,
            /// The replica.
            replica: ReplicaId,
        },
    }
}

impl Directive {
    fn layout(&self) -> u8 {
        match self {
            Directive::Free { .. } | Directive::Recover { .. } | Directive::Fence { .. } => 3,
            _ => 2,
        }
    }
}

/// The bytes of `directives`.
pub fn encode_directives(directives: &[Directive]) -> Vec<u8> {
    encode(layout(directives), &directives.to_vec())
}

/// The directives that `bytes` are.
pub fn decode_directives(bytes: &[u8]) -> Result<Vec<Directive>, DecodeError> {
    let is_old = bytes.first() == Some(&2);
    let version = if is_old { 2 } else { VERSION };
    let directives: Vec<Directive> = decode(version, bytes, DIRECTIVES_BYTES_MAX)?;
    match layout(&directives) == version {
        true => Ok(directives),
        false => Err(Reader::new(bytes).refuse("directives of that layout")),
    }
}

fn layout(directives: &[Directive]) -> u8 {
    directives.iter().map(Directive::layout).max().unwrap_or(2)
}
