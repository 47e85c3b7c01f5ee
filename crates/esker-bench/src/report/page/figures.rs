//! The section of published figures beside ours, where the workload is the same.

use crate::quantity;
use crate::report::chart::paint::escape;
use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::published::{CAUTION, Document, Figure, Unit, figures, without_counterpart};
use crate::report::study::workloads::{Cell, Study};

/// The section, a table for each document; empty if nothing that was measured was ever published.
pub fn section(study: &Study<'_>) -> Section {
    let mut tables: Vec<(&Document, Table)> = Vec::new();
    for figure in figures() {
        let Some(ours) = ours(study, &figure) else {
            continue;
        };
        if !tables
            .iter()
            .any(|(document, _)| *document == figure.document)
        {
            let heads = ["workload", "published", "ours here"];
            tables.push((figure.document, Table::new(heads)));
        }
        let mut tables = tables.iter_mut();
        if let Some((_, table)) = tables.find(|(document, _)| *document == figure.document) {
            table.row([
                figure.workload.to_owned(),
                text(figure.value, figure.unit),
                text(ours, figure.unit),
            ]);
        }
    }
    if tables.is_empty() {
        return Section::new("Published figures", String::new());
    }
    let mut body = note(CAUTION) + "<div class=\"pair\">";
    for (document, table) in &tables {
        body += &format!(
            "<div><h3>{}</h3>{}{}</div>\n",
            escape(document.title),
            note(&format!("{}. {}.", document.source, document.machine)),
            table.html()
        );
    }
    let absent = without_counterpart()
        .map(|(document, why)| format!("{} ({}): {why}", document.title, document.source));
    body += "</div>\n";
    body += &note(&format!(
        "Without a counterpart here: {}.",
        absent.join("; ")
    ));
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
