//! The section of speed: ours against each rival, or our rates alone, and the numbers behind.

use crate::quantity;
use crate::report::chart::main_chart::{Panel, panels};
use crate::report::page::markup::{Table, WIDE, both_widths, folded, note};
use crate::report::page::shell::Section;
use crate::report::study::workloads::Study;

/// Width of a single panel on a screen.
const SINGLE: f64 = 760.0;

/// The section; empty for a record without measurements.
pub fn section(study: &Study<'_>) -> Section {
    let panels = panels(study);
    let is_duel = study.seats.len() > 1;
    let mut body = match panels.is_empty() {
        true => String::new(),
        false => note(explained(is_duel, study.round_count())),
    };
    body += &match panels.as_slice() {
        [single] => panel_html(single, SINGLE),
        several => {
            let all: String = several.iter().map(|one| panel_html(one, WIDE)).collect();
            format!("<div class=\"pair\">{all}</div>\n")
        }
    };
    let numbers = numbers(study).html();
    body += &folded("All rates", &numbers);
    Section::new("Speed", body)
}

fn explained(is_duel: bool, rounds: usize) -> &'static str {
    match (is_duel, rounds) {
        (true, 0..=1) => {
            "How many times as fast ours is. A bar to the right of 1× is a win, to the left a \
             loss. One round only: how far a repetition would stray is unknown."
        }
        (true, _) => {
            "How many times as fast ours is: a bar to the right of 1× is a win, to the left a \
             loss. Each ratio pairs two engines within one round; bars end at the median of the \
             rounds, lines reach from the smallest to the largest."
        }
        (false, 0..=1) => "Operations a second, one round; the scale goes by factors of ten.",
        (false, _) => {
            "Operations a second: the median of the rounds, and lines from the smallest to the \
             largest; the scale goes by factors of ten."
        }
    }
}

fn panel_html(panel: &Panel, width: f64) -> String {
    let drawn = both_widths(width, &panel.title, |width| {
        (panel.rows.draw(width), panel.rows.height(width))
    });
    let title = crate::report::chart::paint::escape(&panel.title);
    format!("<div><h3>{title}</h3>{drawn}</div>")
}

/// A row for each workload, a column for each engine.
fn numbers(study: &Study<'_>) -> Table {
    let engines = study.seats.iter().map(|seat| seat.full());
    let mut table = Table::new(std::iter::once("workload".to_owned()).chain(engines));
    for workload in &study.workloads {
        let speeds = (0..study.seats.len()).map(|place| match workload.cell(place) {
            Some(cell) => cell.speed_text(),
            None => quantity::NONE.into(),
        });
        table.row(std::iter::once(workload.label.clone()).chain(speeds));
    }
    table
}
