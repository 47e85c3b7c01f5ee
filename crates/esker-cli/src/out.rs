//! Standard output, written in large pieces, as lines, JSON or plain tables.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde_json::Value;

use crate::text::{tame, tame_json};

/// Bytes gathered before a write: one call for many short lines.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output. A closed pipe comes back as `BrokenPipe`, which ends the command quietly.
pub struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    /// Locks standard output for this thread.
    pub fn lock() -> Out {
        Out(BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()))
    }

    /// Whether a person reads it.
    pub fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// One line of text for people.
    pub fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.text(text)?;
        self.0.write_all(b"\n")
    }

    /// Text for people, over several lines.
    pub fn text(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        self.0.write_all(tame(text.as_ref()).as_bytes())
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// One JSON value on one line.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        self.line(tame_json(value.to_string()))
    }

    /// One JSON value over several lines, for a person to read too.
    pub fn json_page(&mut self, value: &Value) -> io::Result<()> {
        self.line(tame_json(format!("{value:#}")))
    }

    /// Writes what is still gathered. Call it last: dropping would hide an error.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Where a column of a table puts its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A plain table: columns as wide as their widest cell, two spaces apart.
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading for each column.
    pub fn new<const N: usize>(columns: [(&str, Side); N]) -> Table {
        Table {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![columns.iter().map(|(name, _)| (*name).into()).collect()],
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has not one cell for each column.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.sides.len());
        self.rows.push(cells.into());
    }

    /// The rows as lines, the heading first.
    pub fn lines(&self) -> Vec<String> {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.sides.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&self.sides).zip(&widths);
            let padded = cells.map(|((cell, side), &width)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
            let joined = padded.collect::<Vec<_>>().join("  ");
            joined.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}
