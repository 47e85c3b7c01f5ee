//! How the workspace is put together, and the trees other tests plant.

use crate::tidy::tree::Tree;

/// A small sound workspace with `files` added: one engine crate and what its roots need.
pub fn planted(files: &[(&str, &str)]) -> Tree {
    let manifest = ("crates/esker/Cargo.toml", "[package]\nname = \"esker\"\n");
    let all = std::iter::once(&manifest).chain(files);
    Tree::of(
        all.map(|&(path, text)| (path.to_owned(), text.to_owned()))
            .collect(),
    )
}

#[test]
fn a_module_for_tests_is_test_code_with_all_below_it() {
    // Support code behind `#[cfg(test)]` may use what tests may use, wherever it lives.
    let tree = planted(&[
        (
            "crates/esker/src/lib.rs",
            "#[cfg(test)]\nmod model;\nmod real;",
        ),
        ("crates/esker/src/model.rs", "mod steps;"),
        ("crates/esker/src/model/steps.rs", ""),
        ("crates/esker/src/real.rs", ""),
    ]);
    assert!(tree.sources["crates/esker/src/model.rs"].is_test);
    assert!(tree.sources["crates/esker/src/model/steps.rs"].is_test);
    assert!(!tree.sources["crates/esker/src/real.rs"].is_test);
}

#[test]
fn roots_are_where_cargo_looks() {
    // A file in a folder of tests is no root unless it is its main file.
    let tree = planted(&[
        ("crates/esker/src/lib.rs", ""),
        ("crates/esker/tests/it/main.rs", ""),
        ("crates/esker/tests/it/floors.rs", ""),
        ("crates/esker/benches/block.rs", ""),
    ]);
    let package = &tree.packages["crates/esker"];
    let wanted = ["benches/block.rs", "src/lib.rs", "tests/it/main.rs"];
    assert_eq!(
        tree.roots(package),
        wanted.map(|local| format!("crates/esker/{local}"))
    );
}

#[test]
fn a_module_may_be_called_as_what_cargo_builds_into() {
    // `target` beside a manifest is passed over; `target` below `src` is code, and was once missed.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = Tree::read(&root).expect("the workspace can be read");
    let has = |start: &str| tree.paths.iter().any(|path| path.starts_with(start));
    assert!(has("crates/esker-bench/src/target/"));
    assert!(!has("target/"));
}
