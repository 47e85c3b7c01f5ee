//! The chart that stands for a whole record: ours against every rival, or our rates alone.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::chart::paint::{Anchor, Drawing, fit};
use crate::report::chart::rows::{Kind, Row, Rows, bounds_of};
use crate::report::history::Past;
use crate::report::study::ratios::{Duel, duels};
use crate::report::study::workloads::Study;

/// One panel: a heading and its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// The rows.
    pub rows: Rows,
}

/// The panels of a record: one for each rival on one scale, or one of rates. None if it is empty.
pub fn panels(study: &Study<'_>) -> Vec<Panel> {
    let duels = duels(study);
    if duels.is_empty() {
        return rates(study);
    }
    let all = duels.iter().flat_map(|duel| &duel.ratios);
    let bounds = bounds_of(all.map(|ratio| &ratio.times));
    let ours = study.seats.first().map_or("", |seat| &seat.name);
    let panels = duels.into_iter().map(|duel| Panel {
        title: format!("{ours} against {}", duel.rival.full()),
        rows: Rows::new(Kind::Ratio, rows_of(&duel), bounds),
    });
    panels.collect()
}

fn rows_of(duel: &Duel) -> Vec<Row> {
    let rows = duel.ratios.iter().map(|ratio| {
        let (times, rounds) = (ratio.times.text(quantity::ratio), rounds_text(ratio.rounds));
        let told = format!("{times} times as fast, {rounds}");
        Row::new(&ratio.label, ratio.times, &told)
    });
    rows.collect()
}

/// The panel of one run of a history: ours to the best other log-structured engine.
pub fn newest(run: &Past) -> Panel {
    let rows = run.ratios.iter().map(|(label, ratio)| {
        let told = format!("{} times as fast", quantity::ratio(*ratio));
        Row::new(label, Summary::one(*ratio), &told)
    });
    Panel {
        title: "Esker against the best other log-structured engine".into(),
        rows: Rows::new(Kind::Ratio, rows.collect(), None),
    }
}

/// So many rounds, in words.
pub fn rounds_text(rounds: usize) -> String {
    match rounds {
        1 => "one round".into(),
        _ => format!("{rounds} rounds"),
    }
}

fn rates(study: &Study<'_>) -> Vec<Panel> {
    let Some(seat) = study.seats.first() else {
        return Vec::new();
    };
    let rows = study.workloads.iter().filter_map(|workload| {
        let cell = workload.cell(0).filter(|cell| !cell.is_one_piece())?;
        let value = cell.rate()?;
        let (rate, rounds) = (value.text(quantity::count), rounds_text(cell.rounds.len()));
        let told = format!("{rate} a second, {rounds}");
        Some(Row::new(&workload.label, value, &told))
    });
    let rows = Rows::new(Kind::Rate, rows.collect(), None);
    let title = format!("{}, operations a second", seat.full());
    match rows.is_empty() {
        true => Vec::new(),
        false => vec![Panel { title, rows }],
    }
}

/// Around and between panels.
const AIR: f64 = 28.0;

/// Width of one of several panels, and of a single one.
const PANEL: f64 = 470.0;
const SINGLE: f64 = 660.0;

/// Above a panel's rows: its title.
const TITLE: f64 = 26.0;

/// The chart as a file of its own: panels in two columns at most, under `heading` and over `foot`.
/// `style` is the text of its style element.
pub fn in_file(panels: &[Panel], style: &str, heading: &str, foot: &[String]) -> String {
    let columns = panels.len().clamp(1, 2);
    let panel_width = if columns == 1 { SINGLE } else { PANEL };
    let width = columns as f64 * (panel_width + AIR) + AIR;
    let mut drawing = Drawing::new();
    let mut top = AIR + 16.0;
    drawing.text("head", AIR, top, Anchor::Start, heading);
    top += 20.0;
    for row in panels.chunks(columns) {
        let mut height: f64 = 0.0;
        for (column, panel) in row.iter().enumerate() {
            let left = AIR + column as f64 * (panel_width + AIR);
            // A single panel says what the heading says.
            let own = if panels.len() > 1 { TITLE } else { 0.0 };
            if own > 0.0 {
                drawing.text("title", left, top + 14.0, Anchor::Start, &panel.title);
            }
            drawing.inlay(left, top + own, &panel.rows.draw(panel_width));
            height = height.max(own + panel.rows.height(panel_width));
        }
        top += height + AIR / 2.0;
    }
    for line in foot {
        top += 16.0;
        let line = fit(line, width - 2.0 * AIR);
        drawing.text("small", AIR, top, Anchor::Start, &line);
    }
    drawing.in_file(style, width, top + AIR, heading)
}

#[cfg(test)]
mod tests;
