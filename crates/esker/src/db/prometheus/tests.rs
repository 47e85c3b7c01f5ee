//! Tests of `prometheus`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::options::call::{Isolation, TransactionOptions};
use crate::db::open::Builder;
use crate::env::sim::SimWorld;

/// A page, read by the rules of the format: type and samples by name, each sample as its labels and
/// its value. Panics where a rule is broken.
fn parse(page: &str) -> BTreeMap<String, (String, BTreeMap<String, f64>)> {
    let mut metrics: BTreeMap<String, (String, BTreeMap<String, f64>)> = BTreeMap::new();
    let mut current = String::new();
    let mut helped = BTreeSet::new();
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, doc) = help.split_once(' ').expect("a name and a text");
            assert!(!doc.trim().is_empty(), "{name} says what it is");
            assert!(helped.insert(name.to_owned()), "{name} is helped twice");
        } else if let Some(told) = line.strip_prefix("# TYPE ") {
            let (name, kind) = told.split_once(' ').expect("a name and a type");
            assert!(helped.contains(name) && matches!(kind, "counter" | "gauge"));
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            name.clone_into(&mut current);
            let new = (kind.to_owned(), BTreeMap::new());
            assert!(metrics.insert(name.to_owned(), new).is_none(), "{name}");
        } else {
            let (place, value) = line.rsplit_once(' ').expect("a sample and its value");
            let name_len = place.find('{').unwrap_or(place.len());
            let (name, labels) = place.split_at(name_len);
            assert_eq!(name, current, "samples stand below their type");
            let is_legal =
                |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
            assert!(
                name.starts_with("esker_") && name.chars().all(is_legal),
                "{name}"
            );
            let value: f64 = value.parse().expect("a number");
            let samples = &mut metrics.get_mut(name).expect("typed before").1;
            assert!(
                samples.insert(labels.to_owned(), value).is_none(),
                "{place} twice"
            );
        }
    }
    metrics
}

#[test]
fn every_figure_has_its_place_and_its_unit() {
    // Two keyspaces with files and memtables, one of them with a name that has to be escaped.
    let world = SimWorld::new(7);
    let db = Builder::new("/db").env(world.env()).open().unwrap();
    let odd = db.keyspace("a\"b\\c\nd").unwrap();
    for number in 0..100 {
        db.put(format!("{number:03}"), "value").unwrap();
        odd.put(format!("{number:03}"), "value").unwrap();
    }
    db.flush().unwrap();
    odd.put("another", "value").unwrap();
    let _kept = db.snapshot_named("report");
    let mut undecided = db.begin();
    undecided.get_for_update(&odd, "read").unwrap();
    undecided.put(&odd, "read", "1").unwrap();
    undecided.put(&db, "large", "1").unwrap();
    undecided.delete_range(&db, "x", "y").unwrap();
    drop(undecided.prepare("the \"id\"").unwrap());
    world.clock.advance(Duration::from_secs(7));
    let _newer = db.snapshot();
    let _reading = db.begin_with(TransactionOptions {
        isolation: Isolation::ReadCommitted,
        ..TransactionOptions::default()
    });
    let stats = db.stats();
    let page = parse(&stats.to_prometheus());
    let one = |name: &str, labels: &str| page[name].1[labels];

    assert_eq!(one("esker_write_entries_total", ""), 201.0);
    assert_eq!(one("esker_state", "{state=\"open\"}"), 1.0);
    assert_eq!(one("esker_snapshots", ""), 2.0);
    assert_eq!(one("esker_transactions", ""), 1.0);
    assert_eq!(one("esker_oldest_transaction_seconds", ""), 0.0);
    assert_eq!(one("esker_prepared_transactions", ""), 1.0);
    assert_eq!(one("esker_oldest_prepared_transaction_seconds", ""), 7.0);
    assert_eq!(one("esker_oldest_snapshot_seconds", ""), 7.0);
    let told = stats.to_string();
    assert!(told.contains("7.0 s old, held by \"report\"\n"), "{told}");
    assert!(told.contains("0.0 s old, held by a snapshot without a name\n"));
    assert!(told.contains("transaction  1, 0.0 s old, read_committed, optimistic\n"));
    // What it read, and then wrote, it claims once.
    let prepared = "prepared     \"the \\\"id\\\"\", 7.0 s old, 3 writes, ";
    let line = told.lines().find(|line| line.starts_with(prepared));
    let line = line.unwrap_or_else(|| panic!("{told}"));
    assert!(line.ends_with(" B, claims 3 keys and ranges"), "{line}");
    assert_eq!(
        one("esker_memory_limit_bytes", ""),
        stats.memory_limit as f64
    );
    let held = page["esker_memory_bytes"].1.values().sum::<f64>();
    let wanted: u64 = stats.memory.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(held, wanted as f64);
    let l0 = one("esker_level_entries", "{keyspace=\"default\",level=\"0\"}");
    assert_eq!(l0, 100.0);
    let escaped = "{keyspace=\"a\\\"b\\\\c\\nd\"}";
    assert!(one("esker_keyspace_memtable_bytes", escaped) > 0.0);
    assert!(
        !page["esker_keyspace_write_rate_bytes"]
            .1
            .contains_key(escaped)
    );

    // Every counter is there, those of time in seconds.
    for (name, _, value) in &stats.counters {
        let shown = one(name, "");
        match name.contains("seconds") {
            true => assert!((shown - *value as f64 / 1e9).abs() < 1e-9, "{name}"),
            false => assert_eq!(shown, *value as f64, "{name}"),
        }
    }
}
