//! Tests of `board`.

use super::*;

#[test]
fn counters_are_told_apart_and_subtracted() {
    // An interval report is the difference of two snapshots.
    let board = Board::new();
    board.add(Tick::WriteBatches, 3);
    let earlier = board.snapshot();
    board.add(Tick::WriteBatches, 2);
    board.add(Tick::WalBytes, 4096);
    let moved = board.snapshot().since(&earlier);
    assert_eq!(board.sum(Tick::WriteBatches), 5);
    assert_eq!(moved.get(Tick::WriteBatches), 2);
    assert_eq!(moved.get(Tick::WalBytes), 4096);
    assert_eq!(
        moved.readings().filter(|reading| reading.value > 0).count(),
        2
    );
    assert_eq!(earlier.since(&board.snapshot()).get(Tick::WalBytes), 0);
}

#[test]
fn names_follow_the_rules_of_prometheus() {
    // One prefix, lower case, `_total` last, the unit in the name, no name twice.
    let mut seen = std::collections::HashSet::new();
    for tick in Tick::ALL {
        let name = tick.name();
        assert!(seen.insert(name), "{name} twice");
        assert!(
            name.starts_with("esker_") && name.ends_with("_total"),
            "{name}"
        );
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        let unit = match tick.unit() {
            CounterUnit::Events => None,
            CounterUnit::Bytes => Some("_bytes_total"),
            CounterUnit::Nanoseconds => Some("_seconds_total"),
        };
        assert!(unit.is_none_or(|unit| name.ends_with(unit)), "{name}");
        assert!(tick.doc().ends_with('.'), "{name}");
    }
}

#[test]
fn time_is_shown_in_seconds() {
    // Metrics want base units; the engine counts nanoseconds.
    let board = Board::new();
    board.add(Tick::FlushNanos, 1_500_000_000);
    board.add(Tick::WalBytes, 7);
    let snapshot = board.snapshot();
    let shown = |tick| {
        snapshot
            .readings()
            .find(|reading| reading.tick == tick)
            .unwrap()
    };
    assert_eq!(shown(Tick::FlushNanos).base_value(), 1.5);
    assert_eq!(shown(Tick::WalBytes).base_value(), 7.0);
}

#[test]
fn ticks_are_listed_in_the_order_of_their_numbers() {
    // The number of a tick is its place on the board.
    for (place, tick) in Tick::ALL.iter().enumerate() {
        assert_eq!(*tick as usize, place);
    }
}
