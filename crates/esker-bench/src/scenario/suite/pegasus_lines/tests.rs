//! Tests of `pegasus_lines`.

use super::*;

#[test]
fn every_figure_of_the_document_is_there() {
    // Counted by version; one line by hand; each has figures for what it does, and no others.
    let lines = lines();
    let of = |version: &str| lines.iter().filter(|line| line.version == version).count();
    assert_eq!(
        [
            of("1.12.3"),
            of("1.11.6"),
            of("1.11.1"),
            of("1.10.0"),
            of("")
        ],
        [3, 2, 16, 5, 2]
    );
    let large = lines.iter().find(|line| line.shape.value_bytes == 20_480);
    let writes = large.expect("20 KB").writes.expect("a load");
    assert_eq!(
        (writes.rate, writes.mean_us, writes.p99_us),
        (8439.0, 3557.0, 32_223.0)
    );
    for line in lines.iter().filter(|line| !line.version.is_empty()) {
        assert_eq!(line.reads.is_some(), line.load.reads > 0, "{line:?}");
        assert_eq!(line.writes.is_some(), line.load.writes > 0, "{line:?}");
    }
}

#[test]
fn lines_of_one_table_stand_together() {
    // So that each table is made once, and each load is run once for all versions that had it.
    let lines = lines();
    let mut shapes: Vec<Shape> = lines.iter().map(|line| line.shape).collect();
    shapes.dedup();
    let mut seen = Vec::new();
    for shape in shapes {
        assert!(!seen.contains(&shape), "{shape:?}");
        seen.push(shape);
    }
    let mut loads: Vec<(Shape, Load)> = lines.iter().map(|line| (line.shape, line.load)).collect();
    loads.dedup();
    for (place, load) in loads.iter().enumerate() {
        assert!(!loads[place + 1..].contains(load), "{load:?}");
    }
}
