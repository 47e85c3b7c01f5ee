//! Properties: Java's property files, and pairs on the command line that win over them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::Path;

use crate::fail::{Failure, Outcome};

/// A value that a property cannot have; `right` is what it can be.
pub fn wrong(name: &str, value: impl Display, right: impl Display) -> Failure {
    Failure::usage(format!("{name}={value} makes no sense; it is {right}"))
}

/// Names and their values. The last one told wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    pairs: BTreeMap<String, String>,
}

impl Properties {
    /// Adds the pairs of a file.
    ///
    /// Errors: `Usage` when the file cannot be read or has a broken escape.
    pub fn load(&mut self, path: &Path) -> Outcome {
        let bytes = fs::read(path).map_err(|error| {
            Failure::usage(format!(
                "cannot read the property file {}: {error}",
                path.display()
            ))
        })?;
        // Java reads Latin-1; files of today are UTF-8. What is valid as such is taken so.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect());
        self.add_text(&text)
            .map_err(|failure| Failure::usage(format!("{}: {}", path.display(), failure.message)))
    }

    /// Adds the pairs of a text in the syntax of property files.
    pub fn add_text(&mut self, text: &str) -> Outcome {
        for line in logical_lines(text) {
            let (name, value) = split(&line);
            self.set(&unescape(name)?, &unescape(value)?);
        }
        Ok(())
    }

    /// Sets one pair.
    pub fn set(&mut self, name: &str, value: &str) {
        self.pairs.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a name, without blanks around it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.get(name).map(|value| value.trim())
    }

    /// The value of a name as it was written: blanks may be meant.
    pub fn get_raw(&self, name: &str) -> Option<&str> {
        self.pairs.get(name).map(String::as_str)
    }

    /// All pairs, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A text, or `default`.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.get(name).unwrap_or(default)
    }

    /// A whole number from 0 up, or `default`.
    pub fn count(&self, name: &str, default: u64) -> Outcome<u64> {
        let Some(text) = self.get(name) else {
            return Ok(default);
        };
        text.parse()
            .map_err(|_| wrong(name, text, "a whole number from 0 up"))
    }

    /// A number that is finite and not negative, or `default`.
    pub fn number(&self, name: &str, default: f64) -> Outcome<f64> {
        let Some(text) = self.get(name) else {
            return Ok(default);
        };
        let parsed: Option<f64> = text.parse().ok();
        parsed
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| wrong(name, text, "a number from 0 up"))
    }

    /// True or false, or `default`. As in Java, whatever is not "true" is false.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name)
            .map_or(default, crate::scenario::ycsb::java::is_true)
    }
}

/// The lines without comments and blank ones; those that end in an odd number of backslashes are
/// joined with the next, whose leading blanks go.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending: Option<String> = None;
    for natural in text.split(['\n', '\r']) {
        let line = natural.trim_start_matches(BLANKS);
        let mut whole = match pending.take() {
            Some(begun) => begun + line,
            None if line.is_empty() || line.starts_with(['#', '!']) => continue,
            None => line.to_owned(),
        };
        let backslashes = whole.len() - whole.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            whole.pop();
            pending = Some(whole);
        } else {
            lines.push(whole);
        }
    }
    lines.extend(pending);
    lines
}

/// What Java takes for a blank in property files.
const BLANKS: [char; 3] = [' ', '\t', '\x0c'];

/// Splits a line at the first `=`, `:` or blank that no backslash protects.
fn split(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let end = line.find(|letter: char| {
        let is_end = !is_escaped && (letter == '=' || letter == ':' || BLANKS.contains(&letter));
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    let Some(end) = end else {
        return (line, "");
    };
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(BLANKS);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (name, rest.trim_start_matches(BLANKS))
}

fn unescape(text: &str) -> Outcome<String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('f') => plain.push('\x0c'),
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                let letter = code.filter(|_| digits.len() == 4).and_then(char::from_u32);
                plain.push(letter.ok_or_else(|| {
                    Failure::usage(format!("`\\u{digits}` in `{text}` names no letter"))
                })?);
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests;
