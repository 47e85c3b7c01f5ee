//! Records sorted into workloads, engines and rounds.

use super::*;
use crate::report::sample::{duel, record, round};

#[test]
fn ours_comes_first_and_rounds_come_together() {
    // The record begins with the rival; two workloads with two rounds on each engine.
    let record = duel();
    let study = Study::of(&record);
    let names: Vec<&str> = study.seats.iter().map(|seat| seat.name.as_str()).collect();
    assert_eq!(names, ["Esker", "Anvil"]);
    assert_eq!(study.workloads.len(), 2);
    assert_eq!(study.round_count(), 2);
    let rate = study.workloads[0].cell(0).and_then(Cell::rate).unwrap();
    assert_eq!((rate.min, rate.median, rate.max), (2000.0, 3000.0, 4000.0));
}

#[test]
fn namesakes_are_told_apart_by_what_differs() {
    // The same name three times: with more keys, with another setting, and just once more.
    let with = |fields: &[(&str, &str)]| {
        let mut one = round("read", "Esker", 0, 10.0);
        let fields = fields.iter();
        one.workload = fields.map(|(a, b)| ((*a).into(), (*b).into())).collect();
        one
    };
    let record = record(vec![
        with(&[("keys", "1000"), ("cache_mib", "8")]),
        with(&[("keys", "1000"), ("cache_mib", "16")]),
        with(&[("keys", "10000000")]),
    ]);
    let study = Study::of(&record);
    let labels: Vec<&str> = study.workloads.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "read, 1 k keys, cache mib 8",
            "read, 1 k keys, cache mib 16",
            "read, 10 M keys"
        ]
    );
    let twice = crate::report::sample::record(vec![
        round("read", "Esker", 0, 1.0),
        round("read", "Esker", 0, 2.0),
    ]);
    let study = Study::of(&twice);
    assert_eq!(study.workloads[1].label, "read #2");
}

#[test]
fn limits_are_no_engine() {
    // Raw writes of the machine stand beside the engines, not among them.
    let record = record(vec![
        round("raw-write", "limit", 0, 5.0),
        round("raw-write", "limit", 1, 7.0),
        round("fill", "Esker", 0, 1.0),
    ]);
    let study = Study::of(&record);
    assert_eq!((study.seats.len(), study.workloads.len()), (1, 1));
    assert_eq!(study.limits[0].1.rounds.len(), 2);
}

#[test]
fn what_is_no_number_is_left_out() {
    // One round divided by nothing: the others stand.
    let record = record(vec![
        round("fill", "Esker", 0, f64::NAN),
        round("fill", "Esker", 1, 3.0),
    ]);
    let study = Study::of(&record);
    assert_eq!(study.workloads[0].cells[0].rate().unwrap().median, 3.0);
}
