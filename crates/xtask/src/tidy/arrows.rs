//! Rules about crates: which of ours may depend on which, and what the engine may lean on.

use crate::tidy::finding::Finding;
use crate::tidy::manifest::Package;
use crate::tidy::tree::Tree;

/// Each package of ours and those of ours it may depend on. No other arrow exists.
const ARROWS: [(&str, &[&str]); 14] = [
    ("esker-phrase", &[]),
    ("esker", &["esker-phrase"]),
    ("esker-rpc", &[]),
    ("esker-raft", &[]),
    ("esker-server", &["esker", "esker-rpc", "esker-raft"]),
    ("esker-bench", &["esker", "esker-rpc"]),
    ("esker-bench-rivals", &["esker-bench"]),
    (
        "esker-cli",
        &["esker", "esker-bench", "esker-rpc", "esker-server"],
    ),
    ("esker-capi", &["esker"]),
    ("esker-kvs", &["esker"]),
    ("esker-python", &["esker"]),
    (
        "esker-fuzz",
        &[
            "esker",
            "esker-phrase",
            "esker-cli",
            "esker-rpc",
            "esker-raft",
            "esker-server",
        ],
    ),
    ("esker-libfuzzer", &["esker-fuzz"]),
    ("xtask", &[]),
];

/// Where every dependency of the engine answers for itself.
const DEPENDENCIES: &str = "docs/dependencies.md";

/// Checks every package of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in tree.packages.values() {
        findings.extend(arrows(tree, package));
        if package.name == "esker" {
            findings.extend(unexplained(tree, package));
        }
    }
    findings
}

fn arrows(tree: &Tree, package: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let Some((_, allowed)) = ARROWS.iter().find(|row| row.0 == package.name) else {
        let advice = format!(
            "`{}` is not in the table of crates: add it to ARCHITECTURE.md and tidy/arrows.rs",
            package.name
        );
        return vec![Finding::new(&manifest, 1, "crate arrow", advice)];
    };
    let is_ours = |name: &str| {
        let is_planned = ARROWS.iter().any(|row| row.0 == name);
        is_planned || tree.packages.values().any(|other| other.name == name)
    };
    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        if is_ours(name) && !allowed.contains(&name) {
            let advice = format!(
                "`{}` may not depend on `{name}`: the table is in ARCHITECTURE.md",
                package.name
            );
            findings.push(Finding::new(
                &manifest,
                dependency.line,
                "crate arrow",
                advice,
            ));
        }
    }
    findings
}

/// Dependencies of the engine without a row in docs/dependencies.md.
fn unexplained(tree: &Tree, engine: &Package) -> Vec<Finding> {
    let document = tree.documents.get(DEPENDENCIES).map_or("", String::as_str);
    let has_section = |name: &str| {
        let heading = format!("## `{name}`");
        document.lines().any(|line| line.trim_end() == heading)
    };
    let manifest = format!("{}/Cargo.toml", engine.folder);
    engine
        .dependencies
        .iter()
        .filter(|dependency| dependency.is_normal && !has_section(&dependency.name))
        .map(|dependency| {
            let advice = format!("give `{}` its section in {DEPENDENCIES}", dependency.name);
            Finding::new(&manifest, dependency.line, "dependency", advice)
        })
        .collect()
}

#[cfg(test)]
mod tests;
