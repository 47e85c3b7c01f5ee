//! Which calls are sent, as the double has counted them.

use esker_rpc::client::{ClientError, MultiGet, ScanSettings};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::message::data::{CheckAndMutateRequest, CheckAndSetRequest, KeyCall, Mutate};

use crate::fixture::{Fixture, run};

#[test]
fn keys_that_no_server_takes_are_not_sent() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let too_long = vec![b'x'; 65_535];
        let is_senseless = |error| matches!(error, ClientError::Senseless(_));
        assert!(is_senseless(table.get(&too_long, b"").await.unwrap_err()));
        assert!(is_senseless(
            table.set(&too_long, b"", b"", 0).await.unwrap_err()
        ));
        assert!(is_senseless(table.sort_key_count(b"").await.unwrap_err()));
        assert!(is_senseless(
            table.multi_set(b"", &[(b"a", b"b")], 0).await.unwrap_err()
        ));
        assert_eq!(data_calls(&fixture), 0);
    });
}

#[test]
fn the_double_has_seen_every_call_that_there_is() {
    // What `calls` and `scans` do in many tests, once for each call.
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        table.set(b"hk", b"a", b"1", 0).await.unwrap();
        table
            .multi_set(b"hk", &[(b"b", b"1"), (b"c", b"1")], 0)
            .await
            .unwrap();
        table.get(b"hk", b"a").await.unwrap();
        table.ttl(b"hk", b"a").await.unwrap();
        let named = MultiGet {
            hash_key: Blob::of(b"hk"),
            ..MultiGet::default()
        };
        table.multi_get(&named).await.unwrap();
        table.batch_get(&[(b"hk", b"a")]).await.unwrap();
        table.sort_key_count(b"hk").await.unwrap();
        table.incr(b"hk", b"a", 1, 0).await.unwrap();
        let set = CheckAndSetRequest {
            hash_key: Blob::of(b"hk"),
            ..CheckAndSetRequest::default()
        };
        table.check_and_set(&set).await.unwrap();
        let mutate = CheckAndMutateRequest {
            hash_key: Blob::of(b"hk"),
            mutate_list: vec![Mutate::default()],
            ..CheckAndMutateRequest::default()
        };
        table.check_and_mutate(&mutate).await.unwrap();
        let settings = ScanSettings {
            batch_size: 1,
            ..ScanSettings::default()
        };
        let mut scanner = table.scan(b"hk", (b"", b""), &settings).unwrap();
        for _ in 0..2 {
            scanner.next().await.unwrap().unwrap();
        }
        drop(scanner);
        table.remove(b"hk", b"a").await.unwrap();
        table.multi_remove(b"hk", &[b"b"]).await.unwrap();
        // The last one is told in the background.
        while data_calls(&fixture) < KeyCall::ROWS.len() {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn an_empty_range_is_scanned_without_asking_anybody() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let settings = ScanSettings::default();
        for range in [(&b"b"[..], &b"a"[..]), (b"a", b"a")] {
            let mut scanner = table.scan(b"hk", range, &settings).unwrap();
            assert_eq!(scanner.next().await, Ok(None));
        }
        assert!(
            !fixture
                .cluster
                .state()
                .seen
                .contains_key("RPC_RRDB_RRDB_GET_SCANNER")
        );
    });
}

/// How many different calls on keys the double has seen.
fn data_calls(fixture: &Fixture) -> usize {
    let state = fixture.cluster.state();
    let names = state
        .seen
        .keys()
        .filter(|name| name.starts_with("RPC_RRDB"));
    names.count()
}
