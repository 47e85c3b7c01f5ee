//! The section of published figures beside ours, where the workload is the same.

use crate::quantity;
use crate::report::page::markup::{Table, folded, note};
use crate::report::page::shell::Section;
use crate::report::published::{CAUTION, Document, Figure, Unit, WITHOUT_COUNTERPART, figures};
use crate::report::study::workloads::{Cell, Study};

/// The section; empty if nothing that was measured was ever published.
pub fn section(study: &Study<'_>) -> Section {
    let found = figures().into_iter();
    let found: Vec<(Figure, f64)> = found
        .filter_map(|figure| {
            let ours = ours(study, &figure)?;
            Some((figure, ours))
        })
        .collect();
    let mut documents: Vec<&Document> = Vec::new();
    for (figure, _) in &found {
        if !documents.contains(&figure.document) {
            documents.push(figure.document);
        }
    }
    if documents.is_empty() {
        return Section::new("Published figures", String::new());
    }
    let short = documents.iter().map(|document| document.short);
    let mut table = Table::new(["workload", "here"].into_iter().chain(short));
    // Two documents on one workload share a line.
    for same in found.chunk_by(|left, right| left.0.workload == right.0.workload) {
        let Some((figure, ours)) = same.first() else {
            continue;
        };
        let published = documents.iter().map(|document| {
            let mut of_document = same.iter().filter(|(it, _)| it.document == *document);
            of_document
                .next()
                .map_or(String::new(), |(it, _)| text(it.value, it.unit))
        });
        let heads = [figure.workload.to_owned(), text(*ours, figure.unit)];
        table.row(heads.into_iter().chain(published));
    }
    let mut sources = String::new();
    for document in documents {
        let Document {
            short,
            title,
            source,
            machine,
        } = document;
        sources += &note(&format!("{short}: {title}; {source}; {machine}."));
    }
    let body = note(CAUTION) + &table.html();
    let sources = folded(
        "Where they are from",
        &(sources + &note(WITHOUT_COUNTERPART)),
    );
    Section::new("Published figures", body + &sources)
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
    }
}

#[cfg(test)]
mod tests;
