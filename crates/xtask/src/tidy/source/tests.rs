//! What counts as test code.

use crate::tidy::source::Source;

#[test]
fn tests_are_known_by_their_path() {
    // Files of tests, benchmarks and fuzz targets may do what product code may not.
    for path in [
        "crates/a/src/b/tests.rs",
        "crates/a/tests/it/main.rs",
        "fuzz/fuzz_targets/a.rs",
        "crates/esker-fuzz/src/a.rs",
    ] {
        assert!(Source::new(path, "").is_test, "{path}");
    }
    assert!(!Source::new("crates/a/src/contests.rs", "").is_test);
}

#[test]
fn tests_are_known_by_their_attribute() {
    // Only what stands under the attribute is test code, not what follows.
    let text = "#[cfg(test)]\nmod inner { fn a() {} }\nfn b() {}\n#[cfg(not(test))]\nfn c() {}";
    let source = Source::new("crates/a/src/b.rs", text);
    let at = |name: &str| text.find(name).expect("the text holds it");
    assert!(source.is_test_at(at("fn a")));
    assert!(!source.is_test_at(at("fn b")));
    assert!(!source.is_test_at(at("fn c")));
}
