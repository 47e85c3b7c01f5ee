//! Rule about dead files: every Rust file is reached from some target of its package.

use std::collections::BTreeSet;

use crate::tidy::finding::Finding;
use crate::tidy::modules;
use crate::tidy::tree::Tree;

/// Finds Rust files that no `mod` line leads to.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut alive: BTreeSet<String> = BTreeSet::new();
    for package in tree.packages.values() {
        for root in tree.roots(package) {
            reach(tree, root, &mut alive);
        }
    }
    let is_dead = |path: &&String| !alive.contains(*path);
    let advice = "no `mod` line leads here: declare it or delete it";
    let finding = |path: &String| Finding::new(path, 1, "dead file", advice);
    tree.sources.keys().filter(is_dead).map(finding).collect()
}

/// Adds to `alive` everything that the module tree with root file `root` reaches.
fn reach(tree: &Tree, root: &str, alive: &mut BTreeSet<String>) {
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let Some(source) = tree.sources.get(&path) else {
            continue;
        };
        let is_root = path == root;
        // A root may share modules with another root, so it is always followed.
        if alive.insert(path) || is_root {
            let declared = modules::declared(source, is_root);
            waiting.extend(declared.into_iter().flat_map(|module| module.candidates));
        }
    }
}

#[cfg(test)]
mod tests;
