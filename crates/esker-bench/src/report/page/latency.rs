//! The section of latencies: the percentiles of every kind of operation.

use crate::quantity;
use crate::report::page::markup::{Cell as Field, Table, note, quiet};
use crate::report::page::shell::Section;
use crate::report::record::LatencyRecord;
use crate::report::study::workloads::{Cell, Study, Workload};

/// The percentiles of the table.
const PERCENTS: [(&str, f64); 5] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("p99.99", 99.99),
];

const EXPLAINED: &str = "How long operations took, in the median round: of a thousand one is \
    slower than p99.9 says. In an open loop times count from when an operation was due.";

/// The section; empty if nothing was timed.
pub fn section(study: &Study<'_>) -> Section {
    let percents = PERCENTS.iter().map(|(name, _)| *name);
    // Where one engine is alone, its name is in the title.
    let engine = ["engine"].into_iter().filter(|_| study.seats.len() > 1);
    let heads = std::iter::once("workload").chain(engine).chain(["count"]);
    let mut table = Table::new(heads.chain(percents).chain(["max"]));
    for workload in &study.workloads {
        let kinds = kinds(workload);
        for kind in &kinds {
            let title = match kinds.len() {
                1 => workload.label.clone(),
                _ => format!("{}, {kind}", workload.label),
            };
            // Of one long operation there is nothing to tell but its time, which Speed has.
            for cell in workload.cells.iter().filter(|cell| !cell.is_one_piece()) {
                if let Some(row) = row(&title, study, cell, kind) {
                    table.row(row);
                }
            }
        }
    }
    match table.is_empty() {
        true => Section::new("Latency", String::new()),
        false => Section::new("Latency", note(EXPLAINED) + &table.html()),
    }
}

/// The kinds of operation that were timed, in the order of the first round.
fn kinds<'a>(workload: &Workload<'a>) -> Vec<&'a str> {
    let mut kinds = Vec::new();
    let rounds = workload.cells.iter().flat_map(|cell| &cell.rounds);
    for latency in rounds.flat_map(|one| &one.latencies) {
        if !kinds.contains(&latency.kind.as_str()) {
            kinds.push(latency.kind.as_str());
        }
    }
    kinds
}

/// One kind of operation on one engine; `None` if it was not timed there.
fn row(title: &str, study: &Study<'_>, cell: &Cell<'_>, kind: &str) -> Option<Vec<Field>> {
    let median = |of: &dyn Fn(&LatencyRecord) -> Option<f64>| {
        let summary = cell.summary(|one| of(one.latencies.iter().find(|it| it.kind == kind)?));
        summary.map(|all| all.median)
    };
    let count = median(&|it| Some(it.count as f64))?;
    let mut row: Vec<Field> = vec![title.into()];
    if study.seats.len() > 1 {
        row.push(study.seats[cell.place].name.as_str().into());
    }
    // A count of operations is far below 2^53.
    row.push(quantity::exact(count as u64).into());
    row.extend(PERCENTS.iter().map(|(_, percent)| {
        // Of a hundred operations nobody knows the slowest of ten thousand.
        let is_known = count * (100.0 - percent) >= 100.0 - 1e-6;
        let nanos = median(&|it| it.percentile_ns(*percent)).filter(|_| is_known);
        nanos.map_or(quiet(quantity::NONE), |it| quantity::nanos(it).into())
    }));
    let slowest = median(&|it| Some(it.max_ns as f64));
    row.push(slowest.map_or(quiet(quantity::NONE), |it| quantity::nanos(it).into()));
    Some(row)
}

#[cfg(test)]
mod tests;
