//! Records to files and back: never half-written, never taken for something else.

use std::fs;
use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::report::file;
use crate::report::record::{FORMAT, Record, VERSION};

/// Writes `record` to `path`, whole or not at all.
pub fn write(path: &Path, record: &Record) -> Outcome {
    let mut text = serde_json::to_string_pretty(record)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    text.push('\n');
    file::write(path, text.as_bytes())
}

/// Which files are read.
const ADVICE: &str = "name a file that a benchmark wrote with --json";

/// Reads the record in `path`.
///
/// Errors, all of them `Usage`, because it was the user who named the file: it cannot be read, ends
/// early, is no JSON, is no record, or is of another version.
pub fn read(path: &Path) -> Outcome<Record> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}; {ADVICE}")))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(match error.is_eof() {
            true => format!(
                "{name} ends in the middle: it was written only in part; run the benchmark again"
            ),
            false => format!("{name} is no JSON: {error}; {ADVICE}"),
        })
    })?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(Failure::usage(format!(
            "{name} is no record of a benchmark; {ADVICE}"
        )));
    }
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(VERSION)) {
        let is_newer = version.is_some_and(|version| version > u64::from(VERSION));
        return Err(Failure::usage(format!(
            "{name} is a record of version {}, and this program reads version {VERSION}; {}",
            version.map_or_else(|| "unknown".into(), |version| version.to_string()),
            match is_newer {
                true => "use the program that wrote it, or a newer one",
                false => "run the benchmark again",
            }
        )));
    }
    serde_json::from_value(value)
        .map_err(|error| Failure::usage(format!("{name} is not a whole record: {error}; {ADVICE}")))
}

#[cfg(test)]
mod tests;
