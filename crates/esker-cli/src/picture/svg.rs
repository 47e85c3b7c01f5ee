//! The tree as an SVG drawing: rows are runs, rectangles are files, area is bytes.

use esker_bench::report::chart::paint::escape;
use esker_bench::report::chart::style;

use crate::picture::axis::Axis;
use crate::picture::map::{FileBox, KeyspaceMap};
use crate::picture::strip::shorten;
use crate::quantity;
use crate::text;

/// Width of the drawing's files, in its own units.
const WIDTH: f64 = 1000.0;
/// Left of the files: the names of the levels.
const LEFT: f64 = 44.0;
/// Right of the files: nothing but air.
const RIGHT: f64 = 8.0;
/// Height that all rows share: so much for each, and a bound. Area is bytes on one scale for the
/// whole drawing.
const ROW_SHARE: f64 = 70.0;
const HEIGHT_MAX: f64 = 320.0;
/// Lowest row: a line of text beside it can be read.
const ROW_MIN: f64 = 14.0;
/// Between rows.
const GAP: f64 = 6.0;
/// Below the rows: the keys.
const FOOT: f64 = 24.0;
/// Thinnest rectangle that can be seen and pointed at.
const THIN: f64 = 0.8;
/// Letters of a key below the drawing.
const KEY_CHARS: usize = 36;

/// What the classes of the drawing look like, beside the style of every page.
pub const STYLE: &str = "\
:root{--fill:var(--accent)}\
.tree{min-width:640px}\
svg .row{fill:none;stroke:var(--line);stroke-width:.5}\
svg .file{stroke:var(--paper);stroke-width:.6;fill:var(--fill)}\
svg .file:hover{stroke:var(--ink);stroke-width:1.6}\
svg .name{fill:var(--ink);font-weight:600}\
svg .within{fill:var(--paper);font-size:10px;pointer-events:none}\
.l0{--fill:#d9822b}.l1{--fill:#c9a227}.l2{--fill:#6b9e3e}.l3{--fill:#2f9e8f}\
.l4{--fill:#3f8fc9}.l5{--fill:#6a74cf}.l6{--fill:#9a63b8}\
@media(prefers-color-scheme:dark){.l0{--fill:#eda35a}.l1{--fill:#dfc04d}.l2{--fill:#94c367}\
.l3{--fill:#5cc4b4}.l4{--fill:#6fb4e4}.l5{--fill:#959df0}.l6{--fill:#be8fd8}}";

/// The drawing of one keyspace, to be put into a page; `None` when it has no files.
pub fn draw(map: &KeyspaceMap) -> Option<String> {
    let axis = Axis::new(map)?;
    let rows = Rows::new(map, &axis);
    let (width, height) = (LEFT + WIDTH + RIGHT, rows.bottom() + FOOT);
    let mut svg = String::new();
    let name = escape(&map.name);
    svg.push_str(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.1}\" \
         role=\"img\" aria-label=\"Files of keyspace {name} by level and key range\">"
    ));
    let mut level_before = None;
    for (run, row) in map.runs.iter().zip(&rows.0) {
        let (top, tall) = (row.top, row.height);
        svg.push_str(&format!(
            "<rect class=\"row\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{WIDTH}\" \
             height=\"{tall:.1}\"/>"
        ));
        if level_before != Some(run.level) {
            let (at, level) = (top + tall.min(40.0) / 2.0 + 4.0, run.level);
            svg.push_str(&format!(
                "<text class=\"name\" x=\"8\" y=\"{at:.1}\">L{level}</text>"
            ));
            level_before = Some(run.level);
        }
        for file in &run.files {
            rectangle(&mut svg, &axis, &rows, *row, run.level, file);
        }
    }
    footer(&mut svg, &axis, rows.bottom() + 16.0);
    svg.push_str("</svg>");
    Some(svg)
}

/// A drawing that stands alone in a file of its own.
pub fn standalone(map: &KeyspaceMap) -> Option<String> {
    let svg = draw(map)?;
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

struct Rows(Vec<Row>, f64);

impl Rows {
    /// Each row as high as its highest file; all of them on one scale, so that areas compare.
    fn new(map: &KeyspaceMap, axis: &Axis) -> Rows {
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
        Rows(rows.collect(), scale)
    }

    fn bottom(&self) -> f64 {
        self.0.last().map_or(0.0, |row| row.top + row.height + GAP)
    }
}

/// Height of a file in bytes for the whole width: bytes over width.
fn bytes_high(axis: &Axis, file: &FileBox) -> f64 {
    let (left, right) = axis.span(file);
    file.size_bytes as f64 / (right - left).max(f64::EPSILON)
}

fn rectangle(svg: &mut String, axis: &Axis, rows: &Rows, row: Row, level: usize, file: &FileBox) {
    let (left, right) = axis.span(file);
    let (x, wide) = (LEFT + left * WIDTH, ((right - left) * WIDTH).max(THIN));
    let tall = (bytes_high(axis, file) * rows.1).clamp(THIN, row.height);
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

/// The keys at both ends and in the middle.
fn footer(svg: &mut String, axis: &Axis, base: f64) {
    let ends = [
        (LEFT, "start", axis.first_key()),
        (LEFT + WIDTH / 2.0, "middle", axis.key_near(0.5)),
        (LEFT + WIDTH, "end", axis.last_key()),
    ];
    for (x, anchor, key) in ends {
        let key = escape(&shorten(key, KEY_CHARS));
        svg.push_str(&format!(
            "<text x=\"{x}\" y=\"{base:.1}\" text-anchor=\"{anchor}\">{key}</text>"
        ));
    }
}

#[cfg(test)]
mod tests;
