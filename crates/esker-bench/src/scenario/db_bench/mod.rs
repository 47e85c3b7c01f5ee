//! db_bench: LevelDB's, RocksDB's of 2013 and RocksDB's of today, to the byte where it matters.
//!
//! Not to the byte: the line that moves on a terminal while a benchmark runs. It is ours.

pub mod keys;
pub mod setup;
pub mod buckets;
pub mod result_line;
pub mod header;
pub mod work;
pub mod writes;
pub mod reads;
pub mod updates;
pub mod processor;
pub mod operation;
pub mod list;
pub mod default_list;
pub mod measure_one;
pub mod opening;
pub mod session;
pub mod command;
