//! Rules about size and shape: files, functions, and what a mod.rs may hold.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::{closing, words};
use crate::tidy::source::{Source, item_end};
use crate::tidy::tree::Tree;

/// Longest file, in lines: what a reader takes in at one sitting.
const FILE_LINES_MAX: usize = 500;
/// Longest file of tests. A list of small stories reads faster than code, so it may be longer.
const TEST_FILE_LINES_MAX: usize = 1000;
/// Longest function body, in lines: one screen.
const FUNCTION_LINES_MAX: usize = 70;

/// Checks every source of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources.values() {
        findings.extend(file_length(source));
        findings.extend(function_lengths(source));
        if source.file_name() == "mod.rs" {
            findings.extend(facade(source));
        }
    }
    findings
}

fn file_length(source: &Source) -> Option<Finding> {
    let lines = source.text.lines().count();
    let limit = if source.is_test {
        TEST_FILE_LINES_MAX
    } else {
        FILE_LINES_MAX
    };
    let advice = format!("{lines} lines, at most {limit}: find the second idea and move it out");
    (lines > limit).then(|| Finding::new(&source.path, limit + 1, "file length", advice))
}

/// Counts the lines between the braces of every function.
fn function_lengths(source: &Source) -> Vec<Finding> {
    let code = &source.code;
    let mut findings = Vec::new();
    for start in words(code, "fn").filter(|&start| !source.is_test_at(start)) {
        let after = code[start + 2..].trim_start();
        let name = after
            .split(|char: char| !char.is_alphanumeric() && char != '_')
            .next();
        // A function pointer type has no name, a method of a trait may have no body.
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            continue;
        };
        let Some(open) = body_start(code, start) else {
            continue;
        };
        let inside = &code[open..closing(code, open)];
        let lines = inside.matches('\n').count().saturating_sub(1);
        if lines > FUNCTION_LINES_MAX {
            let advice = format!(
                "`{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}: name a part of it"
            );
            let line = source.line_of(start);
            findings.push(Finding::new(&source.path, line, "function length", advice));
        }
    }
    findings
}

/// Offset of the brace that opens the body of the function at `start`, if it has one.
fn body_start(code: &str, start: usize) -> Option<usize> {
    let mut index = start;
    while index < code.len() {
        match code.as_bytes()[index] {
            b'{' => return Some(index),
            b';' | b'}' => return None,
            b'(' | b'[' => index = closing(code, index) + 1,
            _ => index += 1,
        }
    }
    None
}

/// A mod.rs holds its doc, its list of modules and re-exports.
fn facade(source: &Source) -> Vec<Finding> {
    let code = &source.code;
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(found) = code[at..].find(|char: char| !char.is_whitespace()) {
        let start = at + found;
        let rest = &code[start..];
        if rest.starts_with("#[") || rest.starts_with("#![") {
            let open = start + rest.find('[').expect("an attribute opens a bracket");
            at = (closing(code, open) + 1).min(code.len());
            continue;
        }
        let end = facade_item_end(code, start);
        if !is_facade_item(&code[start..end]) {
            let advice = "a mod.rs holds only docs, `mod` lines and `pub use`: move this to a file";
            let line = source.line_of(start);
            findings.push(Finding::new(&source.path, line, "facade", advice));
        }
        at = end;
    }
    findings
}

/// Offset after the item at `start`; the braces of a `use` group do not end it.
fn facade_item_end(code: &str, start: usize) -> usize {
    let is_use = words(&code[start..], "use").next().is_some_and(|at| {
        let before = &code[start..start + at];
        before
            .chars()
            .all(|char| char.is_alphanumeric() || "() :_".contains(char))
    });
    let end = match is_use {
        true => code[start..]
            .find(';')
            .map_or(code.len(), |found| start + found),
        false => item_end(code, start),
    };
    (end + 1).min(code.len())
}

fn is_facade_item(item: &str) -> bool {
    let Some(item) = item.strip_suffix(';') else {
        return false;
    };
    let (is_public, item) = match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => {
            (true, &rest[(closing(rest, 0) + 1).min(rest.len())..])
        }
        Some(rest) if rest.starts_with(char::is_whitespace) => (true, rest),
        _ => (false, item),
    };
    let item = item.trim_start();
    item.starts_with("mod ") || (is_public && item.starts_with("use "))
}

#[cfg(test)]
mod tests;
