//! What administration is answered: at once, or by a command that is proposed first.

use esker_raft::{GroupId, ReplicaId};
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::balance::{
    GetReplicaCountResponse, ProposeBalancerResponse, SetReplicaCountRequest,
    SetReplicaCountResponse,
};
use esker_rpc::message::meta::{
    ControlMetaResponse, CreateTableRequest, CreateTableResponse, DropTableRequest,
    DropTableResponse, EnvOperation, MetaAnswer, MetaCall, MetaLevel, RecallTableRequest,
    RecallTableResponse, RenameTableRequest, RenameTableResponse, UpdateTableEnvRequest,
    UpdateTableEnvResponse,
};
use esker_rpc::message::own::{
    BalanceRequest, BalanceResponse, ChangeNodeResponse, MoveReplicaResponse, RecoverTableResponse,
    SetMetaReplicasResponse, ShowNodesResponse,
};
use esker_rpc::message::service::{NegotiationResponse, RemoteCommand};

use crate::meta::command::{Command, Deed, EnvChange, NewTable};
use crate::meta::describe;
use crate::meta::ids::TableId;
use crate::meta::limits::RESERVE_S;
use crate::meta::live::Live;
use crate::meta::node_facts::{balance, node_facts};
use crate::meta::notices::of_unlisted;
use crate::meta::outcome::{Cause, Outcome, Refusal, cut};
use crate::meta::places::{Moved, change_node, moved, proposed, what_is_left};
use crate::meta::recovery_admin::{self, Asked};
use crate::meta::rows::{Level, TableStatus};
use crate::meta::state::State;

/// Settings in one call: more than there are.
const PAIRS_MAX: usize = 64;

/// Bytes of a text in a call: more than any name, and any value of a setting.
const WORD_BYTES_MAX: usize = 2048;

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is answered.
    Answer(MetaAnswer),
    /// This is proposed, and its outcome answered by [`answered`].
    Propose(Command),
    /// The leader remembers something, and it is answered.
    Remember(Memory, MetaAnswer),
}

/// What the leader remembers, of which no other need know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The lead of a group goes to that replica.
    Lead(GroupId, ReplicaId),
    /// Somebody asks for a balance.
    Balance,
}

/// What becomes of a call at the leader of the meta group, at `unix_ms`.
///
/// Reads are of a state that the leader has confirmed to be the newest.
pub fn answer(state: &State, live: &Live, call: &MetaCall, unix_ms: u64) -> Decision {
    if is_too_early(state, live, call) {
        return Decision::Answer(refused(call, ErrorCode::ServiceNotActive));
    }
    let deed = match call {
        MetaCall::QueryConfig(request) => {
            let told = describe::partitions(state, live, request);
            return Decision::Answer(MetaAnswer::QueryConfig(told));
        }
        MetaCall::ListTables(request) => {
            return Decision::Answer(MetaAnswer::ListTables(describe::tables(state, request)));
        }
        MetaCall::ListNodes(request) => {
            let told = describe::nodes(state, live, request.status);
            return Decision::Answer(MetaAnswer::ListNodes(told));
        }
        MetaCall::DescribeCluster(_) => {
            return Decision::Answer(MetaAnswer::DescribeCluster(describe::cluster(state, live)));
        }
        MetaCall::MetaCommand(command) => {
            return Decision::Answer(MetaAnswer::MetaCommand(obey(command)));
        }
        MetaCall::MetaNegotiation(_) => return Decision::Answer(no_security()),
        MetaCall::GetReplicaCount(request) => {
            let told = replica_count(state, &request.app_name);
            return Decision::Answer(MetaAnswer::GetReplicaCount(told));
        }
        MetaCall::ShowNodes(_) => {
            return Decision::Answer(MetaAnswer::ShowNodes(nodes_told(state, live)));
        }
        MetaCall::RecoverTable(request) => match recovery_admin::asked(state, live, request) {
            Ok(Asked::Told(told)) => return Decision::Answer(MetaAnswer::RecoverTable(told)),
            Ok(Asked::Recover(recover)) => Ok(Deed::Recover { recover }),
            Err(refusal) => Err(refusal),
        },
        MetaCall::Balance(request) => return balanced(state, live, request),
        MetaCall::ProposeBalancer(request) => match proposed(state, live, request) {
            Ok(moved) => return begun(state, call, moved, unix_ms),
            Err(refusal) => Err(refusal),
        },
        MetaCall::MoveReplica(request) => match moved(state, live, request) {
            Ok(moved) => return begun(state, call, moved, unix_ms),
            Err(refusal) => Err(refusal),
        },
        MetaCall::ChangeNode(request) => change_node(state, live, request),
        MetaCall::SetReplicaCount(request) => set_replica_count(state, request),
        MetaCall::SetMetaReplicas(request) => match u32::try_from(request.count) {
            Ok(count) => Ok(Deed::SetMetaReplicas { count }),
            Err(_) => Err(Refusal::bad("the meta service has 1, 3 or 5 replicas")),
        },
        MetaCall::CreateTable(request) => create(state, live, request),
        MetaCall::DropTable(request) => Ok(drop_table(request)),
        MetaCall::RecallTable(request) => recall(request),
        MetaCall::RenameTable(request) => Ok(rename(request)),
        MetaCall::UpdateTableEnv(request) => change_envs(request),
        MetaCall::ControlMeta(request) => match request.level {
            MetaLevel::FL_INVALID => {
                let row = state.cluster.as_ref();
                let before = row.map_or(Level::Steady, |row| row.level);
                return Decision::Answer(answered(state, call, &Outcome::Level { before }));
            }
            level => match describe::level_of(level) {
                Some(level) => Ok(Deed::SetLevel { level }),
                None => Err(Refusal::bad("the levels are 100, 200, 300, 400 and 500")),
            },
        },
    };
    match deed {
        Ok(deed) => Decision::Propose(Command { unix_ms, deed }),
        Err(refusal) => Decision::Answer(answered(state, call, &refusal.into())),
    }
}

/// The answer to a call of which that came; `state` is the one after it.
pub fn answered(state: &State, call: &MetaCall, outcome: &Outcome) -> MetaAnswer {
    let (err, hint) = match outcome {
        Outcome::Refused { refusal } => (refusal.code().into(), refusal.why.clone()),
        _ => (ErrorName::OK, String::new()),
    };
    let table = match outcome {
        Outcome::Table { table } => state.tables.get(table).map(|row| (*table, row)),
        _ => None,
    };
    match call {
        MetaCall::CreateTable(_) => MetaAnswer::CreateTable(CreateTableResponse {
            err,
            appid: table.map_or(0, |table| table.0.wire()),
        }),
        MetaCall::DropTable(_) => MetaAnswer::DropTable(DropTableResponse { err }),
        MetaCall::RecallTable(_) => MetaAnswer::RecallTable(RecallTableResponse {
            err,
            info: table
                .map(|(id, row)| describe::description(id, row))
                .unwrap_or_default(),
        }),
        MetaCall::RenameTable(_) => MetaAnswer::RenameTable(RenameTableResponse {
            err,
            hint_message: hint,
        }),
        MetaCall::UpdateTableEnv(_) => MetaAnswer::UpdateTableEnv(UpdateTableEnvResponse {
            err,
            hint_message: hint,
        }),
        MetaCall::ControlMeta(_) => MetaAnswer::ControlMeta(ControlMetaResponse {
            err,
            old_level: match outcome {
                Outcome::Level { before } => describe::wire_level(*before),
                _ => MetaLevel::FL_INVALID,
            },
        }),
        call => answered_of_places(state, call, outcome, (err, hint)),
    }
}

/// The same, for calls about nodes and about where replicas are.
fn answered_of_places(
    state: &State,
    call: &MetaCall,
    outcome: &Outcome,
    (err, hint): (ErrorName, String),
) -> MetaAnswer {
    let before = match outcome {
        Outcome::Count { before } => i32::try_from(*before).unwrap_or(i32::MAX),
        _ => 0,
    };
    match call {
        MetaCall::ProposeBalancer(_) => {
            MetaAnswer::ProposeBalancer(ProposeBalancerResponse { err })
        }
        MetaCall::MoveReplica(_) => MetaAnswer::MoveReplica(MoveReplicaResponse {
            err,
            hint_message: hint,
        }),
        MetaCall::ChangeNode(request) => MetaAnswer::ChangeNode(ChangeNodeResponse {
            hint_message: if err.is_ok() {
                what_is_left(state, request)
            } else {
                hint
            },
            err,
        }),
        MetaCall::Balance(_) => MetaAnswer::Balance(BalanceResponse {
            err,
            hint_message: hint,
            ..BalanceResponse::default()
        }),
        MetaCall::RecoverTable(_) => MetaAnswer::RecoverTable(RecoverTableResponse {
            err,
            hint_message: hint,
            partitions: Vec::new(),
        }),
        MetaCall::SetReplicaCount(_) => MetaAnswer::SetReplicaCount(SetReplicaCountResponse {
            err,
            old_max_replica_count: before,
            hint_message: hint,
        }),
        MetaCall::SetMetaReplicas(_) => MetaAnswer::SetMetaReplicas(SetMetaReplicasResponse {
            err,
            old_count: before,
            hint_message: hint,
        }),
        _ => refused(call, ErrorCode::Unknown),
    }
}

/// Whether a table that `outcome` is about is still being made: who created it is answered when
/// that is over, for the clients that ask for its partitions next take a refusal for a failure.
pub fn is_being_made(state: &State, outcome: &Outcome) -> bool {
    let Outcome::Table { table } = outcome else {
        return false;
    };
    let row = state.tables.get(table);
    row.is_some_and(|row| row.status == TableStatus::Creating)
}

/// The call, refused with `code`; what needs no meta group is answered.
pub fn refused(call: &MetaCall, code: ErrorCode) -> MetaAnswer {
    let refused = MetaAnswer::refused(call, code.into());
    refused.unwrap_or_else(|| match call {
        MetaCall::MetaCommand(command) => MetaAnswer::MetaCommand(obey(command)),
        _ => no_security(),
    })
}

/// Whether nobody can say yet what is asked: the cluster has not begun, or the answer depends on
/// what nodes have, and not all were heard. Clients ask again, and nodes are heard within seconds.
fn is_too_early(state: &State, live: &Live, call: &MetaCall) -> bool {
    let counts_nodes = match call {
        MetaCall::ShowNodes(_)
        | MetaCall::Balance(_)
        | MetaCall::RecoverTable(_)
        | MetaCall::ListNodes(_)
        | MetaCall::DescribeCluster(_) => true,
        // A table that is there already is placed.
        MetaCall::CreateTable(request) => state.table(&request.app_name).is_none(),
        _ => false,
    };
    state.cluster.is_none() || counts_nodes && !live.is_informed(state)
}

/// What comes of a move that can be begun.
fn begun(state: &State, call: &MetaCall, moved: Moved, unix_ms: u64) -> Decision {
    match moved {
        Moved::Replica(deed) => Decision::Propose(Command { unix_ms, deed }),
        Moved::Lead(group, to) => {
            let done = answered(state, call, &Outcome::Done);
            Decision::Remember(Memory::Lead(group, to), done)
        }
    }
}

fn balanced(state: &State, live: &Live, request: &BalanceRequest) -> Decision {
    let is_frozen = state
        .cluster
        .as_ref()
        .is_none_or(|row| row.level <= Level::Frozen);
    if request.is_carried_out && is_frozen {
        let why = "nothing moves at this level: `esker balance --level steady` raises it";
        let refusal = Refusal::new(Cause::Frozen, why);
        let call = MetaCall::Balance(request.clone());
        return Decision::Answer(answered(state, &call, &refusal.into()));
    }
    let told = MetaAnswer::Balance(balance(state, live));
    match request.is_carried_out {
        true => Decision::Remember(Memory::Balance, told),
        false => Decision::Answer(told),
    }
}

fn nodes_told(state: &State, live: &Live) -> ShowNodesResponse {
    let others = live.unlisted();
    let others: Vec<String> = others.map(|(node, at)| of_unlisted(node, at)).collect();
    ShowNodesResponse {
        err: ErrorName::OK,
        hint_message: others.join("; "),
        nodes: node_facts(state, live),
        tables_revision: state.cluster.as_ref().map_or(0, |row| {
            i64::try_from(row.tables_revision).unwrap_or(i64::MAX)
        }),
    }
}

fn replica_count(state: &State, name: &str) -> GetReplicaCountResponse {
    match state.table(name) {
        Some((_, row)) => GetReplicaCountResponse {
            err: ErrorName::OK,
            max_replica_count: i32::try_from(row.replica_count).unwrap_or(i32::MAX),
            hint_message: String::new(),
        },
        None => GetReplicaCountResponse {
            err: ErrorCode::AppNotExist.into(),
            hint_message: "there is no such table".to_owned(),
            ..GetReplicaCountResponse::default()
        },
    }
}

fn set_replica_count(state: &State, request: &SetReplicaCountRequest) -> Result<Deed, Refusal> {
    let count = u32::try_from(request.max_replica_count);
    Ok(Deed::SetReplicaCount {
        name: short(&request.app_name),
        count: count.map_err(|_| Refusal::bad("replicas are 1 to 5"))?,
        hosts: state.host_count(),
    })
}

fn create(state: &State, live: &Live, request: &CreateTableRequest) -> Result<Deed, Refusal> {
    let options = &request.options;
    let count = |count: i32| {
        u32::try_from(count).map_err(|_| Refusal::bad("partitions and replicas are above 0"))
    };
    if !options.is_stateful {
        return Err(Refusal::bad("tables are stateful"));
    }
    if options.atomic_idempotent == Some(true) {
        return Err(Refusal::bad(
            "tables are not copied to other clusters, so nothing needs that",
        ));
    }
    let name = text(&request.app_name)?;
    let partition_count = count(options.partition_count)?;
    let replica_count = count(options.replica_count)?;
    // Go's clients send a creation again, to the other nodes, when a second has gone by, and take
    // the first answer: a refusal would outrun the creation's own, which waits for leaders.
    let goes_on = state.table(&name).is_some_and(|(_, row)| {
        row.status == TableStatus::Creating
            && (row.partition_count, row.replica_count) == (partition_count, replica_count)
    });
    Ok(Deed::CreateTable {
        table: NewTable {
            name,
            partition_count,
            replica_count,
            kind: text(&options.app_type)?,
            envs: texts(options.envs.iter())?.into_iter().collect(),
            or_same: options.success_if_exist || goes_on,
            candidates: live.with_space(state),
        },
    })
}

fn drop_table(request: &DropTableRequest) -> Deed {
    let told = request
        .options
        .reserve_seconds
        .and_then(|seconds| u64::try_from(seconds).ok());
    Deed::DropTable {
        name: short(&request.app_name),
        reserve_s: told.filter(|seconds| *seconds > 0).unwrap_or(RESERVE_S),
        or_absent: request.options.success_if_not_exist,
    }
}

fn recall(request: &RecallTableRequest) -> Result<Deed, Refusal> {
    let no_table = || Refusal::new(Cause::NoTable, "there is no such table");
    Ok(Deed::RecallTable {
        table: TableId::of_wire(request.app_id).ok_or_else(no_table)?,
        name: text(&request.new_app_name)?,
    })
}

fn rename(request: &RenameTableRequest) -> Deed {
    Deed::RenameTable {
        old: short(&request.old_app_name),
        new: short(&request.new_app_name),
    }
}

fn change_envs(request: &UpdateTableEnvRequest) -> Result<Deed, Refusal> {
    let keys = request.keys.as_deref().unwrap_or_default();
    let values = request.values.as_deref().unwrap_or_default();
    let change = match request.op {
        EnvOperation::APP_ENV_OP_SET if keys.len() != values.len() || keys.is_empty() => {
            return Err(Refusal::bad(
                "settings are set by as many keys as values, and one at least",
            ));
        }
        EnvOperation::APP_ENV_OP_SET => EnvChange::Set {
            envs: texts(keys.iter().zip(values))?.into_iter().collect(),
        },
        EnvOperation::APP_ENV_OP_DEL if keys.len() > PAIRS_MAX => {
            return Err(Refusal::bad("there are not so many settings"));
        }
        EnvOperation::APP_ENV_OP_DEL => EnvChange::Remove {
            keys: keys.iter().map(|key| text(key)).collect::<Result<_, _>>()?,
        },
        EnvOperation::APP_ENV_OP_CLEAR => EnvChange::Clear {
            prefix: text(request.clear_prefix.as_deref().unwrap_or_default())?,
        },
        _ => {
            return Err(Refusal::bad(
                "settings are set (1), deleted (2) or cleared (3)",
            ));
        }
    };
    Ok(Deed::SetEnvs {
        name: short(&request.app_name),
        change,
    })
}

/// Texts that a command has room for, in pairs.
fn texts<'a>(
    pairs: impl ExactSizeIterator<Item = (&'a String, &'a String)>,
) -> Result<Vec<(String, String)>, Refusal> {
    if pairs.len() > PAIRS_MAX {
        return Err(Refusal::bad("there are not so many settings"));
    }
    pairs
        .map(|(key, value)| Ok((text(key)?, text(value)?)))
        .collect()
}

/// A text of which a command has room for all.
fn text(text: &str) -> Result<String, Refusal> {
    match text.len() <= WORD_BYTES_MAX {
        true => Ok(text.to_owned()),
        false => Err(Refusal::bad("a text is longer than any that there is")),
    }
}

/// A name as it came, or the beginning of one that is too long for any table.
fn short(name: &str) -> String {
    cut(name.to_owned(), WORD_BYTES_MAX)
}

/// What becomes of a command in words, at any server.
pub fn obey(command: &RemoteCommand) -> String {
    match command.cmd.as_str() {
        "help" => "help: the commands\nserver-info: what this server is".to_owned(),
        "server-info" => concat!("esker ", env!("CARGO_PKG_VERSION")).to_owned(),
        other => {
            let other = cut(other.escape_debug().to_string(), 64);
            format!("unknown command '{other}'; help has them all")
        }
    }
}

fn no_security() -> MetaAnswer {
    MetaAnswer::MetaNegotiation(NegotiationResponse::disabled())
}

#[cfg(test)]
mod tests;
