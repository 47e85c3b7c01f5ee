//! A field with two scales, its marks, and lines whose names stand at their ends.

use crate::report::chart::paint::{Anchor, Drawing, width_of};
use crate::report::chart::scale::{Scale, apart};

/// Height of every such drawing.
pub const HEIGHT: f64 = 244.0;

/// Above the field: the title.
const TOP: f64 = 34.0;

/// Below the field: the marks of the lower scale and what it is.
const BOTTOM: f64 = 40.0;

/// Lines of text at the ends of lines are so far apart at least.
const LABEL_GAP: f64 = 14.0;

/// A mark of a scale: its value and its text.
pub type Mark = (f64, String);

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Ours.
    Ours,
    /// That of a rival, who are counted from 0: each has its own dashes.
    Theirs(usize),
}

/// Length of the piece of line before a name.
const SAMPLE: f64 = 16.0;

impl Voice {
    /// That of the engine at a place: ours is the first.
    pub fn of(place: usize) -> Voice {
        match place.checked_sub(1) {
            None => Voice::Ours,
            Some(rival) => Voice::Theirs(rival),
        }
    }

    fn line_class(self) -> &'static str {
        const RIVALS: [&str; 5] = [
            "theirs-line",
            "theirs-line dash-1",
            "theirs-line dash-2",
            "theirs-line dash-3",
            "theirs-line dash-4",
        ];
        match self {
            Voice::Ours => "ours-line",
            Voice::Theirs(rival) => RIVALS[rival % RIVALS.len()],
        }
    }

    fn text_class(self) -> &'static str {
        match self {
            Voice::Ours => "ours-text small",
            Voice::Theirs(_) => "small",
        }
    }
}

/// One line of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// How it looks.
    pub voice: Voice,
    /// Its name, at its end.
    pub name: String,
    /// Values from left to right.
    pub points: Vec<(f64, f64)>,
    /// A last point that is told apart: the line to it is dashed.
    pub tail: Option<(f64, f64)>,
}

/// What one scale of a field spans.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The lowest value.
    pub from: f64,
    /// The highest value.
    pub to: f64,
    /// Whether it goes by factors.
    pub is_log: bool,
    /// Its marks.
    pub marks: Vec<Mark>,
    /// What it is; nothing if empty.
    pub name: &'static str,
}

impl Axis {
    fn scale(&self, first: f64, last: f64) -> Scale {
        match self.is_log {
            true => Scale::log(self.from, self.to, first, last),
            false => Scale::linear(self.from, self.to, first, last),
        }
    }
}

/// A field: title, scales, lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What it shows.
    pub title: String,
    /// From left to right.
    pub across: Axis,
    /// From bottom to top.
    pub up: Axis,
    /// The lines; ours is drawn over the others.
    pub threads: Vec<Thread>,
}

/// The scales of a field at one width, for what is drawn into it besides its lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// From left to right.
    pub x: Scale,
    /// From bottom to top.
    pub y: Scale,
}

impl Field {
    /// The scales at that width.
    pub fn frame(&self, width: f64) -> Frame {
        let marks = self.up.marks.iter().map(|(_, text)| width_of(text));
        let left = marks.fold(0.0, f64::max) + 8.0;
        let names = self.threads.iter().map(|thread| width_of(&thread.name));
        let right = width - names.fold(0.0, f64::max) - SAMPLE - 12.0;
        Frame {
            x: self.across.scale(left, right.max(left + 40.0)),
            y: self.up.scale(HEIGHT - BOTTOM, TOP),
        }
    }

    /// Title, marks and lines over what is in `drawing`.
    pub fn draw(&self, drawing: &mut Drawing, width: f64) {
        let Frame { x, y } = self.frame(width);
        let title = crate::report::chart::paint::fit(&self.title, width);
        drawing.text("title", 0.0, 14.0, Anchor::Start, &title);
        for (value, text) in &self.up.marks {
            let at = y.at(*value);
            drawing.line("grid", &[(x.first(), at), (x.last(), at)]);
            drawing.text("small", x.first() - 6.0, at + 4.0, Anchor::End, text);
        }
        for (value, text) in &self.across.marks {
            let at = x.at(*value);
            drawing.line("grid", &[(at, y.first()), (at, y.first() + 4.0)]);
            drawing.text("small", at, y.first() + 17.0, Anchor::Middle, text);
        }
        drawing.line("base", &[(x.first(), y.first()), (x.last(), y.first())]);
        if !self.across.name.is_empty() {
            let middle = f64::midpoint(x.first(), x.last());
            drawing.text(
                "small",
                middle,
                HEIGHT - 6.0,
                Anchor::Middle,
                self.across.name,
            );
        }
        let theirs = self.threads.iter().filter(|it| it.voice != Voice::Ours);
        let ours = self.threads.iter().filter(|it| it.voice == Voice::Ours);
        for thread in theirs.chain(ours) {
            self.thread(drawing, &x, &y, thread);
        }
        self.names(drawing, &x, &y);
    }

    fn thread(&self, drawing: &mut Drawing, x: &Scale, y: &Scale, thread: &Thread) {
        let place = |(across, up): &(f64, f64)| (x.at(*across), y.at(*up));
        let points: Vec<(f64, f64)> = thread.points.iter().map(place).collect();
        let class = thread.voice.line_class();
        drawing.line(class, &points);
        if let (Some(last), Some(tail)) = (points.last(), &thread.tail) {
            let faint = match thread.voice {
                Voice::Ours => "ours-line faint",
                Voice::Theirs(_) => "theirs-line faint",
            };
            drawing.line(faint, &[*last, place(tail)]);
            let dot = if thread.voice == Voice::Ours {
                "ours"
            } else {
                "theirs"
            };
            let (x, y) = place(tail);
            drawing.dot(dot, x, y, 3.0, "");
        }
    }

    /// The names at the ends of the lines, kept apart.
    fn names(&self, drawing: &mut Drawing, x: &Scale, y: &Scale) {
        let ends = self.threads.iter().filter_map(|thread| {
            let end = thread.tail.as_ref().or(thread.points.last())?;
            Some((thread, y.at(end.1) + 4.0))
        });
        let (threads, places): (Vec<&Thread>, Vec<f64>) = ends.unzip();
        let moved = apart(&places, LABEL_GAP, TOP + 4.0, HEIGHT - BOTTOM + 4.0);
        for (thread, at) in threads.iter().zip(moved) {
            let class = thread.voice.text_class();
            let (left, middle) = (x.last() + 8.0, at - 4.0);
            let sample = [(left, middle), (left + SAMPLE, middle)];
            drawing.line(thread.voice.line_class(), &sample);
            let left = left + SAMPLE + 4.0;
            drawing.text(class, left, at, Anchor::Start, &thread.name);
        }
    }
}

#[cfg(test)]
mod tests;
