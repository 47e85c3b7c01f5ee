//! The section of history: how each ratio went from one comparison to the next.

use crate::quantity;
use crate::report::date;
use crate::report::history::Past;
use crate::report::page::markup::{Table, note};
use crate::report::page::shell::Section;
use crate::report::record::Record;
use crate::report::study::past::trails;

/// The section; empty for a record that knows of no earlier run.
pub fn section(record: &Record) -> Section {
    let trails = trails(&record.history);
    // With a trail there are two runs at the least.
    let ends = record.history.first().zip(record.history.last());
    let Some((first, last)) = ends.filter(|_| !trails.is_empty()) else {
        return Section::new("History", String::new());
    };
    let told = format!(
        "Operations a second to those of the best other log-structured engine in the same run, \
         over {} runs, from {} to {}. Machines and other work on them differ from run to run, and \
         so do ratios: look at what stays.",
        record.history.len(),
        run_text(first),
        run_text(last)
    );
    let mut table = Table::new(["workload", "runs", "first", "least", "most", "last"]);
    for trail in &trails {
        let ratios = || trail.points.iter().map(|point| point.1);
        let (first, last) = trail.ends().unwrap_or((f64::NAN, f64::NAN));
        let (least, most) = (ratios().reduce(f64::min), ratios().reduce(f64::max));
        let ratio = |ratio: Option<f64>| quantity::ratio(ratio.unwrap_or(f64::NAN));
        table.row([
            trail.label.clone(),
            trail.points.len().to_string(),
            ratio(Some(first)),
            ratio(least),
            ratio(most),
            ratio(Some(last)),
        ]);
    }
    Section::new("History", note(&told) + &table.html())
}

fn run_text(run: &Past) -> String {
    format!("{} (commit {})", date::utc(run.started_unix_s), run.commit)
}

#[cfg(test)]
mod tests;
