//! Every engine that was built in keeps the promises of the benchmark's traits.

use std::collections::BTreeMap;

use esker_bench::make::random::Random;
use esker_bench::target::settings::{Packing, StoreSettings, Transactions};
use esker_bench::target::store::{Store, WriteHow};

use super::roster::{self, Entry};

fn settings() -> StoreSettings {
    StoreSettings {
        cache_bytes: Some(4 << 20),
        write_buffer_bytes: Some(256 << 10),
        filter_bits: Some(10.0),
        packing: Some(Packing::Snappy),
        block_bytes: Some(4096),
        ..StoreSettings::default()
    }
}

fn all(store: &dyn Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = store.cursor().expect("a cursor");
    let mut met = Vec::new();
    let mut is_on = cursor.seek_to_first().expect("a seek");
    while is_on {
        met.push((cursor.key().to_vec(), cursor.value().to_vec()));
        is_on = cursor.next().expect("a step");
    }
    met
}

fn lookup(store: &dyn Store, key: &[u8]) -> Option<Vec<u8>> {
    let mut value = None;
    let is_found = store.get(key, &mut |found| value = Some(found.to_vec()));
    assert_eq!(is_found.expect("a get"), value.is_some());
    value
}

fn each(work: impl Fn(&Entry, &std::path::Path)) {
    for entry in roster::every() {
        eprintln!("engine {}", entry.word);
        let dir = tempfile::tempdir().expect("a directory");
        work(&entry, dir.path());
    }
}

#[test]
fn writes_are_read_back_as_a_map_has_them() {
    // A map in memory takes the same puts and deletes; afterwards both say the same, also after
    // a compaction and after opening again.
    each(|entry, dir| {
        assert!(!entry.engine.is_there(dir));
        let opened = entry.engine.open(dir, &settings()).expect("open");
        let mut model = BTreeMap::new();
        let mut random = Random::new(7);
        for step in 0..3000_u64 {
            let key = format!("{:08}", random.below(1000)).into_bytes();
            let how = WriteHow {
                sync: step % 500 == 0,
                no_log: false,
            };
            if random.below(5) == 0 {
                opened.store.delete(&key, how).expect("a delete");
                model.remove(&key);
            } else {
                let value = format!("value {step}").repeat(5).into_bytes();
                opened.store.put(&key, &value, how).expect("a put");
                model.insert(key, value);
            }
        }
        let expected: Vec<_> = model.clone().into_iter().collect();
        assert_eq!(all(&*opened.store), expected);
        opened.store.flush().expect("a flush");
        opened.store.compact().expect("a compaction");
        opened.store.drain().expect("a drain");
        assert_eq!(all(&*opened.store), expected);
        for number in 0..1000 {
            let key = format!("{number:08}").into_bytes();
            assert_eq!(lookup(&*opened.store, &key), model.get(&key).cloned());
        }
        opened.store.close().expect("a close");
        assert!(entry.engine.is_there(dir));
        let opened = entry.engine.open(dir, &settings()).expect("open again");
        assert_eq!(all(&*opened.store), expected);
        opened.store.close().expect("a close");
        entry.engine.destroy(dir).expect("destroy");
        assert!(!entry.engine.is_there(dir));
    });
}

#[test]
fn cursors_walk_both_ways_from_anywhere() {
    // Seeks, then steps in changing directions, against positions in a sorted list.
    each(|entry, dir| {
        let opened = entry.engine.open(dir, &settings()).expect("open");
        let mut batch = opened.store.batch().expect("a batch");
        for number in 0..500 {
            let key = format!("{:06}", number * 2);
            batch.put(key.as_bytes(), b"x").expect("a put");
        }
        batch.commit(WriteHow::default()).expect("a commit");
        batch.delete(b"000100").expect("a delete");
        batch.commit(WriteHow::default()).expect("a second commit");
        drop(batch);
        let keys: Vec<Vec<u8>> = all(&*opened.store)
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(keys.len(), 499);
        let mut cursor = opened.store.cursor().expect("a cursor");
        assert!(cursor.seek_to_last().expect("a seek"));
        assert_eq!(cursor.key(), b"000998");
        assert!(!cursor.next().expect("a step"));
        assert!(!cursor.seek(b"000999").expect("a seek past the end"));
        assert!(cursor.seek_to_first().expect("a seek"));
        assert!(!cursor.prev().expect("a step"));
        let mut random = Random::new(3);
        for _ in 0..300 {
            let target = format!("{:06}", random.below(990)).into_bytes();
            let mut place = keys.partition_point(|key| *key < target);
            assert!(cursor.seek(&target).expect("a seek"));
            assert_eq!(cursor.key(), keys[place]);
            for _ in 0..5 {
                let is_forward = random.below(2) == 0;
                if (is_forward && place + 1 == keys.len()) || (!is_forward && place == 0) {
                    break;
                }
                let is_on = if is_forward {
                    cursor.next()
                } else {
                    cursor.prev()
                };
                assert!(is_on.expect("a step"));
                place = if is_forward { place + 1 } else { place - 1 };
                assert_eq!(cursor.key(), keys[place]);
                assert_eq!(cursor.value(), b"x");
            }
        }
        drop(cursor);
        opened.store.close().expect("a close");
    });
}

#[test]
fn merges_add_where_an_engine_has_them() {
    // Counters grow by one for each merge; engines without merges say that they have none.
    each(|entry, dir| {
        let with_merge = StoreSettings {
            has_merges: true,
            ..settings()
        };
        let opened = entry.engine.open(dir, &with_merge).expect("open");
        let how = WriteHow {
            sync: false,
            no_log: true,
        };
        let first = opened.store.merge(b"count", &1_u64.to_le_bytes(), how);
        if let Err(failure) = first {
            assert_eq!(failure.kind, esker_bench::fail::FailureKind::Unsupported);
            return;
        }
        for _ in 0..99 {
            opened
                .store
                .merge(b"count", &1_u64.to_le_bytes(), how)
                .expect("a merge");
        }
        opened.store.compact().expect("a compaction");
        opened
            .store
            .merge(b"count", &7_u64.to_le_bytes(), how)
            .expect("a merge");
        assert_eq!(
            lookup(&*opened.store, b"count"),
            Some(107_u64.to_le_bytes().to_vec())
        );
        opened.store.close().expect("a close");
    });
}

#[test]
fn transactions_lose_no_update_where_an_engine_has_them() {
    // Four threads count in one key; engines without transactions say that they have none.
    fn count(value: &mut Vec<u8>) {
        let before = value.as_slice().try_into().map_or(0, u64::from_le_bytes);
        *value = (before + 1).to_le_bytes().to_vec();
    }
    const THREADS: u64 = 4;
    const EACH: u64 = 200;
    for kind in [Transactions::Optimistic, Transactions::Locking] {
        each(|entry, dir| {
            let for_transactions = StoreSettings {
                transactions: Some(kind),
                ..settings()
            };
            let opened = entry.engine.open(dir, &for_transactions).expect("open");
            let store = &*opened.store;
            let first = store.transact(b"count", &mut Vec::new(), count);
            let row = opened.matched.iter().find(|row| row.wish == "transactions");
            let row = row.expect("the wish is answered");
            if let Err(failure) = first {
                assert_eq!(failure.kind, esker_bench::fail::FailureKind::Unsupported);
                assert!(!row.has_effect(), "{}", entry.word);
                return;
            }
            assert!(row.has_effect(), "{}", entry.word);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        let mut value = Vec::new();
                        for _ in 0..EACH {
                            let done = store.transact(b"count", &mut value, count);
                            done.expect("a transaction");
                        }
                    });
                }
            });
            let sum = (THREADS * EACH + 1).to_le_bytes().to_vec();
            assert_eq!(lookup(store, b"count"), Some(sum), "{}", entry.word);
            opened.store.close().expect("a close");
        });
    }
}

#[test]
fn every_wish_is_answered() {
    // Each wish has one row, and a row that gives nothing says why.
    each(|entry, dir| {
        let opened = entry.engine.open(dir, &settings()).expect("open");
        for wish in [
            "cache_bytes",
            "write_buffer_bytes",
            "filter_bits",
            "packing",
            "sync",
        ] {
            let rows = opened.matched.iter().filter(|row| row.wish == wish);
            let rows: Vec<_> = rows.collect();
            assert_eq!(rows.len(), 1, "{} {wish}", entry.word);
            assert!(rows[0].has_effect() || !rows[0].note.is_empty());
        }
        opened.store.close().expect("a close");
    });
}
