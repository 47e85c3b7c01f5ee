//! The section of history: how each ratio went from one comparison to the next.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::date;
use crate::report::history::Past;
use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::record::Record;

/// The section; empty for a record that knows of no earlier run.
pub fn section(record: &Record) -> Section {
    let runs = &record.history;
    let mut table = Table::new(["workload", "runs", "first", "least", "most", "last"]);
    for (workload, _) in runs.last().map_or(&[][..], |newest| &newest.ratios) {
        // Runs between may have left it out.
        let mut ratios: Vec<f64> = Vec::new();
        for run in runs {
            let found = run.ratios.iter().find(|(other, _)| other == workload);
            ratios.extend(found.map(|(_, ratio)| *ratio));
        }
        let all = Summary::of(ratios.iter().copied());
        if let ([first, .., last], Some(all)) = (&ratios[..], all) {
            let told = [*first, all.min, all.max, *last].map(quantity::ratio);
            let heads = [workload.clone(), ratios.len().to_string()];
            table.row(heads.into_iter().chain(told));
        }
    }
    let (false, Some(first), Some(last)) = (table.is_empty(), runs.first(), runs.last()) else {
        return Section::new("History", String::new());
    };
    let told = format!(
        "Operations a second to those of the best other log-structured engine in the same run, \
         over {} runs, from {} to {}. Machines and other work on them differ from run to run, and \
         so do ratios: look at what stays.",
        runs.len(),
        run_text(first),
        run_text(last)
    );
    Section::new("History", note(&told) + &table.html())
}

fn run_text(run: &Past) -> String {
    format!("{} (commit {})", date::utc(run.started_unix_s), run.commit)
}

#[cfg(test)]
mod tests;
