//! The tree as sections of a page: a drawing and a table for each keyspace.

use esker_bench::report::page::markup::{Table, note};
use esker_bench::report::page::shell::{self, Section};

use crate::picture::map::KeyspaceMap;
use crate::picture::svg;
use crate::quantity;

const EXPLAINED: &str = "Each rectangle is a sorted file: from left to right the keys it covers, \
    its area the bytes it holds. New data enters at the top, in level 0, and sinks as files are \
    merged. Point at a file to see its number, its size and its keys.";

/// What the sections need beside the style of every page.
pub const STYLE: &str = svg::STYLE;

/// One page with nothing but the tree; `title` is text, not markup.
pub fn write(title: &str, maps: &[KeyspaceMap]) -> String {
    shell::page(title, &note(EXPLAINED), STYLE, &sections(maps))
}

/// One section with everything, for a page that shows more than the tree.
pub fn section(title: &str, maps: &[KeyspaceMap]) -> Section {
    let parts = sections(maps).into_iter().map(|section| {
        let title = esker_bench::report::chart::paint::escape(&section.title);
        format!("<h3>{title}</h3>\n{}", section.body)
    });
    Section::new(title, note(EXPLAINED) + &parts.collect::<String>())
}

fn sections(maps: &[KeyspaceMap]) -> Vec<Section> {
    maps.iter().map(keyspace).collect()
}

fn keyspace(map: &KeyspaceMap) -> Section {
    let title = format!("Keyspace {}", map.name);
    let Some(svg) = svg::draw(map) else {
        return Section::new(&title, note("It has no sorted files yet."));
    };
    let heads = ["level", "runs", "files", "size", "entries", "deletes"];
    let mut table = Table::new(heads);
    for sum in map.levels() {
        table.row([
            format!("L{}", sum.level),
            quantity::count(sum.run_count),
            quantity::count(sum.file_count),
            quantity::bytes(sum.size_bytes),
            quantity::count(sum.entry_count),
            quantity::count(sum.delete_count),
        ]);
    }
    // A drawing of keys has no second layout: on a phone it scrolls rather than shrinks.
    let body = format!(
        "<div class=\"scroll\"><div class=\"tree\">{svg}</div></div>\n{}",
        table.html()
    );
    Section::new(&title, body)
}

#[cfg(test)]
mod tests;
