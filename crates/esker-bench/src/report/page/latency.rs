//! The section of latencies: the percentiles of every kind of operation.

use crate::quantity;
use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::study::tails::{Tail, at, kinds, nines, tail};
use crate::report::study::workloads::{Study, Workload};

/// The percentiles of the table, as shares.
const SHARES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

const EXPLAINED: &str = "How long operations took, all rounds together: behind p99.9 one of a \
    thousand is slower. In an open loop times count from when an operation was due. A dash: too \
    few operations to tell.";

/// The section; empty if nothing was timed.
pub fn section(study: &Study<'_>) -> Section {
    let shares = SHARES.iter().map(|(name, _)| *name);
    let heads = ["workload", "engine", "count"].into_iter();
    let mut table = Table::new(heads.chain(shares).chain(["max"]));
    for workload in &study.workloads {
        for (title, tails) in tails_of(workload) {
            for one in &tails {
                table.row(row(&title, study, one));
            }
        }
    }
    match table.is_empty() {
        true => Section::new("Latency", String::new()),
        false => Section::new("Latency", note(EXPLAINED) + &table.html()),
    }
}

/// The tails of every kind of operation of a workload, each with what it is called.
fn tails_of(workload: &Workload<'_>) -> Vec<(String, Vec<Tail>)> {
    let mut all: Vec<&str> = Vec::new();
    for kind in workload.cells.iter().flat_map(kinds) {
        if !all.contains(&kind) {
            all.push(kind);
        }
    }
    let is_several = all.len() > 1;
    let tails = all.into_iter().map(|kind| {
        let title = match is_several {
            true => format!("{}, {kind}", workload.label),
            false => workload.label.clone(),
        };
        let cells = workload.cells.iter();
        (title, cells.filter_map(|cell| tail(cell, kind)).collect())
    });
    tails.collect()
}

fn row(title: &str, study: &Study<'_>, one: &Tail) -> Vec<String> {
    let mut row = vec![
        title.to_owned(),
        study.seats[one.place].name.clone(),
        quantity::exact(one.count),
    ];
    row.extend(SHARES.iter().map(|(_, share)| {
        // Of a hundred operations nobody knows the slowest of ten thousand.
        let is_resolved = one.count as f64 * (1.0 - share) >= 1.0 - 1e-9;
        let nanos = at(one, nines(*share)).filter(|_| is_resolved);
        nanos.map_or(quantity::NONE.into(), quantity::nanos)
    }));
    row.push(quantity::nanos(one.max_ns));
    row
}
