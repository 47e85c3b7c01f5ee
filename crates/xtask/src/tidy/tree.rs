//! The whole workspace in memory: every path, every Rust source, every package.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use crate::tidy::manifest::{self, Package};
use crate::tidy::modules;
use crate::tidy::source::Source;

/// What the checks look at.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Every file, from the root of the workspace, with forward slashes.
    pub paths: BTreeSet<String>,
    /// Every Rust file by its path.
    pub sources: BTreeMap<String, Source>,
    /// Every package by its folder.
    pub packages: BTreeMap<String, Package>,
    /// Every Markdown file by its path.
    pub documents: BTreeMap<String, String>,
}

/// Folders that hold nothing written by hand, unless they lie below a `src`. Hidden folders are
/// passed over too.
const NOT_OURS: [&str; 4] = ["target", "corpus", "artifacts", "node_modules"];

impl Tree {
    /// Reads the workspace at `root` from disk.
    ///
    /// # Errors
    ///
    /// The first file or folder that cannot be read, by name.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        Ok(Self::of(files))
    }

    /// A workspace of the given paths and texts.
    pub fn of(files: Vec<(String, String)>) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            let folder = path
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder)
                .to_owned();
            if path.ends_with(".rs") {
                tree.sources.insert(path.clone(), Source::new(&path, &text));
            } else if path.ends_with("Cargo.toml") {
                let package = manifest::package(&folder, &text);
                tree.packages
                    .extend(package.map(|package| (folder, package)));
            } else if path.ends_with(".md") {
                tree.documents.insert(path.clone(), text);
            }
            tree.paths.insert(path);
        }
        tree.mark_test_modules();
        tree
    }

    /// The package that holds `path`: the one in the nearest folder above it.
    pub fn package_of(&self, path: &str) -> Option<&Package> {
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            if let Some(package) = self.packages.get(above) {
                return Some(package);
            }
            folder = above;
        }
        None
    }

    /// The root files of a package's targets, where module trees start.
    pub fn roots(&self, package: &Package) -> Vec<&str> {
        let inside = |path: &&String| match self.package_of(path) {
            Some(owner) => owner.folder == package.folder,
            None => false,
        };
        let is_root = |path: &&String| {
            let local = path[package.folder.len()..].trim_start_matches('/');
            is_target_root(local) || package.target_paths.iter().any(|target| target == local)
        };
        self.sources
            .keys()
            .filter(inside)
            .filter(is_root)
            .map(String::as_str)
            .collect()
    }

    /// Files behind `#[cfg(test)] mod name;` are test code, and so are the files below them.
    fn mark_test_modules(&mut self) {
        let mut test_paths = Vec::new();
        for source in self.sources.values() {
            let is_root = self
                .package_of(&source.path)
                .is_some_and(|package| self.roots(package).contains(&source.path.as_str()));
            let declared = modules::declared(source, is_root);
            let tests = declared.into_iter().filter(|module| module.is_test);
            test_paths.extend(tests.flat_map(|module| module.candidates));
        }
        for path in test_paths {
            let below = path
                .trim_end_matches("/mod.rs")
                .trim_end_matches(".rs")
                .to_owned()
                + "/";
            for source in self.sources.values_mut() {
                source.is_test |= source.path == path || source.path.starts_with(&below);
            }
        }
    }
}

/// True for the files cargo finds by itself, relative to the package's folder.
fn is_target_root(local: &str) -> bool {
    let parts: Vec<&str> = local.split('/').collect();
    match parts.as_slice() {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["src", "bin", file] | ["tests" | "benches" | "examples", file] => file.ends_with(".rs"),
        ["src", "bin", _, "main.rs"] | ["tests" | "benches" | "examples", _, "main.rs"] => true,
        _ => false,
    }
}

/// Adds every file below `root/inner` to `files`; the text only of files a check reads.
fn walk(root: &Path, inner: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    let at = root.join(inner);
    let name_it = |error: io::Error| io::Error::new(error.kind(), format!("{inner}: {error}"));
    for item in std::fs::read_dir(&at).map_err(name_it)? {
        let item = item.map_err(name_it)?;
        let name = item.file_name().to_string_lossy().into_owned();
        let is_module = inner.split('/').any(|part| part == "src");
        if name.starts_with('.') || (NOT_OURS.contains(&name.as_str()) && !is_module) {
            continue;
        }
        let path = modules::join(inner, &name);
        let kind = item.file_type().map_err(name_it)?;
        if kind.is_dir() {
            walk(root, &path, files)?;
        } else if kind.is_file() {
            let is_read = [".rs", ".md", "Cargo.toml"]
                .iter()
                .any(|end| path.ends_with(end));
            let text = match is_read {
                true => std::fs::read_to_string(root.join(&path)).map_err(name_it)?,
                false => String::new(),
            };
            files.push((path, text));
        }
    }
    Ok(())
}

#[cfg(test)]
pub mod tests;
