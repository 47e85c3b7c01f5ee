//! Settings of a keyspace.

use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::merge::MergeRule;
use crate::base::hooks::retain::RetainRule;
use crate::base::options::quantity;
use crate::base::options::sst::SstOptions;
use crate::base::types::comparator::Comparator;

/// The setting that keeps writes out of the log: what the manifest says of it is for ever.
pub const UNLOGGED: &str = "unlogged";

/// The setting that gives a keyspace a clock of its own: what the manifest says of it is for ever.
pub const OWN_CLOCK: &str = "own_clock";

/// The setting that says how long a put lives.
pub const TTL: &str = "ttl";

/// How one keyspace behaves. Comparator and merge operator are kept by name in the manifest.
#[derive(Clone, Debug)]
pub struct KeyspaceOptions {
    /// How keys compare.
    pub comparator: Comparator,
    /// How merge operands fold; without one, `merge` is refused.
    pub merge: Option<MergeRule>,
    /// Which values live on when compactions rewrite them; without one, all do. No part of the
    /// manifest: it changes nothing of what the entries mean.
    pub retain: Option<Arc<dyn RetainRule>>,
    /// Milliseconds that a put lives when it does not say otherwise; 0 is for ever. Merge operands
    /// have no expiry.
    pub ttl_ms: u64,
    /// Bytes of a memtable after which it is sealed; 0 lets the memory limit decide.
    pub memtable_bytes: usize,
    /// Bytes from which on a value lies in the value log; 0 keeps all of them in sorted files.
    pub value_threshold_bytes: usize,
    /// Whether its writes stay out of the log, for who has a log of his own: after a crash it is
    /// what was flushed, up to its [mark](crate::Keyspace::flushed_mark). Settled when it is
    /// created.
    pub is_unlogged: bool,
    /// Whether what ends in it does so by a clock of its own, which stands still until a batch
    /// brings a later time ([`mark_at`](crate::WriteBatch::mark_at)), and not by the machine's. Of
    /// unlogged keyspaces only; settled when it is created.
    pub has_own_clock: bool,
    /// How its sorted files are written.
    pub sst: SstOptions,
    /// When and how its files are merged.
    pub compaction: CompactionOptions,
}

/// The longest time to live that a keyspace can have: entries end at a second of 32 bits.
pub const TTL_MS_MAX: u64 = u32::MAX as u64 * 1000;

/// A time to live in whole milliseconds, rounded up.
pub fn ttl_millis(ttl: Duration) -> u64 {
    let millis = ttl.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX)
}

/// Whether puts end between two seconds by a time to live that is told so.
pub fn has_millis(ttl: &str) -> bool {
    let ttl_ms = quantity::parse_millis(ttl);
    ttl_ms.is_some_and(|ttl_ms| !ttl_ms.is_multiple_of(1000))
}

impl Default for KeyspaceOptions {
    fn default() -> KeyspaceOptions {
        KeyspaceOptions {
            comparator: Comparator::default(),
            merge: None,
            retain: None,
            ttl_ms: 0,
            memtable_bytes: 0,
            value_threshold_bytes: 4 << 10,
            is_unlogged: false,
            has_own_clock: false,
            sst: SstOptions::default(),
            compaction: CompactionOptions::default(),
        }
    }
}

/// When and how the files of a keyspace are merged.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionOptions {
    /// Runs in level 0 that call for a compaction.
    pub l0_trigger: usize,
    /// Bytes of the first sorted level; deeper ones follow from the bottom level's size.
    pub base_level_bytes: u64,
    /// How many times larger each level may be than the one above.
    pub level_growth: u64,
    /// Pieces into which one large compaction is split to run in parallel.
    pub subcompactions_max: usize,
    /// Whether background compaction runs by itself; `compact` works either way.
    pub is_automatic: bool,
}

impl Default for CompactionOptions {
    fn default() -> CompactionOptions {
        CompactionOptions {
            l0_trigger: 4,
            base_level_bytes: 256 << 20,
            level_growth: 10,
            subcompactions_max: 2,
            is_automatic: true,
        }
    }
}
