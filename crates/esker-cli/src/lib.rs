//! The `esker` command as a library: what its program and its fuzz targets are made of.
//!
//! For others there is one thing in it: a program whose keyspaces have an order or a merge operator
//! of its own makes a tool that can read them, by giving both to [`run_with`]. Everything else may
//! change with any release; the crate `esker` is the engine.
//!
//! ```no_run
//! use std::cmp::Ordering;
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use esker::{Comparator, CustomComparator};
//! use esker_cli::{Plugins, run_with};
//!
//! struct Backwards;
//!
//! impl CustomComparator for Backwards {
//!     fn name(&self) -> &str {
//!         "backwards"
//!     }
//!
//!     fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
//!         right.cmp(left)
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     run_with(Plugins::default().comparator(Comparator::Custom(Arc::new(Backwards))))
//! }
//! ```
//!
//! Modules from the ground up; each imports only from those above it in this list.

#![allow(
    unnameable_types,
    reason = "the inside of a program: what it shows is `run` and what plug-ins need"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a tool stands in the real world: files, clocks, threads and processes are its own"
)]

pub mod text;
#[macro_use]
mod remark;
mod fail;
mod quantity;
mod out;
mod progress;
mod interrupt;
mod scratch;
mod plugins;
mod global_flags;
mod open;
pub mod json;
pub mod load;
mod picture;
mod contents;
mod commands;
mod remote;
mod demo;
mod serving;
mod cli;
pub mod run;

pub use plugins::Plugins;
pub use run::run_with;
