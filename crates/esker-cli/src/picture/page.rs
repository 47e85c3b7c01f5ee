//! The tree as one HTML page that needs nothing else: no network, no script.

use crate::picture::map::KeyspaceMap;
use crate::picture::svg::{self, xml};
use crate::quantity;

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0 auto;padding:24px 20px 60px;max-width:1080px;background:var(--paper);\
color:var(--ink);font:15px/1.5 system-ui,sans-serif}\
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 8px}\
p{color:var(--soft);margin:4px 0 12px;max-width:70ch}\
svg{width:100%;height:auto;display:block}\
table{border-collapse:collapse;margin-top:10px;font-variant-numeric:tabular-nums}\
th,td{padding:3px 18px 3px 0;text-align:right;border-bottom:1px solid var(--line)}\
th{color:var(--soft);font-weight:500}\
th:first-child,td:first-child{text-align:left}\
i.dot{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:8px;\
background:var(--fill)}";

/// One page with a drawing and a table for each keyspace; `title` is text, not markup.
pub fn write(title: &str, maps: &[KeyspaceMap]) -> String {
    let mut page = String::new();
    let title = xml(title);
    page.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{}{PAGE_STYLE}</style></head><body>\n<h1>{title}</h1>\n\
         <p>Each rectangle is a sorted file: from left to right the keys it covers, its area the \
         bytes it holds. New data enters at the top, in level 0, and sinks as files are merged. \
         Point at a file to see its number, its size and its keys.</p>\n",
        svg::STYLE
    ));
    for map in maps {
        keyspace(&mut page, map);
    }
    page.push_str("</body></html>\n");
    page
}

fn keyspace(page: &mut String, map: &KeyspaceMap) {
    let name = xml(&map.name);
    page.push_str(&format!("<h2>Keyspace {name}</h2>\n"));
    let Some(svg) = svg::draw(map) else {
        page.push_str("<p>It has no sorted files yet.</p>\n");
        return;
    };
    page.push_str(&svg);
    page.push_str(
        "\n<table><tr><th>Level</th><th>Runs</th><th>Files</th><th>Size</th><th>Entries</th>\
         <th>Deletes</th></tr>\n",
    );
    for sum in map.levels() {
        let level = sum.level;
        page.push_str(&format!(
            "<tr><td><i class=\"dot l{level}\"></i>L{level}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td></tr>\n",
            quantity::count(sum.run_count),
            quantity::count(sum.file_count),
            quantity::bytes(sum.size_bytes),
            quantity::count(sum.entry_count),
            quantity::count(sum.delete_count)
        ));
    }
    page.push_str("</table>\n");
}

#[cfg(test)]
mod tests;
