//! Calls that Pegasus does not have: a server of Pegasus answers `ERR_HANDLER_NOT_FOUND`.
//!
//! They begin with `RPC_ESKER_`. What they say of nodes by their numbers Pegasus says by addresses,
//! of which a node that was lost and the one in its place have the same.

use crate::codec::scalars::{Address, Gpid};
use crate::error::ErrorName;
use crate::message::level::MetaLevel;

wire_enum! {
    /// Whether a node stays.
    pub enum NodeStay as "esker_node_stay" {
        NS_STAYS = 0,
        NS_DRAINS = 1,
        NS_LEAVES = 2,
    }
}

wire_enum! {
    /// What becomes of a node.
    pub enum NodeDeed as "esker_node_deed" {
        ND_INVALID = 0,
        ND_DRAIN = 1,
        ND_UNDRAIN = 2,
        ND_REMOVE = 3,
    }
}

wire_struct! {
    /// A node, and what counts on it.
    pub struct NodeFacts as "esker_node_facts" {
        1 node: i64,
        2 address: Address,
        /// None if it is no place for the meta service.
        3 meta: Address,
        4 peer: String,
        /// The host or the rack that it shares with others; empty for none.
        5 label: String,
        6 is_alive: bool,
        /// Milliseconds that it was not heard.
        7 silent_ms: i64,
        /// Milliseconds after which its replicas are made anew elsewhere; -1 for never, 0 for now.
        8 replaced_in_ms: i64,
        9 stay: NodeStay,
        /// Partitions that it leads, or led last.
        10 leads: i32,
        /// Groups that have a member on it, or are to have one.
        11 replicas: i32,
        /// Replicas on its disk; -1 where nobody knows, 0 where it is dead for good.
        12 copies: i32,
        /// Of its groups those that nobody leads, but for those of tables that are being made.
        13 leaderless: i32,
        14 space_total: i64,
        15 space_free: i64,
        /// The node that is at its address now; 0 for none.
        16 successor: i64,
        /// Why what is on it does not go elsewhere, where it is to; empty if it does.
        17 waits_for: String,
        /// Milliseconds by which its clock is ahead of that of the leader of the meta service, if
        /// the two are apart; 0 if they are not.
        18 clock_ahead_ms: i64,
        /// Whether it has a replica of the meta service that counts: one that was made but has no
        /// vote yet does not.
        19 votes_in_meta: bool,
        /// Why it is not let go of though it is silent; empty if it can be.
        20 kept_for: String,
        /// Whether it leads the meta service.
        21 leads_meta: bool,
        /// Of the groups of a silent node those that are not made anew elsewhere: nobody leads
        /// them, or what `waits_for` says.
        22 stuck: i32,
        /// The revision of what it knows of tables, as it said last; 0 if it has said nothing.
        23 tables_revision: i64,
    }
}

wire_struct! {
    /// Asks for all nodes.
    pub struct ShowNodesRequest as "esker_show_nodes_request" {}
}

wire_struct! {
    /// All nodes.
    pub struct ShowNodesResponse as "esker_show_nodes_response" {
        1 err: ErrorName,
        /// Why it is refused; or what is to be known of nodes that are in no list.
        2 hint_message: String,
        3 nodes: Vec<NodeFacts>,
        /// The revision of the tables as they are.
        4 tables_revision: i64,
    }
}

wire_struct! {
    /// Has a node emptied, not emptied, or let go of.
    pub struct ChangeNodeRequest as "esker_change_node_request" {
        1 node: i64,
        2 deed: NodeDeed,
    }
}

wire_struct! {
    /// What came of it, and what is still to come.
    pub struct ChangeNodeResponse as "esker_change_node_response" {
        1 err: ErrorName,
        2 hint_message: String,
    }
}

wire_struct! {
    /// Moves a replica of a partition, or its lead, from one node to another.
    pub struct MoveReplicaRequest as "esker_move_replica_request" {
        1 app_name: String,
        2 partition_index: i32,
        3 source: i64,
        4 target: i64,
        5 is_lead: bool,
    }
}

wire_struct! {
    /// What came of it.
    pub struct MoveReplicaResponse as "esker_move_replica_response" {
        1 err: ErrorName,
        2 hint_message: String,
    }
}

wire_struct! {
    /// Asks for the plan of a balance, or for carrying it out.
    pub struct BalanceRequest as "esker_balance_request" {
        1 is_carried_out: bool,
    }
}

wire_struct! {
    /// A step of a plan.
    pub struct BalanceStep as "esker_balance_step" {
        1 gpid: Gpid,
        2 app_name: String,
        3 is_lead: bool,
        4 source: i64,
        5 target: i64,
        /// How many both have before it.
        6 source_count: i32,
        7 target_count: i32,
        /// These are counts of the table, and not of all tables.
        8 is_of_table: bool,
        /// The step in words.
        9 sentence: String,
    }
}

wire_struct! {
    /// The plan.
    pub struct BalanceResponse as "esker_balance_response" {
        1 err: ErrorName,
        2 hint_message: String,
        3 level: MetaLevel,
        4 steps: Vec<BalanceStep>,
        /// No step is missing.
        5 is_whole: bool,
        /// Groups whose members are changed at the moment.
        6 under_way: i32,
    }
}

wire_struct! {
    /// Says how many replicas the meta service is to have.
    pub struct SetMetaReplicasRequest as "esker_set_meta_replicas_request" {
        1 count: i32,
    }
}

wire_struct! {
    /// How many there were to be.
    pub struct SetMetaReplicasResponse as "esker_set_meta_replicas_response" {
        1 err: ErrorName,
        2 old_count: i32,
        3 hint_message: String,
    }
}

wire_enum! {
    /// How a partition fares that may have lost most of its replicas: somebody leads it; it is
    /// about to go on with one replica; it can, once somebody accepts the loss; or it cannot.
    pub enum PartitionStanding as "esker_partition_standing" {
        PS_INVALID = 0,
        PS_LED = 1,
        PS_GOES_ON = 2,
        PS_LOST = 3,
        PS_WAITS = 4,
    }
}

wire_struct! {
    /// A partition, and how it fares.
    pub struct PartitionFacts as "esker_partition_facts" {
        1 partition_index: i32,
        2 standing: PartitionStanding,
        /// The node with the replica that goes on, or would; 0 for none.
        3 node: i64,
        /// What is lost, or why it waits.
        4 sentence: String,
    }
}

wire_struct! {
    /// Asks how the partitions of a table fare, or has one go on without most of its replicas.
    pub struct RecoverTableRequest as "esker_recover_table_request" {
        1 app_name: String,
        /// The partition; -1 for all, of whom is only asked.
        2 partition_index: i32,
        /// It goes on: what only the lost replicas had is lost.
        3 accepts_loss: bool,
    }
}

wire_struct! {
    /// The partitions that nobody leads, as they fare.
    pub struct RecoverTableResponse as "esker_recover_table_response" {
        1 err: ErrorName,
        2 hint_message: String,
        3 partitions: Vec<PartitionFacts>,
    }
}
