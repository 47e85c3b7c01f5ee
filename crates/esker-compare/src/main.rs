//! Esker and LevelDB on the same work, in turns; and what Esker holds in memory.
//!
//!     cargo run --release -p esker-compare --features leveldb -- speed
//!     cargo run --release -p esker-compare -- memory
//!     cargo run --release -p esker-compare -- opening
//!
//! Without the feature `leveldb` only Esker runs. `make compare` installs what is needed.
#![allow(
    clippy::disallowed_methods,
    reason = "a measuring program stands in the real world"
)]

mod settings;
mod keys;
mod values;
mod engine;
mod esker_engine;
#[cfg(feature = "leveldb")]
mod leveldb;
mod lines;
mod summary;
mod speed;
mod process;
mod memory;
mod opening;

use std::process::ExitCode;

use crate::settings::Settings;

/// What an engine, a file or a wrong argument has to say when it fails.
pub type Fault = Box<dyn std::error::Error>;

const USAGE: &str = "usage: esker-compare speed|memory|opening [--keys N] [--rounds N] \
    [--cache-mib N] [--buffer-mib N] [--compression none|snappy] [--bloom BITS] [--limit-mib N] \
    [--lines A,B,…] [--esker NAME=VALUE] [--only esker|leveldb] [--dir PATH]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let done = Settings::parse(arguments).and_then(|settings| match &command[..] {
        "speed" => speed::run(&settings),
        "memory" => memory::run(&settings),
        "opening" => opening::run(&settings),
        "abandon" => opening::abandon(&settings),
        _ => Err(USAGE.into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("esker-compare: {fault}");
            ExitCode::FAILURE
        }
    }
}
