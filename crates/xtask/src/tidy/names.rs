//! Rules about names: words that say nothing about what a thing is.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::words;
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

/// Words that fit everything and therefore name nothing.
const EMPTY_WORDS: [&str; 12] = [
    "util", "utils", "common", "commons", "helper", "helpers", "manager", "managers", "misc",
    "data", "info", "infos",
];

/// Files whose name the wire's own vocabulary gives: there, `data` is the opposite of `meta`.
const NAMED_BY_THE_WIRE: [&str; 2] = [
    "crates/esker-rpc/src/message/data.rs",
    "crates/esker-server/src/front/data.rs",
];

const ADVICE: &str = "says nothing: name it after what it holds or does";

/// Checks every path and every type of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in &tree.paths {
        findings.extend(path_name(path));
    }
    for source in tree.sources.values() {
        findings.extend(type_names(source));
    }
    findings
}

/// Folders and the file's stem, word by word.
fn path_name(path: &str) -> Option<Finding> {
    if NAMED_BY_THE_WIRE.contains(&path) {
        return None;
    }
    let is_empty = |word: &&str| EMPTY_WORDS.contains(&word.to_lowercase().as_str());
    let word = path.split(['/', '_', '-', '.']).find(is_empty)?;
    Some(Finding::new(
        path,
        1,
        "empty name",
        format!("`{word}` {ADVICE}"),
    ))
}

/// The CamelCase words of every type the file defines.
fn type_names(source: &Source) -> Vec<Finding> {
    let code = &source.code;
    let mut findings = Vec::new();
    for keyword in ["struct", "enum", "union", "trait", "type"] {
        for start in words(code, keyword) {
            let after = code[start + keyword.len()..].trim_start();
            let name = after
                .split(|char: char| !char.is_alphanumeric() && char != '_')
                .next();
            let name = name.expect("split yields at least one part");
            let empty = camel_words(name)
                .into_iter()
                .find(|word| EMPTY_WORDS.contains(&&**word));
            if let Some(word) = empty {
                let advice = format!("`{word}` in `{name}` {ADVICE}");
                let line = source.line_of(start);
                findings.push(Finding::new(&source.path, line, "empty name", advice));
            }
        }
    }
    findings
}

/// `FileInfo` as `file`, `info`.
fn camel_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for char in name.chars() {
        if char.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        let word = words.last_mut().expect("a word was begun");
        word.extend(char.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests;
