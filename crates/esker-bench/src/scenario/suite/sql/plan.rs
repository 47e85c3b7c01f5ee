//! What is done, how much of it, and in how much memory.

use clap::ValueEnum;
use esker::internals::base::options::db::DbOptions;

use crate::make::keys::Distribution;
use crate::scenario::suite::size::Size;

/// Connections, as in the document: a thread of ours for each.
pub const CONNECTIONS: usize = 16;

/// Rows of one statement of the load.
pub const LOAD_ROWS: usize = 50;

/// Memory as shares of the raw bytes, as 8, 4 and 2 GB are of 9.1; first all there is.
pub const SHARES: [Option<f64>; 4] = [None, Some(0.9), Some(0.45), Some(0.22)];

/// How keys are chosen.
pub const CHOICES: [(&str, Distribution); 2] = [
    ("uniform", Distribution::Uniform),
    ("zipf", Distribution::Scrambled(0.99)),
];

/// Less than this our engine does not take, so nobody gets less.
pub const CACHE_BYTES_MIN: u64 = DbOptions::MEMORY_LIMIT_MIN;

/// What a server takes beside its engine's cache: 76 MB of its own that were seen with nothing
/// loaded, and 16 connections. A control group has so much more than the cache.
pub const SERVER_BYTES: u64 = 128 << 20;

/// Lines of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Line {
    /// Reviews are loaded; always done, since all else needs them
    Load,
    /// Point reads, uniform and by Zipf's law, at each memory limit
    Reads,
    /// Rows one by one, each a transaction that survives the end of the server
    Inserts,
    /// The same surviving a power cut, with the binary log off and on
    Commits,
    /// sysbench's `oltp_read_write`: 18 statements in a transaction, in memory
    Mix,
    /// Inserts into a table with three more indexes, larger than memory, and updates of one of them
    Indexed,
}

/// Name of the load in the record.
pub const LOAD: &str = "sql-load";

/// Name of inserts in the record.
pub const INSERT: &str = "sql-insert";

/// Name of durable inserts in the record, without the binary log.
pub const COMMIT: &str = "sql-commit";

/// The same with it.
pub const COMMIT_BINLOG: &str = "sql-commit-binlog";

/// Name of the mixed transactions in the record.
pub const MIX: &str = "sql-read-write";

/// Name of inserts into a table with three more indexes in the record.
pub const INDEXED_INSERT: &str = "sql-insert-indexed";

/// Name of updates of a column that has an index in the record.
pub const INDEXED_UPDATE: &str = "sql-update-indexed";

/// Bytes of a row of that table: its columns, and those of each index once more.
pub const INDEXED_ROW_BYTES: u64 = 200;

/// Field of the load: bytes on the medium for each raw byte.
pub const DISK_SHARE: &str = "disk_share";

/// Field of loads and reads: seconds that were waited until the server was at rest.
pub const REST: &str = "rest_s";

/// The memory of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of the engine's cache, or of all of the engine where it has one limit.
    pub cache_bytes: u64,
    /// Bytes of the server and of its files in the page cache; `None` is all there is.
    pub group_bytes: Option<u64>,
}

/// The memory at a share of `raw_bytes`.
pub fn memory(share: Option<f64>, raw_bytes: u64) -> Memory {
    match share {
        None => Memory {
            cache_bytes: (2 * raw_bytes).max(256 << 20),
            group_bytes: None,
        },
        Some(share) => {
            // Far below where a float loses a byte.
            let cache_bytes = ((raw_bytes as f64 * share) as u64).max(CACHE_BYTES_MIN);
            Memory {
                cache_bytes,
                group_bytes: Some(cache_bytes + SERVER_BYTES),
            }
        }
    }
}

/// Bytes of reviews: at the smallest size 0.22 of them is more than [`CACHE_BYTES_MIN`].
pub fn raw_bytes(size: Size) -> u64 {
    size.pick(200_000_000, 1_000_000_000, 9_100_000_000)
}

/// Bytes on the disk: every contender keeps its table until the end, each server its redo log, and
/// one of them merges what it has.
pub fn disk_bytes(size: Size, contenders: usize) -> u64 {
    contenders as u64 * (raw_bytes(size) * 3 / 2 + (512 << 20)) + raw_bytes(size)
}

/// Milliseconds for which one line is measured.
pub fn millis(size: Size, scale: f64) -> u64 {
    let millis = size.pick(3000.0, 15_000.0, 60_000.0);
    ((millis * scale.min(1.0)) as u64).max(50)
}

/// Rows of the table of mixed transactions.
pub fn mix_rows(size: Size, scale: f64) -> u64 {
    let rows = size.pick(20_000.0, 200_000.0, 2_000_000.0);
    ((rows * scale.min(1.0)) as u64).max(500)
}

/// Rows of the table with three more indexes, before any is added.
pub fn indexed_rows(size: Size, scale: f64) -> u64 {
    let rows = size.pick(800_000.0, 5_000_000.0, 50_000_000.0);
    ((rows * scale.min(1.0)) as u64).max(500)
}

/// The memory of that table's servers: the least share, so that most of it lies on the disk.
pub fn indexed_memory(rows: u64) -> Memory {
    memory(SHARES[3], rows * INDEXED_ROW_BYTES)
}

/// The name of reads in the record.
pub fn read_line(choice: &str, share: Option<f64>) -> String {
    format!("sql-read-{choice}-{}", share_text(share).replace(' ', "-"))
}

/// A share for people.
pub fn share_text(share: Option<f64>) -> String {
    share.map_or("unlimited".into(), |share| format!("{share:.2} of raw"))
}

#[cfg(test)]
mod tests;
