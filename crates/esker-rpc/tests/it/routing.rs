//! Partitions that move, vanish and come back while calls are made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use esker_rpc::client::{CallSettings, ClientError};
use esker_rpc::error::{ErrorCode, ErrorName};
use tokio::time::{Instant, sleep};

use crate::fixture::{Fixture, ms, run};
use crate::memory::fault::Fault;
use crate::memory::listener::add_node;

#[test]
fn partitions_that_move_under_load_lose_no_write() {
    run(async {
        let fixture = Fixture::with(1, 3).await;
        let table = fixture.table().await;
        let has_moved = Arc::new(AtomicBool::new(false));
        let mut writers = Vec::new();
        for writer in 0..20_u32 {
            let (table, has_moved) = (table.clone(), Arc::clone(&has_moved));
            writers.push(tokio::spawn(async move {
                let mut count = 0_u32;
                while count < 3 || !has_moved.load(Ordering::SeqCst) {
                    let key = [writer.to_be_bytes(), count.to_be_bytes()].concat();
                    table.set(&key, b"", &key, 0).await.unwrap();
                    assert_eq!(table.get(&key, b"").await, Ok(Some(key)));
                    table.incr(&writer.to_be_bytes(), b"n", 1, 0).await.unwrap();
                    count += 1;
                }
                count
            }));
        }
        for round in 0..12_usize {
            for index in 0..8 {
                fixture
                    .cluster
                    .move_partition("t", index, Some((round + index) % 3));
            }
            sleep(ms(20)).await;
        }
        has_moved.store(true, Ordering::SeqCst);
        for (writer, task) in (0_u32..).zip(writers) {
            let count = task.await.unwrap();
            // No move is a write of unknown outcome, so each was counted once.
            let sum = table.incr(&writer.to_be_bytes(), b"n", 0, 0).await;
            assert_eq!(sum, Ok(i64::from(count)));
            for number in 0..count {
                let key = [writer.to_be_bytes(), number.to_be_bytes()].concat();
                assert_eq!(table.get(&key, b"").await, Ok(Some(key)));
            }
        }
    });
}

#[test]
fn a_partition_without_a_leader_is_waited_for() {
    run(async {
        let fixture = Fixture::new().await;
        let table = fixture.table().await;
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, None);
        }
        let started = Instant::now();
        let call = tokio::spawn({
            let table = table.clone();
            async move { table.set(b"hk", b"sk", b"value", 0).await }
        });
        sleep(ms(300)).await;
        assert!(!call.is_finished());
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, Some(1));
        }
        assert_eq!(call.await.unwrap(), Ok(()));
        assert!(started.elapsed() < ms(1400));
    });
}

#[test]
fn a_partition_that_nobody_ever_leads_fails_at_the_deadline_undone() {
    run(async {
        let fixture = Fixture::new().await;
        let table = fixture.table().await.with(CallSettings {
            timeout: ms(300),
            resends_writes: false,
        });
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, None);
        }
        let started = Instant::now();
        let error = table.incr(b"hk", b"sk", 1, 0).await.unwrap_err();
        assert!(error.is_undone(), "{error}");
        assert!((ms(150)..ms(1300)).contains(&started.elapsed()));
    });
}

#[test]
fn many_calls_with_an_old_route_ask_a_meta_server_once_an_interval() {
    run(async {
        let mut fixture = Fixture::new().await;
        fixture.settings.refresh_interval = ms(100);
        let table = fixture.table().await;
        table.get(b"hk", b"sk").await.unwrap();
        let before = fixture.cluster.state().questions;
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, None);
        }
        let started = Instant::now();
        let mut calls = Vec::new();
        for number in 0..500_u32 {
            let table = table.clone();
            calls.push(tokio::spawn(async move {
                // Not in step: each finds the route that others were told old once more.
                sleep(ms(u64::from(number))).await;
                table.get(&number.to_be_bytes(), b"").await
            }));
        }
        sleep(ms(450)).await;
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, Some(0));
        }
        for call in calls {
            assert_eq!(call.await.unwrap(), Ok(None));
        }
        let questions = u128::from(fixture.cluster.state().questions - before);
        let intervals = started.elapsed().as_millis() / ms(100).as_millis();
        assert!(
            (2..=intervals + 1).contains(&questions),
            "{questions} in {intervals}"
        );
    });
}

#[test]
fn a_server_that_dies_is_left_for_the_one_that_takes_over() {
    run(async {
        let mut fixture = Fixture::new().await;
        let table = fixture.table().await;
        for key in 0..100_u32 {
            table.set(&key.to_be_bytes(), b"", b"v", 0).await.unwrap();
        }
        fixture.node_stops.remove(0).stop();
        let (_, _stop) = add_node(&fixture.cluster, 0).await.unwrap();
        let mut reads = Vec::new();
        for key in 0..100_u32 {
            let table = table.clone();
            reads.push(tokio::spawn(async move {
                table.get(&key.to_be_bytes(), b"").await
            }));
        }
        sleep(ms(100)).await;
        for index in 0..8 {
            fixture
                .cluster
                .move_partition("t", index, Some(1 + index % 2));
        }
        for read in reads {
            assert_eq!(read.await.unwrap(), Ok(Some(b"v".to_vec())));
        }
    });
}

#[test]
fn a_server_that_has_frozen_is_left_by_who_only_writes() {
    // Its connection stands, and its partitions are led elsewhere: a write that is never answered
    // may not be sent again, and nothing else tells that the route is old.
    run(async {
        let fixture = Fixture::with(1, 2).await;
        let table = fixture.table().await.with(CallSettings {
            timeout: ms(300),
            resends_writes: false,
        });
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, Some(0));
        }
        table.set(b"hk", b"sk", b"before", 0).await.unwrap();
        fixture.cluster.state().nodes[0].fault = Fault::Silent;
        for index in 0..8 {
            fixture.cluster.move_partition("t", index, Some(1));
        }
        let unknown = table.incr(b"hk", b"n", 1, 0).await;
        assert_eq!(unknown, Err(ClientError::OutcomeUnknown));
        assert_eq!(table.set(b"hk", b"sk", b"after", 0).await, Ok(()));
    });
}

#[test]
fn refusals_are_tried_again_or_not_as_their_names_ask() {
    run(async {
        let fixture = Fixture::with(1, 1).await;
        let table = fixture.table().await;
        let refuse = |code: Option<ErrorCode>| fixture.cluster.state().nodes[0].refuses = code;
        let later = [
            ErrorCode::NotEnoughMember,
            ErrorCode::CapacityExceeded,
            ErrorCode::InvalidState,
            ErrorCode::ObjectNotFound,
        ];
        for code in later {
            refuse(Some(code));
            let call = tokio::spawn({
                let table = table.clone();
                async move { table.incr(code.name().as_bytes(), b"", 1, 0).await }
            });
            sleep(ms(100)).await;
            refuse(None);
            // Refused calls were not done, so it counts once.
            assert_eq!(call.await.unwrap(), Ok(1), "{}", code.name());
        }
        let at_once = [
            (ErrorCode::Busy, true),
            (ErrorCode::InvalidData, true),
            (ErrorCode::NotImplemented, true),
            (ErrorCode::Timeout, false),
        ];
        for (code, is_undone) in at_once {
            refuse(Some(code));
            let started = Instant::now();
            let error = table.set(b"hk", b"sk", b"v", 0).await.unwrap_err();
            assert_eq!(error, ClientError::Refused(ErrorName::Known(code)));
            assert_eq!(error.is_undone(), is_undone);
            assert!(started.elapsed() < ms(700));
        }
    });
}

#[test]
fn a_table_that_is_dropped_is_told_of_and_one_that_comes_again_is_found() {
    run(async {
        let fixture = Fixture::new().await;
        let client = fixture.client();
        let table = client.table("t").await.unwrap();
        let admin = client.admin(ms(1000));
        admin.drop_table("t", None).await.unwrap();
        let gone = ClientError::Refused(ErrorCode::ObjectNotFound.into());
        assert_eq!(table.get(b"hk", b"sk").await, Err(gone.clone()));
        assert_eq!(client.table("t").await.map(drop), Err(gone));
        // Another one of that name, with another number and other partitions.
        let number = fixture
            .cluster
            .state()
            .add_table(crate::fixture::description("t", 4), 9);
        assert_eq!(number, 2);
        table.set(b"hk", b"sk", b"v", 0).await.unwrap();
        assert_eq!(table.get(b"hk", b"sk").await, Ok(Some(b"v".to_vec())));
    });
}

#[test]
fn a_child_that_is_not_ready_is_asked_for_at_its_parent() {
    run(async {
        let fixture = Fixture::new().await;
        let table = fixture.table().await;
        for key in 0..100_u32 {
            table.set(&key.to_be_bytes(), b"", b"v", 0).await.unwrap();
        }
        fixture.double_partitions();
        {
            let mut state = fixture.cluster.state();
            for placed in &mut state.available("t").unwrap().partitions[8..] {
                placed.ballot = -1;
                placed.primary = None;
            }
        }
        for key in 0..100_u32 {
            assert_eq!(
                table.get(&key.to_be_bytes(), b"").await,
                Ok(Some(b"v".to_vec()))
            );
        }
    });
}

#[test]
fn the_old_route_is_tried_again_while_the_meta_servers_are_away() {
    run(async {
        let mut fixture = Fixture::with(1, 1).await;
        let table = fixture.table().await;
        table.get(b"hk", b"sk").await.unwrap();
        fixture.meta_stops.remove(0).stop();
        fixture.cluster.state().nodes[0].refuses = Some(ErrorCode::InvalidState);
        let call = tokio::spawn({
            let table = table.clone();
            async move { table.incr(b"hk", b"n", 1, 0).await }
        });
        sleep(ms(100)).await;
        fixture.cluster.state().nodes[0].refuses = None;
        assert_eq!(call.await.unwrap(), Ok(1));
    });
}

#[test]
fn a_write_that_may_be_done_is_not_undone_by_the_table_being_dropped() {
    run(async {
        let fixture = Fixture::with(1, 1).await;
        let table = fixture.table().await.with(CallSettings {
            timeout: ms(1000),
            resends_writes: true,
        });
        fixture.cluster.state().nodes[0].fault = crate::memory::fault::Fault::CutsReplies;
        let call = tokio::spawn({
            let table = table.clone();
            async move { table.set(b"hk", b"sk", b"v", 0).await }
        });
        while !fixture
            .cluster
            .state()
            .seen
            .contains_key("RPC_RRDB_RRDB_PUT")
        {
            sleep(ms(1)).await;
        }
        let admin = fixture.client().admin(ms(1000));
        admin.drop_table("t", None).await.unwrap();
        assert_eq!(call.await.unwrap(), Err(ClientError::OutcomeUnknown));
        admin.recall_table(1, "").await.unwrap();
        fixture.cluster.state().nodes[0].fault = crate::memory::fault::Fault::None;
        assert_eq!(table.get(b"hk", b"sk").await, Ok(Some(b"v".to_vec())));
    });
}

#[test]
fn keys_that_a_split_has_parted_are_read_together_again() {
    run(async {
        let fixture = Fixture::new().await;
        let table = fixture.table().await;
        let keys: Vec<[u8; 4]> = (0..200_u32).map(u32::to_be_bytes).collect();
        for key in &keys {
            table.set(key, b"", b"v", 0).await.unwrap();
        }
        // Each child has the rows of its half, and its parent has not.
        fixture.double_partitions();
        fixture.part_rows();
        let asked: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b""[..])).collect();
        assert_eq!(table.batch_get(&asked).await.unwrap().len(), 200);
    });
}

#[test]
fn times_beyond_all_clocks_are_times() {
    run(async {
        let table = Fixture::new().await.table().await.with(CallSettings {
            timeout: Duration::MAX,
            resends_writes: false,
        });
        assert_eq!(table.get(b"hk", b"sk").await, Ok(None));
        let settings = esker_rpc::client::ScanSettings::default();
        assert_eq!(
            table.scan_all(usize::MAX, &settings).await.unwrap().len(),
            8
        );
    });
}
