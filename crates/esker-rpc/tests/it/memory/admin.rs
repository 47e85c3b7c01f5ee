//! What the double's meta servers answer.

use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::balance::{
    GetReplicaCountResponse, SetReplicaCountRequest, SetReplicaCountResponse,
};
use esker_rpc::message::meta::{
    ControlMetaResponse, CreateTableRequest, CreateTableResponse, DescribeClusterResponse,
    DropTableRequest, DropTableResponse, EnvOperation, ListNodesResponse, ListTablesRequest,
    ListTablesResponse, MetaAnswer, MetaCall, MetaLevel, NodeDescription, NodeStatus,
    RecallTableRequest, RecallTableResponse, RenameTableRequest, RenameTableResponse,
    TableDescription, TableStatus, UpdateTableEnvRequest, UpdateTableEnvResponse,
};
use esker_rpc::message::node::{NodeAnswer, NodeCall, QueryTablesResponse};
use esker_rpc::message::service::{NegotiationResponse, RemoteCommand};

use super::cluster::{Cluster, State, refused};
use super::own;

/// How long a dropped table can be recalled: Pegasus keeps them for a week.
const RESERVE_S: i64 = 7 * 86_400;

/// Most partitions of a table here.
const PARTITIONS_MAX: i32 = 1024;

/// Settings that a table may have here.
const ENVS: [&str; 6] = [
    "replica.write_throttling",
    "manual_compact.once.trigger_time",
    "manual_compact.once.partitions",
    "default_ttl",
    "replica.split.validate_partition_hash",
    "business.info",
];

/// Does what the meta server number `meta` does with a call.
pub fn answer(cluster: &Cluster, meta: usize, call: &MetaCall) -> MetaAnswer {
    let unix_s = i64::try_from(cluster.unix_s()).expect("seconds");
    let mut state = cluster.state();
    *state.seen.entry(call.row().name.to_owned()).or_default() += 1;
    if state.loading == Some(meta)
        && let MetaCall::QueryConfig(_) = call
    {
        return MetaAnswer::QueryConfig(refused(ErrorCode::ServiceNotActive));
    }
    if state.leader != Some(meta) {
        return forwarded(&state, call);
    }
    match call {
        MetaCall::QueryConfig(request) => MetaAnswer::QueryConfig(state.partitions(request)),
        MetaCall::CreateTable(request) => {
            let (err, appid) = split(create(&mut state, request, unix_s));
            MetaAnswer::CreateTable(CreateTableResponse { err, appid })
        }
        MetaCall::DropTable(request) => {
            let (err, ()) = split(drop_table(&mut state, request, unix_s));
            MetaAnswer::DropTable(DropTableResponse { err })
        }
        MetaCall::ListTables(request) => MetaAnswer::ListTables(list(&state, request)),
        MetaCall::ListNodes(request) => {
            let is_asked = [NodeStatus::NS_INVALID, NodeStatus::NS_ALIVE].contains(&request.status);
            let nodes = state.nodes.iter().filter(|_| is_asked);
            let infos = nodes.map(|node| NodeDescription {
                status: NodeStatus::NS_ALIVE,
                node: node.address.into(),
                hp_node: None,
            });
            MetaAnswer::ListNodes(ListNodesResponse {
                err: ErrorName::OK,
                infos: infos.collect(),
            })
        }
        MetaCall::DescribeCluster(_) => MetaAnswer::DescribeCluster(describe(&state)),
        MetaCall::UpdateTableEnv(request) => {
            let (err, hint) = match update_envs(&mut state, request) {
                Ok(()) => (ErrorName::OK, String::new()),
                Err((code, hint)) => (code.into(), hint.to_owned()),
            };
            MetaAnswer::UpdateTableEnv(UpdateTableEnvResponse {
                err,
                hint_message: hint,
            })
        }
        MetaCall::ControlMeta(request) => {
            let old_level = state.level;
            if request.level != MetaLevel::FL_INVALID {
                state.level = request.level;
            }
            MetaAnswer::ControlMeta(ControlMetaResponse {
                err: ErrorName::OK,
                old_level,
            })
        }
        MetaCall::RecallTable(request) => {
            let (err, info) = split(recall(&mut state, request, unix_s));
            MetaAnswer::RecallTable(RecallTableResponse { err, info })
        }
        MetaCall::RenameTable(request) => {
            let (err, ()) = split(rename(&mut state, request));
            MetaAnswer::RenameTable(RenameTableResponse {
                err,
                hint_message: String::new(),
            })
        }
        MetaCall::GetReplicaCount(request) => {
            let table = state.available(&request.app_name);
            let count = table.map(|table| table.description.max_replica_count);
            let (err, max_replica_count) = split(count.ok_or(ErrorCode::AppNotExist));
            MetaAnswer::GetReplicaCount(GetReplicaCountResponse {
                err,
                max_replica_count,
                hint_message: String::new(),
            })
        }
        MetaCall::SetReplicaCount(request) => {
            let (err, old_max_replica_count) = split(set_replica_count(&mut state, request));
            MetaAnswer::SetReplicaCount(SetReplicaCountResponse {
                err,
                old_max_replica_count,
                hint_message: String::new(),
            })
        }
        MetaCall::ProposeBalancer(_)
        | MetaCall::ShowNodes(_)
        | MetaCall::ChangeNode(_)
        | MetaCall::MoveReplica(_)
        | MetaCall::Balance(_)
        | MetaCall::RecoverTable(_)
        | MetaCall::SetMetaReplicas(_) => own::answer(&mut state, call),
        MetaCall::MetaCommand(command) => MetaAnswer::MetaCommand(obey(command)),
        MetaCall::MetaNegotiation(_) => {
            MetaAnswer::MetaNegotiation(NegotiationResponse::disabled())
        }
    }
}

/// Does what a data server does with a call about itself.
pub fn answer_node(cluster: &Cluster, call: &NodeCall) -> NodeAnswer {
    match call {
        NodeCall::QueryTables(_) => {
            let state = cluster.state();
            NodeAnswer::QueryTables(QueryTablesResponse {
                err: ErrorName::OK,
                apps: list(&state, &ListTablesRequest::default()).infos,
            })
        }
        NodeCall::NodeCommand(command) => NodeAnswer::NodeCommand(obey(command)),
        NodeCall::NodeNegotiation(_) => {
            NodeAnswer::NodeNegotiation(NegotiationResponse::disabled())
        }
    }
}

fn forwarded(state: &State, call: &MetaCall) -> MetaAnswer {
    let refused = MetaAnswer::refused(call, ErrorCode::ForwardToOthers.into());
    match call {
        MetaCall::QueryConfig(_) => MetaAnswer::QueryConfig(state.forward()),
        MetaCall::MetaCommand(command) => MetaAnswer::MetaCommand(obey(command)),
        _ => {
            refused.unwrap_or_else(|| MetaAnswer::MetaNegotiation(NegotiationResponse::disabled()))
        }
    }
}

fn split<T: Default>(result: Result<T, ErrorCode>) -> (ErrorName, T) {
    match result {
        Ok(value) => (ErrorName::OK, value),
        Err(code) => (code.into(), T::default()),
    }
}

fn create(state: &mut State, request: &CreateTableRequest, unix_s: i64) -> Result<i32, ErrorCode> {
    let options = &request.options;
    let is_sound = (2..=PARTITIONS_MAX).contains(&options.partition_count)
        && options.partition_count.cast_unsigned().is_power_of_two()
        && (1..=5).contains(&options.replica_count)
        && !request.app_name.is_empty()
        && options.envs.iter().all(|(key, value)| is_env(key, value));
    if !is_sound {
        return Err(ErrorCode::InvalidParameters);
    }
    if state.level <= MetaLevel::FL_FREEZED {
        return Err(ErrorCode::StateFreezed);
    }
    if let Some(table) = state.available(&request.app_name) {
        let there = &table.description;
        let is_same = there.partition_count == options.partition_count
            && there.max_replica_count == options.replica_count
            && there.envs == options.envs;
        return match (options.success_if_exist, is_same) {
            (false, _) => Err(ErrorCode::AppExist),
            (true, true) => Ok(there.app_id),
            (true, false) => Err(ErrorCode::InvalidParameters),
        };
    }
    let description = TableDescription {
        app_type: options.app_type.clone(),
        app_name: request.app_name.clone(),
        partition_count: options.partition_count,
        envs: options.envs.clone(),
        is_stateful: options.is_stateful,
        max_replica_count: options.replica_count,
        create_second: unix_s,
        ..TableDescription::default()
    };
    Ok(state.add_table(description, unix_s << 20))
}

fn drop_table(state: &mut State, request: &DropTableRequest, unix_s: i64) -> Result<(), ErrorCode> {
    let options = &request.options;
    let Some(table) = state.available(&request.app_name) else {
        return match options.success_if_not_exist {
            true => Ok(()),
            false => Err(ErrorCode::AppNotExist),
        };
    };
    let reserve = options.reserve_seconds.filter(|seconds| *seconds > 0);
    table.description.status = TableStatus::AS_DROPPED;
    table.description.drop_second = unix_s;
    table.description.expire_second = unix_s + reserve.unwrap_or(RESERVE_S);
    Ok(())
}

fn list(state: &State, request: &ListTablesRequest) -> ListTablesResponse {
    let all = state.tables.values().map(|table| &table.description);
    let is_asked = |one: &&TableDescription| {
        request.status == TableStatus::AS_INVALID || one.status == request.status
    };
    ListTablesResponse {
        err: ErrorName::OK,
        infos: all.filter(is_asked).cloned().collect(),
        hint_message: None,
    }
}

fn describe(state: &State) -> DescribeClusterResponse {
    let metas: Vec<String> = state.metas.iter().map(ToString::to_string).collect();
    let leader = state
        .leader
        .map_or(String::new(), |leader| metas[leader].clone());
    let level = state.level.name().unwrap_or("FL_STEADY");
    DescribeClusterResponse::of([
        ("meta_servers", metas.join(",")),
        ("primary_meta_server", leader),
        ("zookeeper_hosts", String::new()),
        ("zookeeper_root", String::new()),
        (
            "meta_function_level",
            level.trim_start_matches("FL_").to_lowercase(),
        ),
        ("balance_operation_count", "0".to_owned()),
        ("primary_replica_count_stddev", "0.00".to_owned()),
        ("total_replica_count_stddev", "0.00".to_owned()),
        ("cluster_name", "in memory".to_owned()),
    ])
}

fn is_env(key: &str, value: &str) -> bool {
    ENVS.contains(&key) && (key != "default_ttl" || value.parse::<u32>().is_ok())
}

fn update_envs(
    state: &mut State,
    request: &UpdateTableEnvRequest,
) -> Result<(), (ErrorCode, &'static str)> {
    let table = state.available(&request.app_name);
    let envs = &mut table
        .ok_or((ErrorCode::AppNotExist, "no such table"))?
        .description
        .envs;
    let keys = request.keys.clone().unwrap_or_default();
    match request.op {
        EnvOperation::APP_ENV_OP_SET => {
            let values = request.values.clone().unwrap_or_default();
            if keys.len() != values.len() {
                return Err((ErrorCode::InvalidParameters, "as many keys as values"));
            }
            if !keys
                .iter()
                .zip(&values)
                .all(|(key, value)| is_env(key, value))
            {
                return Err((
                    ErrorCode::InvalidParameters,
                    "no such setting, or not that value",
                ));
            }
            envs.extend(keys.into_iter().zip(values));
        }
        EnvOperation::APP_ENV_OP_DEL => envs.retain(|key, _| !keys.contains(key)),
        EnvOperation::APP_ENV_OP_CLEAR => {
            let prefix = request.clear_prefix.clone().unwrap_or_default();
            let dotted = format!("{prefix}.");
            envs.retain(|key, _| !prefix.is_empty() && !key.starts_with(&dotted));
        }
        _ => return Err((ErrorCode::InvalidParameters, "no such operation")),
    }
    Ok(())
}

fn recall(
    state: &mut State,
    request: &RecallTableRequest,
    unix_s: i64,
) -> Result<TableDescription, ErrorCode> {
    let table = state
        .tables
        .get(&request.app_id)
        .ok_or(ErrorCode::AppNotExist)?;
    if table.is_available() {
        return Err(ErrorCode::AppExist);
    }
    if table.description.expire_second <= unix_s {
        return Err(ErrorCode::AppNotExist);
    }
    let name = match request.new_app_name.as_str() {
        "" => table.description.app_name.clone(),
        name => name.to_owned(),
    };
    if state.available(&name).is_some() {
        return Err(ErrorCode::InvalidParameters);
    }
    let table = state
        .tables
        .get_mut(&request.app_id)
        .ok_or(ErrorCode::AppNotExist)?;
    table.description.app_name = name;
    table.description.status = TableStatus::AS_AVAILABLE;
    table.description.drop_second = 0;
    table.description.expire_second = 0;
    Ok(table.description.clone())
}

fn set_replica_count(
    state: &mut State,
    request: &SetReplicaCountRequest,
) -> Result<i32, ErrorCode> {
    if !(1..=5).contains(&request.max_replica_count) {
        return Err(ErrorCode::InvalidParameters);
    }
    let table = state.available(&request.app_name);
    let table = table.ok_or(ErrorCode::AppNotExist)?;
    let count = &mut table.description.max_replica_count;
    Ok(std::mem::replace(count, request.max_replica_count))
}

fn rename(state: &mut State, request: &RenameTableRequest) -> Result<(), ErrorCode> {
    if state.available(&request.new_app_name).is_some() {
        return Err(ErrorCode::InvalidParameters);
    }
    let table = state
        .available(&request.old_app_name)
        .ok_or(ErrorCode::AppNotExist)?;
    table.description.app_name.clone_from(&request.new_app_name);
    Ok(())
}

fn obey(command: &RemoteCommand) -> String {
    match command.cmd.as_str() {
        "help" => "help\nserver-info".to_owned(),
        "server-info" => "a table in memory, for tests".to_owned(),
        other => format!("unknown command '{other}'"),
    }
}
