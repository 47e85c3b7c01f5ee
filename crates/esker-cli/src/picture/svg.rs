//! The tree as an SVG drawing: rows are runs, rectangles are files, area is bytes.

use esker_bench::report::chart::paint::escape;
use esker_bench::report::chart::style;
use esker_bench::report::page::markup::{FULL, NARROW};

use crate::picture::axis::Axis;
use crate::picture::map::{FileBox, KeyspaceMap};
use crate::picture::strip::shorten;
use crate::quantity;
use crate::text;

/// Width of a drawing in a file of its own.
const ALONE: f64 = 1000.0;
/// Left of the files: the names of the levels.
const LEFT: f64 = 32.0;
/// Right of the files: the bytes of their run.
const RIGHT: f64 = 74.0;
/// Height that all rows share: so much for each, and a bound. Area is bytes on one scale for the
/// whole drawing.
const ROW_SHARE: f64 = 48.0;
const HEIGHT_MAX: f64 = 220.0;
/// Lowest row: a line of text beside it can be read.
const ROW_MIN: f64 = 16.0;
/// Between rows.
const GAP: f64 = 5.0;
/// Below the rows: the keys.
const FOOT: f64 = 24.0;
/// Thinnest rectangle that can be seen and pointed at.
const THIN: f64 = 0.8;
/// Narrower drawings have the first key and the last below them, others one in the middle too.
const THREE_KEYS_MIN: f64 = 700.0;
/// Width of a letter of a key, and a little more.
const LETTER: f64 = 7.4;

/// What the classes of the drawing look like, beside the style of every page. What has just come in
/// has a colour of its own; how deep the rest lies is told by its place.
pub const STYLE: &str = "\
svg .row{fill:var(--wash)}\
svg .file{stroke:var(--paper);stroke-width:.6;fill:var(--accent)}\
svg .l0{fill:var(--mark)}\
svg .file:hover{stroke:var(--ink);stroke-width:1.6}\
svg .name{fill:var(--ink);font-weight:600}\
svg .within{fill:var(--paper);font-size:10px;pointer-events:none}";

/// The drawing of one keyspace on a screen and on a phone, to be put into a page; `None` when it
/// has no files.
pub fn draw(map: &KeyspaceMap) -> Option<String> {
    let wide = draw_at(map, FULL, "on-screen")?;
    Some(format!(
        "<figure>{wide}{}</figure>\n",
        draw_at(map, NARROW, "on-phone")?
    ))
}

fn draw_at(map: &KeyspaceMap, width: f64, class: &str) -> Option<String> {
    let axis = Axis::new(map)?;
    let plane = Plane::new(map, &axis, width);
    let (height, files_width) = (plane.bottom() + FOOT, plane.width);
    let mut svg = String::new();
    let name = escape(&map.name);
    svg.push_str(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" \
         viewBox=\"0 0 {width:.0} {height:.1}\" role=\"img\" \
         aria-label=\"Files of keyspace {name} by level and key range\">"
    ));
    let mut level_before = None;
    for (run, row) in map.runs.iter().zip(&plane.rows) {
        let (top, tall) = (row.top, row.height);
        svg.push_str(&format!(
            "<rect class=\"row\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{files_width:.1}\" \
             height=\"{tall:.1}\"/>"
        ));
        let at = top + tall / 2.0 + 4.0;
        if level_before != Some(run.level) {
            let level = run.level;
            svg.push_str(&format!(
                "<text class=\"name\" x=\"0\" y=\"{at:.1}\">L{level}</text>"
            ));
            level_before = Some(run.level);
        }
        let bytes = run.files.iter().map(|file| file.size_bytes).sum();
        svg.push_str(&format!(
            "<text x=\"{width}\" y=\"{at:.1}\" text-anchor=\"end\">{}</text>",
            quantity::bytes(bytes)
        ));
        for file in &run.files {
            rectangle(&mut svg, &axis, &plane, *row, run.level, file);
        }
    }
    footer(&mut svg, &axis, &plane);
    svg.push_str("</svg>");
    Some(svg)
}

/// A drawing that stands alone in a file of its own.
pub fn standalone(map: &KeyspaceMap) -> Option<String> {
    let svg = draw_at(map, ALONE, "")?;
    let end_of_tag = svg.find('>')? + 1;
    let (tag, rest) = svg.split_at(end_of_tag);
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>";
    let style = style::of_page();
    Some(format!("{tag}<style>{style}{STYLE}</style>{paper}{rest}\n"))
}

/// Where one run is drawn.
#[derive(Clone, Copy)]
struct Row {
    top: f64,
    height: f64,
}

/// Where all of them are drawn.
struct Plane {
    /// Width of the files.
    width: f64,
    rows: Vec<Row>,
    /// Height of a byte over the whole width.
    scale: f64,
}

impl Plane {
    /// Each row as high as its highest file; all of them on one scale, so that areas compare.
    fn new(map: &KeyspaceMap, axis: &Axis, width: f64) -> Plane {
        let highest = map.runs.iter().map(|run| {
            let heights = run.files.iter().map(|file| bytes_high(axis, file));
            heights.fold(0.0, f64::max)
        });
        let highest: Vec<f64> = highest.collect();
        let height = (ROW_SHARE * highest.len() as f64).min(HEIGHT_MAX);
        let scale = height / highest.iter().sum::<f64>().max(1.0);
        let mut top = GAP;
        let rows = highest.into_iter().map(|bytes| {
            let row = Row {
                top,
                height: (bytes * scale).max(ROW_MIN),
            };
            top += row.height + GAP;
            row
        });
        Plane {
            width: width - LEFT - RIGHT,
            rows: rows.collect(),
            scale,
        }
    }

    fn bottom(&self) -> f64 {
        self.rows
            .last()
            .map_or(0.0, |row| row.top + row.height + GAP)
    }
}

/// Height of a file in bytes for the whole width: bytes over width.
fn bytes_high(axis: &Axis, file: &FileBox) -> f64 {
    let (left, right) = axis.span(file);
    file.size_bytes as f64 / (right - left).max(f64::EPSILON)
}

fn rectangle(svg: &mut String, axis: &Axis, plane: &Plane, row: Row, level: usize, file: &FileBox) {
    let (left, right) = axis.span(file);
    let (x, wide) = (
        LEFT + left * plane.width,
        ((right - left) * plane.width).max(THIN),
    );
    let tall = (bytes_high(axis, file) * plane.scale).clamp(THIN, row.height);
    let y = row.top + row.height - tall;
    let number = file.number;
    let told = format!(
        "file {number}, level {level}\n{}, {} entries, {} deletes\nfrom {}\nto {}",
        quantity::bytes(file.size_bytes),
        quantity::count(file.entry_count),
        quantity::count(file.delete_count),
        text::escape(&file.smallest),
        text::escape(&file.largest)
    );
    svg.push_str(&format!(
        "<rect class=\"file l{level}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{wide:.2}\" \
         height=\"{tall:.2}\"><title>{}</title></rect>",
        escape(&told)
    ));
    // Only where seven letters of ten units fit.
    if wide > 46.0 && tall > 13.0 {
        let (at, base) = (x + 4.0, y + 11.0);
        svg.push_str(&format!(
            "<text class=\"within\" x=\"{at:.1}\" y=\"{base:.1}\">{number}</text>"
        ));
    }
}

/// The keys at both ends, and in the middle where there is room.
fn footer(svg: &mut String, axis: &Axis, plane: &Plane) {
    let base = plane.bottom() + 14.0;
    let ends = [
        (0.0, "start", axis.first_key()),
        (1.0, "end", axis.last_key()),
        (0.5, "middle", axis.key_near(0.5)),
    ];
    let count = if plane.width < THREE_KEYS_MIN { 2 } else { 3 };
    // A few dozen letters at most: rounding down leaves air between them.
    let chars = (plane.width / count as f64 / LETTER) as usize;
    for (place, anchor, key) in ends.into_iter().take(count) {
        let (x, key) = (LEFT + place * plane.width, escape(&shorten(key, chars)));
        svg.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{base:.1}\" text-anchor=\"{anchor}\">{key}</text>"
        ));
    }
}

#[cfg(test)]
mod tests;
