//! Scans through the client: of the double here, and of a node in `esker-server`.

use std::collections::BTreeSet;

use esker_rpc::client::{ClientError, ScanRow, ScanSettings, Scanner, Table};
use esker_rpc::error::Status;
use esker_rpc::message::data::FilterType;

use crate::fixture::{Fixture, run};

pub async fn all(scanner: &mut Scanner) -> Vec<ScanRow> {
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().await.unwrap() {
        rows.push(row);
    }
    rows
}

pub fn batches_of(batch_size: i32) -> ScanSettings {
    ScanSettings {
        batch_size,
        ..ScanSettings::default()
    }
}

/// Fills a hash key with sort keys `000`, `001`, …; the value is the sort key.
pub async fn fill(table: &Table, hash_key: &[u8], count: usize) -> Vec<Vec<u8>> {
    let keys: Vec<Vec<u8>> = (0..count)
        .map(|number| format!("{number:05}").into_bytes())
        .collect();
    let rows: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &key[..])).collect();
    table.multi_set(hash_key, &rows, 0).await.unwrap();
    keys
}

pub fn sort_keys(rows: Vec<ScanRow>) -> Vec<Vec<u8>> {
    rows.into_iter().map(|row| row.sort_key).collect()
}

#[test]
fn a_hash_key_is_scanned_in_the_order_of_its_sort_keys() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys = fill(&table, b"hk", 50).await;
        fill(&table, b"hj", 3).await;
        fill(&table, b"hk2", 3).await;
        for batch_size in [1, 7, 50, 0, -1] {
            let settings = batches_of(batch_size);
            let mut scanner = table.scan(b"hk", (b"", b""), &settings).unwrap();
            let rows = all(&mut scanner).await;
            assert!(
                rows.iter()
                    .all(|row| row.hash_key == b"hk" && row.value == row.sort_key)
            );
            assert_eq!(sort_keys(rows), keys);
            assert_eq!(scanner.next().await, Ok(None));
            let mut part = table.scan(b"hk", (b"00010", b"00020"), &settings).unwrap();
            assert_eq!(sort_keys(all(&mut part).await), keys[10..20]);
            let mut none = table.scan(b"hk", (b"2", b"1"), &settings).unwrap();
            assert_eq!(all(&mut none).await, []);
        }
    });
}

#[test]
fn scanners_of_a_whole_table_find_every_row_once() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let mut expected = BTreeSet::new();
        for number in 0..40 {
            let hash_key = format!("hk{number}").into_bytes();
            for sort_key in fill(&table, &hash_key, 5).await {
                expected.insert((hash_key.clone(), sort_key));
            }
        }
        // A row without a hash key, and the longest of keys.
        table.set(b"", b"sort", b"v", 0).await.unwrap();
        expected.insert((Vec::new(), b"sort".to_vec()));
        let longest = vec![0xff; 65_533];
        table.set(&longest, b"", b"v", 0).await.unwrap();
        expected.insert((longest, Vec::new()));
        for count in [0, 1, 3, 8, 100] {
            let scanners = table.scan_all(count, &batches_of(9)).await.unwrap();
            assert_eq!(scanners.len(), count.clamp(1, 8));
            let mut found = Vec::new();
            for mut scanner in scanners {
                found.extend(all(&mut scanner).await);
            }
            let pairs: BTreeSet<_> = found
                .iter()
                .map(|row| (row.hash_key.clone(), row.sort_key.clone()))
                .collect();
            assert_eq!((found.len(), &pairs), (expected.len(), &expected));
        }
    });
}

#[test]
fn filters_values_and_expiry_are_as_they_were_asked_for() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        fill(&table, b"hk", 200).await;
        fill(&table, b"other", 200).await;
        table.set(b"hk", b"00007", b"ends", 9).await.unwrap();
        let settings = ScanSettings {
            hash_key_filter: (FilterType::FT_MATCH_PREFIX, b"h".to_vec()),
            sort_key_filter: (FilterType::FT_MATCH_POSTFIX, b"07".to_vec()),
            no_value: true,
            return_expire_ts: true,
            batch_size: 3,
        };
        let scanner = || async { table.scan_all(1, &settings).await.unwrap().remove(0) };
        let rows = all(&mut scanner().await).await;
        let expiry = table.now().after(9).to_bits();
        let expected = |sort_key: &[u8], expire_ts| ScanRow {
            hash_key: b"hk".to_vec(),
            sort_key: sort_key.to_vec(),
            value: Vec::new(),
            expire_ts: Some(expire_ts),
        };
        assert_eq!(rows, [expected(b"00007", expiry), expected(b"00107", 0)]);
        fixture.pass(9);
        assert_eq!(all(&mut scanner().await).await, [expected(b"00107", 0)]);
        let senseless = ScanSettings {
            sort_key_filter: (FilterType(9), Vec::new()),
            ..ScanSettings::default()
        };
        let refused = table
            .scan(b"hk", (b"", b""), &senseless)
            .unwrap()
            .next()
            .await;
        assert_eq!(refused, Err(ClientError::Status(Status::INVALID_ARGUMENT)));
    });
}

#[test]
fn a_scan_goes_on_through_answers_without_rows() {
    run(async {
        let fixture = Fixture::patient().await;
        let table = fixture.table().await;
        let keys = fill(&table, b"hk", 3500).await;
        let settings = ScanSettings {
            sort_key_filter: (FilterType::FT_MATCH_ANYWHERE, b"3499".to_vec()),
            ..ScanSettings::default()
        };
        let mut scanner = table.scan(b"hk", (b"", b""), &settings).unwrap();
        assert_eq!(sort_keys(all(&mut scanner).await), keys[3499..]);
    });
}
