//! The section of history: how each ratio went from one comparison to the next.

use crate::report::chart::trails::{draw, height};
use crate::report::date;
use crate::report::history::Past;
use crate::report::page::markup::{WIDE, both_widths, note};
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
         over {} runs, from {} to {}. Scales go by factors and are the same for all; the grey \
         line is 1. Machines and other work on them differ from run to run, and so do ratios: \
         look at what stays.",
        record.history.len(),
        run_text(first),
        run_text(last)
    );
    // Two columns where there is room.
    let half = trails.len().div_ceil(2);
    let drawings = trails.chunks(half).map(|column| {
        both_widths(WIDE, "Ratios from run to run", |width| {
            (draw(column, width), height(column))
        })
    });
    let drawings: String = drawings.collect();
    let body = format!("{}<div class=\"pair\">{drawings}</div>\n", note(&told));
    Section::new("History", body)
}

fn run_text(run: &Past) -> String {
    format!("{} (commit {})", date::utc(run.started_unix_s), run.commit)
}

#[cfg(test)]
mod tests;
