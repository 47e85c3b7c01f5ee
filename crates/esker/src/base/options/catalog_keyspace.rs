//! Every setting of a keyspace.

use crate::base::options::codec::{Shape, Unit};
use crate::base::options::keyspace::{OWN_CLOCK, TTL, TTL_MS_MAX, UNLOGGED};
use crate::base::options::setting::{Access, Field, Rank, Setting};

// The field of `KeyspaceOptions`, or of a part of it, in which a setting lives.
macro_rules! field {
    ($($field:ident).+) => {
        Access::Keyspace {
            get: |options| options.$($field).+.to_value(),
            set: |options, value| options.$($field).+ = Field::from_value(value),
        }
    };
}

/// The ways of compression, as settings spell them.
const COMPRESSIONS: Shape = Shape::Choice(&["none", "lz4", "zstd", "snappy", "searchable"]);

/// The ways of compressing blocks.
const BLOCK_PACKINGS: Shape = Shape::Choice(&["none", "lz4", "zstd", "snappy"]);

const fn size(min: i64, max: i64, zero: Option<&'static str>) -> Shape {
    Shape::Whole {
        unit: Unit::Bytes,
        min,
        max,
        zero,
    }
}

const fn count(min: i64, max: i64) -> Shape {
    Shape::Whole {
        unit: Unit::Count,
        min,
        max,
        zero: None,
    }
}

/// The settings that most users meet first, then the experts'.
pub(crate) static KEYSPACE_SETTINGS: &[Setting] = &[
    Setting {
        name: "compression",
        rank: Rank::Normal,
        is_live: true,
        shape: COMPRESSIONS,
        example: "zstd",
        doc: "How new sorted files are compressed: block by block, or, `searchable`, value by \
              value at the bottom of the tree, by a dictionary trained from them.",
        reason: "How much time a byte of disk is worth is the user's to say.",
        access: field!(sst.compression),
    },
    Setting {
        name: TTL,
        rank: Rank::Normal,
        is_live: true,
        shape: Shape::Whole {
            unit: Unit::Milliseconds,
            min: 1,
            max: TTL_MS_MAX as i64,
            zero: Some("none"),
        },
        example: "7d",
        doc: "How long a put lives that does not say otherwise; what merges create stays.",
        reason: "When something is no longer wanted is known to nobody but the user.",
        access: field!(ttl_ms),
    },
    Setting {
        name: "merge_operator",
        rank: Rank::Normal,
        is_live: false,
        shape: Shape::Operator,
        example: "uint64add",
        doc: "How merge operands fold into a value; without one, merges are refused.",
        reason: "The meaning of values is the user's.",
        access: field!(merge),
    },
    Setting {
        name: UNLOGGED,
        rank: Rank::Expert,
        is_live: false,
        shape: Shape::Flag,
        example: "true",
        doc: "Whether writes to the keyspace stay out of the log; settled when it is created, and \
              never so of `default`.",
        reason: "Whether there is another log that brings back what a crash took is the user's to \
                 know.",
        access: field!(is_unlogged),
    },
    Setting {
        name: OWN_CLOCK,
        rank: Rank::Expert,
        is_live: false,
        shape: Shape::Flag,
        example: "true",
        doc: "Whether what ends in the keyspace does so by the time that marks bring, not by the \
              machine's clock; of unlogged keyspaces only, and settled when one is created.",
        reason: "Only the user knows whether several machines must drop the same records.",
        access: field!(has_own_clock),
    },
    Setting {
        name: "memtable.size",
        rank: Rank::Expert,
        is_live: true,
        shape: size(16 << 10, 2 << 30, Some("auto")),
        example: "64MiB",
        doc: "Bytes of a memtable after which it is sealed and flushed; `auto` derives it from \
              the memory limit.",
        reason: "It can: set it to compare with other engines, or for one keyspace among many.",
        access: field!(memtable_bytes),
    },
    Setting {
        name: "value_log.threshold",
        rank: Rank::Expert,
        is_live: true,
        shape: size(32, 1 << 30, Some("none")),
        example: "16KiB",
        doc: "Bytes from which on a new value lies in the value log, and the tree points to it; \
              `none` keeps all values in sorted files.",
        reason: "Values apart are written once and read by a call of their own; which pays more \
                 depends on how often they are written, read and scanned.",
        access: field!(value_threshold_bytes),
    },
    Setting {
        name: "sst.block_size",
        rank: Rank::Expert,
        is_live: true,
        shape: size(512, 16 << 20, None),
        example: "16KiB",
        doc: "Plain bytes after which a data block is closed.",
        reason: "Small blocks suit point reads, large ones scans and compression.",
        access: field!(sst.block_size_bytes),
    },
    Setting {
        name: "sst.restart_interval",
        rank: Rank::Expert,
        is_live: true,
        shape: count(1, 1024),
        example: "8",
        doc: "Entries between two whole keys inside a block.",
        reason: "Fewer are quicker to search and take more space.",
        access: field!(sst.restart_interval),
    },
    Setting {
        name: "sst.filter_bits",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Decimal {
            min: 0.0,
            max: 32.0,
        },
        example: "12",
        doc: "Filter bits for each key; 0 writes no filters.",
        reason: "Filters pay only where keys are asked for that do not exist.",
        access: field!(sst.filter_bits_per_key),
    },
    Setting {
        name: "sst.compression_upper",
        rank: Rank::Expert,
        is_live: true,
        shape: BLOCK_PACKINGS,
        example: "none",
        doc: "How blocks of the two newest levels are compressed: they are short-lived.",
        reason: "It can, from `compression`: set it where processor time is scarcer than disk.",
        access: field!(sst.compression_upper),
    },
    Setting {
        name: "sst.zstd_level",
        rank: Rank::Expert,
        is_live: true,
        shape: count(-7, 22),
        example: "3",
        doc: "Level given to zstd, where it is used: higher compresses tighter and slower.",
        reason: "How much time a byte of disk is worth is the user's to say.",
        access: field!(sst.zstd_level),
    },
    Setting {
        name: "sst.hash_index",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Flag,
        example: "false",
        doc: "Whether data blocks carry a hash index for point reads.",
        reason: "It is wasted space where there are only scans.",
        access: field!(sst.block_hash_index),
    },
    Setting {
        name: "sst.index_partition",
        rank: Rank::Expert,
        is_live: true,
        shape: size(4 << 10, 1 << 30, None),
        example: "256KiB",
        doc: "Index bytes beyond which the index of a file is split into two levels.",
        reason: "One level is a step less for each read, and stays in memory whole.",
        access: field!(sst.index_partition_bytes),
    },
    Setting {
        name: "sst.file_size",
        rank: Rank::Expert,
        is_live: true,
        shape: size(16 << 10, 64 << 30, None),
        example: "64MiB",
        doc: "Bytes after which an output of flush or compaction is cut into a new file.",
        reason: "Small files are merged and given back sooner, large ones are fewer to keep.",
        access: field!(sst.file_size_bytes),
    },
    Setting {
        name: "sst.dictionary_min",
        rank: Rank::Expert,
        is_live: true,
        shape: size(0, 1 << 40, None),
        example: "1MiB",
        doc: "Bytes of a keyspace, uncompressed, from which on `compression = searchable` trains a \
              dictionary for it; until then all files are made of blocks.",
        reason: "A dictionary takes seconds and some kilobytes, which small keyspaces may not \
                 be worth.",
        access: field!(sst.dictionary_min_bytes),
    },
    Setting {
        name: "compaction.l0_trigger",
        rank: Rank::Expert,
        is_live: true,
        shape: count(1, 1024),
        example: "8",
        doc: "Runs in level 0 that call for a compaction.",
        reason: "Fewer make reads quick, more make writes cheap.",
        access: field!(compaction.l0_trigger),
    },
    Setting {
        name: "compaction.base_level",
        rank: Rank::Expert,
        is_live: true,
        shape: size(64 << 10, 1 << 50, None),
        example: "512MiB",
        doc: "Bytes of the first sorted level; deeper ones follow from the bottom level's size.",
        reason: "Small ones make space come back sooner, large ones make writes cheap.",
        access: field!(compaction.base_level_bytes),
    },
    Setting {
        name: "compaction.level_growth",
        rank: Rank::Expert,
        is_live: true,
        shape: count(2, 100),
        example: "8",
        doc: "How many times larger each level may be than the one above.",
        reason: "Less means more levels to read, more means each byte is written more often.",
        access: field!(compaction.level_growth),
    },
    Setting {
        name: "compaction.subcompactions",
        rank: Rank::Expert,
        is_live: true,
        shape: count(1, 64),
        example: "4",
        doc: "Pieces into which one large compaction is split to run in parallel.",
        reason: "More finish sooner and leave fewer threads for other work.",
        access: field!(compaction.subcompactions_max),
    },
    Setting {
        name: "compaction.automatic",
        rank: Rank::Expert,
        is_live: true,
        shape: Shape::Flag,
        example: "false",
        doc: "Whether compactions run by themselves; asking for one works either way.",
        reason: "Measurements and imports want to choose the moment.",
        access: field!(compaction.is_automatic),
    },
];
