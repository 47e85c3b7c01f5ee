//! The engine at work on real text: load, read, scan, count, get killed, prove.
//!
//! Every number it prints is measured, and everything it reads back is compared with what was
//! written: the demo keeps its own list of keys and checksums.

mod measure;
mod texts;
mod ledger;
mod stage;
mod fill;
mod reads;
mod words;
mod writer;
mod kill;
mod summary;
mod account;
mod run;

pub use run::{Demo, demo};
pub use writer::{DemoWriter, demo_writer};
