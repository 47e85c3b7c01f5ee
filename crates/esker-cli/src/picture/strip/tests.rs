//! Strips on a terminal.

use crate::picture::map::{FileBox, KeyspaceMap, RunRow};

use super::{draw, shorten};

fn file(bounds: (&str, &str), size_bytes: u64) -> FileBox {
    FileBox {
        number: 1,
        size_bytes,
        smallest: bounds.0.into(),
        largest: bounds.1.into(),
        entry_count: 1,
        delete_count: 0,
    }
}

#[test]
fn runs_are_strips_under_each_other() {
    // A thin run over everything above two full files: shades tell which is which.
    let map = KeyspaceMap {
        name: "words".into(),
        runs: vec![
            RunRow {
                level: 0,
                files: vec![file(("a", "z"), 1024)],
            },
            RunRow {
                level: 6,
                files: vec![file(("a", "k"), 10240), file(("l", "z"), 10240)],
            },
        ],
    };
    let lines = draw(&map);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "keyspace words: 3 files, 21.0 KiB");
    assert!(lines[1].starts_with("  L0  ░░░") && lines[1].ends_with("1 file  1.00 KiB"));
    assert!(lines[2].starts_with("  L6  ███") && lines[2].ends_with("2 files  20.0 KiB"));
    assert!(lines[3].trim_start().starts_with("a ") && lines[3].ends_with(" z"));
    assert!(lines.iter().all(|line| line.chars().count() <= 100));
}

#[test]
fn keys_of_any_bytes_fit() {
    // A long key is cut, and what is no text is escaped.
    assert_eq!(shorten(b"short", 10), "short");
    assert_eq!(shorten(b"0123456789abc", 10), "012345678…");
    assert_eq!(shorten(b"\xff\n", 10), "\\xff\\n");
}
