//! How earlier comparisons came out: a table that is kept from run to run.
//!
//! Text, one line for each workload of each run, its fields parted by tabs:
//!
//! | field | meaning |
//! |---|---|
//! | commit | the program that was measured |
//! | time | seconds since 1970 at which the run started |
//! | workload | its name |
//! | ratio | ours to the best other log-structured engine: median over the rounds |
//!
//! Lines that begin with `#` are for people. Valid if and only if every other line has these four
//! fields, the time is a whole number, and the ratio is a number above 0.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fail::{Failure, Outcome};
use crate::report::file;

/// What stands above the lines.
const HEAD: &str = "# commit\tunix time\tworkload\tours to the best other log-structured engine\n";

/// What one run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Commit of the program.
    pub commit: String,
    /// Seconds since 1970 at which it started.
    pub started_unix_s: u64,
    /// Each workload with its ratio, in the order of the run.
    pub ratios: Vec<(String, f64)>,
}

/// The runs in `path`, oldest first; none if there is no such file yet.
///
/// Errors: `Usage` for a file that cannot be read or is not such a table.
pub fn read(path: &Path) -> Outcome<Vec<Past>> {
    let name = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::usage(format!("cannot read {name}: {error}"))),
    };
    let mut all: Vec<Past> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let wrong = || {
            Failure::usage(format!(
                "{name}, line {}: not a line of a history; it has a commit, a time, a workload and \
                 a ratio, parted by tabs",
                index + 1
            ))
        };
        let (commit, started_unix_s, ratio) = parsed(line).ok_or_else(wrong)?;
        match all.last_mut() {
            Some(run) if run.started_unix_s == started_unix_s && run.commit == commit => {
                run.ratios.push(ratio);
            }
            _ => all.push(Past {
                commit: commit.into(),
                started_unix_s,
                ratios: vec![ratio],
            }),
        }
    }
    all.sort_by_key(|run| run.started_unix_s);
    Ok(all)
}

fn parsed(line: &str) -> Option<(&str, u64, (String, f64))> {
    let mut fields = line.split('\t');
    let (commit, time) = (fields.next()?, fields.next()?.parse().ok()?);
    let (workload, ratio) = (fields.next()?, fields.next()?.parse().ok()?);
    let is_sound = ratio > 0.0 && f64::is_finite(ratio) && !workload.is_empty();
    (is_sound && fields.next().is_none()).then(|| (commit, time, (workload.to_owned(), ratio)))
}

/// Writes the table of `all` to `path`, whole or not at all.
pub fn write(path: &Path, all: &[Past]) -> Outcome {
    let mut text = String::from(HEAD);
    for run in all {
        for (workload, ratio) in &run.ratios {
            let (commit, time) = (&run.commit, run.started_unix_s);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{commit}\t{time}\t{workload}\t{ratio:.3}");
        }
    }
    file::write(path, text.as_bytes())
}

#[cfg(test)]
mod tests;
