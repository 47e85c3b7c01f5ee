//! The colours and letters of every drawing and page: one accent, the rest ink and greys.

/// Colours for light surroundings.
const LIGHT: &str = "\
--paper:#ffffff;--ink:#1d2430;--soft:#5c6675;--line:#dde2ea;--accent:#0f6fae;\
--mute:#a3adbc;--wash:#eef2f6;--mark:#c8521f";

/// The same for dark ones.
const DARK: &str = "\
--paper:#14181f;--ink:#e6e9ee;--soft:#98a2b3;--line:#2c3440;--accent:#5db4ec;\
--mute:#66728a;--wash:#1c222b;--mark:#f0935f";

/// What each class of a drawing looks like, by the names of the colours.
const CLASSES: &str = include_str!("drawing.css");

/// The style of a page and of all drawings in it: light or dark as the reader's system is.
pub fn of_page() -> String {
    format!(
        ":root{{color-scheme:light dark;{LIGHT}}}\
         @media(prefers-color-scheme:dark){{:root{{{DARK}}}}}{CLASSES}"
    )
}

/// The style of a drawing in a file of its own: the same, with every colour spelled out, since
/// not all that shows SVG knows names of colours.
pub fn of_file() -> String {
    format!(
        "{}@media(prefers-color-scheme:dark){{{}}}",
        spelled(LIGHT),
        spelled(DARK)
    )
}

/// The classes in one line, with the values of `colours` in place of their names.
fn spelled(colours: &str) -> String {
    let mut text: String = CLASSES.lines().collect();
    for pair in colours.split(';') {
        let (name, colour) = pair.split_once(':').expect("each colour has a name");
        text = text.replace(&format!("var({name})"), colour);
    }
    text
}

#[cfg(test)]
mod tests;
