//! The `esker` command: read, write, load, dump, inspect and care for a database from a shell.
//!
//! Modules from the ground up; each imports only from those above it in this list.

#![allow(
    clippy::disallowed_methods,
    reason = "a tool stands in the real world: files, clocks, threads and processes are its own"
)]

mod fail;
mod quantity;
mod text;
mod out;
mod progress;
mod interrupt;
mod flags;
mod open;
mod json;
mod load;
mod picture;
mod contents;
mod commands;
mod demo;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run()
}
