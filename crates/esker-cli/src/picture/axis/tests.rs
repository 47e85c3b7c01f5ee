//! Places of keys and files.

use crate::picture::map::{FileBox, KeyspaceMap, RunRow};

use super::Axis;

fn file(number: u64, bounds: (&str, &str), size_bytes: u64) -> FileBox {
    FileBox {
        number,
        size_bytes,
        smallest: bounds.0.into(),
        largest: bounds.1.into(),
        entry_count: 1,
        delete_count: 0,
    }
}

fn map(runs: Vec<RunRow>) -> KeyspaceMap {
    KeyspaceMap {
        name: "default".into(),
        runs,
    }
}

#[test]
fn widths_follow_bytes() {
    // Two files of one level, one three times as large as the other, fill the axis.
    let files = vec![file(1, ("a", "c"), 300), file(2, ("d", "e"), 100)];
    let map = map(vec![RunRow { level: 6, files }]);
    let axis = Axis::new(&map).unwrap();
    let spans: Vec<(f64, f64)> = map.files().map(|file| axis.span(file)).collect();
    assert_eq!(spans, [(0.0, 0.75), (0.75, 1.0)]);
    assert_eq!((axis.first_key(), axis.last_key()), (&b"a"[..], &b"e"[..]));
    assert_eq!(axis.key_near(0.7), b"c");
}

#[test]
fn no_file_is_higher_than_all_bytes_in_a_row() {
    // Overlapping runs, a file of a single key, and a file of no bytes: each rectangle has a
    // width, and height (bytes over width) stays bounded.
    let map = map(vec![
        RunRow {
            level: 0,
            files: vec![file(1, ("a", "z"), 10)],
        },
        RunRow {
            level: 0,
            files: vec![file(2, ("k", "k"), 500)],
        },
        RunRow {
            level: 1,
            files: vec![file(3, ("b", "c"), 0), file(4, ("m", "y"), 90)],
        },
    ]);
    let axis = Axis::new(&map).unwrap();
    let total = map.size_bytes() as f64 + 1.0;
    for file in map.files() {
        let (left, right) = axis.span(file);
        assert!(0.0 <= left && left < right && right <= 1.0 + 1e-9);
        assert!(file.size_bytes as f64 / (right - left) <= total + 1e-6);
    }
}

#[test]
fn empty_tree_has_no_axis() {
    // A fresh database has nothing to draw, and says so elsewhere.
    assert!(Axis::new(&map(Vec::new())).is_none());
}
