//! What a meta server is asked about replicas: how many there are to be, and where.

use crate::codec::scalars::{Address, Gpid, HostPort};
use crate::error::ErrorName;

wire_enum! {
    /// What becomes of a replica.
    pub enum ProposalKind as "config_type" {
        CT_INVALID = 0,
        CT_ASSIGN_PRIMARY = 1,
        CT_UPGRADE_TO_PRIMARY = 2,
        CT_ADD_SECONDARY = 3,
        CT_UPGRADE_TO_SECONDARY = 4,
        CT_DOWNGRADE_TO_SECONDARY = 5,
        CT_DOWNGRADE_TO_INACTIVE = 6,
        CT_REMOVE = 7,
        CT_ADD_SECONDARY_FOR_LB = 8,
        CT_PRIMARY_FORCE_UPDATE_BALLOT = 9,
        CT_DROP_PARTITION = 10,
        CT_REGISTER_CHILD = 11,
    }
}

wire_enum! {
    /// What a proposal is for.
    pub enum BalanceKind as "balancer_request_type" {
        MOVE_PRIMARY = 0,
        COPY_PRIMARY = 1,
        COPY_SECONDARY = 2,
    }
}

wire_struct! {
    /// A step of a proposal.
    pub struct ProposalAction as "configuration_proposal_action" {
        /// The server that is to do it.
        1 target: Address,
        /// The server that it is about.
        2 node: Address,
        3 r#type: ProposalKind,
        5 hp_target: Option<HostPort>,
        6 hp_node: Option<HostPort>,
    }
}

wire_struct! {
    /// Proposes to move a replica of a partition, or its lead.
    pub struct ProposeBalancerRequest as "configuration_balancer_request" {
        1 gpid: Gpid,
        2 action_list: Vec<ProposalAction>,
        3 force: Option<bool>,
        4 balance_type: Option<BalanceKind>,
    }
}

wire_struct! {
    /// What came of it.
    pub struct ProposeBalancerResponse as "configuration_balancer_response" {
        1 err: ErrorName,
    }
}

wire_struct! {
    /// Asks how many replicas of a table there are to be.
    pub struct GetReplicaCountRequest as "configuration_get_max_replica_count_request" {
        1 app_name: String,
    }
}

wire_struct! {
    /// How many.
    pub struct GetReplicaCountResponse as "configuration_get_max_replica_count_response" {
        1 err: ErrorName,
        2 max_replica_count: i32,
        3 hint_message: String,
    }
}

wire_struct! {
    /// Says how many replicas of a table there are to be.
    pub struct SetReplicaCountRequest as "configuration_set_max_replica_count_request" {
        1 app_name: String,
        2 max_replica_count: i32,
    }
}

wire_struct! {
    /// How many there were.
    pub struct SetReplicaCountResponse as "configuration_set_max_replica_count_response" {
        1 err: ErrorName,
        2 old_max_replica_count: i32,
        3 hint_message: String,
    }
}
