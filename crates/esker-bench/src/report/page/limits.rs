//! The section of limits: what disk and memory did without any engine, in the same run.

use crate::quantity;
use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::study::workloads::{Cell, Study};

const EXPLAINED: &str = "What the machine did in the same run without any engine: no engine can \
    be faster than this for long.";

/// The section; empty if no limit was measured.
pub fn section(study: &Study<'_>) -> Section {
    let is_told = study.limits.iter().any(|(_, cell)| !does(cell).is_empty());
    let told = ["what it does"].into_iter().filter(|_| is_told);
    let heads = ["limit", "a second", "bytes a second", "p99"].into_iter();
    let mut table = Table::of_words(heads.chain(told));
    for (name, cell) in &study.limits {
        let bytes = cell.summary(|one| Some(one.bytes as f64 / one.wall_s.max(1e-9)));
        let rate = |rate: f64| format!("{}/s", quantity::bytes(rate));
        let numbers = [
            (*name).to_owned(),
            cell.speed_text(),
            bytes.map_or(quantity::NONE.into(), |bytes| bytes.text(rate)),
            p99(cell),
        ];
        table.row(
            numbers
                .into_iter()
                .chain(is_told.then(|| does(cell).to_owned())),
        );
    }
    match table.is_empty() {
        true => Section::new("Limits of the machine", String::new()),
        false => Section::new("Limits of the machine", note(EXPLAINED) + &table.html()),
    }
}

fn p99(cell: &Cell<'_>) -> String {
    let p99 = cell.summary(|one| one.percentile_ns(99.0));
    p99.map_or(quantity::NONE.into(), |p99| quantity::nanos(p99.median))
}

fn does<'a>(cell: &Cell<'a>) -> &'a str {
    cell.rounds
        .first()
        .and_then(|one| one.field("does"))
        .unwrap_or_default()
}
