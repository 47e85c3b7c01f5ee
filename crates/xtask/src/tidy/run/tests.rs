//! The workspace itself is tidy, and the runner asks every check.

use std::path::Path;

use crate::tidy::run::{check, check_workspace};
use crate::tidy::tree::tests::planted;

#[test]
fn the_workspace_is_tidy() {
    // The same as `cargo xtask tidy`, so that `cargo test` includes it.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let findings = check_workspace(&root).expect("the workspace can be read");
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn every_check_is_run() {
    // One planted violation for each check; all are reported, in order of path and line.
    let findings = check(&planted(&[
        (
            "crates/esker/src/lib.rs",
            "//! A.\n\nmod early;\nmod util;\nuse crate::env::real::fs;\n",
        ),
        (
            "crates/esker/src/util.rs",
            "//! no sentence\n\nfn a() { unsafe { b() } }\n",
        ),
        (
            "crates/esker/src/early.rs",
            "//! Early.\n\nuse crate::util::a;\n",
        ),
        ("crates/esker/src/lost.rs", "//! Lost.\n"),
        ("crates/esker/src/a/mod.rs", "//! A.\n\nfn logic() {}\n"),
        (
            "crates/xtask/Cargo.toml",
            "[package]\nname = \"xtask\"\n[dependencies]\nesker = \"1\"\n",
        ),
    ]));
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let starts = [
        "crates/esker/src/a/mod.rs:1: dead file: ",
        "crates/esker/src/a/mod.rs:3: facade: ",
        "crates/esker/src/early.rs:3: floor: ",
        "crates/esker/src/lib.rs:5: door: ",
        "crates/esker/src/lost.rs:1: dead file: ",
        "crates/esker/src/util.rs:1: caption: ",
        "crates/esker/src/util.rs:1: empty name: ",
        "crates/esker/src/util.rs:3: unsafe room: ",
        "crates/xtask/Cargo.toml:4: crate arrow: ",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(
            line.starts_with(start),
            "{line} does not start with {start}"
        );
    }
}
