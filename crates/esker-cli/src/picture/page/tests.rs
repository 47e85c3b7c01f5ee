//! The page on its own.

use crate::picture::map::{FileBox, KeyspaceMap, RunRow};

use super::write;

#[test]
fn page_needs_nothing_else() {
    // One file: no script, no link, no address but the name of the SVG namespace.
    let file = FileBox {
        number: 7,
        size_bytes: 2048,
        smallest: b"a".to_vec(),
        largest: b"b".to_vec(),
        entry_count: 3,
        delete_count: 1,
    };
    let full = KeyspaceMap {
        name: "default".into(),
        runs: vec![RunRow {
            level: 2,
            files: vec![file],
        }],
    };
    let empty = KeyspaceMap {
        name: "empty".into(),
        runs: Vec::new(),
    };
    let page = write("A & B", &[full, empty]);
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("<title>A &amp; B</title>"));
    assert!(
        page.contains(">2.00 KiB</td>")
            && page.contains("<b>2.00 KiB</b>")
            && page.contains("no sorted files yet")
    );
    for foreign in ["<script", "<link", "src=", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}
