//! The section of published figures beside ours, where the workload is the same.

use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::published::{CAUTION, Figure, Unit, figures, without_counterpart};
use crate::report::quantity;
use crate::report::study::rounds::{Cell, Study};

/// The section; empty if nothing that was measured was ever published.
pub fn section(study: &Study<'_>) -> Section {
    let mut table = Table::of_words(["workload", "published", "ours here", "source", "machine"]);
    for figure in figures() {
        let Some(ours) = ours(study, &figure) else {
            continue;
        };
        let document = figure.document;
        table.row([
            figure.workload.to_owned(),
            text(figure.value, figure.unit),
            text(ours, figure.unit),
            format!("{}, {}", document.title, document.source),
            document.machine.to_owned(),
        ]);
    }
    if table.is_empty() {
        return Section::new("Published figures", String::new());
    }
    let absent = without_counterpart()
        .map(|(document, why)| format!("{} ({}): {why}", document.title, document.source));
    let absent = format!("Without a counterpart here: {}.", absent.join("; "));
    let body = note(CAUTION) + &table.html() + &note(&absent);
    Section::new("Published figures", body)
}

/// Our number for a figure, in its unit.
fn ours(study: &Study<'_>, figure: &Figure) -> Option<f64> {
    let found = figure
        .names
        .iter()
        .find_map(|(name, turn)| cell(study, name, *turn))?;
    match figure.unit {
        Unit::Rate => Some(found.rate()?.median),
        Unit::Micros => micros(found),
        Unit::Ratio => {
            let below = cell(study, figure.below, 0)?.rate()?.median;
            (below > 0.0).then_some(found.rate()?.median / below)
        }
    }
}

/// Our engine's rounds of the workload of that name that had so many namesakes before it.
fn cell<'s, 'a>(study: &'s Study<'a>, name: &str, turn: usize) -> Option<&'s Cell<'a>> {
    let mut namesakes = study.workloads.iter().filter(|it| it.name == name);
    namesakes.nth(turn)?.cell(0)
}

fn micros(cell: &Cell<'_>) -> Option<f64> {
    let micros = |one: &crate::report::record::Measurement| {
        (one.ops_per_s > 0.0).then(|| 1e6 / one.ops_per_s)
    };
    Some(cell.summary(micros)?.median)
}

fn text(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Rate => format!("{}/s", quantity::count(value)),
        Unit::Micros => quantity::nanos(value * 1e3),
        Unit::Ratio => format!("{} ×", quantity::ratio(value)),
    }
}

#[cfg(test)]
mod tests;
