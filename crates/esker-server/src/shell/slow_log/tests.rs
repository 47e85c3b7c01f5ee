//! What is kept of calls that took long, on a clock that the tests move.

use std::net::SocketAddr;

use esker_rpc::codec::scalars::Blob;
use esker_rpc::keys::raw_key;

use super::*;
use crate::reconcile::Knowledge;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn trace(key: &[u8]) -> Trace {
    let raw = raw_key(key, b"sort").expect("a raw key");
    let call = KeyCall::Get(Blob::from(raw));
    let client: SocketAddr = "127.0.0.1:5000".parse().expect("an address");
    Trace {
        threshold: ms(100),
        begun: ms(1000),
        limited: ms(20),
        submitted: ms(1030),
        access: Access::Reads,
        caller: Caller::Client(client),
        group: PartitionId {
            table: crate::meta::ids::TableId(7),
            index: 3,
        }
        .group(),
        name: call.row().name,
        arguments_bytes: 44,
        key: KeyHead::of(hash_key(&call)),
    }
}

#[test]
fn a_call_is_slow_from_its_threshold_on_and_never_without_one() {
    let trace = trace(b"k");
    assert!(!trace.is_slow(ms(1099)) && trace.is_slow(ms(1100)));
    let unbounded = Trace {
        threshold: Duration::ZERO,
        ..trace
    };
    assert!(!unbounded.is_slow(ms(100_000)));
}

#[test]
fn phases_of_a_call_are_its_time() {
    let log = SlowLog::default();
    let times = EntryTimes {
        proposed: ms(1040),
        committed: ms(1090),
    };
    log.wrote(&trace(b"k"), (times, ms(1150)), (ms(1151), 5));
    let times = ReadTimes {
        cleared: Some(ms(1060)),
        taken: ms(1061),
        done: ms(1200),
    };
    log.read(&trace(b"k"), times, (ms(1203), 6));
    let leased = ReadTimes {
        cleared: None,
        ..times
    };
    log.read(&trace(b"k"), leased, (ms(1203), 7));
    let phases: Vec<Vec<(&str, u128)>> = log
        .lock()
        .iter()
        .map(|call| {
            let sum: Duration = call.phases.iter().map(|phase| phase.1).sum();
            assert_eq!(sum, call.total);
            call.phases
                .iter()
                .map(|phase| (phase.0, phase.1.as_millis()))
                .collect()
        })
        .collect();
    let before = [("door", 10), ("limit", 20)];
    let wrote = [("queue", 10), ("commit", 50), ("apply", 60), ("answer", 1)];
    let read = [("confirm", 30), ("queue", 1), ("read", 139), ("answer", 3)];
    let leased = [("confirm", 0), ("queue", 31), ("read", 139), ("answer", 3)];
    assert_eq!(phases[0], [&before[..], &wrote].concat());
    assert_eq!(phases[1], [&before[..], &read].concat());
    assert_eq!(phases[2], [&before[..], &leased].concat());
}

#[test]
fn the_latest_are_kept_and_all_are_counted() {
    let log = SlowLog::default();
    let times = ReadTimes {
        cleared: None,
        taken: ms(1040),
        done: ms(1200),
    };
    for unix_us in 0..1000 {
        log.read(&trace(b"k"), times, (ms(1200), unix_us));
    }
    assert_eq!((log.total(), log.lock().len()), (1000, KEPT_MAX));
    let json = log.to_json(&Known::new(Knowledge::default()));
    assert!(
        json.starts_with("{\"total\":1000,\"kept\":[{\"unix_us\":999,"),
        "{json}"
    );
    assert!(json.contains("\"call\":\"get\",\"table\":\"7\",\"partition\":3,\"hash_key\":\"k\""));
    assert!(
        json.contains("\"from\":\"127.0.0.1:5000\",\"total_us\":200000"),
        "{json}"
    );
}

#[test]
fn keys_are_shown_as_short_text() {
    for (key, shown) in [
        (&b"ship:anna"[..], "ship:anna"),
        (b"", ""),
        (b"\x00\xff\"", "\\x00\\xff\\\""),
        (
            &[b'x'; 40],
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\u{2026}(40 bytes)",
        ),
    ] {
        assert_eq!(trace(key).key.text(), shown);
    }
}
