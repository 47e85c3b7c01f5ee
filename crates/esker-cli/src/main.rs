//! The `esker` command: read, write, load, dump, inspect and care for a database from a shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    esker_cli::run::run()
}
