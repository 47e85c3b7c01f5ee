//! Tests of `statistics`.

use super::*;

#[test]
fn counters_are_told_apart_and_subtracted() {
    // An interval report is the difference of two snapshots.
    let statistics = Statistics::new();
    statistics.add(Ticker::WriteBatches, 3);
    let earlier = statistics.snapshot();
    statistics.add(Ticker::WriteBatches, 2);
    statistics.add(Ticker::WalBytes, 4096);
    let moved = statistics.snapshot().since(&earlier);
    assert_eq!(statistics.sum(Ticker::WriteBatches), 5);
    assert_eq!(moved.get(Ticker::WriteBatches), 2);
    assert_eq!(moved.get(Ticker::WalBytes), 4096);
    assert_eq!(
        moved.readings().filter(|reading| reading.value > 0).count(),
        2
    );
    assert_eq!(
        earlier.since(&statistics.snapshot()).get(Ticker::WalBytes),
        0
    );
}

#[test]
fn names_follow_the_rules_of_prometheus() {
    // One prefix, lower case, `_total` last, the unit in the name, no name twice.
    let mut seen = std::collections::HashSet::new();
    for ticker in Ticker::ALL {
        let name = ticker.name();
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
        let unit = match ticker.unit() {
            CounterUnit::Events => None,
            CounterUnit::Bytes => Some("_bytes_total"),
            CounterUnit::Nanoseconds => Some("_seconds_total"),
        };
        assert!(unit.is_none_or(|unit| name.ends_with(unit)), "{name}");
        assert!(ticker.doc().ends_with('.'), "{name}");
    }
}

#[test]
fn tickers_are_listed_in_the_order_of_their_numbers() {
    // The number of a ticker is its place among the counters.
    for (place, ticker) in Ticker::ALL.iter().enumerate() {
        assert_eq!(*ticker as usize, place);
    }
}
