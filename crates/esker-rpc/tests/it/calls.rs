//! Every call on keys, through the client: of the double here, and of a node in `esker-server`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker_rpc::client::{ClientError, MultiGet};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{
    CasCheckType, CheckAndMutateRequest, CheckAndSetRequest, FilterType, Mutate, MutateOperation,
};

use crate::fixture::{Fixture, UNIX_S, run};

fn invalid<T>() -> Result<T, ClientError> {
    Err(ClientError::Status(Status::INVALID_ARGUMENT))
}

fn blob(text: &str) -> Blob {
    Blob::of(text.as_bytes())
}

#[test]
fn a_value_is_there_until_it_is_removed() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        assert_eq!(table.get(b"hk", b"sk").await, Ok(None));
        table.set(b"hk", b"sk", b"value", 0).await.unwrap();
        assert_eq!(table.get(b"hk", b"sk").await, Ok(Some(b"value".to_vec())));
        assert_eq!(table.exists(b"hk", b"sk").await, Ok(true));
        assert_eq!(table.ttl(b"hk", b"sk").await, Ok(Some(None)));
        table.remove(b"hk", b"sk").await.unwrap();
        table.remove(b"hk", b"sk").await.unwrap();
        assert_eq!(table.exists(b"hk", b"sk").await, Ok(false));
        // An empty value is one, and so are empty keys.
        table.set(b"", b"", b"", 0).await.unwrap();
        assert_eq!(table.get(b"", b"").await, Ok(Some(Vec::new())));
        table.set(b"", b"only sort key", b"x", 0).await.unwrap();
        assert_eq!(
            table.get(b"", b"only sort key").await,
            Ok(Some(b"x".to_vec()))
        );
    });
}

#[test]
fn a_value_ends_when_it_was_told_to() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        table.set(b"hk", b"sk", b"value", 10).await.unwrap();
        assert_eq!(table.ttl(b"hk", b"sk").await, Ok(Some(Some(10))));
        fixture.pass(9);
        assert_eq!(table.ttl(b"hk", b"sk").await, Ok(Some(Some(1))));
        assert_eq!(table.get(b"hk", b"sk").await, Ok(Some(b"value".to_vec())));
        fixture.pass(1);
        assert_eq!(table.get(b"hk", b"sk").await, Ok(None));
        assert_eq!(table.ttl(b"hk", b"sk").await, Ok(None));
        // Overwriting takes the old expiry away.
        table.set(b"hk", b"sk", b"value", 20).await.unwrap();
        table.set(b"hk", b"sk", b"value", 0).await.unwrap();
        assert_eq!(table.ttl(b"hk", b"sk").await, Ok(Some(None)));
    });
}

#[test]
fn a_table_may_have_a_default_expiry() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        fixture.set_default_ttl(30).await;
        table.set(b"hk", b"a", b"1", 0).await.unwrap();
        table.set(b"hk", b"b", b"1", 5).await.unwrap();
        table.multi_set(b"hk", &[(b"c", b"1")], 0).await.unwrap();
        table.incr(b"hk", b"b", 1, -1).await.unwrap();
        for sort_key in [b"a", b"b", b"c"] {
            assert_eq!(table.ttl(b"hk", sort_key).await, Ok(Some(Some(30))));
        }
    });
}

#[test]
fn named_sort_keys_come_in_the_order_that_they_were_asked_for() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let rows: [(&[u8], &[u8]); 3] = [(b"a", b"1"), (b"b", b"22"), (b"c", b"333")];
        table.multi_set(b"hk", &rows, 0).await.unwrap();
        let mut request = MultiGet {
            hash_key: blob("hk"),
            sort_keys: vec![blob("c"), blob("none"), blob("a")],
            ..MultiGet::default()
        };
        let got = table.multi_get(&request).await.unwrap();
        let pair = |key: &str, value: &str| (key.as_bytes().to_vec(), value.as_bytes().to_vec());
        assert_eq!(got.rows, [pair("c", "333"), pair("a", "1")]);
        assert!(!got.is_incomplete);
        // One of two, and only because there is a second.
        request.max_kv_count = 1;
        let got = table.multi_get(&request).await.unwrap();
        assert_eq!(
            (got.rows, got.is_incomplete),
            (vec![pair("c", "333")], true)
        );
        request.sort_keys.truncate(2);
        assert!(!table.multi_get(&request).await.unwrap().is_incomplete);
        request.no_value = true;
        let got = table.multi_get(&request).await.unwrap();
        assert_eq!(got.rows, [pair("c", "")]);
    });
}

// A plain reading of a multi_get over a range, without the server's own limits.
fn expected(rows: &BTreeMap<Vec<u8>, Vec<u8>>, request: &MultiGet) -> (Vec<Vec<u8>>, bool) {
    let pattern = &request.sort_key_filter_pattern[..];
    let passes = |key: &[u8]| match request.sort_key_filter_type.0 {
        1 => pattern.is_empty() || key.windows(pattern.len()).any(|part| part == pattern),
        2 => key.starts_with(pattern),
        3 => key.ends_with(pattern),
        _ => true,
    };
    let is_in = |key: &[u8]| {
        let (start, stop) = (&request.start_sortkey[..], &request.stop_sortkey[..]);
        (key > start || (key == start && request.start_inclusive))
            && (stop.is_empty() || key < stop || (key == stop && request.stop_inclusive))
            && (request.sort_key_filter_type != FilterType::FT_MATCH_PREFIX || passes(key))
    };
    let mut keys: Vec<&Vec<u8>> = rows.keys().filter(|key| is_in(key)).collect();
    if request.reverse {
        keys.reverse();
    }
    let mut found = Vec::new();
    let mut is_incomplete = false;
    for key in keys {
        if request.max_kv_count > 0 && found.len() == usize::try_from(request.max_kv_count).unwrap()
        {
            is_incomplete = true;
            break;
        }
        if passes(key) {
            found.push(key.clone());
        }
    }
    if request.reverse {
        found.reverse();
    }
    (found, is_incomplete)
}

#[test]
fn ranges_of_sort_keys_are_as_a_plain_reading_has_them() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let mut dice = Dice(3);
        let mut model = BTreeMap::new();
        for _ in 0..60 {
            let (key, value) = (dice.bytes(3), dice.bytes(5));
            table.set(b"hk", &key, &value, 0).await.unwrap();
            model.insert(key, value);
        }
        // Neighbours that are no part of it.
        table.set(b"hj", b"\xff", b"x", 0).await.unwrap();
        table.set(b"hl", b"", b"x", 0).await.unwrap();
        for round in 0..500 {
            let request = MultiGet {
                hash_key: blob("hk"),
                start_sortkey: Blob::from(dice.bytes(2)),
                stop_sortkey: Blob::from(dice.bytes(2)),
                start_inclusive: dice.below(2) == 0,
                stop_inclusive: dice.below(2) == 0,
                sort_key_filter_type: FilterType(i32::try_from(dice.below(4)).unwrap()),
                sort_key_filter_pattern: Blob::from(dice.bytes(1)),
                max_kv_count: i32::try_from(dice.below(12)).unwrap(),
                reverse: dice.below(2) == 0,
                ..MultiGet::default()
            };
            let got = table.multi_get(&request).await.unwrap();
            let keys: Vec<Vec<u8>> = got.rows.iter().map(|row| row.0.clone()).collect();
            let expected = expected(&model, &request);
            assert_eq!((keys, got.is_incomplete), expected, "{round}: {request:?}");
            assert!(got.rows.iter().all(|row| model[&row.0] == row.1));
        }
    });
}

#[test]
fn a_range_looks_at_three_thousand_rows_at_most() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys: Vec<String> = (0..3001).map(|number| format!("{number:05}")).collect();
        let rows: Vec<(&[u8], &[u8])> =
            keys.iter().map(|key| (key.as_bytes(), &b"v"[..])).collect();
        table.multi_set(b"hk", &rows, 0).await.unwrap();
        let all = MultiGet {
            hash_key: blob("hk"),
            ..MultiGet::default()
        };
        let got = table.multi_get(&all).await.unwrap();
        assert_eq!((got.rows.len(), got.is_incomplete), (3000, true));
        // Filtered rows count as well.
        let last = MultiGet {
            sort_key_filter_type: FilterType::FT_MATCH_POSTFIX,
            sort_key_filter_pattern: blob("3000"),
            start_inclusive: true,
            ..all.clone()
        };
        let got = table.multi_get(&last).await.unwrap();
        assert_eq!((got.rows.len(), got.is_incomplete), (0, true));
        let exact = MultiGet {
            start_sortkey: blob("00001"),
            start_inclusive: true,
            ..all.clone()
        };
        let got = table.multi_get(&exact).await.unwrap();
        assert_eq!((got.rows.len(), got.is_incomplete), (3000, false));
        // By size: a row is its sort key and its value, and one more may go over.
        let small = MultiGet {
            max_kv_size: 13,
            start_inclusive: true,
            ..all
        };
        let got = table.multi_get(&small).await.unwrap();
        assert_eq!((got.rows.len(), got.is_incomplete), (3, true));
    });
}

#[test]
fn many_values_of_a_hash_key_are_set_and_removed_together() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let rows: [(&[u8], &[u8]); 3] = [(b"", b"0"), (b"a", b"1"), (b"b", b"2")];
        table.multi_set(b"hk", &rows, 0).await.unwrap();
        assert_eq!(table.sort_key_count(b"hk").await, Ok(Some(3)));
        table.multi_remove(b"hk", &[b"a", b"none"]).await.unwrap();
        assert_eq!(table.sort_key_count(b"hk").await, Ok(Some(2)));
        assert_eq!(table.sort_key_count(b"none").await, Ok(Some(0)));
        assert_eq!(table.multi_set(b"hk", &[], 0).await, invalid());
        assert_eq!(table.multi_remove(b"hk", &[]).await, invalid());
    });
}

#[test]
fn expired_rows_are_not_counted() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        table.set(b"hk", b"a", b"1", 5).await.unwrap();
        table.set(b"hk", b"b", b"1", 0).await.unwrap();
        fixture.pass(5);
        assert_eq!(table.sort_key_count(b"hk").await, Ok(Some(1)));
    });
}

#[test]
fn keys_of_all_partitions_are_read_together() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys: Vec<String> = (0..100).map(|number| format!("k{number}")).collect();
        for key in &keys {
            table
                .set(key.as_bytes(), b"s", key.as_bytes(), 0)
                .await
                .unwrap();
        }
        let mut asked: Vec<(&[u8], &[u8])> =
            keys.iter().map(|key| (key.as_bytes(), &b"s"[..])).collect();
        asked.push((b"none", b"s"));
        let rows = table.batch_get(&asked).await.unwrap();
        let got: BTreeSet<Vec<u8>> = rows.iter().map(|row| row.hash_key.to_vec()).collect();
        assert_eq!((got.len(), rows.len()), (100, 100));
        assert!(
            rows.iter()
                .all(|row| row.value == row.hash_key && &*row.sort_key == b"s")
        );
        assert_eq!(table.batch_get(&[]).await, Ok(Vec::new()));
    });
}

#[test]
fn counters_count_as_text() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        assert_eq!(table.incr(b"hk", b"n", 5, 0).await, Ok(5));
        assert_eq!(table.incr(b"hk", b"n", -7, 0).await, Ok(-2));
        assert_eq!(table.get(b"hk", b"n").await, Ok(Some(b"-2".to_vec())));
        table.set(b"hk", b"n", b"0x10", 0).await.unwrap();
        assert_eq!(table.incr(b"hk", b"n", 0, 0).await, Ok(16));
        assert_eq!(table.get(b"hk", b"n").await, Ok(Some(b"16".to_vec())));
        table.set(b"hk", b"n", b"no number", 0).await.unwrap();
        assert_eq!(table.incr(b"hk", b"n", 1, 0).await, invalid());
        table
            .set(b"hk", b"n", b"9223372036854775807", 0)
            .await
            .unwrap();
        assert_eq!(table.incr(b"hk", b"n", 1, 0).await, invalid());
        let left = table.get(b"hk", b"n").await;
        assert_eq!(left, Ok(Some(b"9223372036854775807".to_vec())));
    });
}

#[test]
fn a_counter_keeps_sets_or_loses_its_expiry() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        table.set(b"hk", b"n", b"1", 100).await.unwrap();
        table.incr(b"hk", b"n", 1, 0).await.unwrap();
        assert_eq!(table.ttl(b"hk", b"n").await, Ok(Some(Some(100))));
        let soon = table.now().after(7).to_bits();
        table.incr(b"hk", b"n", 1, soon).await.unwrap();
        assert_eq!(table.ttl(b"hk", b"n").await, Ok(Some(Some(7))));
        table.incr(b"hk", b"n", 1, -1).await.unwrap();
        assert_eq!(table.ttl(b"hk", b"n").await, Ok(Some(None)));
        // One that has expired begins anew.
        table.set(b"hk", b"n", b"50", 3).await.unwrap();
        fixture.pass(3);
        assert_eq!(table.incr(b"hk", b"n", 1, 0).await, Ok(1));
        assert_eq!(table.now().to_unix(), UNIX_S);
    });
}

#[test]
fn a_value_is_set_if_another_passes_its_check() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let mut request = CheckAndSetRequest {
            hash_key: blob("hk"),
            check_sort_key: blob("check"),
            check_type: CasCheckType::CT_VALUE_NOT_EXIST,
            set_value: blob("1"),
            return_check_value: true,
            ..CheckAndSetRequest::default()
        };
        let done = table.check_and_set(&request).await.unwrap();
        assert_eq!((done.has_passed, done.value), (true, None));
        let done = table.check_and_set(&request).await.unwrap();
        assert_eq!((done.has_passed, done.value), (false, Some(b"1".to_vec())));
        // Another sort key than the checked one.
        request.check_type = CasCheckType::CT_VALUE_INT_LESS;
        request.check_operand = blob("10");
        request.set_diff_sort_key = true;
        request.set_sort_key = blob("other");
        request.set_value = blob("2");
        assert!(table.check_and_set(&request).await.unwrap().has_passed);
        assert_eq!(table.get(b"hk", b"other").await, Ok(Some(b"2".to_vec())));
        assert_eq!(table.get(b"hk", b"check").await, Ok(Some(b"1".to_vec())));
        request.check_operand = blob("ten");
        assert_eq!(table.check_and_set(&request).await, invalid());
        request.check_type = CasCheckType(99);
        assert_eq!(table.check_and_set(&request).await, invalid());
        request.check_type = CasCheckType::CT_NO_CHECK;
        request.return_check_value = false;
        let done = table.check_and_set(&request).await.unwrap();
        assert_eq!((done.has_passed, done.value), (true, None));
    });
}

#[test]
fn several_changes_are_made_if_a_value_passes_its_check() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        table.set(b"hk", b"old", b"x", 0).await.unwrap();
        let put = Mutate {
            operation: MutateOperation::MO_PUT,
            sort_key: blob("new"),
            value: blob("y"),
            set_expire_ts_seconds: table.now().after(9).to_bits(),
        };
        let delete = Mutate {
            operation: MutateOperation::MO_DELETE,
            sort_key: blob("old"),
            ..Mutate::default()
        };
        let mut request = CheckAndMutateRequest {
            hash_key: blob("hk"),
            check_sort_key: blob("old"),
            check_type: CasCheckType::CT_VALUE_BYTES_EQUAL,
            check_operand: blob("z"),
            mutate_list: vec![put.clone(), delete.clone(), put],
            return_check_value: true,
        };
        let done = table.check_and_mutate(&request).await.unwrap();
        assert_eq!((done.has_passed, done.value), (false, Some(b"x".to_vec())));
        assert_eq!(table.get(b"hk", b"new").await, Ok(None));
        request.check_operand = blob("x");
        assert!(table.check_and_mutate(&request).await.unwrap().has_passed);
        assert_eq!(table.ttl(b"hk", b"new").await, Ok(Some(Some(9))));
        assert_eq!(table.get(b"hk", b"old").await, Ok(None));
        request.mutate_list[1].operation = MutateOperation(7);
        assert_eq!(table.check_and_mutate(&request).await, invalid());
        request.mutate_list.clear();
        assert_eq!(table.check_and_mutate(&request).await, invalid());
    });
}

#[test]
fn a_write_that_is_too_long_is_refused_and_the_connection_goes_on() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let value = vec![7; 1 << 20];
        let refused = table.set(b"hk", b"sk", &value, 0).await.unwrap_err();
        assert_eq!(refused.to_string(), "the server refuses: ERR_INVALID_DATA");
        assert!(refused.is_undone());
        let fits = &value[..(1 << 20) - 200];
        table.set(b"hk", b"sk", fits, 0).await.unwrap();
        assert_eq!(
            table.get(b"hk", b"sk").await.unwrap().as_deref(),
            Some(fits)
        );
    });
}

#[test]
fn thousands_of_calls_are_in_flight_together() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = Arc::new(fixture.table().await);
        let mut calls = Vec::new();
        for number in 0..10_000_u32 {
            let table = Arc::clone(&table);
            calls.push(tokio::spawn(async move {
                let key = (number % 5000).to_be_bytes();
                match number < 5000 {
                    true => table.set(&key, b"", &key, 0).await.map(|()| None),
                    false => table.get(&key, b"").await,
                }
            }));
        }
        for (number, call) in calls.into_iter().enumerate() {
            let value = call.await.unwrap().unwrap();
            let key = u32::try_from(number % 5000).unwrap().to_be_bytes();
            // A read may come before the write of its key.
            assert!(value.is_none_or(|value| value == key));
        }
        for key in 0..5000_u32 {
            let key = key.to_be_bytes();
            assert_eq!(table.get(&key, b"").await, Ok(Some(key.to_vec())));
        }
    });
}

#[test]
fn answers_have_a_bound_in_bytes_however_they_are_asked_for() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let value = vec![7; 1_000_000];
        table.set(b"hk", b"sk", &value, 0).await.unwrap();
        let request = MultiGet {
            hash_key: blob("hk"),
            sort_keys: vec![blob("sk"); 40],
            ..MultiGet::default()
        };
        let got = table.multi_get(&request).await.unwrap();
        assert_eq!((got.rows.len(), got.is_incomplete), (32, true));
        let key = (&b"hk"[..], &b"sk"[..]);
        let too_much = table.batch_get(&[key; 40]).await;
        assert_eq!(too_much, Err(ClientError::Status(Status::INCOMPLETE)));
        assert_eq!(table.batch_get(&[key; 30]).await.unwrap().len(), 30);
    });
}

/// Numbers that follow from a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(end).unwrap()).unwrap()
    }

    /// Few different bytes, so that keys meet.
    pub fn bytes(&mut self, len_max: usize) -> Vec<u8> {
        let choice = [0, b'a', b'b', 0xff];
        (0..self.below(len_max + 1))
            .map(|_| choice[self.below(4)])
            .collect()
    }
}
