//! The section of speed: ours against each rival, or our rates alone, and the numbers behind.

use crate::quantity;
use crate::report::chart::main_chart::{Panel, panels};
use crate::report::chart::paint::escape;
use crate::report::page::markup::{FULL, HALF, Table, both_widths, folded, note, terms};
use crate::report::page::shell::Section;
use crate::report::study::workloads::Study;

/// Fewer rows are no picture: their numbers say the same.
const ROWS_MIN: usize = 3;

/// The section; empty for a record without measurements.
pub fn section(study: &Study<'_>) -> Section {
    let panels = panels(study);
    let is_duel = study.seats.len() > 1;
    let numbers = numbers(study).html();
    if panels.iter().all(|panel| panel.rows.len() < ROWS_MIN) {
        return Section::new("Speed", numbers);
    }
    let mut body = note(explained(is_duel, study.round_count()));
    body += &drawn(&panels);
    if !is_duel {
        body += &terms(&pieces(study));
    }
    // Alone and run once, the drawing has every number.
    if is_duel || study.round_count() > 1 {
        body += &folded("All rates", &numbers);
    }
    Section::new("Speed", body)
}

/// What was one long operation, which has no place among rates, and how long it took.
fn pieces<'s>(study: &'s Study<'_>) -> Vec<(&'s str, String)> {
    let all = study.workloads.iter().filter_map(|workload| {
        let cell = workload.cell(0).filter(|cell| cell.is_one_piece())?;
        Some((workload.label.as_str(), cell.speed_text()))
    });
    all.collect()
}

/// Panels as wide as the page, or two beside each other; one alone needs no title of its own.
fn drawn(panels: &[Panel]) -> String {
    let one = |panel: &Panel, width: f64| {
        both_widths(width, &panel.title, |width| {
            (panel.rows.draw(width), panel.rows.height(width))
        })
    };
    match panels {
        [single] => one(single, FULL),
        several => {
            let titled = |panel: &Panel| {
                let title = escape(&panel.title);
                format!("<div><h3>{title}</h3>{}</div>", one(panel, HALF))
            };
            let all: String = several.iter().map(titled).collect();
            format!("<div class=\"pair\">{all}</div>\n")
        }
    }
}

fn explained(is_duel: bool, rounds: usize) -> &'static str {
    match (is_duel, rounds) {
        (true, 0..=1) => {
            "How many times as fast ours is: a bar to the right of 1× is a win, to the left a \
             loss. One round only: how far a repetition would stray is unknown."
        }
        (true, _) => {
            "How many times as fast ours is: a bar to the right of 1× is a win, to the left a \
             loss. Each ratio pairs two engines within one round; bars end at the median of the \
             rounds, lines reach from the smallest to the largest."
        }
        (false, 0..=1) => "Operations a second, on a scale of factors of ten.",
        (false, _) => {
            "Operations a second, on a scale of factors of ten: the median of the rounds, and \
             lines from the smallest to the largest."
        }
    }
}

/// A row for each workload, a column for each engine.
fn numbers(study: &Study<'_>) -> Table {
    let engines = study.seats.iter().map(|seat| match study.seats.len() {
        1 => "operations a second".to_owned(),
        _ => seat.full(),
    });
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
