//! A drawing under the brush: shapes and texts in SVG, every text escaped, every number sound.

/// Text inside XML and HTML, attributes included. Control characters, which XML has no place for,
/// become the sign for what cannot be shown.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(char),
            char if char.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(char),
        }
    }
    safe
}

/// At which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its first letter.
    Start,
    /// In its middle.
    Middle,
    /// At its last letter.
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// Shapes and texts so far. Units are pixels on a screen of ordinary density.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    body: String,
}

impl Drawing {
    /// An empty drawing.
    pub fn new() -> Drawing {
        Drawing::default()
    }

    /// A text whose base line is at `y`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.body += &format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>",
            place(x),
            place(y),
            anchor.name(),
            escape(text)
        );
    }

    /// A rectangle; `told` is what pointing at it shows, nothing if empty.
    pub fn area(&mut self, class: &str, area: Area, told: &str) {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        self.body += &format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            place(x),
            place(y),
            place(width.max(0.0)),
            place(height.max(0.0))
        );
        self.close("rect", told);
    }

    /// A dot; `told` as above.
    pub fn dot(&mut self, class: &str, x: f64, y: f64, radius: f64, told: &str) {
        self.body += &format!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"",
            place(x),
            place(y),
            place(radius)
        );
        self.close("circle", told);
    }

    /// A straight or broken line through `points`; nothing if there are fewer than two.
    pub fn line(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{},{}", place(*x), place(*y)))
            .collect();
        self.body += &format!(
            "<polyline class=\"{class}\" points=\"{}\"/>",
            points.join(" ")
        );
    }

    /// Another drawing, moved.
    pub fn inlay(&mut self, x: f64, y: f64, other: &Drawing) {
        self.body += &format!(
            "<g transform=\"translate({} {})\">{}</g>",
            place(x),
            place(y),
            other.body
        );
    }

    /// The drawing for a page; `label` says to those who cannot see it what it shows, `class` is
    /// for the page's layout.
    pub fn in_page(&self, class: &str, width: f64, height: f64, label: &str) -> String {
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {0} {1}\" style=\"max-width:{0}px\" role=\"img\" \
             aria-label=\"{2}\">{3}</svg>",
            place(width),
            place(height),
            escape(label),
            self.body
        )
    }

    /// The drawing as a file of its own, on paper.
    pub fn in_file(&self, style: &str, width: f64, height: f64, label: &str) -> String {
        let (width, height) = (place(width), place(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"><style>{style}</style>\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>{}</svg>\n",
            escape(label),
            self.body
        )
    }

    fn close(&mut self, name: &str, told: &str) {
        self.body += &match told.is_empty() {
            true => "/>".to_owned(),
            false => format!("><title>{}</title></{name}>", escape(told)),
        };
    }
}

/// A coordinate: a tenth of a pixel is as exact as anyone sees. What is no number is nowhere,
/// and stands at the corner rather than break the whole drawing.
fn place(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" {
        "0".into()
    } else {
        short.into()
    }
}

/// About how wide a text is, in letters of 12 pixels: enough to keep texts apart.
pub fn width_of(text: &str) -> f64 {
    const LETTER: f64 = 6.6;
    text.chars().count() as f64 * LETTER
}

/// The text, or as much of it as fits into `width`, with a sign that there was more.
pub fn fit(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let letter = width_of("m");
    let mut kept = String::new();
    for char in text.chars() {
        if width_of(&kept) + 2.0 * letter > width {
            break;
        }
        kept.push(char);
    }
    kept + "…"
}

#[cfg(test)]
mod tests;
