//! The section of costs: processor, memory, bytes, amplification, stalls, debt.

use crate::quantity::{self, bytes, ratio, seconds};
use crate::report::page::markup::{Table, folded, note, quiet};
use crate::report::page::shell::Section;
use crate::report::record::Measurement;
use crate::report::study::workloads::Study;

/// One number of a measurement: its head, itself, how it reads.
type Number = (&'static str, Option<f64>, fn(f64) -> String);

/// What the work took.
fn work(one: &Measurement) -> Vec<Number> {
    let (usage, engine) = (&one.usage, &one.engine_work);
    let debt = engine.debt_bytes.map(|it| it as f64);
    vec![
        ("CPU", used(usage.cpu_s), seconds),
        ("CPU per op", used(usage.cpu_s / one.ops as f64), seconds),
        ("peak mem.", used(usage.peak_rss_bytes as f64), bytes),
        ("stalls", engine.stall_s, seconds),
        ("debt left", debt, bytes),
    ]
}

/// What went to files and came from them.
fn files(one: &Measurement) -> Vec<Number> {
    let (usage, engine) = (&one.usage, &one.engine_work);
    let told = |bytes: Option<u64>| bytes.map(|it| it as f64);
    vec![
        ("device wrote", used(usage.device_write_bytes as f64), bytes),
        ("device read", used(usage.device_read_bytes as f64), bytes),
        ("engine wrote", told(engine.written_bytes), bytes),
        ("write ampl.", engine.write_amplification, ratio),
        ("space ampl.", engine.space_amplification, ratio),
        ("live files", told(engine.live_bytes), bytes),
    ]
}

const EXPLAINED: &str = "Medians over the rounds, background threads included. The device counts \
    what the process caused to be read and written; what the page cache still held is not in it. \
    Amplification is what the engine wrote for each byte of the user's, and keeps for each byte \
    alive. Stalls add up the waits of all writers; debt is what \
    compaction had still to merge at the end. A dash: the engine or the system does not tell. A \
    column without anything but dashes and zeros is left out.";

/// What the number of a system that does not tell looks like is 0.
fn used(number: f64) -> Option<f64> {
    (number > 0.0).then_some(number)
}

/// The section; empty for a record without measurements.
pub fn section(study: &Study<'_>) -> Section {
    let mut body = String::new();
    for (place, seat) in study.seats.iter().enumerate() {
        let tables = table(study, place, work).html() + &table(study, place, files).html();
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
fn table(study: &Study<'_>, place: usize, numbers: fn(&Measurement) -> Vec<Number>) -> Table {
    let rows = study.workloads.iter().filter_map(|workload| {
        let cell = workload.cell(place)?;
        let mut row = numbers(cell.rounds.first()?);
        for (column, number) in row.iter_mut().enumerate() {
            number.1 = cell
                .summary(|one| numbers(one)[column].1)
                .map(|it| it.median);
        }
        Some((workload.label.as_str(), row))
    });
    let rows: Vec<(&str, Vec<Number>)> = rows.collect();
    let is_telling = |number: &Number| number.1.is_some_and(|it| it != 0.0);
    let is_shown = |column: usize| rows.iter().any(|(_, row)| is_telling(&row[column]));
    let heads = rows.first().map_or(&[][..], |(_, row)| row);
    let shown: Vec<usize> = (0..heads.len()).filter(|it| is_shown(*it)).collect();
    let heads = shown.iter().map(|column| heads[*column].0);
    let mut table = Table::new(std::iter::once("workload").chain(heads));
    for (label, row) in rows.iter().filter(|(_, row)| row.iter().any(is_telling)) {
        let cells = shown.iter().map(|column| match row[*column] {
            (_, Some(number), text) if number != 0.0 => text(number).into(),
            (_, Some(_), _) => quiet("0"),
            (_, None, _) => quiet(quantity::NONE),
        });
        table.row(std::iter::once((*label).into()).chain(cells));
    }
    table
}

#[cfg(test)]
mod tests;
