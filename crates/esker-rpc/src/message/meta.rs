//! What a meta server is asked: tables, partitions, and who leads them.

use std::collections::BTreeMap;

use crate::codec::scalars::{Address, Gpid, HostPort};
use crate::error::ErrorName;
use crate::message::balance::{
    GetReplicaCountRequest, GetReplicaCountResponse, ProposeBalancerRequest,
    ProposeBalancerResponse, SetReplicaCountRequest, SetReplicaCountResponse,
};
pub use crate::message::level::MetaLevel;
use crate::message::own::{
    BalanceRequest, BalanceResponse, ChangeNodeRequest, ChangeNodeResponse, MoveReplicaRequest,
    MoveReplicaResponse, RecoverTableRequest, RecoverTableResponse, SetMetaReplicasRequest,
    SetMetaReplicasResponse, ShowNodesRequest, ShowNodesResponse,
};
use crate::message::service::{NegotiationRequest, NegotiationResponse, RemoteCommand};

calls! {
    /// What a meta server is asked.
    pub enum MetaCall;
    /// What it answers.
    pub enum MetaAnswer;

    QueryConfig "RPC_CM_QUERY_PARTITION_CONFIG_BY_INDEX" (QueryConfigRequest)
        -> QueryConfigResponse, Reads, true;
    CreateTable "RPC_CM_CREATE_APP" (CreateTableRequest)
        -> CreateTableResponse, Updates, true;
    DropTable "RPC_CM_DROP_APP" (DropTableRequest) -> DropTableResponse, Updates, true;
    ListTables "RPC_CM_LIST_APPS" (ListTablesRequest) -> ListTablesResponse, Reads, true;
    ListNodes "RPC_CM_LIST_NODES" (ListNodesRequest) -> ListNodesResponse, Reads, true;
    DescribeCluster "RPC_CM_CLUSTER_INFO" (DescribeClusterRequest)
        -> DescribeClusterResponse, Reads, true;
    UpdateTableEnv "RPC_CM_UPDATE_APP_ENV" (UpdateTableEnvRequest)
        -> UpdateTableEnvResponse, Writes, true;
    ControlMeta "RPC_CM_CONTROL_META" (ControlMetaRequest)
        -> ControlMetaResponse, Updates, true;
    RecallTable "RPC_CM_RECALL_APP" (RecallTableRequest)
        -> RecallTableResponse, Updates, true;
    RenameTable "RPC_CM_RENAME_APP" (RenameTableRequest)
        -> RenameTableResponse, Updates, true;
    ProposeBalancer "RPC_CM_PROPOSE_BALANCER" (ProposeBalancerRequest)
        -> ProposeBalancerResponse, Updates, true;
    GetReplicaCount "RPC_CM_GET_MAX_REPLICA_COUNT" (GetReplicaCountRequest)
        -> GetReplicaCountResponse, Reads, true;
    SetReplicaCount "RPC_CM_SET_MAX_REPLICA_COUNT" (SetReplicaCountRequest)
        -> SetReplicaCountResponse, Updates, true;
    ShowNodes "RPC_ESKER_SHOW_NODES" (ShowNodesRequest) -> ShowNodesResponse, Reads, true;
    ChangeNode "RPC_ESKER_CHANGE_NODE" (ChangeNodeRequest) -> ChangeNodeResponse, Writes, true;
    MoveReplica "RPC_ESKER_MOVE_REPLICA" (MoveReplicaRequest)
        -> MoveReplicaResponse, Updates, true;
    Balance "RPC_ESKER_BALANCE" (BalanceRequest) -> BalanceResponse, Writes, true;
    SetMetaReplicas "RPC_ESKER_SET_META_REPLICAS" (SetMetaReplicasRequest)
        -> SetMetaReplicasResponse, Updates, true;
    RecoverTable "RPC_ESKER_RECOVER_TABLE" (RecoverTableRequest)
        -> RecoverTableResponse, Updates, true;
    MetaCommand "RPC_CLI_CLI_CALL" (RemoteCommand) -> String, Updates, true;
    MetaNegotiation "RPC_NEGOTIATION" (NegotiationRequest)
        -> NegotiationResponse, Reads, true;
}

wire_enum! {
    /// What has become of a table.
    pub enum TableStatus as "app_status" {
        AS_INVALID = 0,
        AS_AVAILABLE = 1,
        AS_CREATING = 2,
        AS_CREATE_FAILED = 3,
        AS_DROPPING = 4,
        AS_DROP_FAILED = 5,
        AS_DROPPED = 6,
        AS_RECALLING = 7,
    }
}

wire_struct! {
    /// Who has a partition.
    ///
    /// The fields with names of hosts were never in a release, and no released client can read a
    /// message that has them: a server leaves them out unless it was told otherwise.
    pub struct PartitionConfiguration as "partition_configuration" {
        1 pid: Gpid,
        /// How often the membership has changed: 1 at least. Negative while the partition, a child
        /// of a split, is not ready: its parent serves it.
        2 ballot: i64,
        3 max_replica_count: i32,
        4 primary: Address,
        5 secondaries: Vec<Address>,
        6 last_drops: Vec<Address>,
        7 last_committed_decree: i64,
        8 partition_flags: i32,
        9 hp_primary: Option<HostPort>,
        10 hp_secondaries: Option<Vec<HostPort>>,
        11 hp_last_drops: Option<Vec<HostPort>>,
    }
}

wire_struct! {
    /// Asks for the partitions of a table; for no indices all of them.
    pub struct QueryConfigRequest as "query_cfg_request" {
        1 app_name: String,
        2 partition_indices: Vec<i32>,
    }
}

wire_struct! {
    /// The partitions of a table.
    pub struct QueryConfigResponse as "query_cfg_response" {
        1 err: ErrorName,
        2 app_id: i32,
        3 partition_count: i32,
        /// True in a good answer and false in a refusal: Python looks at nothing else.
        4 is_stateful: bool,
        5 partitions: Vec<PartitionConfiguration>,
    }
}

wire_struct! {
    /// A table.
    pub struct TableDescription as "app_info" {
        1 status: TableStatus,
        2 app_type: String,
        3 app_name: String,
        4 app_id: i32,
        5 partition_count: i32,
        6 envs: BTreeMap<String, String>,
        7 is_stateful: bool,
        8 max_replica_count: i32,
        9 expire_second: i64,
        10 create_second: i64,
        11 drop_second: i64,
        12 duplicating: Option<bool>,
        13 init_partition_count: i32 = -1,
        14 is_bulk_loading: Option<bool>,
        15 atomic_idempotent: Option<bool>,
    }
}

wire_enum! {
    /// Whether a node lives.
    pub enum NodeStatus as "node_status" {
        NS_INVALID = 0,
        NS_ALIVE = 1,
        NS_UNALIVE = 2,
    }
}

wire_enum! {
    /// What is done with a table's settings.
    pub enum EnvOperation as "app_env_operation" {
        APP_ENV_OP_INVALID = 0,
        APP_ENV_OP_SET = 1,
        APP_ENV_OP_DEL = 2,
        APP_ENV_OP_CLEAR = 3,
    }
}

wire_enum! {
    /// How a pattern is looked for in names of tables.
    pub enum PatternMatch as "pattern_match_type" {
        PMT_INVALID = 0,
        PMT_MATCH_ALL = 1,
        PMT_MATCH_EXACT = 2,
        PMT_MATCH_ANYWHERE = 3,
        PMT_MATCH_PREFIX = 4,
        PMT_MATCH_POSTFIX = 5,
        PMT_MATCH_REGEX = 6,
    }
}

wire_struct! {
    /// What a new table is like.
    pub struct CreateTableOptions as "create_app_options" {
        1 partition_count: i32,
        2 replica_count: i32,
        3 success_if_exist: bool,
        4 app_type: String,
        5 is_stateful: bool,
        6 envs: BTreeMap<String, String>,
        7 atomic_idempotent: Option<bool>,
    }
}

wire_struct! {
    /// Creates a table.
    pub struct CreateTableRequest as "configuration_create_app_request" {
        1 app_name: String,
        2 options: CreateTableOptions,
    }
}

wire_struct! {
    /// The number of the new table.
    pub struct CreateTableResponse as "configuration_create_app_response" {
        1 err: ErrorName,
        2 appid: i32,
    }
}

wire_struct! {
    /// How a table is dropped.
    pub struct DropTableOptions as "drop_app_options" {
        1 success_if_not_exist: bool,
        2 reserve_seconds: Option<i64>,
    }
}

wire_struct! {
    /// Drops a table.
    pub struct DropTableRequest as "configuration_drop_app_request" {
        1 app_name: String,
        2 options: DropTableOptions,
    }
}

wire_struct! {
    /// What came of it.
    pub struct DropTableResponse as "configuration_drop_app_response" {
        1 err: ErrorName,
    }
}

wire_struct! {
    /// Lists tables; those of any status for 0.
    pub struct ListTablesRequest as "configuration_list_apps_request" {
        1 status: TableStatus,
        2 app_name_pattern: Option<String>,
        3 match_type: Option<PatternMatch>,
    }
}

wire_struct! {
    /// The tables.
    pub struct ListTablesResponse as "configuration_list_apps_response" {
        1 err: ErrorName,
        2 infos: Vec<TableDescription>,
        3 hint_message: Option<String>,
    }
}

wire_struct! {
    /// A node.
    pub struct NodeDescription as "node_info" {
        1 status: NodeStatus,
        2 node: Address,
        3 hp_node: Option<HostPort>,
    }
}

wire_struct! {
    /// Lists nodes; those of any status for 0.
    pub struct ListNodesRequest as "configuration_list_nodes_request" {
        1 status: NodeStatus,
    }
}

wire_struct! {
    /// The nodes.
    pub struct ListNodesResponse as "configuration_list_nodes_response" {
        1 err: ErrorName,
        2 infos: Vec<NodeDescription>,
    }
}

wire_struct! {
    /// Asks what the cluster is like.
    pub struct DescribeClusterRequest as "configuration_cluster_info_request" {}
}

wire_struct! {
    /// Keys and values, side by side.
    pub struct DescribeClusterResponse as "configuration_cluster_info_response" {
        1 err: ErrorName,
        2 keys: Vec<String>,
        3 values: Vec<String>,
    }
}

wire_struct! {
    /// Changes settings of a table.
    pub struct UpdateTableEnvRequest as "configuration_update_app_env_request" {
        1 app_name: String,
        2 op: EnvOperation,
        3 keys: Option<Vec<String>>,
        4 values: Option<Vec<String>>,
        5 clear_prefix: Option<String>,
    }
}

wire_struct! {
    /// What came of it, in words if it was refused.
    pub struct UpdateTableEnvResponse as "configuration_update_app_env_response" {
        1 err: ErrorName,
        2 hint_message: String,
    }
}

wire_struct! {
    /// Sets the level, or just asks for it with `FL_INVALID`.
    pub struct ControlMetaRequest as "configuration_meta_control_request" {
        1 level: MetaLevel,
    }
}

wire_struct! {
    /// The level before.
    pub struct ControlMetaResponse as "configuration_meta_control_response" {
        1 err: ErrorName,
        2 old_level: MetaLevel,
    }
}

wire_struct! {
    /// Brings a dropped table back; with its old name for an empty one.
    pub struct RecallTableRequest as "configuration_recall_app_request" {
        1 app_id: i32,
        2 new_app_name: String,
    }
}

wire_struct! {
    /// The table that is back.
    pub struct RecallTableResponse as "configuration_recall_app_response" {
        1 err: ErrorName,
        2 info: TableDescription,
    }
}

wire_struct! {
    /// Gives a table another name.
    pub struct RenameTableRequest as "configuration_rename_app_request" {
        1 old_app_name: String,
        2 new_app_name: String,
    }
}

wire_struct! {
    /// What came of it, in words if it was refused.
    pub struct RenameTableResponse as "configuration_rename_app_response" {
        1 err: ErrorName,
        2 hint_message: String,
    }
}

impl MetaAnswer {
    /// The call, refused; `None` for a command in words and for the agreement about security, whose
    /// answers have no error.
    pub fn refused(call: &MetaCall, err: ErrorName) -> Option<MetaAnswer> {
        macro_rules! refused {
            ($($Name:ident $Response:ident,)*) => {
                Some(match call {
                    MetaCall::MetaCommand(_) | MetaCall::MetaNegotiation(_) => return None,
                    MetaCall::DropTable(_) => MetaAnswer::DropTable(DropTableResponse { err }),
                    MetaCall::ProposeBalancer(_) => {
                        MetaAnswer::ProposeBalancer(ProposeBalancerResponse { err })
                    }
                    $(MetaCall::$Name(_) => MetaAnswer::$Name($Response {
                        err,
                        ..$Response::default()
                    }),)*
                })
            };
        }
        refused! {
            QueryConfig QueryConfigResponse,
            CreateTable CreateTableResponse,
            ListTables ListTablesResponse,
            ListNodes ListNodesResponse,
            DescribeCluster DescribeClusterResponse,
            UpdateTableEnv UpdateTableEnvResponse,
            ControlMeta ControlMetaResponse,
            RecallTable RecallTableResponse,
            RenameTable RenameTableResponse,
            GetReplicaCount GetReplicaCountResponse,
            SetReplicaCount SetReplicaCountResponse,
            ShowNodes ShowNodesResponse,
            ChangeNode ChangeNodeResponse,
            MoveReplica MoveReplicaResponse,
            Balance BalanceResponse,
            SetMetaReplicas SetMetaReplicasResponse,
            RecoverTable RecoverTableResponse,
        }
    }
}

impl DescribeClusterResponse {
    /// The answer that has those keys and values.
    pub fn of<const N: usize>(pairs: [(&str, String); N]) -> DescribeClusterResponse {
        let (keys, values) = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .unzip();
        DescribeClusterResponse {
            err: ErrorName::OK,
            keys,
            values,
        }
    }
}
