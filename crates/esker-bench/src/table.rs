//! Tables for terminals.

/// Rows of cells under heads; the first columns stand left, the others right.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    left_columns: usize,
}

impl Table {
    /// A table with these heads; one column stands left.
    pub fn new(heads: &[&str]) -> Table {
        Table {
            rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()],
            left_columns: 1,
        }
    }

    /// The same with so many columns that stand left.
    pub fn with_left(self, left_columns: usize) -> Table {
        Table {
            left_columns,
            ..self
        }
    }

    /// Adds a row.
    pub fn add(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as text, a line for each row, two spaces between columns.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column > 0 { "  " } else { "" };
                line += &match column < self.left_columns {
                    true => format!("{gap}{cell:<width$}"),
                    false => format!("{gap}{cell:>width$}"),
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests;
