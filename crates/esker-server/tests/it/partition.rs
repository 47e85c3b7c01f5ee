//! A partition on the real engine against a model: all writes and all reads, on two replicas.

use std::sync::Arc;
use std::time::Duration;

use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker::{Db, Keyspace};
use esker_rpc::codec::frame::RequestHead;
use esker_rpc::codec::request_reader::RequestReader;
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::*;
use esker_rpc::time::{EPOCH_UNIX_S, WireSecond};
use esker_server::partition::command::{Command, CommandWriter, Stamp};
use esker_server::partition::machine::Machine;
use esker_server::partition::reads::Reads;
use esker_server::partition::rows::Moment;
use esker_server::partition::scans::{Scans, Share};

use crate::partition_model::{Model, raw};

/// Seconds since 2016 at which the tests begin.
pub const BEGIN_S: u32 = 300_000_000;

const HASH_KEYS: [&[u8]; 3] = [b"quay", b"ship", b"\xff\xff"];

/// A replica: a database of its own.
pub struct Replica {
    pub db: Db,
    machine: Machine,
}

impl Replica {
    pub fn new(seed: u64) -> (SimWorld, Replica) {
        let world = SimWorld::new(seed);
        let db = Db::builder("/db").env(world.env()).open().unwrap();
        let machine = Machine::default();
        (world, Replica { db, machine })
    }

    pub fn apply(&mut self, entry: &[u8]) -> Vec<KeyAnswer> {
        let command = Command::read(entry).unwrap();
        let mut batch = self.db.batch();
        let answers = self.machine.apply(&self.db, &command, &mut batch).unwrap();
        batch.commit().unwrap();
        answers
    }

    fn rows(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let rows = self.db.iter().unwrap().map(|row| row.unwrap());
        rows.map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }
}

pub fn entry(stamp: Stamp, calls: &[KeyCall]) -> Vec<u8> {
    let mut writer = CommandWriter::new(stamp);
    for call in calls {
        let mut reader = RequestReader::new(1 << 20);
        call.put(reader.buffer(), &RequestHead::default(), 1);
        let request = reader.next().unwrap().unwrap();
        writer.push(&request.name, &request.arguments.unwrap());
    }
    writer.finish()
}

pub fn some_of<T: Copy>(dice: &mut Random, of: &[T]) -> T {
    of[dice.below(of.len() as u64) as usize]
}

pub fn hash_key(dice: &mut Random) -> Blob {
    Blob::of(some_of(dice, &HASH_KEYS))
}

pub fn sort_key(dice: &mut Random) -> Blob {
    let keys: [&[u8]; 8] = [b"", b"\0", b"a", b"aa", b"ab", b"b", b"\xff", b"\xff\xff"];
    Blob::of(some_of(dice, &keys))
}

fn value(dice: &mut Random) -> Blob {
    let values: [&[u8]; 7] = [
        b"",
        b"5",
        b"-17",
        b"9223372036854775800",
        b"text",
        b"a",
        b"ab",
    ];
    Blob::of(some_of(dice, &values))
}

// None, past, soon, later.
fn expiry(dice: &mut Random, now: u32) -> i32 {
    let near = now + dice.below(12) as u32;
    some_of(dice, &[0, 0, 0, now - 5, near, near]) as i32
}

pub fn write(dice: &mut Random, now: u32) -> KeyCall {
    let hash_key = hash_key(dice);
    let key = Blob::from(raw(&hash_key, &sort_key(dice)));
    let checks = [
        CasCheckType::CT_NO_CHECK,
        CasCheckType::CT_VALUE_NOT_EXIST,
        CasCheckType::CT_VALUE_EXIST,
        CasCheckType::CT_VALUE_BYTES_LESS,
        CasCheckType::CT_VALUE_MATCH_PREFIX,
    ];
    match dice.below(8) {
        0 | 1 => KeyCall::Put(UpdateRequest {
            key,
            value: value(dice),
            expire_ts_seconds: expiry(dice, now),
            ..UpdateRequest::default()
        }),
        2 => KeyCall::Remove(key),
        3 => KeyCall::MultiPut(MultiPutRequest {
            hash_key,
            kvs: (0..dice.below(4))
                .map(|_| KeyValue {
                    key: sort_key(dice),
                    value: value(dice),
                    ..KeyValue::default()
                })
                .collect(),
            expire_ts_seconds: expiry(dice, now),
        }),
        4 => KeyCall::MultiRemove(MultiRemoveRequest {
            hash_key,
            sort_keys: (0..dice.below(3)).map(|_| sort_key(dice)).collect(),
            max_count: 1,
        }),
        5 => KeyCall::Incr(IncrRequest {
            key,
            increment: some_of(dice, &[0, 1, -3, 1000]),
            expire_ts_seconds: match dice.one_in(3) {
                true => -1,
                false => expiry(dice, now),
            },
        }),
        6 => KeyCall::CheckAndSet(CheckAndSetRequest {
            hash_key,
            check_sort_key: sort_key(dice),
            check_type: some_of(dice, &checks),
            check_operand: value(dice),
            set_diff_sort_key: dice.one_in(2),
            set_sort_key: sort_key(dice),
            set_value: value(dice),
            set_expire_ts_seconds: expiry(dice, now),
            return_check_value: dice.one_in(2),
        }),
        _ => KeyCall::CheckAndMutate(CheckAndMutateRequest {
            hash_key,
            check_sort_key: sort_key(dice),
            check_type: some_of(dice, &checks),
            check_operand: value(dice),
            mutate_list: (0..dice.below(4))
                .map(|_| Mutate {
                    operation: some_of(
                        dice,
                        &[MutateOperation::MO_PUT, MutateOperation::MO_DELETE],
                    ),
                    sort_key: sort_key(dice),
                    value: value(dice),
                    set_expire_ts_seconds: expiry(dice, now),
                })
                .collect(),
            return_check_value: dice.one_in(2),
        }),
    }
}

pub fn multi_get(dice: &mut Random) -> MultiGetRequest {
    let filters = [
        FilterType::FT_NO_FILTER,
        FilterType::FT_MATCH_PREFIX,
        FilterType::FT_MATCH_POSTFIX,
    ];
    MultiGetRequest {
        hash_key: hash_key(dice),
        max_kv_count: some_of(dice, &[-1, 0, 1, 2, 100]),
        max_kv_size: some_of(dice, &[-1, 0, 1, 6, 1000]),
        no_value: dice.one_in(3),
        start_sortkey: sort_key(dice),
        stop_sortkey: sort_key(dice),
        start_inclusive: dice.one_in(2),
        stop_inclusive: dice.one_in(2),
        sort_key_filter_type: some_of(dice, &filters),
        sort_key_filter_pattern: sort_key(dice),
        reverse: dice.one_in(2),
        ..MultiGetRequest::default()
    }
}

fn check_reads(keyspace: &Keyspace, world: &SimWorld, model: &Model, dice: &mut Random) {
    let moment = Moment {
        now: WireSecond(model.now),
        clock: &*world.clock,
    };
    let reads = Reads { keyspace, moment };
    let key = raw(&hash_key(dice), &sort_key(dice));
    let (status, value, ttl) = model.get(&key);
    let got = reads.get(&key).unwrap();
    assert_eq!((got.error, got.value.into_vec()), (status, value));
    let got = reads.ttl(&key).unwrap();
    assert_eq!((got.error, got.ttl_seconds), (status, ttl));

    let request = multi_get(dice);
    let (rows, is_cut) = model.range(&request);
    let got = reads.multi_get(&request).unwrap();
    let kvs = got
        .kvs
        .into_iter()
        .map(|row| (row.key.into_vec(), row.value.into_vec()));
    assert_eq!(kvs.collect::<Vec<_>>(), rows, "{request:?}");
    assert_eq!(got.error, Status(if is_cut { 7 } else { 0 }), "{request:?}");

    let of = hash_key(dice);
    let living = model.living();
    let mine = living
        .iter()
        .filter(|(key, _)| key.starts_with(&raw(&of, b"")));
    let count = reads.sortkey_count(&of).unwrap();
    assert_eq!(
        (count.error, count.count),
        (Status::OK, mine.count() as i64)
    );

    let keys = (0..4).map(|_| FullKey {
        hash_key: hash_key(dice),
        sort_key: sort_key(dice),
    });
    let keys: Vec<FullKey> = keys.collect();
    let there = keys.iter().filter_map(|key| {
        let (status, value, _) = model.get(&raw(&key.hash_key, &key.sort_key));
        (status == Status::OK).then_some((key.clone(), value))
    });
    let there: Vec<_> = there.collect();
    let got = reads.batch_get(&BatchGetRequest { keys }).unwrap();
    assert_eq!(got.data.len(), there.len());
    for (row, (key, value)) in got.data.iter().zip(&there) {
        assert_eq!(
            (&row.hash_key, &row.sort_key),
            (&key.hash_key, &key.sort_key)
        );
        assert_eq!(*row.value, **value);
    }
}

#[test]
fn two_replicas_do_what_the_protocol_says_and_stay_equal() {
    for seed in 0..150 {
        let mut dice = Random::new(seed);
        let (world, mut one) = Replica::new(seed);
        let (_other_world, mut other) = Replica::new(seed + 1000);
        let mut model = Model {
            default_ttl_s: some_of(&mut dice, &[0, 0, 7]),
            ..Model::default()
        };
        let mut leader_s = BEGIN_S;
        for step in 0..40 {
            // A leader whose clock goes back: that of the partition does not.
            leader_s = leader_s + dice.below(4) as u32 - u32::from(dice.one_in(5)) * 3;
            model.now = model.now.max(leader_s);
            let calls: Vec<_> = (0..1 + dice.below(3))
                .map(|_| write(&mut dice, model.now))
                .collect();
            let stamp = Stamp {
                unix_us: (EPOCH_UNIX_S + u64::from(leader_s)) * 1_000_000 + dice.below(1_000_000),
                default_ttl_s: model.default_ttl_s,
                cluster: 1,
            };
            let bytes = entry(stamp, &calls);
            let answers = one.apply(&bytes);
            assert_eq!(other.apply(&bytes), answers);
            for (call, answer) in calls.iter().zip(answers) {
                assert_eq!(
                    answer,
                    model.write(call),
                    "seed {seed}, step {step}: {call:?}"
                );
            }
            match dice.below(12) {
                0 => one.db.flush().unwrap(),
                1 => other.db.compact::<&[u8]>(..).unwrap(),
                _ => {}
            }
            check_reads(&one.db, &world, &model, &mut dice);
        }
        assert_eq!(one.rows(), other.rows(), "seed {seed}");
        assert_eq!(one.machine, other.machine);
    }
}

// All rows of a scan, by pages.
fn scan(
    scans: &Scans,
    keyspace: &Keyspace,
    request: &GetScannerRequest,
    moment: Moment<'_>,
) -> (Vec<KeyValue>, usize, i32) {
    let mut page = scans.begin(keyspace, request.clone(), moment).unwrap();
    let (mut rows, mut pages, mut count) = (Vec::new(), 1, 0);
    loop {
        assert_eq!(page.error, Status::OK);
        count += page.kv_count.unwrap_or(0);
        rows.extend(page.kvs);
        if page.context_id == SCAN_ENDED {
            return (rows, pages, count);
        }
        assert!(page.context_id >= 0);
        let id = page.context_id;
        page = scans.go_on(keyspace, id, moment).unwrap();
        // An id is good once.
        let again = scans.go_on(keyspace, id, moment).unwrap();
        assert_eq!(again.error, Status::NOT_FOUND);
        pages += 1;
    }
}

fn whole() -> GetScannerRequest {
    GetScannerRequest {
        start_key: Blob::of(b"\0\0"),
        stop_key: Blob::of(b"\xff\xff"),
        start_inclusive: true,
        ..GetScannerRequest::default()
    }
}

// Rows `00` to `99` of ten hash keys; every third has ended.
fn harbour() -> (SimWorld, Replica) {
    let (world, mut replica) = Replica::new(1);
    let stamp = Stamp {
        unix_us: (EPOCH_UNIX_S + u64::from(BEGIN_S)) * 1_000_000,
        default_ttl_s: 0,
        cluster: 1,
    };
    let puts = (0..1000_u32).map(|number| {
        let (quay, berth) = (number / 100, number % 100);
        KeyCall::Put(UpdateRequest {
            key: Blob::from(raw(
                format!("q{quay}").as_bytes(),
                format!("{berth:02}").as_bytes(),
            )),
            value: Blob::of(format!("ship {number}").as_bytes()),
            expire_ts_seconds: i32::from(berth % 3 == 2) * (BEGIN_S as i32 - 1),
            ..UpdateRequest::default()
        })
    });
    replica.apply(&entry(stamp, &puts.collect::<Vec<_>>()));
    (world, replica)
}

#[test]
fn a_page_of_a_scan_ends_at_a_megabyte() {
    // Large rows come few at a time.
    let (world, mut replica) = Replica::new(1);
    let stamp = Stamp {
        unix_us: (EPOCH_UNIX_S + u64::from(BEGIN_S)) * 1_000_000,
        default_ttl_s: 0,
        cluster: 1,
    };
    for (number, value_bytes) in [400_000; 7].into_iter().chain([1_040_000; 3]).enumerate() {
        let put = KeyCall::Put(UpdateRequest {
            key: Blob::from(raw(b"large", format!("{number:02}").as_bytes())),
            value: Blob::from(vec![7; value_bytes]),
            ..UpdateRequest::default()
        });
        replica.apply(&entry(stamp, &[put]));
    }
    let scans = Scans::new(5, None);
    let mut page = scans.begin(&replica.db, whole(), moment(&world)).unwrap();
    let mut pages = vec![page.kvs.len()];
    while page.context_id != SCAN_ENDED {
        page = scans
            .go_on(&replica.db, page.context_id, moment(&world))
            .unwrap();
        pages.push(page.kvs.len());
    }
    assert_eq!(pages, [3, 3, 2, 2]);
    // Keys alone are small.
    let keys = GetScannerRequest {
        no_value: true,
        ..whole()
    };
    let (rows, count, _) = scan(&scans, &replica.db, &keys, moment(&world));
    assert_eq!((rows.len(), count), (10, 1));
}

fn moment(world: &SimWorld) -> Moment<'_> {
    Moment {
        now: WireSecond(BEGIN_S),
        clock: &*world.clock,
    }
}

#[test]
fn a_scan_has_each_row_that_lives_once_whatever_its_pages() {
    let (world, replica) = harbour();
    let scans = Scans::new(5, None);
    for (batch_size, pages_min) in [(0, 1), (1, 670), (7, 95), (100, 7), (5000, 1)] {
        let request = GetScannerRequest {
            batch_size,
            ..whole()
        };
        let (rows, pages, _) = scan(&scans, &replica.db, &request, moment(&world));
        assert_eq!(rows.len(), 670);
        assert!(rows.windows(2).all(|pair| pair[0].key < pair[1].key));
        assert!(
            (pages_min..=pages_min + 2).contains(&pages),
            "{batch_size}: {pages}"
        );
        assert!(scans.is_empty());
    }
    let request = GetScannerRequest {
        batch_size: 50,
        hash_key_filter_type: FilterType::FT_MATCH_POSTFIX,
        hash_key_filter_pattern: Blob::of(b"7"),
        sort_key_filter_type: FilterType::FT_MATCH_PREFIX,
        sort_key_filter_pattern: Blob::of(b"4"),
        no_value: true,
        return_expire_ts: Some(true),
        ..whole()
    };
    let (rows, ..) = scan(&scans, &replica.db, &request, moment(&world));
    let keys = [40, 42, 43, 45, 46, 48, 49]
        .map(|berth| Blob::from(raw(b"q7", format!("{berth}").as_bytes())));
    assert_eq!(
        rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>(),
        keys
    );
    assert!(
        rows.iter()
            .all(|row| row.value.is_empty() && row.expire_ts_seconds == Some(0))
    );
    let request = GetScannerRequest {
        only_return_count: Some(true),
        ..whole()
    };
    let (rows, _, count) = scan(&scans, &replica.db, &request, moment(&world));
    assert_eq!((rows.len(), count), (0, 670));
}

#[test]
fn a_page_ends_right_before_the_next_key_there_can_be() {
    let (world, mut replica) = Replica::new(1);
    let kvs = (0..20).map(|len| KeyValue {
        key: Blob::from(vec![0; len]),
        ..KeyValue::default()
    });
    let put = KeyCall::MultiPut(MultiPutRequest {
        hash_key: Blob::of(b"quay"),
        kvs: kvs.collect(),
        expire_ts_seconds: 0,
    });
    let stamp = Stamp {
        unix_us: 0,
        default_ttl_s: 0,
        cluster: 1,
    };
    replica.apply(&entry(stamp, &[put]));
    let request = GetScannerRequest {
        batch_size: 3,
        ..whole()
    };
    let scans = Scans::new(1, None);
    let (rows, ..) = scan(&scans, &replica.db, &request, moment(&world));
    assert_eq!(rows.len(), 20);
}

#[test]
fn rows_of_another_partition_are_passed_over_unless_told_otherwise() {
    let (world, replica) = harbour();
    let mut found = 0;
    for index in 0..4 {
        let share = Share { index, count: 4 };
        let scans = Scans::new(1, Some(share));
        found += scan(&scans, &replica.db, &whole(), moment(&world)).0.len();
        let request = GetScannerRequest {
            validate_partition_hash: Some(false),
            ..whole()
        };
        let all = scan(&scans, &replica.db, &request, moment(&world)).0;
        assert_eq!(all.len(), 670);
    }
    assert_eq!(found, 670);
}

#[test]
fn contexts_are_bounded_forgotten_when_idle_and_never_those_of_another_life() {
    let (world, replica) = harbour();
    let scans = Scans::new(5, None);
    let request = GetScannerRequest {
        batch_size: 1,
        ..whole()
    };
    let mut ids = Vec::new();
    for _ in 0..1500 {
        let page = scans
            .begin(&replica.db, request.clone(), moment(&world))
            .unwrap();
        ids.push(page.context_id);
    }
    assert_eq!(scans.len(), 1000);
    let life = Scans::new(6, None);
    let page = life
        .begin(&replica.db, request.clone(), moment(&world))
        .unwrap();
    assert!(!ids.contains(&page.context_id));
    let gone = scans.go_on(&replica.db, ids[3], moment(&world)).unwrap();
    assert_eq!(
        (gone.error, gone.context_id),
        (Status::NOT_FOUND, SCAN_ENDED)
    );
    scans.clear(ids[1499]);
    assert_eq!(scans.len(), 999);
    world.clock.advance(Duration::from_secs(299));
    assert_eq!(
        scans
            .go_on(&replica.db, ids[1400], moment(&world))
            .unwrap()
            .error,
        Status::OK
    );
    world.clock.advance(Duration::from_secs(2));
    let late = scans.go_on(&replica.db, ids[1401], moment(&world)).unwrap();
    assert_eq!(late.error, Status::NOT_FOUND);
    assert_eq!(scans.len(), 1, "that which was used a moment ago");
}

#[test]
fn a_read_stops_where_its_limits_are_and_says_so() {
    let (_world, mut replica) = Replica::new(1);
    let stamp = Stamp {
        unix_us: (EPOCH_UNIX_S + u64::from(BEGIN_S)) * 1_000_000,
        default_ttl_s: 0,
        cluster: 1,
    };
    let kvs = (0..4000_u32).map(|number| KeyValue {
        key: Blob::of(format!("{number:04}").as_bytes()),
        ..KeyValue::default()
    });
    let put = KeyCall::MultiPut(MultiPutRequest {
        hash_key: Blob::of(b"quay"),
        kvs: kvs.collect(),
        expire_ts_seconds: 0,
    });
    replica.apply(&entry(stamp, &[put]));
    let all = MultiGetRequest {
        hash_key: Blob::of(b"quay"),
        start_inclusive: true,
        ..MultiGetRequest::default()
    };
    let world = SimWorld::new(2);
    let reads = Reads {
        keyspace: &replica.db,
        moment: moment(&world),
    };
    let page = reads.multi_get(&all).unwrap();
    assert_eq!((page.error, page.kvs.len()), (Status::INCOMPLETE, 3000));
    // The last row is in it exactly.
    let last = MultiGetRequest {
        start_sortkey: Blob::of(b"1000"),
        ..all.clone()
    };
    let page = reads.multi_get(&last).unwrap();
    assert_eq!((page.error, page.kvs.len()), (Status::OK, 3000));
    // A clock that runs away between two looks.
    let hasty = Hasty::default();
    let reads = Reads {
        keyspace: &replica.db,
        moment: Moment {
            now: WireSecond(BEGIN_S),
            clock: &hasty,
        },
    };
    let page = reads.multi_get(&all).unwrap();
    assert_eq!((page.error, page.kvs.len()), (Status::INCOMPLETE, 29));
    let count = reads.sortkey_count(b"quay").unwrap();
    assert_eq!((count.error, count.count), (Status::OK, -1));
    let scans = Scans::new(1, None);
    let page = scans.begin(&replica.db, whole(), reads.moment).unwrap();
    assert_eq!(page.error, Status::INCOMPLETE);
    assert!(!page.kvs.is_empty() && page.kvs.len() < 40);
}

#[test]
fn rows_that_are_named_are_bounded_too() {
    // One of a megabyte, forty times.
    let (world, mut replica) = Replica::new(1);
    let stamp = Stamp {
        unix_us: 0,
        default_ttl_s: 0,
        cluster: 1,
    };
    let put = KeyCall::Put(UpdateRequest {
        key: Blob::from(raw(b"quay", b"a")),
        value: Blob::from(vec![7; 1 << 20]),
        ..UpdateRequest::default()
    });
    let mut writer = CommandWriter::new(stamp);
    let mut reader = RequestReader::new(2 << 20);
    put.put(reader.buffer(), &RequestHead::default(), 1);
    let request = reader.next().unwrap().unwrap();
    writer.push(&request.name, &request.arguments.unwrap());
    replica.apply(&writer.finish());
    let reads = Reads {
        keyspace: &replica.db,
        moment: moment(&world),
    };
    let page = reads.multi_get(&MultiGetRequest {
        hash_key: Blob::of(b"quay"),
        sort_keys: vec![Blob::of(b"a"); 40],
        ..MultiGetRequest::default()
    });
    let page = page.unwrap();
    assert_eq!((page.error, page.kvs.len()), (Status::INCOMPLETE, 30));
    let key = FullKey {
        hash_key: Blob::of(b"quay"),
        sort_key: Blob::of(b"a"),
    };
    for (count, error, found) in [(20, Status::OK, 20), (40, Status::INCOMPLETE, 0)] {
        let keys = vec![key.clone(); count];
        let answer = reads.batch_get(&BatchGetRequest { keys }).unwrap();
        assert_eq!((answer.error, answer.data.len()), (error, found));
    }
}

/// A clock by which a second passes whenever somebody looks at it.
#[derive(Debug, Default)]
struct Hasty(Arc<std::sync::atomic::AtomicU64>);

impl esker::internals::env::clock::Clock for Hasty {
    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }

    fn unix_time(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn a_key_that_the_engine_does_not_take_is_refused_and_the_entry_is_applied() {
    // An entry that no replica can apply would be the end of all of them.
    let (_world, mut replica) = Replica::new(1);
    let long = vec![b'k'; 65_533];
    let row = || KeyValue {
        key: Blob::from(long.clone()),
        ..KeyValue::default()
    };
    let hash_key = Blob::of(b"hash");
    let check = CheckAndSetRequest {
        hash_key: hash_key.clone(),
        check_sort_key: Blob::from(long.clone()),
        check_type: CasCheckType::CT_NO_CHECK,
        set_sort_key: Blob::from(long.clone()),
        set_diff_sort_key: true,
        ..CheckAndSetRequest::default()
    };
    let mutate = Mutate {
        operation: MutateOperation::MO_PUT,
        sort_key: Blob::from(long.clone()),
        ..Mutate::default()
    };
    let calls = [
        KeyCall::Put(UpdateRequest {
            key: Blob::from(raw(b"hash", &long)),
            ..UpdateRequest::default()
        }),
        KeyCall::Remove(Blob::from(raw(b"hash", &long))),
        KeyCall::MultiPut(MultiPutRequest {
            hash_key: hash_key.clone(),
            kvs: vec![row()],
            ..MultiPutRequest::default()
        }),
        KeyCall::MultiRemove(MultiRemoveRequest {
            hash_key: hash_key.clone(),
            sort_keys: vec![Blob::from(long.clone())],
            ..MultiRemoveRequest::default()
        }),
        KeyCall::Incr(IncrRequest {
            key: Blob::from(raw(b"hash", &long)),
            increment: 1,
            ..IncrRequest::default()
        }),
        KeyCall::CheckAndSet(check),
        KeyCall::CheckAndMutate(CheckAndMutateRequest {
            hash_key,
            check_type: CasCheckType::CT_NO_CHECK,
            mutate_list: vec![mutate],
            ..CheckAndMutateRequest::default()
        }),
    ];
    let stamp = Stamp {
        unix_us: 1_700_000_000_000_000,
        default_ttl_s: 0,
        cluster: 1,
    };
    let answers = replica.apply(&entry(stamp, &calls));
    let statuses = answers.iter().map(|answer| match answer {
        KeyAnswer::Put(it) | KeyAnswer::Remove(it) | KeyAnswer::MultiPut(it) => it.error,
        KeyAnswer::MultiRemove(it) => it.error,
        KeyAnswer::Incr(it) => it.error,
        KeyAnswer::CheckAndSet(it) => it.error,
        KeyAnswer::CheckAndMutate(it) => it.error,
        other => panic!("{other:?}"),
    });
    assert!(
        statuses
            .into_iter()
            .all(|it| it == Status::INVALID_ARGUMENT),
        "{answers:?}"
    );
    assert!(replica.rows().is_empty());
}
