//! Records to files and back: never half-written, never taken for something else.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};
use crate::report::record::{FORMAT, Record, VERSION};

/// Writes `record` to `path`: under a temporary name beside it first, then renamed, so that
/// whoever reads `path` sees the old file or the new one.
pub fn write(path: &Path, record: &Record) -> Outcome {
    let text = serde_json::to_string_pretty(record)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    let unfinished = beside(path);
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(|error| {
            // What was begun is of no use; that it is gone changes nothing about the failure.
            let _ = fs::remove_file(&unfinished);
            Failure::system(format!("cannot write {}", path.display()), &error)
        })
}

/// Fails early, before hours of measuring, where [`write`] would fail late.
pub fn check_writable(path: &Path) -> Outcome {
    let unfinished = beside(path);
    let tried = File::create(&unfinished).and_then(|_| fs::remove_file(&unfinished));
    match (tried, path.is_dir()) {
        (Ok(()), false) => Ok(()),
        (Ok(()), true) => Err(Failure::usage(format!(
            "cannot write {}: it is a directory; name a file",
            path.display()
        ))),
        (Err(error), _) => Err(Failure::usage(format!(
            "cannot write {}: {error}; name a file in a directory that is there",
            path.display()
        ))),
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    path.with_file_name(name)
}

/// Reads the record in `path`.
///
/// Errors, all of them `Usage`, because it was the user who named the file: it cannot be read, ends
/// early, is no JSON, is no record, or is of another version.
pub fn read(path: &Path) -> Outcome<Record> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(match error.is_eof() {
            true => format!("{name} ends in the middle: it was written only in part"),
            false => format!("{name} is no JSON: {error}"),
        })
    })?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(Failure::usage(format!(
            "{name} is no record of a benchmark"
        )));
    }
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(VERSION)) {
        return Err(Failure::usage(format!(
            "{name} is a record of version {}, and this program reads version {VERSION}; \
             run the benchmark again",
            version.map_or_else(|| "unknown".into(), |version| version.to_string())
        )));
    }
    serde_json::from_value(value)
        .map_err(|error| Failure::usage(format!("{name} is not a whole record: {error}")))
}

#[cfg(test)]
mod tests;
