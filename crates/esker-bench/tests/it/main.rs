//! The benchmarks as a user runs them: words in, text and exit code out.

#![allow(
    clippy::disallowed_methods,
    reason = "a test of a tool stands in the real world, as the tool does"
)]

mod tool;
mod dialects;
mod documented;
mod wiki_lines;
mod additions;
mod refusals;
mod ycsb;
mod scenarios;
mod reports;
mod browser;
