//! What pages are made of: tables, notes, drawings at two widths.

use crate::report::chart::paint::{Drawing, escape};

/// Width of a drawing that has the page to itself.
pub const FULL: f64 = 960.0;

/// Width of a drawing beside another on a screen.
pub const HALF: f64 = 460.0;

/// Width of a drawing on a phone of 360 pixels, its margins left out.
pub const NARROW: f64 = 328.0;

/// A table of more columns does not fit a phone, and becomes a list there; so does one of words.
const COLUMNS_MAX: usize = 4;

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

    /// Its markup; nothing if it is empty. A first cell that says what the one above it says
    /// stands once for both.
    pub fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let kind = if self.is_prose { "words" } else { "numbers" };
        let is_many = self.is_prose || self.heads.len() > COLUMNS_MAX;
        let many = if is_many { " many" } else { "" };
        let mut text = format!("<div class=\"scroll\"><table class=\"{kind}{many}\"><thead><tr>");
        for head in &self.heads {
            text += &format!("<th scope=\"col\">{}</th>", escape(head));
        }
        text += "</tr></thead><tbody>\n";
        let same = |left: &[Cell], right: &[Cell]| left.first() == right.first();
        for group in self.rows.chunk_by(|left, right| same(left, right)) {
            for (index, row) in group.iter().enumerate() {
                text += "<tr>";
                if let (0, Some(first)) = (index, row.first()) {
                    text += &first.head_of(group.len());
                }
                for (cell, head) in row.iter().zip(&self.heads).skip(1) {
                    text += &cell.html(if is_many { head } else { "" }, self.is_prose);
                }
                text += "</tr>\n";
            }
        }
        text + "</tbody></table></div>\n"
    }
}

impl Cell {
    /// As the head of so many rows.
    fn head_of(&self, rows: usize) -> String {
        let (scope, rows) = match rows {
            1 => ("row", String::new()),
            _ => ("rowgroup", format!(" rowspan=\"{rows}\"")),
        };
        format!("<th scope=\"{scope}\"{rows}>{}</th>", escape(&self.text))
    }

    /// As one of the others; `head` is what a list says before it.
    fn html(&self, head: &str, is_prose: bool) -> String {
        let class = match self.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        // The spread of a number steps back behind it.
        let text = match self.text.split_once(" (") {
            Some((number, spread)) if !is_prose => {
                format!("{} <small>({}</small>", escape(number), escape(spread))
            }
            _ => escape(&self.text),
        };
        match head {
            "" => format!("<td{class}>{text}</td>"),
            head => format!("<td data-head=\"{}\"{class}>{text}</td>", escape(head)),
        }
    }
}

/// The number of a page that matters most, and what it says: one for each page, below its title.
pub fn headline(number: &str, told: &str) -> String {
    let (number, told) = (escape(number), escape(told));
    format!("<p class=\"headline\"><b>{number}</b><span>{told}</span></p>\n")
}

/// The few numbers that come next, each with what it says; nothing if there are none.
pub fn facts(facts: &[(String, String)]) -> String {
    let one = |(number, told): &(String, String)| {
        let (number, told) = (escape(number), escape(told));
        format!("<div><b>{number}</b><span>{told}</span></div>")
    };
    match facts.iter().map(one).collect::<String>() {
        all if all.is_empty() => all,
        all => format!("<div class=\"facts\">{all}</div>\n"),
    }
}

/// Terms and what they are; empty ones are left out.
pub fn terms(terms: &[(&str, String)]) -> String {
    let told = terms.iter().filter(|(_, fact)| !fact.trim().is_empty());
    let one = |(term, fact): &(&str, String)| {
        let (term, fact) = (escape(term), escape(fact));
        format!("<div><dt>{term}</dt><dd>{fact}</dd></div>")
    };
    match told.map(one).collect::<String>() {
        all if all.is_empty() => all,
        all => format!("<dl>{all}</dl>\n"),
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
