//! Scans that the double forgets, and those of tables that are split or have rows of others.

use esker_rpc::client::ClientError;

use crate::fixture::{Fixture, run};
use crate::scans::{all, batches_of, fill, sort_keys};

#[test]
fn a_scan_whose_context_is_lost_goes_on_behind_its_last_row() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys = fill(&table, b"hk", 60).await;
        let mut scanner = table.scan(b"hk", (b"", b""), &batches_of(4)).unwrap();
        let mut found = Vec::new();
        while let Some(row) = scanner.next().await.unwrap() {
            found.push(row.sort_key);
            match found.len() % 12 {
                // As after a restart.
                4 => forget_scans(&fixture),
                8 => (0..8).for_each(|index| {
                    let node = usize::from(found.len() % 24 == 8);
                    fixture.cluster.move_partition("t", index, Some(node));
                }),
                0 => fixture.node_stops.iter().for_each(|stop| stop.disconnect()),
                _ => {}
            }
        }
        assert_eq!(found, keys);
        let seen = fixture.cluster.state().seen.clone();
        assert!(seen["RPC_RRDB_RRDB_GET_SCANNER"] >= 5, "{seen:?}");
    });
}

fn forget_scans(fixture: &Fixture) {
    let mut state = fixture.cluster.state();
    for placed in &mut state.available("t").unwrap().partitions {
        placed.partition.forget_scans();
    }
}

#[test]
fn a_scanner_that_is_dropped_lets_the_server_forget_it() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        fill(&table, b"hk", 60).await;
        let scan_count = || -> usize {
            let mut state = fixture.cluster.state();
            let partitions = &state.available("t").unwrap().partitions;
            partitions
                .iter()
                .map(|placed| placed.partition.scan_count())
                .sum()
        };
        let mut scanner = table.scan(b"hk", (b"", b""), &batches_of(4)).unwrap();
        scanner.next().await.unwrap();
        assert_eq!(scan_count(), 1);
        drop(scanner);
        while scan_count() > 0 {
            tokio::task::yield_now().await;
        }
        // The connection has not waited for an answer.
        assert_eq!(
            table.get(b"hk", b"00001").await,
            Ok(Some(b"00001".to_vec()))
        );
    });
}

#[test]
fn rows_that_belong_elsewhere_are_left_out_where_the_table_says_so() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys = fill(&table, b"hk", 5).await;
        let scan = || async { all(&mut table.scan_all(1, &batches_of(0)).await.unwrap()[0]).await };
        assert_eq!(scan().await.len(), 5);
        // As after a split: a partition has rows of its sibling.
        let strays: [(&[u8], &[u8]); 2] = [(b"hk", b"stray 1"), (b"hk", b"stray 2")];
        for (hash_key, sort_key) in strays {
            let index = usize::try_from(esker_rpc::keys::hash(hash_key) % 8).unwrap();
            fixture.add_stray((index + 4) % 8, hash_key, sort_key);
        }
        assert_eq!(scan().await.len(), 7);
        let admin = fixture.client().admin(fixture.settings.call.timeout);
        let name = "replica.split.validate_partition_hash".to_owned();
        admin
            .set_envs("t", &[(name, "true".to_owned())].into())
            .await
            .unwrap();
        assert_eq!(sort_keys(scan().await), keys);
    });
}

#[test]
fn a_scan_of_a_table_that_is_split_meanwhile_is_refused() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        for number in 0..50 {
            fill(&table, format!("hk{number}").as_bytes(), 1).await;
        }
        let mut scanner = table.scan_all(1, &batches_of(2)).await.unwrap().remove(0);
        scanner.next().await.unwrap();
        fixture.double_partitions();
        table.get(b"hk", b"sk").await.unwrap();
        let mut result = Ok(None);
        for _ in 0..60 {
            result = scanner.next().await;
            if result.is_err() {
                break;
            }
        }
        assert!(
            matches!(result, Err(ClientError::Senseless(_))),
            "{result:?}"
        );
    });
}

#[test]
fn a_split_that_no_answer_tells_of_does_not_shorten_a_scan_in_silence() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        for number in 0..50 {
            fill(&table, format!("hk{number}").as_bytes(), 1).await;
        }
        // The client knows nothing of it when the scan begins, and finds all.
        fixture.double_partitions();
        fixture.part_rows();
        let mut scanner = table.scan_all(1, &batches_of(2)).await.unwrap().remove(0);
        assert_eq!(all(&mut scanner).await.len(), 50);
        // It comes to the end without hearing of the next one, and must not say that this was all.
        let mut scanner = table.scan_all(1, &batches_of(2)).await.unwrap().remove(0);
        scanner.next().await.unwrap().unwrap();
        fixture.double_partitions_quietly();
        fixture.part_rows();
        let mut result = Ok(None);
        for _ in 0..60 {
            result = scanner.next().await;
            if !matches!(result, Ok(Some(_))) {
                break;
            }
        }
        assert!(
            matches!(result, Err(ClientError::Senseless(_))),
            "{result:?}"
        );
    });
}
