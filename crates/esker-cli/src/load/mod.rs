//! Records from files of text: review records, tab-separated lines, JSON lines.
//!
//! A source gives lines, a parser makes records of them or says what is wrong and where, and the
//! feed writes them in batches. No input makes a parser panic.
//!
//! Not here: what the command line says about loading (`commands/load`).

pub mod lines;
pub mod source;
pub mod record;
mod snap;
mod tsv;
mod jsonl;
pub mod parser;
pub mod feed;
