//! The double of the client's tests against a partition on the engine: it answers the same.
//!
//! Not here: a partition's clock that is ahead of a node's, which the double has not, and rows of
//! other partitions, which a node never has.

use std::time::Duration;

use esker::Keyspace;
use esker::internals::env::clock::Clock;
use esker::internals::env::random::Random;
use esker::internals::env::sim::SimWorld;
use esker_raft::{GroupId, Member, ReplicaId};
use esker_rpc::codec::scalars::{Blob, Gpid};
use esker_rpc::message::call::Access;
use esker_rpc::message::data::*;
use esker_rpc::time::{EPOCH_UNIX_S, WireSecond};
use esker_server::node::{Alarm, View};
use esker_server::partition::command::Stamp;
use esker_server::partition::signature::Signature;

use crate::memory::partition::{Moment, Partition};
use crate::memory::scans::Place;
use crate::partition::{BEGIN_S, Replica, entry, hash_key, multi_get, some_of, sort_key, write};
use crate::partition_model::raw;

/// A time of the day that stands still.
#[derive(Debug)]
struct Standing {
    unix_s: u64,
}

impl Clock for Standing {
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn unix_time(&self) -> Duration {
        Duration::from_secs(self.unix_s)
    }
}

/// A partition as it is shipped, and the double of one.
struct Both {
    _world: SimWorld,
    shipped: Replica,
    view: View,
    double: Partition,
    /// Seconds since 2016.
    now: u32,
    default_ttl_s: u32,
}

impl Both {
    fn new(seed: u64, default_ttl_s: u32) -> Both {
        let (world, shipped) = Replica::new(seed);
        let member = Member {
            group: GroupId(1),
            replica: ReplicaId(1),
        };
        let keyspace = Keyspace::clone(&shipped.db);
        let signature = Signature::default();
        let view = View::new(member, keyspace, signature, (0, 0, seed), Alarm::default());
        Both {
            _world: world,
            shipped,
            view,
            double: Partition::new(Gpid::default(), 1000),
            now: BEGIN_S,
            default_ttl_s,
        }
    }

    fn shipped(&mut self, call: &KeyCall) -> KeyAnswer {
        let unix_s = EPOCH_UNIX_S + u64::from(self.now);
        let answer = match call.row().access {
            Access::Reads => self.view.serve(call, &Standing { unix_s }).unwrap(),
            Access::Writes | Access::Updates => {
                let stamp = Stamp {
                    unix_us: unix_s * 1_000_000,
                    default_ttl_s: self.default_ttl_s,
                    cluster: 1,
                };
                let calls = std::slice::from_ref(call);
                self.shipped.apply(&entry(stamp, calls)).remove(0)
            }
        };
        unsigned(answer)
    }

    fn double(&mut self, call: &KeyCall) -> KeyAnswer {
        let moment = Moment {
            place: Place {
                index: 0,
                count: 1,
                validates: false,
                now: WireSecond(self.now),
            },
            default_ttl_s: self.default_ttl_s,
            server: "a double".to_owned(),
        };
        unsigned(self.double.answer(call.clone(), &moment))
    }

    fn ask(&mut self, call: &KeyCall) {
        let (shipped, double) = (self.shipped(call), self.double(call));
        assert_eq!(shipped, double, "shipped, double: {call:?}");
    }

    /// A scan to its end, or until `between` two of its pages says false.
    fn scan(&mut self, request: &GetScannerRequest, mut between: impl FnMut(&mut Both) -> bool) {
        let call = KeyCall::GetScanner(request.clone());
        let mut pages = [self.shipped(&call), self.double(&call)];
        let mut gone: Option<[i64; 2]> = None;
        loop {
            // Each goes on by an id of its own; of the other it must not know any.
            let ids = pages.each_mut().map(take_id);
            let [shipped, double] = &pages;
            assert_eq!(shipped, double, "shipped, double: {request:?}");
            if let Some(ids) = gone {
                // Each id is good once.
                let [shipped, double] = self.go_on(ids);
                assert_eq!(shipped, double, "shipped, double: gone on with again");
            }
            if ids[0] == SCAN_ENDED {
                return;
            }
            if !between(self) {
                let [shipped, double] = ids.map(KeyCall::ClearScanner);
                self.shipped(&shipped);
                self.double(&double);
                let [shipped, double] = self.go_on(ids);
                assert_eq!(shipped, double, "shipped, double: cleared");
                return;
            }
            pages = self.go_on(ids);
            gone = Some(ids);
        }
    }

    fn go_on(&mut self, ids: [i64; 2]) -> [KeyAnswer; 2] {
        let [shipped, double] = ids.map(|context_id| KeyCall::Scan(ScanRequest { context_id }));
        [self.shipped(&shipped), self.double(&double)]
    }
}

/// The answer, without who it is that answers.
fn unsigned(answer: KeyAnswer) -> KeyAnswer {
    Signature::default().sign(answer, 0)
}

/// By which id a scan goes on; what stays in the answer is whether it does.
fn take_id(answer: &mut KeyAnswer) -> i64 {
    match answer {
        KeyAnswer::GetScanner(it) | KeyAnswer::Scan(it) => {
            let id = it.context_id;
            it.context_id = id.min(0);
            id
        }
        other => panic!("{other:?}"),
    }
}

/// Mostly a raw key that may be there; else one that is too long, or none.
fn some_key(dice: &mut Random) -> Blob {
    if !dice.one_in(8) {
        return Blob::from(raw(&hash_key(dice), &sort_key(dice)));
    }
    Blob::from(match dice.below(6) {
        0 => Vec::new(),
        1 => vec![0],
        2 => vec![0, 9, b'a'],
        3 => vec![0xff; 80],
        // The longest key, and one that is longer.
        long => raw(b"hk", &vec![b'k'; 65_527 + long as usize]),
    })
}

/// Mostly a hash key that may be there; else the longest, and one that is longer.
fn some_hash_key(dice: &mut Random) -> Blob {
    match dice.below(12) {
        long @ (0 | 1) => Blob::from(vec![b'h'; 65_534 + long as usize]),
        _ => hash_key(dice),
    }
}

/// Mostly a filter that there is.
fn filter(dice: &mut Random) -> FilterType {
    FilterType(some_of(dice, &[0, 0, 1, 2, 3, 4]))
}

fn scanner(dice: &mut Random) -> GetScannerRequest {
    let starts: [&[u8]; 4] = [b"\0\0", b"", b"\0\x04ship", b"\xff\xff"];
    let stops: [&[u8]; 4] = [b"\xff\xff", b"", b"\0\x04shiq", b"\0"];
    let flags = [None, Some(false), Some(true)];
    GetScannerRequest {
        start_key: match dice.one_in(3) {
            true => some_key(dice),
            false => Blob::of(some_of(dice, &starts)),
        },
        stop_key: match dice.one_in(3) {
            true => some_key(dice),
            false => Blob::of(some_of(dice, &stops)),
        },
        start_inclusive: dice.one_in(2),
        stop_inclusive: dice.one_in(2),
        batch_size: some_of(dice, &[-1, 0, 1, 2, 5, 2000]),
        no_value: dice.one_in(3),
        hash_key_filter_type: filter(dice),
        hash_key_filter_pattern: Blob::of(some_of(dice, &[&b""[..], b"s", b"ship", b"p"])),
        sort_key_filter_type: filter(dice),
        sort_key_filter_pattern: sort_key(dice),
        validate_partition_hash: some_of(dice, &flags),
        return_expire_ts: some_of(dice, &flags),
        full_scan: some_of(dice, &flags),
        only_return_count: some_of(dice, &flags),
    }
}

fn read(dice: &mut Random) -> KeyCall {
    match dice.below(6) {
        0 => KeyCall::Get(some_key(dice)),
        1 => KeyCall::Ttl(some_key(dice)),
        2 => KeyCall::SortkeyCount(some_hash_key(dice)),
        3 => KeyCall::BatchGet(BatchGetRequest {
            keys: (0..dice.below(5))
                .map(|_| FullKey {
                    hash_key: some_hash_key(dice),
                    sort_key: sort_key(dice),
                })
                .collect(),
        }),
        named => KeyCall::MultiGet(MultiGetRequest {
            hash_key: some_hash_key(dice),
            sort_keys: match named {
                4 => (0..dice.below(6)).map(|_| sort_key(dice)).collect(),
                _ => Vec::new(),
            },
            sort_key_filter_type: filter(dice),
            ..multi_get(dice)
        }),
    }
}

/// A write, and now and then one that no client should send.
fn any_write(dice: &mut Random, now: u32) -> KeyCall {
    let mut call = write(dice, now);
    match &mut call {
        KeyCall::Put(it) => it.key = some_key(dice),
        KeyCall::Remove(key) => *key = some_key(dice),
        KeyCall::Incr(it) => it.key = some_key(dice),
        KeyCall::MultiPut(it) => it.hash_key = some_hash_key(dice),
        KeyCall::MultiRemove(it) => it.hash_key = some_hash_key(dice),
        KeyCall::CheckAndSet(it) => {
            it.hash_key = some_hash_key(dice);
            it.check_type = CasCheckType(dice.below(20) as i32 - 1);
        }
        KeyCall::CheckAndMutate(it) => {
            it.hash_key = some_hash_key(dice);
            it.check_type = CasCheckType(dice.below(20) as i32 - 1);
            if let Some(mutation) = it.mutate_list.first_mut().filter(|_| dice.one_in(8)) {
                mutation.operation = MutateOperation(2);
            }
        }
        other => panic!("{other:?} is no write"),
    }
    call
}

#[test]
fn the_double_answers_as_what_is_shipped() {
    for seed in 0..150 {
        let mut dice = Random::new(seed);
        let default_ttl_s = some_of(&mut dice, &[0, 0, 7]);
        let mut both = Both::new(seed, default_ttl_s);
        for _ in 0..60 {
            both.now += dice.below(3) as u32;
            both.ask(&any_write(&mut dice, both.now));
            both.ask(&read(&mut dice));
            if dice.one_in(4) {
                let request = scanner(&mut dice);
                both.scan(&request, |both| {
                    if dice.one_in(3) {
                        both.ask(&write(&mut dice, both.now));
                    }
                    !dice.one_in(8)
                });
            }
        }
    }
}

#[test]
fn numbers_are_read_alike_however_they_are_written() {
    let mut both = Both::new(1, 0);
    let key = || Blob::from(raw(b"hk", b"n"));
    for text in [
        "",
        "0x10",
        "010",
        " 7",
        "+7",
        "-0",
        "7 ",
        "x",
        "9223372036854775807",
    ] {
        both.ask(&KeyCall::Put(UpdateRequest {
            key: key(),
            value: Blob::of(text.as_bytes()),
            ..UpdateRequest::default()
        }));
        for increment in [0, 1] {
            both.ask(&KeyCall::Incr(IncrRequest {
                key: key(),
                increment,
                ..IncrRequest::default()
            }));
            both.ask(&KeyCall::Get(key()));
        }
    }
}

#[test]
fn pages_end_alike_where_rows_are_many_or_long() {
    for (count, len) in [(2100, 1), (9, 300_000)] {
        let mut both = Both::new(1, 0);
        for number in 0..count {
            both.ask(&KeyCall::Put(UpdateRequest {
                key: Blob::from(raw(b"hk", format!("{number:05}").as_bytes())),
                value: Blob::from(vec![b'v'; len]),
                ..UpdateRequest::default()
            }));
        }
        let all = MultiGetRequest {
            hash_key: Blob::of(b"hk"),
            ..MultiGetRequest::default()
        };
        both.ask(&KeyCall::MultiGet(all));
        let whole = GetScannerRequest {
            start_key: Blob::of(b"\0\0"),
            start_inclusive: true,
            ..GetScannerRequest::default()
        };
        both.scan(&whole, |_| true);
    }
}
