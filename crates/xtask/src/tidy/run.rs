//! Runs every check on the workspace.

use std::io;
use std::path::Path;

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;
use crate::tidy::{arrows, dead, doors, floors, names, rooms, shape, text};

/// Everything `tidy` has to say about the workspace at `root`, in order of path and line.
///
/// # Errors
///
/// The first file that cannot be read.
pub fn check_workspace(root: &Path) -> io::Result<Vec<Finding>> {
    Ok(check(&Tree::read(root)?))
}

/// Everything `tidy` has to say about `tree`, in order of path and line.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let checks = [
        text::check,
        shape::check,
        names::check,
        rooms::check,
        doors::check,
        dead::check,
        floors::check,
        arrows::check,
    ];
    let mut findings: Vec<Finding> = checks.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests;
