//! What pages are made of: tables, notes, drawings at two widths.

use crate::report::chart::paint::{Drawing, escape};

/// Width of a drawing beside another on a screen.
pub const WIDE: f64 = 500.0;

/// Width of a drawing on a phone of 360 pixels, its margins left out.
pub const NARROW: f64 = 328.0;

/// A table; its first column is text, the others are numbers unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
    is_prose: bool,
}

/// One cell: its text, and its class if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    class: &'static str,
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, class: "" }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        text.to_owned().into()
    }
}

/// A cell in the accent colour.
pub fn accent(text: impl Into<String>) -> Cell {
    Cell {
        text: text.into(),
        class: "good",
    }
}

/// A cell that steps back.
pub fn quiet(text: impl Into<String>) -> Cell {
    Cell {
        text: text.into(),
        class: "quiet",
    }
}

impl Table {
    /// A table of numbers under these heads.
    pub fn new<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Table {
        Table {
            heads: heads.into_iter().map(Into::into).collect(),
            ..Table::default()
        }
    }

    /// A table of words under these heads: all columns begin at the left, and lines may break.
    pub fn of_words<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Table {
        Table {
            is_prose: true,
            ..Table::new(heads)
        }
    }

    /// Adds a row.
    pub fn row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its markup; nothing if it is empty. Where it is wider than the page, it scrolls by itself.
    pub fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let class = if self.is_prose { "words" } else { "numbers" };
        let mut text = format!("<div class=\"scroll\"><table class=\"{class}\"><thead><tr>");
        for head in &self.heads {
            text += &format!("<th scope=\"col\">{}</th>", escape(head));
        }
        text += "</tr></thead><tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            for (index, cell) in row.iter().enumerate() {
                let (name, scope) = match index {
                    0 => ("th", " scope=\"row\""),
                    _ => ("td", ""),
                };
                let class = match cell.class {
                    "" => String::new(),
                    class => format!(" class=\"{class}\""),
                };
                text += &format!("<{name}{scope}{class}>{}</{name}>", escape(&cell.text));
            }
            text += "</tr>\n";
        }
        text + "</tbody></table></div>\n"
    }
}

/// A paragraph of text.
pub fn note(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// Something that is there for whoever opens it; `body` is markup.
pub fn folded(title: &str, body: &str) -> String {
    match body.is_empty() {
        true => String::new(),
        false => format!(
            "<details><summary>{}</summary>\n{body}</details>\n",
            escape(title)
        ),
    }
}

/// A drawing at the width of a screen and at that of a phone; the page shows the one that fits.
/// `draw` gives the drawing of a width and its height.
pub fn both_widths(wide: f64, label: &str, draw: impl Fn(f64) -> (Drawing, f64)) -> String {
    let at = |class: &str, width: f64| {
        let (drawing, height) = draw(width);
        drawing.in_page(class, width, height, label)
    };
    format!(
        "<figure>{}{}</figure>\n",
        at("on-screen", wide),
        at("on-phone", NARROW)
    )
}

#[cfg(test)]
mod tests;
