//! Records from files of text: review records, tab-separated lines, JSON lines.
//!
//! A source gives lines, a parser makes records of them or says what is wrong and where, and the
//! feed writes them in batches, or hands them to the bulk loader, which makes sorted files of them.
//! No input makes a parser panic. Lines, sources and review records are the benchmarks' too, and
//! live in their crate.
//!
//! Not here: what the command line says about loading (`commands/load`).

pub use esker_bench::text::{lines, record, snap, source};

pub mod entry;
pub mod field;
mod tsv;
pub mod whole;
mod long_json;
mod jsonl;
pub mod parser;
pub mod gathered;
pub mod spool;
pub mod bulk;
pub mod feed;
