//! A file nobody declares is found; everything declared is not.

use crate::tidy::dead::check;
use crate::tidy::tree::tests::planted;

#[test]
fn a_file_no_module_leads_to_is_found() {
    // Live: through a folder, through a test module, through a second root. Dead: the rest.
    let found = check(&planted(&[
        ("crates/esker/src/lib.rs", "pub mod a;\n// mod forgotten;\n"),
        ("crates/esker/src/a/mod.rs", "pub mod b;"),
        ("crates/esker/src/a/b.rs", "#[cfg(test)]\nmod tests;"),
        ("crates/esker/src/a/b/tests.rs", ""),
        ("crates/esker/tests/it/main.rs", "mod floors;"),
        ("crates/esker/tests/it/floors.rs", ""),
        ("crates/esker/src/forgotten.rs", ""),
        ("crates/esker/src/a/c.rs", "mod d;"),
        ("crates/esker/src/a/c/d.rs", ""),
        ("stray.rs", ""),
    ]));
    let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    let wanted =
        ["a/c.rs", "a/c/d.rs", "forgotten.rs"].map(|path| format!("crates/esker/src/{path}"));
    assert_eq!(paths[..3], wanted);
    assert_eq!(paths[3..], ["stray.rs"]);
}
