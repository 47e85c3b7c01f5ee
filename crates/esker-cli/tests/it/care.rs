//! Looking after a database: pictures, compaction.

use crate::tool::Bench;

#[test]
fn pictures_are_written() {
    // Text on the terminal, a page and a drawing as files.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1"]);
    let ran = bench.ok(&[
        "levels",
        "--files",
        "--html",
        "tree.html",
        "--svg",
        "tree.svg",
    ]);
    assert!(
        ran.text().starts_with("keyspace default: 1 file"),
        "{}",
        ran.text()
    );
    assert!(
        std::fs::read_to_string(bench.path("tree.html"))
            .unwrap()
            .contains("<svg")
    );
    assert!(
        std::fs::read_to_string(bench.path("tree.svg"))
            .unwrap()
            .starts_with("<svg")
    );
}
