//! Finds the `mod name;` lines of a file and the files they mean.

use crate::tidy::lexer::{closing, words};
use crate::tidy::source::Source;

/// A module declared without a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Name of the module.
    pub name: String,
    /// Files it may live in, from the root of the workspace; one of them exists.
    pub candidates: Vec<String>,
    /// True if it is test code, by its file or by `#[cfg(test)]`.
    pub is_test: bool,
    /// True if it stands under `#[cfg(test)]`.
    pub is_behind_test: bool,
}

/// The modules that `source` declares; `is_root` tells whether it is the root file of a target.
pub fn declared(source: &Source, is_root: bool) -> Vec<Declared> {
    let code = &source.code;
    let mut found = Vec::new();
    let mut blocks: Vec<(usize, String)> = Vec::new();
    for start in words(code, "mod") {
        blocks.retain(|block| start < block.0);
        let after = code[start + 3..].trim_start();
        let name: String = after.chars().take_while(|&char| is_name(char)).collect();
        let rest = after[name.len()..].trim_start();
        if name.is_empty() {
            continue;
        }
        if rest.starts_with('{') {
            blocks.push((closing(code, code.len() - rest.len()), name));
        } else if rest.starts_with(';') {
            let inner: Vec<&str> = blocks.iter().map(|block| block.1.as_str()).collect();
            let candidates = candidates(source, start, is_root, &inner, &name);
            found.push(Declared {
                name,
                candidates,
                is_test: source.is_test_at(start),
                is_behind_test: source.is_behind_test(start),
            });
        }
    }
    found
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Files that may hold module `name`, declared at byte `start` inside the blocks `inner`.
fn candidates(
    source: &Source,
    start: usize,
    is_root: bool,
    inner: &[&str],
    name: &str,
) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    if let Some(path) = path_attribute(source, start) {
        return vec![join(folder, &path)];
    }
    let mut home = folder.to_owned();
    if !is_root && file != "mod.rs" {
        home = join(&home, file.trim_end_matches(".rs"));
    }
    for block in inner {
        home = join(&home, block);
    }
    vec![
        join(&home, &format!("{name}.rs")),
        join(&home, &format!("{name}/mod.rs")),
    ]
}

/// The value of a `#[path = "…"]` that stands on the declaration at byte `start`.
fn path_attribute(source: &Source, start: usize) -> Option<String> {
    let item_start = source.code[..start]
        .rfind([';', '}', '{'])
        .map_or(0, |at| at + 1);
    let found = source.code[item_start..start].find("#[path")?;
    let value = source.text[item_start + found..start].split('"').nth(1)?;
    Some(value.to_owned())
}

/// `folder/name` with `.` and `..` resolved.
pub fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests;
