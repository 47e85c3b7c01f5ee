//! Settings that every engine is given alike, and what it made of them.

use serde::{Deserialize, Serialize};

/// How blocks on disk are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// Snappy.
    Snappy,
    /// LZ4.
    Lz4,
    /// Zstandard, at its level.
    Zstd(i32),
}

impl Packing {
    /// The name without the level.
    pub fn name(self) -> &'static str {
        match self {
            Packing::None => "none",
            Packing::Snappy => "snappy",
            Packing::Lz4 => "lz4",
            Packing::Zstd(_) => "zstd",
        }
    }
}

/// How transactions keep from one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transactions {
    /// Nobody waits; a commit is refused where somebody else was faster.
    Optimistic,
    /// What is read to be written is locked, and others wait.
    Locking,
}

impl Transactions {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Transactions::Optimistic => "optimistic",
            Transactions::Locking => "locking",
        }
    }
}

/// What an engine is told, in the words of no engine. `None` leaves the engine its own default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreSettings {
    /// Bytes of block cache.
    pub cache_bytes: Option<u64>,
    /// Bytes of a memtable, or of what else collects writes.
    pub write_buffer_bytes: Option<u64>,
    /// Filter bits for each key; 0 is no filter.
    pub filter_bits: Option<f64>,
    /// How blocks are packed.
    pub packing: Option<Packing>,
    /// From this level on blocks are packed; above it they are not.
    pub packing_level_min: Option<usize>,
    /// Bytes of a block before packing.
    pub block_bytes: Option<u64>,
    /// Threads for flushes and compactions.
    pub background_threads: Option<u64>,
    /// Files or runs in level 0 that call for a compaction.
    pub l0_trigger: Option<u64>,
    /// Bytes of the first sorted level.
    pub level_base_bytes: Option<u64>,
    /// Whether files are read through a memory map.
    pub mapped_reads: Option<bool>,
    /// Whether every write is synced unless it says otherwise.
    pub sync: bool,
    /// Whether there are merges, which add 8-byte little-endian numbers: anything of another size
    /// counts as 0.
    pub has_merges: bool,
    /// Whether there are transactions, and of which kind. Some engines open another kind of store.
    pub transactions: Option<Transactions>,
    /// Settings of one engine by their own names; other engines answer that they have none such.
    pub own: Vec<(String, String)>,
}

/// What an engine made of one setting, to be printed beside the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// The neutral name, as the field of [`StoreSettings`].
    pub wish: String,
    /// The wished value as text.
    pub wished: String,
    /// What the engine was given, in its own words; empty if it has nothing like it.
    pub given: String,
    /// Why it differs or has no effect; empty if it matches.
    pub note: String,
}

impl Matched {
    /// Whether the engine was given something for the wish.
    pub fn has_effect(&self) -> bool {
        !self.given.is_empty()
    }
}
