//! Meta servers: administration, and which of several leads.

use std::collections::BTreeMap;
use std::time::Duration;

use esker_rpc::client::{Admin, Client, ClientError, NewTable};
use esker_rpc::error::ErrorCode;
use esker_rpc::message::meta::{MetaLevel, NodeStatus, TableStatus};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::fixture::{Fixture, ms, run};

fn admin(fixture: &Fixture) -> Admin {
    fixture.client().admin(ms(2000))
}

fn new_table(name: &str) -> NewTable {
    NewTable {
        name: name.to_owned(),
        partition_count: 4,
        replica_count: 2,
        envs: BTreeMap::new(),
        success_if_exist: false,
    }
}

fn refused<T>(code: ErrorCode) -> Result<T, ClientError> {
    Err(ClientError::Refused(code.into()))
}

#[test]
fn tables_are_created_dropped_recalled_and_renamed() {
    run(async {
        let fixture = Fixture::new().await;
        let admin = admin(&fixture);
        let table = new_table("new");
        assert_eq!(admin.create_table(&table).await, Ok(2));
        assert_eq!(
            admin.create_table(&table).await,
            refused(ErrorCode::AppExist)
        );
        let again = NewTable {
            success_if_exist: true,
            ..table.clone()
        };
        assert_eq!(admin.create_table(&again).await, Ok(2));
        let other = NewTable {
            partition_count: 8,
            ..again
        };
        assert_eq!(
            admin.create_table(&other).await,
            refused(ErrorCode::InvalidParameters)
        );
        for partition_count in [0, 1, 3, -4] {
            let senseless = NewTable {
                partition_count,
                ..new_table("senseless")
            };
            let created = admin.create_table(&senseless).await;
            assert_eq!(created, refused(ErrorCode::InvalidParameters));
        }
        let partitions = admin.partitions("new").await.unwrap();
        assert_eq!(partitions.len(), 4);
        assert!(
            partitions
                .iter()
                .all(|one| one.primary.0.is_some() && one.secondaries.len() == 1)
        );

        let handle = fixture.client().table("new").await.unwrap();
        handle.set(b"hk", b"sk", b"v", 0).await.unwrap();
        admin.drop_table("new", None).await.unwrap();
        assert_eq!(
            admin.drop_table("new", None).await,
            refused(ErrorCode::AppNotExist)
        );
        let dropped = admin.tables(TableStatus::AS_DROPPED).await.unwrap();
        assert_eq!((dropped.len(), dropped[0].app_name.as_str()), (1, "new"));
        let recalled = admin.recall_table(2, "back").await.unwrap();
        assert_eq!(recalled.app_name, "back");
        assert_eq!(
            admin.recall_table(2, "").await,
            refused(ErrorCode::AppExist)
        );
        assert_eq!(
            admin.recall_table(77, "").await,
            refused(ErrorCode::AppNotExist)
        );
        admin.rename_table("back", "renamed").await.unwrap();
        let handle = fixture.client().table("renamed").await.unwrap();
        assert_eq!(handle.get(b"hk", b"sk").await, Ok(Some(b"v".to_vec())));
        let names: Vec<String> = admin
            .tables(TableStatus::AS_AVAILABLE)
            .await
            .unwrap()
            .into_iter()
            .map(|table| table.app_name)
            .collect();
        assert_eq!(names, ["t", "renamed"]);
    });
}

#[test]
fn a_dropped_table_cannot_be_recalled_for_ever() {
    run(async {
        let fixture = Fixture::new().await;
        let admin = admin(&fixture);
        admin.drop_table("t", Some(60)).await.unwrap();
        fixture.cluster.pass(60);
        assert_eq!(
            admin.recall_table(1, "").await,
            refused(ErrorCode::AppNotExist)
        );
    });
}

#[test]
fn settings_nodes_and_levels_are_told() {
    run(async {
        let fixture = Fixture::new().await;
        let admin = admin(&fixture);
        let envs = BTreeMap::from([("default_ttl".to_owned(), "5".to_owned())]);
        admin.set_envs("t", &envs).await.unwrap();
        let envs_of = || async {
            admin.tables(TableStatus::AS_INVALID).await.unwrap()[0]
                .envs
                .clone()
        };
        assert_eq!(envs_of().await, envs);
        let unknown = BTreeMap::from([("no such".to_owned(), "5".to_owned())]);
        let set = admin.set_envs("t", &unknown).await;
        let hint = "no such setting, or not that value".to_owned();
        let name = ErrorCode::InvalidParameters.into();
        assert_eq!(set, Err(ClientError::Explained(name, hint)));
        admin
            .remove_envs("t", &["default_ttl".to_owned()])
            .await
            .unwrap();
        assert!(envs_of().await.is_empty());

        assert_eq!(admin.nodes(NodeStatus::NS_INVALID).await.unwrap().len(), 2);
        assert_eq!(admin.nodes(NodeStatus::NS_UNALIVE).await.unwrap().len(), 0);
        let described = admin.describe().await.unwrap();
        assert_eq!(
            described[4],
            ("meta_function_level".to_owned(), "steady".to_owned())
        );
        let level = admin.control_meta(MetaLevel::FL_FREEZED).await;
        assert_eq!(level, Ok(MetaLevel::FL_STEADY));
        let created = admin.create_table(&new_table("new")).await;
        assert_eq!(created, refused(ErrorCode::StateFreezed));
        let level = admin.control_meta(MetaLevel::FL_INVALID).await;
        assert_eq!(level, Ok(MetaLevel::FL_FREEZED));
    });
}

#[test]
fn the_leader_is_found_wherever_it_is() {
    run(async {
        let fixture = Fixture::with(3, 2).await;
        for leader in 0..3 {
            fixture.cluster.state().leader = Some(leader);
            // By the address in the answer, and by asking one after the other.
            let table = fixture.client().table("t").await.unwrap();
            table.set(b"hk", b"sk", b"v", 0).await.unwrap();
            assert_eq!(
                admin(&fixture)
                    .nodes(NodeStatus::NS_ALIVE)
                    .await
                    .unwrap()
                    .len(),
                2
            );
        }
    });
}

#[test]
fn a_leader_that_was_not_configured_is_followed() {
    run(async {
        let fixture = Fixture::with(2, 2).await;
        fixture.cluster.state().leader = Some(1);
        let client = Client::new(fixture.metas[..1].to_vec(), fixture.settings);
        assert!(client.table("t").await.is_ok());
        // The other calls have no address in their answers, but now it is known.
        let admin = client.admin(ms(1000));
        assert!(admin.nodes(NodeStatus::NS_ALIVE).await.is_ok());
    });
}

#[test]
fn while_nobody_leads_the_client_waits() {
    run(async {
        let fixture = Fixture::with(3, 2).await;
        fixture.cluster.state().leader = None;
        let opening = tokio::spawn({
            let client = fixture.client();
            async move { client.table("t").await.map(drop) }
        });
        sleep(ms(300)).await;
        assert!(!opening.is_finished());
        fixture.cluster.state().leader = Some(2);
        assert_eq!(opening.await.unwrap(), Ok(()));
    });
}

#[test]
fn meta_servers_that_are_dead_or_deaf_are_passed_over() {
    run(async {
        let mut fixture = Fixture::with(2, 2).await;
        // Takes connections and never answers.
        let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let std::net::SocketAddr::V4(deaf_address) = deaf.local_addr().unwrap() else {
            panic!("an address of IPv4");
        };
        fixture.metas.insert(0, deaf_address);
        fixture.meta_stops.remove(0).stop();
        fixture.cluster.state().leader = Some(1);
        let started = Instant::now();
        let table = fixture.client().table("t").await.unwrap();
        assert!(started.elapsed() < ms(1300));
        table.set(b"hk", b"sk", b"v", 0).await.unwrap();
    });
}

#[test]
fn data_calls_go_on_while_the_meta_servers_are_away() {
    run(async {
        let mut fixture = Fixture::new().await;
        let table = fixture.table().await;
        table.set(b"hk", b"sk", b"v", 0).await.unwrap();
        fixture.meta_stops.remove(0).stop();
        for key in 0..100_u32 {
            table.set(&key.to_be_bytes(), b"", b"v", 0).await.unwrap();
        }
        // Even a connection that is lost comes again to where it was.
        fixture.node_stops.iter().for_each(|stop| stop.disconnect());
        assert_eq!(table.get(b"hk", b"sk").await, Ok(Some(b"v".to_vec())));
    });
}

#[test]
fn what_changes_something_is_given_its_time_and_sent_once() {
    run(async {
        let mut fixture = Fixture::new().await;
        fixture.settings.meta_attempt = ms(50);
        fixture.cluster.state().meta_delay = ms(300);
        let admin = admin(&fixture);
        admin.drop_table("t", None).await.unwrap();
        let level = admin.control_meta(MetaLevel::FL_LIVELY).await;
        assert_eq!(level, Ok(MetaLevel::FL_STEADY));
        fixture.cluster.state().meta_delay = Duration::from_secs(60);
        let short = fixture.client().admin(ms(200));
        let level = short.control_meta(MetaLevel::FL_STEADY).await;
        assert_eq!(level, Err(ClientError::OutcomeUnknown));
        let seen = fixture.cluster.state().seen.clone();
        assert_eq!(
            (seen["RPC_CM_DROP_APP"], seen["RPC_CM_CONTROL_META"]),
            (1, 2)
        );
    });
}

#[test]
fn a_meta_server_that_cannot_answer_yet_is_passed_over() {
    run(async {
        let fixture = Fixture::with(2, 2).await;
        {
            let mut state = fixture.cluster.state();
            state.leader = Some(1);
            state.loading = Some(0);
        }
        let started = Instant::now();
        assert!(fixture.client().table("t").await.is_ok());
        assert!(started.elapsed() < ms(1300));
    });
}

#[test]
fn a_leader_that_cannot_say_it_yet_is_told_from_none_at_all() {
    run(async {
        let fixture = Fixture::new().await;
        fixture.cluster.state().knows_nodes = false;
        let admin = fixture.client().admin(ms(300));
        let error = admin.node_facts().await.unwrap_err();
        assert_eq!(error, ClientError::TooEarly);
        assert!(error.is_undone());
        fixture.cluster.state().knows_nodes = true;
        admin.node_facts().await.unwrap();
    });
}
