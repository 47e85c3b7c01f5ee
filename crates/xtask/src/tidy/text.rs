//! Rules about lines: the caption, width, comments, and results thrown away.

use crate::tidy::finding::Finding;
use crate::tidy::lexer::Comment;
use crate::tidy::source::Source;
use crate::tidy::tree::Tree;

/// Widest line, in characters; the same number stands in rustfmt.toml.
const WIDTH_MAX: usize = 100;

/// Checks every source of `tree`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources.values() {
        findings.extend(caption(source));
        findings.extend(width(source));
        findings.extend(unnumbered_work(source));
        findings.extend(commented_out_code(source));
        findings.extend(thrown_away(source));
    }
    findings
}

/// The first line says what the file is about, in one sentence.
fn caption(source: &Source) -> Option<Finding> {
    let first = source.text.lines().next().unwrap_or("");
    let sentence = first.strip_prefix("//! ").unwrap_or("").trim();
    let is_sentence = sentence.len() > 1 && sentence.ends_with('.');
    let advice = "begin the file with `//! <one sentence>.` on one line";
    (!is_sentence).then(|| Finding::new(&source.path, 1, "caption", advice))
}

/// No line is wider than the page. An address cannot be broken, so it may stick out.
fn width(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let length = line.chars().count();
        if length > WIDTH_MAX && !line.contains("https://") {
            let advice = format!("{length} columns: break the line at {WIDTH_MAX}");
            findings.push(Finding::new(&source.path, index + 1, "line width", advice));
        }
    }
    findings
}

/// Work left for later names the issue that holds it.
fn unnumbered_work(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comment in &source.comments {
        for (index, line) in comment.text.lines().enumerate() {
            let is_mark = words(line).any(|word| matches!(word, "TODO" | "FIXME" | "XXX"));
            if is_mark && !has_issue_number(line) {
                let advice = "name the issue (`#123`) or do it now";
                let at = comment.line + index;
                findings.push(Finding::new(&source.path, at, "unnumbered work", advice));
            }
        }
    }
    findings
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|char: char| !char.is_alphanumeric() && char != '_')
}

fn has_issue_number(line: &str) -> bool {
    line.split('#')
        .skip(1)
        .any(|after| after.starts_with(|char: char| char.is_ascii_digit()))
}

/// History keeps old code; comments do not.
fn commented_out_code(source: &Source) -> Vec<Finding> {
    let is_plain = |comment: &&Comment| comment.is_line && !comment.is_doc;
    let advice = "delete it: git remembers old code";
    source
        .comments
        .iter()
        .filter(is_plain)
        .filter(|comment| looks_like_code(comment.text.trim()))
        .map(|comment| Finding::new(&source.path, comment.line, "commented-out code", advice))
        .collect()
}

/// True for text that only code looks like. Prose that ends in a semicolon must not match, so a
/// statement is asked for more than its last byte.
fn looks_like_code(text: &str) -> bool {
    if matches!(text, "}" | "};" | "})" | "});" | "})?;" | "} else {") {
        return true;
    }
    let first = text
        .split([' ', '(', '!'])
        .next()
        .expect("split yields at least one part");
    let rest = text[first.len()..].trim_start();
    if text.ends_with('{') {
        let opens = [
            "if", "for", "while", "match", "loop", "fn", "pub", "impl", "struct", "enum",
        ];
        let more = [
            "unsafe", "mod", "trait", "const", "let", "}", "async", "use", "extern",
        ];
        return opens.contains(&first) || more.contains(&first);
    }
    let Some(statement) = text.strip_suffix(';') else {
        return text.starts_with("#[") && text.ends_with(']');
    };
    match first {
        "let" | "const" | "static" | "type" => statement.contains(" = "),
        "use" | "pub" | "mod" => statement.contains("::") || rest.starts_with("mod "),
        "return" | "break" | "continue" => statement.contains(['(', ':']) || rest == ";",
        "return;" | "break;" | "continue;" => true,
        _ => is_call(statement) || is_assignment(statement),
    }
}

/// `path::to(args)`, `receiver.method(args)`, `name!(args)`, with an optional `?` or `.await`.
fn is_call(statement: &str) -> bool {
    let statement = statement.trim_end_matches('?');
    let Some((callee, _)) = statement.split_once('(') else {
        return false;
    };
    statement.ends_with(')') && is_place(callee.trim_end_matches('!'))
}

/// `place = value`, `place += value` and kin.
fn is_assignment(statement: &str) -> bool {
    let Some((place, value)) = statement.split_once("= ") else {
        return false;
    };
    let place = place.trim_end_matches(['+', '-', '*', '/', '|', '&', '^', '%']);
    place.ends_with(' ') && is_place(place.trim_end()) && !value.trim().contains(". ")
}

/// A name, path, field or element, with no space in it.
fn is_place(text: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || "_.:*&[]<>".contains(char);
    let starts = text.starts_with(|char: char| char.is_alphabetic() || "_*&".contains(char));
    starts && text.chars().all(is_part)
}

/// `let _ =` swallows a result: a sentence beside it says why that is right.
fn thrown_away(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.code.lines().enumerate() {
        let number = index + 1;
        let throws = line.trim_start().strip_prefix("let _").map(str::trim_start);
        if !throws.is_some_and(|rest| rest.starts_with('=') || rest.starts_with(':')) {
            continue;
        }
        let beside = |comment: &Comment| {
            let last = comment.line + comment.text.matches('\n').count();
            !comment.is_doc && (comment.line == number || last + 1 == number)
        };
        if !source.comments.iter().any(beside) {
            let advice = "say in a comment why nobody needs this result, or handle it";
            findings.push(Finding::new(
                &source.path,
                number,
                "result thrown away",
                advice,
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
