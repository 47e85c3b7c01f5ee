//! The tree on a terminal: one strip for each run, shaded by bytes.

use crate::picture::axis::Axis;
use crate::picture::map::{KeyspaceMap, RunRow};
use crate::quantity;
use crate::text::escape;

/// Cells of a strip: with the words beside it, a line fits into 100 columns.
const CELLS: usize = 60;

/// Shades from nothing to full.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Lines for one keyspace: a heading, a strip for each run, the first and the last key.
pub fn draw(map: &KeyspaceMap) -> Vec<String> {
    let heading = format!(
        "keyspace {}: {}, {}",
        map.name,
        quantity::counted(map.files().count() as u64, "file"),
        quantity::bytes(map.size_bytes())
    );
    let Some(axis) = Axis::new(map) else {
        return vec![format!("{heading} (nothing was flushed yet)")];
    };
    let shares: Vec<Vec<f64>> = map.runs.iter().map(|run| shares(&axis, run)).collect();
    let fullest = shares
        .iter()
        .flatten()
        .fold(0.0, |most: f64, share| most.max(*share));
    let mut lines = vec![heading];
    for (run, shares) in map.runs.iter().zip(&shares) {
        let strip: String = shares.iter().map(|share| shade(*share, fullest)).collect();
        let bytes = run.files.iter().map(|file| file.size_bytes).sum();
        lines.push(format!(
            "  L{}  {strip}  {:>9}  {}",
            run.level,
            quantity::counted(run.files.len() as u64, "file"),
            quantity::bytes(bytes)
        ));
    }
    lines.push(keys(&axis));
    lines
}

/// Bytes on each cell.
fn shares(axis: &Axis, run: &RunRow) -> Vec<f64> {
    let mut cells = vec![0.0; CELLS];
    let width = 1.0 / CELLS as f64;
    for file in &run.files {
        let (left, right) = axis.span(file);
        let density = file.size_bytes as f64 / (right - left).max(f64::EPSILON);
        for (index, cell) in cells.iter_mut().enumerate() {
            let begin = index as f64 * width;
            let covered = right.min(begin + width) - left.max(begin);
            *cell += covered.max(0.0) * density;
        }
    }
    cells
}

/// Any byte shows; the fullest cell of the picture is full.
fn shade(share: f64, fullest: f64) -> char {
    if share <= 0.0 {
        return SHADES[0];
    }
    match share / fullest {
        ..0.25 => SHADES[1],
        ..0.5 => SHADES[2],
        ..0.75 => SHADES[3],
        _ => SHADES[4],
    }
}

/// The line below the strips: the first key on the left, the last on the right.
fn keys(axis: &Axis) -> String {
    let half = CELLS / 2 - 1;
    let first = shorten(axis.first_key(), half);
    let last = shorten(axis.last_key(), half);
    let width = CELLS - first.chars().count();
    format!("      {first}{last:>width$}")
}

/// A key as escaped text of at most `chars_max` characters.
pub fn shorten(key: &[u8], chars_max: usize) -> String {
    let text = escape(key);
    if text.chars().count() <= chars_max {
        return text;
    }
    let kept: String = text.chars().take(chars_max - 1).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
