//! Benchmarks of key-value engines: what is measured, how, and what is kept of it.
//!
//! Every engine under test runs through the same loop with the same keys and values. Modules from
//! the ground up; each imports only from those above it in this list.
//!
//! - `quantity`, `table`: numbers and rows as people read them.
//! - `measure`: latencies, throughput over time, what the process used, when an operation is due.
//! - `make`: keys and values, from seeds.
//! - `target`: the traits that every engine under test implements, and our engine behind them.
//! - `run`: threads, warm-up, stop rule, the live line.
//! - `flags`: every flag told once, parsed, and the nearest name to a wrong one.
//! - `report`: one run as data, its file, its page, and two runs held against each other.
//! - `text`: records from files of text.
//! - `disk`: what the disk can do without any engine, what it holds, what the system caches of it.
//! - `scenario`: whole benchmarks, each with its own command line and words.
//! - `command`: from the words of the command line to an exit code.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark stands in the real world: files, clocks and threads are its subject"
)]

pub mod fail;
pub mod console;
pub mod quantity;
pub mod table;
pub mod measure;
pub mod make;
pub mod target;
pub mod run;
pub mod flags;
pub mod report;
pub mod text;
pub mod disk;
pub mod scenario;
pub mod command;

pub use command::run;
