//! How a Cargo.toml is read.

use crate::tidy::manifest::package;

const TEXT: &str = r#"
[package]
name = "house"
version.workspace = true

[[bin]]
name = "tool"
path = "tool/start.rs"

[dependencies]
plain = "1" # a remark
# off = "1"
table = { version = "1", features = ["x"] }
alias = { package = "real", path = "../real" }
shared.workspace = true

[dependencies.section]
version = "1"

[target.'cfg(unix)'.dependencies]
unix = "1"

[dev-dependencies]
proof = "1"
"#;

#[test]
fn every_shape_of_dependency_is_found() {
    // One of each shape cargo accepts, with the line a finding will point at.
    let package = package("crates/house", TEXT).expect("the text describes a package");
    let names: Vec<&str> = package
        .dependencies
        .iter()
        .map(|d| d.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "plain", "table", "real", "shared", "section", "unix", "proof"
        ]
    );
    assert_eq!(package.dependencies[0].line, 11);
    assert!(!package.dependencies[6].is_normal && package.dependencies[5].is_normal);
    assert_eq!(package.target_paths, ["tool/start.rs"]);
}

#[test]
fn a_virtual_workspace_is_no_package() {
    // The root manifest describes members, not a crate.
    assert_eq!(package("", "[workspace]\nmembers = [\"crates/*\"]\n"), None);
}
