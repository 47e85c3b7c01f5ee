//! The tree as sections of a page: a drawing and a table for each keyspace.

use esker_bench::report::chart::paint::escape;
use esker_bench::report::page::markup::{Table, headline, note};
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
    let bytes = maps.iter().map(KeyspaceMap::size_bytes).sum();
    let files = maps.iter().map(|map| map.files().count() as u64).sum();
    let told = format!(
        "in {}, {}",
        quantity::counted(files, "sorted file"),
        quantity::counted(maps.len() as u64, "keyspace")
    );
    let lead = headline(&quantity::bytes(bytes), &told);
    shell::page(title, &lead, STYLE, &[section("The levels", maps)])
}

/// A drawing of each keyspace, and the numbers of all in one table.
pub fn section(title: &str, maps: &[KeyspaceMap]) -> Section {
    let mut body = note(EXPLAINED);
    let heads = [
        "keyspace", "level", "runs", "files", "size", "entries", "deletes",
    ];
    let mut table = Table::new(heads);
    for map in maps {
        body += &format!("<h3>Keyspace {}</h3>\n", escape(&map.name));
        match svg::draw(map) {
            Some(drawing) => body += &drawing,
            None => body += &note("It has no sorted files yet."),
        }
        for sum in map.levels() {
            table.row([
                map.name.clone(),
                format!("L{}", sum.level),
                quantity::count(sum.run_count),
                quantity::count(sum.file_count),
                quantity::bytes(sum.size_bytes),
                quantity::count(sum.entry_count),
                quantity::count(sum.delete_count),
            ]);
        }
    }
    Section::new(title, body + &table.html())
}

#[cfg(test)]
mod tests;
