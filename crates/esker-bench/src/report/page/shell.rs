//! A whole page around its sections: head, style, and nothing from anywhere else.

use crate::report::chart::paint::escape;
use crate::report::chart::style;

/// Layout and letters of every page: a title, one number that is larger than anything else, and
/// sections as wide as the page. Phones are 360 pixels wide and more; two drawings stand side by
/// side where both have room, and tables with many columns become lists where they have none.
const LAYOUT: &str = include_str!("page.css");

/// A section of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading, as text; no heading if empty.
    pub title: String,
    /// Its body, as markup.
    pub body: String,
}

impl Section {
    /// A section; one without a body is not shown.
    pub fn new(title: &str, body: String) -> Section {
        Section {
            title: title.into(),
            body,
        }
    }
}

/// The page: `title` is text, `lead` markup below it, `style` what its sections need besides.
pub fn page(title: &str, lead: &str, style: &str, sections: &[Section]) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{}{LAYOUT}{style}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{lead}",
        style::of_page()
    );
    for section in sections.iter().filter(|section| !section.body.is_empty()) {
        if !section.title.is_empty() {
            page += &format!("<h2>{}</h2>\n", escape(&section.title));
        }
        page += &section.body;
    }
    page + "</body>\n</html>\n"
}

#[cfg(test)]
mod tests;
