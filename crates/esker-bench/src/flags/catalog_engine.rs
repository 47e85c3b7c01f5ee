//! The flags that say how the engine is set up, each told once.

use crate::flags::flag::{Flag, Kind, Known, differing, flag};

const BOOL: Kind = Kind::Bool;
const TEXT: Kind = Kind::Text;
/// Counts: a million million is beyond anything that can be set.
const COUNT: Kind = Kind::Whole(0, 1_000_000_000_000);
/// Counts for which -1 means "as the engine likes".
const SIGNED: Kind = Kind::Whole(-1, 1_000_000_000_000);
/// Sizes up to 1 PiB, beyond any one machine.
const BYTES: Kind = Kind::Whole(0, 1 << 50);
/// Sizes where -1 means "as the engine likes".
const BYTES_OR_NOT: Kind = Kind::Whole(-1, 1 << 50);

/// How the engine is set up. Defaults: LevelDB, RocksDB of 2013, RocksDB.
pub(crate) static ENGINE_FLAGS: &[Flag] = &[
    differing(
        "block_size",
        Kind::Whole(1, 1 << 30),
        Known::All,
        ["4096"; 3],
        "bytes of a block",
    ),
    differing(
        "write_buffer_size",
        BYTES,
        Known::All,
        ["4194304", "4194304", "67108864"],
        "bytes of a memtable",
    ),
    flag(
        "max_write_buffer_number",
        COUNT,
        Known::RocksDbs,
        "2",
        "memtables at the same time",
    ),
    flag(
        "max_file_size",
        BYTES,
        Known::LevelDb,
        "2097152",
        "bytes of a sorted file",
    ),
    differing(
        "target_file_size_base",
        BYTES,
        Known::RocksDbs,
        ["", "2097152", "67108864"],
        "bytes of a sorted file",
    ),
    differing(
        "cache_size",
        BYTES_OR_NOT,
        Known::All,
        ["-1", "-1", "33554432"],
        "bytes of block cache; -1 is 8 MiB",
    ),
    flag(
        "bloom_bits",
        Kind::Number(-1.0, 32.0),
        Known::All,
        "-1",
        "filter bits for each key; negative is none",
    ),
    differing(
        "open_files",
        SIGNED,
        Known::All,
        ["1000", "1000", "-1"],
        "files kept open; -1 is all",
    ),
    flag(
        "compression",
        BOOL,
        Known::LevelDb,
        "1",
        "pack blocks with snappy",
    ),
    flag(
        "compression_type",
        TEXT,
        Known::RocksDbs,
        "snappy",
        "none, snappy, lz4 or zstd",
    ),
    flag(
        "compression_level",
        Kind::Whole(-1000, 32767),
        Known::RocksDbs,
        "32767",
        "level of zstd; 32767 is its default",
    ),
    flag(
        "zstd_compression_level",
        Kind::Whole(-7, 22),
        Known::LevelDb,
        "1",
        "level of zstdcomp",
    ),
    flag(
        "min_level_to_compress",
        SIGNED,
        Known::RocksDbs,
        "-1",
        "levels above it stay unpacked; -1 packs all",
    ),
    flag(
        "block_restart_interval",
        Kind::Whole(1, 1024),
        Known::RocksDbs,
        "16",
        "entries between whole keys",
    ),
    flag(
        "max_background_compactions",
        SIGNED,
        Known::RocksDbs,
        "-1",
        "background threads",
    ),
    flag(
        "max_background_jobs",
        SIGNED,
        Known::New,
        "2",
        "background threads",
    ),
    flag(
        "subcompactions",
        COUNT,
        Known::New,
        "1",
        "pieces of one compaction",
    ),
    flag(
        "level0_file_num_compaction_trigger",
        COUNT,
        Known::RocksDbs,
        "4",
        "runs in level 0 that call for compaction",
    ),
    differing(
        "level0_slowdown_writes_trigger",
        COUNT,
        Known::RocksDbs,
        ["", "8", "20"],
        "runs that slow writers down",
    ),
    differing(
        "level0_stop_writes_trigger",
        COUNT,
        Known::RocksDbs,
        ["", "12", "36"],
        "runs that stop writers",
    ),
    flag("num_levels", COUNT, Known::RocksDbs, "7", "levels"),
    differing(
        "max_bytes_for_level_base",
        BYTES,
        Known::RocksDbs,
        ["", "10485760", "268435456"],
        "bytes of the first sorted level",
    ),
    flag(
        "max_bytes_for_level_multiplier",
        Kind::Number(1.0, 1000.0),
        Known::RocksDbs,
        "10",
        "growth from level to level",
    ),
    flag(
        "disable_auto_compactions",
        BOOL,
        Known::RocksDbs,
        "0",
        "compact only when told to",
    ),
    flag(
        "rate_limiter_bytes_per_sec",
        COUNT,
        Known::New,
        "0",
        "bytes a second of background work",
    ),
    flag(
        "benchmark_write_rate_limit",
        COUNT,
        Known::New,
        "0",
        "bytes a second of writers; 0 is no limit",
    ),
    flag(
        "benchmark_read_rate_limit",
        COUNT,
        Known::New,
        "0",
        "reads a second of each thread; 0 is no limit",
    ),
    flag(
        "mmap_read",
        BOOL,
        Known::RocksDbs,
        "0",
        "read files through a memory map",
    ),
];
