//! What administration is answered.

use std::collections::BTreeMap;

use esker_raft::{NodeId, ReplicaId};
use esker_rpc::message::meta::{
    ControlMetaRequest, CreateTableOptions, DescribeClusterRequest, DropTableOptions,
    ListNodesRequest, ListTablesRequest, NodeStatus, PatternMatch, QueryConfigRequest,
    QueryConfigResponse, TableStatus as WireStatus,
};
use esker_rpc::message::service::{NegotiationRequest, NegotiationStatus};

use crate::meta::ids::META;
use crate::meta::report::{ReplicaReport, Role};
use crate::meta::trial::{Trial, UNIX_MS, addresses, group, new_table};

use super::*;

impl Trial {
    /// What a call is answered, with its command applied if it makes one.
    fn query(&mut self, name: &str, indices: &[i32]) -> QueryConfigResponse {
        let call = MetaCall::QueryConfig(QueryConfigRequest {
            app_name: name.to_owned(),
            partition_indices: indices.to_vec(),
        });
        match self.ask(&call) {
            MetaAnswer::QueryConfig(told) => told,
            other => panic!("{other:?}"),
        }
    }

    fn create(&mut self, name: &str, partition_count: i32, replica_count: i32) -> ErrorCode {
        let call = create_call(name, partition_count, replica_count);
        match self.ask(&call) {
            MetaAnswer::CreateTable(told) => told.err.code(),
            other => panic!("{other:?}"),
        }
    }
}

fn create_call(name: &str, partition_count: i32, replica_count: i32) -> MetaCall {
    MetaCall::CreateTable(CreateTableRequest {
        app_name: name.to_owned(),
        options: CreateTableOptions {
            partition_count,
            replica_count,
            app_type: "pegasus".to_owned(),
            is_stateful: true,
            ..CreateTableOptions::default()
        },
    })
}

#[test]
fn a_creation_that_is_sent_again_while_it_goes_on_joins_it() {
    let mut trial = Trial::new(3);
    assert_eq!(trial.create("t", 8, 3), ErrorCode::Ok);
    assert_eq!(trial.create("t", 8, 3), ErrorCode::Ok);
    assert_eq!(trial.create("t", 4, 3), ErrorCode::AppExist);
    assert_eq!(trial.create("t", 8, 2), ErrorCode::AppExist);
    assert_eq!(trial.state.tables.len(), 1);
    trial.rounds(3);
    assert_eq!(trial.create("t", 8, 3), ErrorCode::AppExist);
}

#[test]
fn a_table_is_made_and_then_told_with_every_leader() {
    let mut trial = Trial::new(3);
    assert_eq!(trial.query("t", &[]).err.code(), ErrorCode::ObjectNotFound);
    let call = create_call("t", 8, 3);
    let Decision::Propose(command) = answer(&trial.state, &trial.live, &call, UNIX_MS) else {
        panic!("a command");
    };
    let outcome = trial.apply_command(&command);
    assert!(is_being_made(&trial.state, &outcome));
    let told = trial.query("t", &[]);
    assert_eq!(
        (told.err.code(), told.is_stateful),
        (ErrorCode::BusyCreating, false)
    );
    trial.rounds(3);
    assert!(!is_being_made(&trial.state, &outcome));
    let told = trial.query("t", &[]);
    assert_eq!(
        (told.err.code(), told.app_id, told.partition_count),
        (ErrorCode::Ok, 1, 8)
    );
    assert!(told.is_stateful);
    for (index, one) in (0..).zip(&told.partitions) {
        assert_eq!((one.pid.partition_index, one.secondaries.len()), (index, 2));
        assert!(one.ballot > 0 && one.primary.0.is_some());
        assert!(!one.secondaries.contains(&one.primary));
    }
    // Those that are asked for; all if none of them is there.
    let indices = |trial: &mut Trial, asked: &[i32]| {
        let told = trial.query("t", asked).partitions;
        told.iter()
            .map(|one| one.pid.partition_index)
            .collect::<Vec<_>>()
    };
    assert_eq!(indices(&mut trial, &[6, 2, -1, 9]), [2, 6]);
    assert_eq!(indices(&mut trial, &[8, -3]).len(), 8);
}

#[test]
fn the_primary_is_never_empty() {
    let mut trial = Trial::new(3);
    trial.create("t", 2, 3);
    trial.rounds(3);
    let before = trial.query("t", &[]).partitions;
    let leader = trial.live.group(group(1, 0)).expect("a leader").node;
    // The leader falls silent: it stays named until another one reports.
    trial.reports.remove(&leader);
    trial.seconds(20);
    let silent = trial.query("t", &[]).partitions;
    assert_eq!(silent[0].primary, before[0].primary);
    assert_eq!(silent[0].secondaries.len(), 2);
    // A new leader of the meta group knows nothing yet.
    trial.live = Live::new();
    for one in trial.query("t", &[]).partitions {
        assert!(one.primary.0.is_some() && one.ballot > 0);
    }
    trial.hear();
    let alive: Vec<_> = trial
        .reports
        .keys()
        .map(|node| addresses(node.0).client)
        .collect();
    let told = trial.query("t", &[]).partitions;
    assert!(
        told[0]
            .primary
            .0
            .is_some_and(|primary| alive.contains(&primary))
    );
}

#[test]
fn refusals_have_the_codes_that_clients_know() {
    let mut trial = Trial::new(2);
    assert_eq!(trial.create("t", 4, 3), ErrorCode::NotEnoughMember);
    assert_eq!(trial.create("t", 3, 2), ErrorCode::InvalidParameters);
    assert_eq!(trial.create("t", -4, 2), ErrorCode::InvalidParameters);
    assert_eq!(
        trial.create(&"x".repeat(9000), 4, 2),
        ErrorCode::InvalidParameters
    );
    assert_eq!(trial.create("t", 4, 2), ErrorCode::Ok);
    trial.rounds(3);
    assert_eq!(trial.create("t", 4, 2), ErrorCode::AppExist);
    trial.rounds(3);
    let drop_call = |name: &str| {
        MetaCall::DropTable(DropTableRequest {
            app_name: name.to_owned(),
            options: DropTableOptions::default(),
        })
    };
    let dropped = |answer| match answer {
        MetaAnswer::DropTable(told) => told.err.code(),
        other => panic!("{other:?}"),
    };
    assert_eq!(dropped(trial.ask(&drop_call("u"))), ErrorCode::AppNotExist);
    assert_eq!(dropped(trial.ask(&drop_call("t"))), ErrorCode::Ok);
    assert_eq!(trial.query("t", &[]).err.code(), ErrorCode::ObjectNotFound);
    let recall = |app_id, name: &str| {
        let new_app_name = name.to_owned();
        MetaCall::RecallTable(RecallTableRequest {
            app_id,
            new_app_name,
        })
    };
    let recalled = |answer| match answer {
        MetaAnswer::RecallTable(told) => (told.err.code(), told.info),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        recalled(trial.ask(&recall(9, ""))).0,
        ErrorCode::AppNotExist
    );
    assert_eq!(
        recalled(trial.ask(&recall(-1, ""))).0,
        ErrorCode::AppNotExist
    );
    let (code, info) = recalled(trial.ask(&recall(1, "back")));
    assert_eq!((code, info.app_name.as_str()), (ErrorCode::Ok, "back"));
    assert_eq!(info.status, WireStatus::AS_AVAILABLE);
    assert_eq!(recalled(trial.ask(&recall(1, ""))).0, ErrorCode::AppExist);
}

#[test]
fn settings_are_changed_or_refused_with_a_hint() {
    let mut trial = Trial::new(1);
    trial.create("t", 1, 1);
    trial.rounds(3);
    let mut change = |op, keys: &[&str], values: &[&str]| {
        let list = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let call = MetaCall::UpdateTableEnv(UpdateTableEnvRequest {
            app_name: "t".to_owned(),
            op,
            keys: list(keys),
            values: list(values),
            clear_prefix: None,
        });
        match trial.ask(&call) {
            MetaAnswer::UpdateTableEnv(told) => (told.err.code(), told.hint_message),
            other => panic!("{other:?}"),
        }
    };
    let set = EnvOperation::APP_ENV_OP_SET;
    assert_eq!(
        change(set, &["default_ttl"], &["60"]),
        (ErrorCode::Ok, String::new())
    );
    let (code, hint) = change(set, &["default_tl"], &["60"]);
    assert_eq!(code, ErrorCode::InvalidParameters);
    assert!(hint.contains("did you mean default_ttl?"), "{hint}");
    let (code, hint) = change(set, &["default_ttl"], &[]);
    assert!(
        code == ErrorCode::InvalidParameters && hint.contains("as many keys"),
        "{hint}"
    );
    let (code, _) = change(EnvOperation(7), &[], &[]);
    assert_eq!(code, ErrorCode::InvalidParameters);
    let many = vec!["default_ttl"; 65];
    assert_eq!(change(set, &many, &many).0, ErrorCode::InvalidParameters);
    change(EnvOperation::APP_ENV_OP_DEL, &["default_ttl"], &[]);
    let tables = describe::tables(&trial.state, &ListTablesRequest::default()).infos;
    assert_eq!(tables[0].envs, BTreeMap::new());
}

#[test]
fn tables_are_listed_by_status_and_pattern() {
    let mut trial = Trial::new(1);
    for name in ["alpha", "beta", "alphabet"] {
        trial.create(name, 1, 1);
    }
    trial.rounds(3);
    trial.create("gamma", 1, 1);
    trial.done(Deed::DropTable {
        name: "beta".into(),
        reserve_s: 9,
        or_absent: false,
    });
    let mut list = |status, pattern: Option<&str>, match_type| {
        let call = MetaCall::ListTables(ListTablesRequest {
            status,
            app_name_pattern: pattern.map(str::to_owned),
            match_type,
        });
        match trial.ask(&call) {
            MetaAnswer::ListTables(told) => {
                let names: Vec<String> = told.infos.into_iter().map(|one| one.app_name).collect();
                (told.err.code(), names.join(" "))
            }
            other => panic!("{other:?}"),
        }
    };
    let ok = |names: &str| (ErrorCode::Ok, names.to_owned());
    let all = WireStatus::AS_INVALID;
    assert_eq!(list(all, None, None), ok("alpha beta alphabet gamma"));
    assert_eq!(
        list(WireStatus::AS_AVAILABLE, None, None),
        ok("alpha alphabet")
    );
    assert_eq!(list(WireStatus::AS_DROPPED, None, None), ok("beta"));
    assert_eq!(list(WireStatus::AS_CREATING, None, None), ok("gamma"));
    let mut matched = |kind, pattern| list(all, Some(pattern), Some(kind)).1;
    assert_eq!(matched(PatternMatch::PMT_MATCH_EXACT, "alpha"), "alpha");
    assert_eq!(
        matched(PatternMatch::PMT_MATCH_PREFIX, "alpha"),
        "alpha alphabet"
    );
    assert_eq!(matched(PatternMatch::PMT_MATCH_POSTFIX, "bet"), "alphabet");
    assert_eq!(
        matched(PatternMatch::PMT_MATCH_ANYWHERE, "et"),
        "beta alphabet"
    );
    let regex = Some(PatternMatch::PMT_MATCH_REGEX);
    assert_eq!(list(all, Some(".*"), regex).0, ErrorCode::NotImplemented);
}

#[test]
fn nodes_levels_and_the_cluster_are_told() {
    let mut trial = Trial::new(3);
    trial.rounds(10);
    trial.reports.remove(&NodeId(3));
    trial.seconds(6);
    let mut nodes = |status| match trial.ask(&MetaCall::ListNodes(ListNodesRequest { status })) {
        MetaAnswer::ListNodes(told) => told.infos.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(nodes(NodeStatus::NS_INVALID), 3);
    assert_eq!(nodes(NodeStatus::NS_ALIVE), 2);
    assert_eq!(nodes(NodeStatus::NS_UNALIVE), 1);
    let mut level = |level| match trial.ask(&MetaCall::ControlMeta(ControlMetaRequest { level })) {
        MetaAnswer::ControlMeta(told) => (told.err.code(), told.old_level),
        other => panic!("{other:?}"),
    };
    let lively = (ErrorCode::Ok, MetaLevel::FL_LIVELY);
    assert_eq!(level(MetaLevel::FL_INVALID), lively);
    assert_eq!(level(MetaLevel::FL_STEADY), lively);
    assert_eq!(
        level(MetaLevel::FL_LIVELY),
        (ErrorCode::Ok, MetaLevel::FL_STEADY)
    );
    assert_eq!(level(MetaLevel(250)).0, ErrorCode::InvalidParameters);
    assert_eq!(level(MetaLevel::FL_INVALID).1, MetaLevel::FL_LIVELY);
    let cluster = match trial.ask(&MetaCall::DescribeCluster(DescribeClusterRequest {})) {
        MetaAnswer::DescribeCluster(told) => told,
        other => panic!("{other:?}"),
    };
    let told: BTreeMap<_, _> = cluster.keys.iter().zip(&cluster.values).collect();
    let of = |key: &str| told[&key.to_owned()].as_str();
    assert_eq!(of("meta_function_level"), "lively");
    assert_eq!(of("cluster_name"), "trial");
    assert_eq!(of("meta_servers").split(',').count(), 3);
    assert_eq!(of("primary_meta_server"), "127.0.0.2:34001");
    assert_eq!(of("primary_replica_count_stddev"), "0.00");
    assert_eq!(cluster.keys[0], "meta_servers");
}

#[test]
fn who_has_not_begun_says_later_and_answers_what_needs_no_group() {
    for call in [
        create_call("t", 4, 1),
        MetaCall::QueryConfig(QueryConfigRequest::default()),
        MetaCall::DropTable(DropTableRequest::default()),
        MetaCall::RenameTable(RenameTableRequest::default()),
        MetaCall::ListNodes(ListNodesRequest::default()),
    ] {
        let early = answer_early(&call);
        assert_eq!(early.row(), call.row());
        assert_eq!(early, refused(&call, ErrorCode::ServiceNotActive));
    }
    let help = MetaCall::MetaCommand(RemoteCommand {
        cmd: "help".into(),
        ..Default::default()
    });
    assert!(matches!(answer_early(&help), MetaAnswer::MetaCommand(text) if text.contains("help")));
    let asked = MetaCall::MetaNegotiation(NegotiationRequest::default());
    assert!(
        matches!(answer_early(&asked), MetaAnswer::MetaNegotiation(told)
        if told.status == NegotiationStatus::SASL_AUTH_DISABLE)
    );
}

/// What a meta group that has not begun says.
fn answer_early(call: &MetaCall) -> MetaAnswer {
    match answer(&State::default(), &Live::new(), call, UNIX_MS) {
        Decision::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_meta_group_grows_to_three_and_waits_for_pairs() {
    for (nodes, metas) in [(1, 1), (2, 1), (3, 3), (4, 3)] {
        let mut trial = Trial::new(nodes);
        assert_eq!(trial.rounds(20), 0);
        assert_eq!(trial.members(META).voters.len(), metas, "{nodes} nodes");
        assert!(trial.members(META).voters.contains(&ReplicaId(1)));
    }
    let mut trial = Trial::new(6);
    trial.done(Deed::SetMetaReplicas { count: 5 });
    trial.rounds(30);
    assert_eq!(trial.members(META).voters.len(), 5);
    trial.done(Deed::SetMetaReplicas { count: 1 });
    trial.rounds(30);
    assert_eq!(trial.members(META).voters.len(), 1);
    assert_eq!(
        trial.refused(Deed::SetMetaReplicas { count: 2 }),
        Cause::BadArgument
    );
}

#[test]
fn a_copy_that_does_not_go_on_is_no_secondary() {
    // Its disk is full, say: whoever counts copies must not count it.
    let mut trial = Trial::new(3);
    trial.table(new_table("t", 2, 3));
    trial.hear();
    let count = |trial: &mut Trial| {
        let told = trial.query("t", &[]).partitions;
        told.iter().map(|one| one.secondaries.len()).sum::<usize>()
    };
    assert_eq!(count(&mut trial), 4);
    let is_follower = |one: &&mut ReplicaReport| one.group != META && one.role == Role::Follower;
    let mut reports = trial.reports.values_mut();
    let follower = reports.find_map(|report| report.replicas.iter_mut().find(is_follower));
    follower.expect("somebody follows").stall = Some("the disk is full".to_owned());
    trial.hear();
    assert_eq!(count(&mut trial), 3);
}
