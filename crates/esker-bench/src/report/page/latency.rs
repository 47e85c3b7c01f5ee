//! The section of latencies: the percentiles of every kind of operation.

use crate::quantity;
use crate::report::page::markup::{Cell as Field, Table, note, quiet};
use crate::report::page::shell::Section;
use crate::report::study::tails::{Tail, kinds, tail};
use crate::report::study::workloads::{Study, Workload};

/// The percentiles of the table, as shares.
const SHARES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

const EXPLAINED: &str = "How long operations took, all rounds together: of a thousand one is \
    slower than p99.9 says. In an open loop times count from when an operation was due.";

/// The section; empty if nothing was timed.
pub fn section(study: &Study<'_>) -> Section {
    let shares = SHARES.iter().map(|(name, _)| *name);
    // Where one engine is alone, its name is in the title.
    let engine = ["engine"].into_iter().filter(|_| study.seats.len() > 1);
    let heads = std::iter::once("workload").chain(engine).chain(["count"]);
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
        // Of one long operation there is nothing to tell but its time, which Speed has.
        let cells = workload.cells.iter().filter(|cell| !cell.is_one_piece());
        (title, cells.filter_map(|cell| tail(cell, kind)).collect())
    });
    tails.collect()
}

fn row(title: &str, study: &Study<'_>, one: &Tail) -> Vec<Field> {
    let mut row = vec![title.into()];
    if study.seats.len() > 1 {
        row.push(study.seats[one.place].name.as_str().into());
    }
    row.push(quantity::exact(one.count).into());
    row.extend(SHARES.iter().map(|(_, share)| {
        let nanos = one.at(*share);
        nanos.map_or(quiet(quantity::NONE), |it| quantity::nanos(it).into())
    }));
    row.push(quantity::nanos(one.max_ns).into());
    row
}
