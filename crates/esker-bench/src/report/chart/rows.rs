//! One number for each row with its spread: bars from 1 for ratios, dots for rates.

use crate::measure::summary::Summary;
use crate::quantity;
use crate::report::chart::paint::{Anchor, Area, Drawing, fit, width_of};
use crate::report::chart::scale::{Scale, decades, doublings};

/// From one row to the next where the label stands beside the bar.
const ROW_BESIDE: f64 = 24.0;

/// The same where it stands above: a line of text more.
const ROW_ABOVE: f64 = 38.0;

/// Narrower drawings have their labels above the bars.
const BESIDE_MIN: f64 = 440.0;

/// Thickness of a bar.
const BAR: f64 = 12.0;

/// Above the rows: the marks of the scale.
const HEAD: f64 = 26.0;

/// Below the rows: nothing but air.
const FOOT: f64 = 6.0;

/// Between texts and bars.
const GAP: f64 = 10.0;

/// Ratios beyond this factor, or its inverse, end at the edge of the drawing; their text tells.
const FAR: f64 = 16.0;

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How many times as much: a bar from 1, ours where above.
    Ratio,
    /// So many a second: a dot.
    Rate,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub label: String,
    /// Its number and its spread.
    pub value: Summary,
    /// What pointing at it shows.
    pub told: String,
}

impl Row {
    /// A row; `told` follows its label.
    pub fn new(label: &str, value: Summary, told: &str) -> Row {
        Row {
            told: format!("{label}: {told}"),
            label: label.into(),
            value,
        }
    }
}

/// A drawing of rows; several with the same bounds compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    kind: Kind,
    rows: Vec<Row>,
    marks: Vec<f64>,
}

impl Rows {
    /// The drawing of `rows` on a scale that has room for `bounds` too.
    pub fn new(kind: Kind, rows: Vec<Row>, bounds: Option<(f64, f64)>) -> Rows {
        let sound = |row: &Row| {
            let Summary { median, min, max } = row.value;
            [median, min, max]
                .iter()
                .all(|it| it.is_finite() && *it > 0.0)
        };
        let rows: Vec<Row> = rows.into_iter().filter(sound).collect();
        let own = bounds_of(rows.iter().map(|row| &row.value));
        let joined = match (own, bounds) {
            (Some(own), Some(other)) => Some((own.0.min(other.0), own.1.max(other.1))),
            (own, other) => own.or(other),
        };
        let (from, to) = joined.unwrap_or((1.0, 1.0));
        let marks = match kind {
            // One ratio of thousands would leave the others without any length.
            Kind::Ratio => doublings(from.max(1.0 / FAR), to.min(FAR)),
            Kind::Rate => decades(from, to),
        };
        Rows { kind, rows, marks }
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// How high it is at that width.
    pub fn height(&self, width: f64) -> f64 {
        HEAD + self.rows.len() as f64 * row_height(width) + FOOT
    }

    /// The drawing at that width.
    pub fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new();
        let texts: Vec<String> = self.rows.iter().map(|row| self.text(row)).collect();
        let text_width = texts.iter().map(|text| width_of(text)).fold(0.0, f64::max);
        let left = match width < BESIDE_MIN {
            true => 0.0,
            false => self.label_width().min(width * 0.4) + GAP,
        };
        let right = width - text_width - GAP;
        let first = self.marks.first().copied().unwrap_or(1.0);
        let last = self.marks.last().copied().unwrap_or(1.0);
        // Half a letter of air, so that the outer marks stay within the drawing.
        let scale = Scale::log(first, last, left + 8.0, right - 8.0);
        self.grid(&mut drawing, &scale, width);
        for (index, (row, text)) in self.rows.iter().zip(&texts).enumerate() {
            let top = HEAD + index as f64 * row_height(width);
            self.row(&mut drawing, &scale, width, top, row);
            let class = match self.kind {
                Kind::Ratio if is_win(row.value.median) => "ours-text",
                _ => "ink",
            };
            let base = middle(top, width) + 4.0;
            drawing.text(class, width, base, Anchor::End, text);
        }
        drawing
    }

    fn row(&self, drawing: &mut Drawing, scale: &Scale, width: f64, top: f64, row: &Row) {
        let (middle, right) = (middle(top, width), scale.last() + 8.0);
        let (room, base) = match width < BESIDE_MIN {
            true => (width, top + 12.0),
            false => (scale.first() - 8.0 - GAP, middle + 4.0),
        };
        drawing.text("ink", 0.0, base, Anchor::Start, &fit(&row.label, room));
        let at = scale.at(row.value.median);
        match self.kind {
            Kind::Ratio => {
                let one = scale.at(1.0);
                let class = match at >= one {
                    true => "ours",
                    false => "theirs",
                };
                let bar = Area {
                    x: one.min(at),
                    y: middle - BAR / 2.0,
                    // A ratio of 1 still shows where it is.
                    width: (at - one).abs().max(1.0),
                    height: BAR,
                };
                drawing.area(class, bar, &row.told);
            }
            Kind::Rate => {
                drawing.line("grid", &[(scale.first() - 8.0, middle), (right, middle)]);
                drawing.dot("ours", at, middle, 4.5, &row.told);
            }
        }
        let (min, max) = (scale.at(row.value.min), scale.at(row.value.max));
        if max - min >= 1.0 {
            drawing.line("whisker", &[(min, middle), (max, middle)]);
            for end in [min, max] {
                drawing.line("whisker", &[(end, middle - 3.0), (end, middle + 3.0)]);
            }
        }
    }

    fn grid(&self, drawing: &mut Drawing, scale: &Scale, width: f64) {
        let bottom = self.height(width) - FOOT;
        for mark in &self.marks {
            let at = scale.at(*mark);
            let is_base = self.kind == Kind::Ratio && *mark == 1.0;
            let class = if is_base { "base" } else { "grid" };
            drawing.line(class, &[(at, HEAD - 6.0), (at, bottom)]);
            let text = self.mark_text(*mark);
            // The outer texts are wider than the air beside their marks.
            let at = at.max(width_of(&text) / 2.0);
            drawing.text("small", at, HEAD - 12.0, Anchor::Middle, &text);
        }
    }

    fn mark_text(&self, mark: f64) -> String {
        match self.kind {
            Kind::Ratio if mark < 1.0 => format!("1/{:.0}×", 1.0 / mark),
            Kind::Ratio => format!("{mark:.0}×"),
            Kind::Rate => quantity::on_scale(&quantity::count(mark)),
        }
    }

    fn text(&self, row: &Row) -> String {
        match self.kind {
            Kind::Ratio => format!("{} ×", quantity::ratio(row.value.median)),
            Kind::Rate => format!("{}/s", quantity::count(row.value.median)),
        }
    }

    fn label_width(&self) -> f64 {
        let widths = self.rows.iter().map(|row| width_of(&row.label));
        widths.fold(0.0, f64::max)
    }
}

/// Whether a ratio is ours: what reads as 1.00 is no win.
pub fn is_win(ratio: f64) -> bool {
    ratio >= 1.005
}

/// The smallest and the largest of all spreads.
pub fn bounds_of<'a>(all: impl Iterator<Item = &'a Summary>) -> Option<(f64, f64)> {
    all.filter(|it| it.min > 0.0 && it.max.is_finite())
        .map(|it| (it.min, it.max))
        .reduce(|left, right| (left.0.min(right.0), left.1.max(right.1)))
}

fn row_height(width: f64) -> f64 {
    if width < BESIDE_MIN {
        ROW_ABOVE
    } else {
        ROW_BESIDE
    }
}

/// The middle of the bar of a row.
fn middle(top: f64, width: f64) -> f64 {
    top + row_height(width) - ROW_BESIDE / 2.0
}

#[cfg(test)]
mod tests;
