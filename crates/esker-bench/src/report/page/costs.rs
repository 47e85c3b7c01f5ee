//! The section of costs: processor, memory, bytes, amplification, stalls, debt.

use crate::quantity;
use crate::report::page::markup::{Table, folded, note, quiet};
use crate::report::page::shell::Section;
use crate::report::record::Measurement;
use crate::report::study::workloads::{Cell, Study};

/// One column: its head, its number, how it reads.
struct Column {
    head: &'static str,
    of: fn(&Measurement) -> Option<f64>,
    text: fn(f64) -> String,
}

const fn column(
    head: &'static str,
    of: fn(&Measurement) -> Option<f64>,
    text: fn(f64) -> String,
) -> Column {
    Column { head, of, text }
}

/// What the work took.
const WORK: [Column; 5] = [
    column("CPU", |one| above_zero(one.usage.cpu_s), quantity::seconds),
    column(
        "CPU per op",
        |one| above_zero(one.usage.cpu_s / one.ops as f64),
        quantity::seconds,
    ),
    column(
        "peak mem.",
        |one| above_zero(one.usage.peak_rss_bytes as f64),
        quantity::bytes,
    ),
    column("stalls", |one| one.engine_work.stall_s, quantity::seconds),
    column(
        "debt left",
        |one| one.engine_work.debt_bytes.map(|it| it as f64),
        quantity::bytes,
    ),
];

/// What went to files and came from them.
const BYTES: [Column; 8] = [
    column(
        "device wrote",
        |one| above_zero(one.usage.device_write_bytes as f64),
        quantity::bytes,
    ),
    column(
        "device read",
        |one| above_zero(one.usage.device_read_bytes as f64),
        quantity::bytes,
    ),
    column(
        "engine wrote",
        |one| one.engine_work.written_bytes.map(|it| it as f64),
        quantity::bytes,
    ),
    column(
        "engine read",
        |one| one.engine_work.read_bytes.map(|it| it as f64),
        quantity::bytes,
    ),
    column(
        "write ampl.",
        |one| one.engine_work.write_amplification,
        quantity::ratio,
    ),
    column(
        "read ampl.",
        |one| one.engine_work.read_amplification,
        quantity::ratio,
    ),
    column(
        "space ampl.",
        |one| one.engine_work.space_amplification,
        quantity::ratio,
    ),
    column(
        "live files",
        |one| one.engine_work.live_bytes.map(|it| it as f64),
        quantity::bytes,
    ),
];

const EXPLAINED: &str = "Medians over the rounds, background threads included. The device counts \
    what the process caused to be read and written; what the page cache still held is not in it. \
    Amplification is what the engine wrote for each byte of the user's, read for each byte \
    returned, and keeps for each byte alive. Stalls add up the waits of all writers; debt is what \
    compaction had still to merge at the end. A dash: the engine or the system does not tell. A \
    column without anything but dashes and zeros is left out.";

/// What the number of a system that does not tell looks like is 0.
fn above_zero(number: f64) -> Option<f64> {
    (number > 0.0).then_some(number)
}

/// The section; empty for a record without measurements.
pub fn section(study: &Study<'_>) -> Section {
    let mut body = String::new();
    for (place, seat) in study.seats.iter().enumerate() {
        let tables = table(study, place, &WORK).html() + &table(study, place, &BYTES).html();
        body += &match place {
            0 => tables,
            _ => folded(&format!("The same of {}", seat.full()), &tables),
        };
    }
    match body.is_empty() {
        true => Section::new("Cost", body),
        false => Section::new("Cost", body + &folded("What this means", &note(EXPLAINED))),
    }
}

/// A row for each workload; columns that tell nothing of any are left out, and so are rows.
fn table(study: &Study<'_>, place: usize, columns: &[Column]) -> Table {
    let cells = study.workloads.iter().filter_map(|workload| {
        let cell = workload.cell(place)?;
        Some((workload.label.as_str(), cell))
    });
    let cells: Vec<(&str, &Cell<'_>)> = cells.collect();
    let number = |cell: &Cell<'_>, column: &Column| Some(cell.summary(column.of)?.median);
    let is_telling =
        |cell: &Cell<'_>, column: &Column| number(cell, column).is_some_and(|it| it != 0.0);
    let columns = columns
        .iter()
        .filter(|column| cells.iter().any(|(_, cell)| is_telling(cell, column)));
    let columns: Vec<&Column> = columns.collect();
    let heads = columns.iter().map(|column| column.head);
    let mut table = Table::new(std::iter::once("workload").chain(heads));
    for (label, cell) in &cells {
        if !columns.iter().any(|column| is_telling(cell, column)) {
            continue;
        }
        let numbers = columns.iter().map(|column| match number(cell, column) {
            Some(number) if number != 0.0 => (column.text)(number).into(),
            Some(_) => quiet("0"),
            None => quiet(quantity::NONE),
        });
        table.row(std::iter::once((*label).into()).chain(numbers));
    }
    table
}

#[cfg(test)]
mod tests;
