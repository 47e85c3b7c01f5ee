//! What Esker holds in memory under a limit, and how long it takes to open.
//!
//!     cargo run --release -p esker-bench --example footprint -- memory
//!     cargo run --release -p esker-bench --example footprint -- opening
//!
//! Both measure our engine only: no rival has one limit for all its memory. They end with an error
//! where something fails, and leave the judgement of the numbers to the reader.
#![allow(
    clippy::disallowed_methods,
    reason = "a measuring program stands in the real world"
)]

mod fault;
mod settings;
mod load;
mod leavings;
mod memory;
mod opening;

use std::process::ExitCode;

use crate::settings::Settings;

const USAGE: &str = "usage: footprint memory|opening [--keys N] [--rounds N] [--limit-mib N] \
    [--esker NAME=VALUE] [--dir PATH]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let done = Settings::parse(arguments).and_then(|settings| match &command[..] {
        "memory" => memory::run(&settings),
        "opening" => opening::run(&settings),
        "abandon" => opening::abandon(&settings),
        _ => Err(USAGE.into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("footprint: {fault}");
            ExitCode::FAILURE
        }
    }
}
