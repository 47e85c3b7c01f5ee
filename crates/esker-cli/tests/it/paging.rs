//! Pages of a prefix or a range: the last key of one is where the next begins.

use crate::tool::Bench;

#[test]
fn pages_of_a_prefix_hold_each_key_once() {
    // Neighbours before and behind the prefix are in no page.
    let bench = Bench::new();
    for key in ["o", "p:1", "p:2", "p:3", "p:4", "p:5", "q"] {
        bench.ok(&["put", key, ""]);
    }
    let scan = |words: &[&str]| {
        let page = bench.ok(&[&["scan", "--keys-only", "p:"], words].concat());
        page.text().lines().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(scan(&["--limit", "2"]), "p:1 p:2");
    assert_eq!(scan(&["--limit", "2", "--after", "p:2"]), "p:3 p:4");
    assert_eq!(scan(&["--limit", "2", "--after", "p:4"]), "p:5");
    assert_eq!(scan(&["--after", "p:5"]), "");
    assert_eq!(
        scan(&["--reverse", "--limit", "2", "--to", "p:4"]),
        "p:3 p:2"
    );
    // Bounds are narrowed by the prefix, on either side and beyond it.
    assert_eq!(scan(&["--from", "p:4"]), "p:4 p:5");
    assert_eq!(scan(&["--from", "a", "--to", "z"]), "p:1 p:2 p:3 p:4 p:5");
    assert_eq!(scan(&["--after", "a", "--to", "p:2"]), "p:1");
    assert_eq!(scan(&["--from", "z"]), "");
    assert_eq!(scan(&["--after", "z"]), "");
    assert_eq!(scan(&["--to", "a"]), "");
    let count = |words: &[&str]| bench.ok(&[&["count"], words].concat()).text().to_owned();
    assert_eq!(count(&["p:", "--after", "p:2"]), "3\n");
    assert_eq!(count(&["--after", "p:5"]), "1\n");
    let twice = ["scan", "--from", "a", "--after", "b"];
    bench.run(&twice).exits(2);
}
