//! The floor law, of every crate: a file imports only from modules declared above its own.
//!
//! A crate's root and each file with modules list them from the ground up. For every `crate::a::b`
//! that a file names, the two paths are compared at the first place where they part: the target
//! must be declared before the file's own side. What an ancestor itself offers (its items and its
//! re-exports) may not be named from inside it, because the ancestor stands on its children. So no
//! two files of a crate can need one another. A path to a file's own module or to modules inside
//! it is free, and so is test code.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::words;
use crate::tidy::modules::declared;
use crate::tidy::paths::{Named, named};
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

const RULE: &str = "floor";

/// A module of a crate: where it is in the crate (the root is the empty path), and its file.
///
/// In a list of them children of one parent stand in the order in which the parent declares them.
struct Module<'a> {
    place: Vec<String>,
    source: &'a Source,
}

/// Checks every import of every target that is no test and no benchmark.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in tree.packages.values() {
        for root in tree.roots(package) {
            let local = root[package.folder.len()..].trim_start_matches('/');
            if !local.starts_with("tests/") && !local.starts_with("benches/") {
                findings.extend(check_target(tree, root));
            }
        }
    }
    findings
}

fn check_target(tree: &Tree, root: &str) -> Vec<Finding> {
    let modules = modules(tree, root);
    let mut findings = Vec::new();
    for module in &modules {
        for named in imports(module.source) {
            if let Some(why) = broken_law(&modules, &module.place, &named.parts[1..]) {
                findings.push(Finding::new(
                    &module.source.path,
                    module.source.line_of(named.offset),
                    RULE,
                    format!("{}: {why}", named.parts.join("::")),
                ));
            }
        }
    }
    findings
}

/// Every path of product code that starts at the crate's root, and the root itself by any name.
fn imports(source: &Source) -> impl Iterator<Item = Named> {
    let code = &source.code;
    let is_root_itself = |&start: &usize| {
        let before = code[..start].trim_end();
        let is_visibility = before.ends_with('(') || before.ends_with("(in");
        !is_visibility && !code[start + 5..].trim_start().starts_with("::")
    };
    let roots = words(code, "crate").filter(is_root_itself);
    let roots = roots.map(|offset| Named {
        offset,
        parts: vec!["crate".to_owned()],
    });
    let all = named(code, "crate").into_iter().chain(roots);
    all.filter(|named| !source.is_behind_test(named.offset))
}

/// Walks from the file `root` through every `mod name;` that is no test's. A module without a file
/// is a finding of the compiler.
fn modules<'a>(tree: &'a Tree, root: &str) -> Vec<Module<'a>> {
    let mut found = Vec::new();
    let mut waiting = vec![(Vec::new(), &tree.sources[root])];
    while let Some((place, source)) = waiting.pop() {
        let mut children = Vec::new();
        for child in declared(source, place.is_empty()) {
            let mut file = child.candidates.iter();
            let file = file.find_map(|path| tree.sources.get(path));
            if let Some(file) = file.filter(|_| !child.is_behind_test) {
                let mut inner: Vec<String> = place.clone();
                inner.push(child.name);
                children.push((inner, file));
            }
        }
        // Taken from the end: reversed, the first declared comes first and keeps its rank.
        waiting.extend(children.into_iter().rev());
        found.push(Module { place, source });
    }
    found
}

/// Why the module at `own` may not name `named`; none if it may.
fn broken_law(modules: &[Module<'_>], own: &[String], named: &[String]) -> Option<&'static str> {
    let rank = |place: &[String]| modules.iter().position(|module| module.place == place);
    let is_module = |length: &usize| rank(&named[..*length]).is_some();
    let depth = (0..=named.len())
        .rev()
        .find(is_module)
        .expect("the root is a module");
    let target = &named[..depth];
    let parts = own.iter().zip(target);
    let shared = parts.take_while(|(left, right)| left == right).count();
    if shared == own.len() {
        return None; // Its own module, or one inside it.
    }
    if shared == target.len() {
        return Some("an ancestor's own items may not be named from inside it; name the leaf");
    }
    let is_below = rank(&target[..=shared]) < rank(&own[..=shared]);
    (!is_below).then_some("the target is declared below; imports point up the list only")
}

#[cfg(test)]
mod tests;
