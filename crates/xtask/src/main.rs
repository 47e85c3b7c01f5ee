//! Chores of the workspace, run as `cargo xtask`.
//!
//! `cargo xtask tidy` checks the written rules of STYLE.md that neither the compiler, nor
//! rustfmt, nor clippy can check. It prints one line per finding and exits with 1 if it found
//! anything. The same check runs as a unit test, so `cargo test` includes it.

#![allow(
    clippy::disallowed_methods,
    reason = "a chore stands in the real world"
)]

mod tidy;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["tidy"] => tidy(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Prints what `tidy` finds; the exit code tells whether that was nothing.
fn tidy() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match crate::tidy::run::check_workspace(&root) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                println!("{finding}");
            }
            eprintln!(
                "tidy: {} to mend; STYLE.md gives the reasons",
                findings.len()
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: cannot read the workspace: {error}");
            ExitCode::FAILURE
        }
    }
}
