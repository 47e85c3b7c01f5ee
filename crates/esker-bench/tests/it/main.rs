//! The benchmarks as a user runs them: words in, text and exit code out.

#![allow(
    clippy::disallowed_methods,
    reason = "a test of a tool stands in the real world, as the tool does"
)]

mod tool;
#[allow(
    dead_code,
    reason = "the tests of the wire use more of the double than these"
)]
#[path = "../../../esker-rpc/tests/it/memory/mod.rs"]
mod memory;
#[path = "../../../esker-rpc/tests/it/memory/in_thread.rs"]
mod in_thread;
mod double;
mod dialects;
mod documented;
mod wiki_lines;
mod additions;
mod refusals;
mod ycsb;
mod ycsb_cluster;
mod pegasus_scenario;
mod scenarios;
mod reports;
mod browser;
