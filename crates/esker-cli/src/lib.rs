//! The `esker` command as a library: what its program and its fuzz targets are made of.
//!
//! Not a library for others: what it offers may change with any release; the crate `esker` is the
//! engine. Modules from the ground up; each imports only from those above it in this list.

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
mod global_flags;
mod open;
pub mod json;
pub mod load;
mod picture;
mod contents;
mod commands;
mod demo;
mod cli;
pub mod run;
