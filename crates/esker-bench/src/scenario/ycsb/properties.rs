//! Properties: YCSB's files of them, and pairs on the command line that win over them.

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
    /// Errors: `Usage` when the file cannot be read or has an escape.
    pub fn load(&mut self, path: &Path) -> Outcome {
        let told = |cause: &dyn Display| {
            let name = path.display();
            Failure::usage(format!("cannot read the property file {name}: {cause}"))
        };
        let text = fs::read_to_string(path).map_err(|error| told(&error))?;
        self.add_text(&text).map_err(|failure| told(&failure))
    }

    /// Adds the pairs of a text: a line for each, `name=value` or `name: value`; lines that begin
    /// with `#` or `!` are for people. Of Java's escapes there are none.
    pub fn add_text(&mut self, text: &str) -> Outcome {
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            if line.contains('\\') {
                return Err(Failure::usage(format!(
                    "`{line}` has a backslash; escapes are not read here: write the value itself"
                )));
            }
            let (name, value) = line.split_once(['=', ':']).unwrap_or((line, ""));
            self.set(name.trim_end(), value.trim_start());
        }
        Ok(())
    }

    /// Sets one pair.
    pub fn set(&mut self, name: &str, value: &str) {
        self.pairs.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.get(name).map(String::as_str)
    }

    /// All pairs, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.pairs.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
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
            .map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }
}

#[cfg(test)]
mod tests;
