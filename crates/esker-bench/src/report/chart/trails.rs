//! A small line for each workload: its ratio from run to run, on one scale of factors for all.

use crate::report::chart::paint::{Anchor, Drawing, fit, width_of};
use crate::report::chart::rows::is_win;
use crate::report::chart::scale::Scale;
use crate::report::quantity;
use crate::report::study::past::Trail;

/// From one row to the next.
const ROW: f64 = 30.0;

/// Height of the field of a row's line.
const FIELD: f64 = 22.0;

/// Width of a row's label, as a share of the drawing.
const LABEL_SHARE: f64 = 0.38;

/// Between texts and lines.
const GAP: f64 = 10.0;

/// How high the drawing of so many trails is.
pub fn height(trails: &[Trail]) -> f64 {
    trails.len() as f64 * ROW
}

/// The drawing at that width; every row spans the runs from the first to the last.
pub fn draw(trails: &[Trail], width: f64) -> Drawing {
    let mut drawing = Drawing::new();
    let texts: Vec<String> = trails.iter().map(text).collect();
    let text_width = texts.iter().map(|text| width_of(text)).fold(0.0, f64::max);
    let points = || trails.iter().flat_map(|trail| &trail.points);
    let last_run = points().map(|point| point.0).max().unwrap_or(1);
    let ratios = || points().map(|point| point.1);
    let (low, high) = (ratios().fold(1.0, f64::min), ratios().fold(1.0, f64::max));
    let left = width * LABEL_SHARE + GAP;
    let x = Scale::linear(0.0, last_run as f64, left, width - text_width - GAP);
    for (index, (trail, text)) in trails.iter().zip(&texts).enumerate() {
        let bottom = index as f64 * ROW + FIELD + (ROW - FIELD) / 2.0;
        let y = Scale::log(low, high, bottom, bottom - FIELD);
        let base = bottom - FIELD / 2.0 + 4.0;
        let label = fit(&trail.label, left - GAP);
        drawing.text("ink", 0.0, base, Anchor::Start, &label);
        let one = y.at(1.0);
        drawing.line("grid", &[(x.first(), one), (x.last(), one)]);
        let place = |(run, ratio): &(usize, f64)| (x.at(*run as f64), y.at(*ratio));
        let line: Vec<(f64, f64)> = trail.points.iter().map(place).collect();
        drawing.line("ours-line", &line);
        if let Some((x, y)) = line.last() {
            drawing.dot("ours", *x, *y, 3.0, text);
        }
        let is_ahead = trail.ends().is_some_and(|(_, last)| is_win(last));
        let class = if is_ahead { "ours-text" } else { "ink" };
        drawing.text(class, width, base, Anchor::End, text);
    }
    drawing
}

/// Where it came from and where it is.
fn text(trail: &Trail) -> String {
    let (first, last) = trail.ends().unwrap_or((0.0, 0.0));
    format!("{} → {} ×", quantity::ratio(first), quantity::ratio(last))
}

#[cfg(test)]
mod tests;
