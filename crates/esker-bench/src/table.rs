//! Tables for terminals, and for documents in Markdown.

/// Rows of cells under heads.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    sides: &'static str,
}

impl Table {
    /// A table with these heads; the first column stands left, the others right.
    pub fn new(heads: &[&str]) -> Table {
        Table {
            rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()],
            sides: "<",
        }
    }

    /// The same with columns that stand left or right, `<` or `>` for each; right where nothing is
    /// said.
    pub fn with_sides(self, sides: &'static str) -> Table {
        Table { sides, ..self }
    }

    /// Adds a row.
    pub fn add(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    /// A line for each row, two spaces between columns.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells =
                cells.map(
                    |(column, (cell, width))| match self.sides.as_bytes().get(column) {
                        Some(b'<') => format!("{cell:<width$}"),
                        _ => format!("{cell:>width$}"),
                    },
                );
            let line = cells.collect::<Vec<_>>().join("  ");
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        self.lines()
            .iter()
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// The table in Markdown, which reads as one in a terminal too.
    pub fn markdown(&self) -> String {
        let widths = self.widths();
        let rule = widths.iter().map(|width| "-".repeat(width + 2) + "|");
        let rule: String = std::iter::once("|".to_owned()).chain(rule).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths);
            let cells = cells.map(|(cell, width)| format!(" {cell:<width$} |"));
            format!("|{}\n", cells.collect::<String>())
        };
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        lines.insert(1, rule + "\n");
        lines.concat()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}

#[cfg(test)]
mod tests;
