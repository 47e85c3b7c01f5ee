//! Areas and safety of the drawing.

use crate::picture::map::{FileBox, KeyspaceMap, RunRow};

use super::{draw, standalone};

fn file(number: u64, bounds: (&[u8], &[u8]), size_bytes: u64) -> FileBox {
    FileBox {
        number,
        size_bytes,
        smallest: bounds.0.into(),
        largest: bounds.1.into(),
        entry_count: 10,
        delete_count: 1,
    }
}

fn map() -> KeyspaceMap {
    KeyspaceMap {
        name: "<script>\"&".into(),
        runs: vec![
            RunRow {
                level: 0,
                files: vec![file(9, (b"a", b"z"), 1 << 20)],
            },
            RunRow {
                level: 6,
                files: vec![
                    file(3, (b"a", b"</title>\xff"), 4 << 20),
                    file(4, (b"m", b"z"), 12 << 20),
                ],
            },
        ],
    }
}

fn number_after(rest: &str, name: &str) -> f64 {
    let from = rest.find(name).unwrap() + name.len();
    rest[from..].split('"').next().unwrap().parse().unwrap()
}

#[test]
fn area_is_bytes() {
    // Bytes per unit of area are the same for all three files.
    let svg = draw(&map()).unwrap();
    let files = svg.split("<rect class=\"file").skip(1);
    let areas: Vec<f64> = files
        .map(|rest| number_after(rest, " width=\"") * number_after(rest, " height=\""))
        .collect();
    let scale = areas[0] / 1.0;
    for (area, mebibytes) in areas.iter().zip([1.0, 4.0, 12.0]) {
        assert!((area / scale / mebibytes - 1.0).abs() < 0.02, "{areas:?}");
    }
}

#[test]
fn names_and_keys_cannot_break_out() {
    // Names and keys are the user's bytes: none of them becomes markup.
    let svg = standalone(&map()).unwrap();
    assert!(!svg.contains("<script"));
    assert_eq!(
        svg.matches("<title>").count(),
        svg.matches("</title>").count()
    );
    assert!(svg.contains("&lt;/title&gt;\\xff"));
    assert!(!svg.contains("http://") || svg.matches("http://").count() == 1);
}
