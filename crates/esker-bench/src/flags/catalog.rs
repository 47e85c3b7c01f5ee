//! The flags that say what is done, each told once; ours come last.

use crate::flags::catalog_engine::ENGINE_FLAGS;
use crate::flags::catalog_mixed::MIXED_FLAGS;
use crate::flags::catalog_rocksdb::WITHOUT_EFFECT;
use crate::flags::flag::{Flag, Kind, Known, flag};

const BOOL: Kind = Kind::Bool;
const TEXT: Kind = Kind::Text;
/// Counts: a million million is beyond any run that ends.
const COUNT: Kind = Kind::Whole(0, 1_000_000_000_000);
/// Counts for which a negative number means "as --num says" or "as the engine likes".
const SIGNED: Kind = Kind::Whole(-1, 1_000_000_000_000);
/// What is done.
static WORK_FLAGS: &[Flag] = &[
    flag(
        "benchmarks",
        TEXT,
        Known::All,
        "",
        "comma list of benchmarks, run in this order",
    ),
    flag(
        "num",
        Kind::Whole(1, 1_000_000_000_000),
        Known::All,
        "1000000",
        "keys of the key space, and operations of each thread",
    ),
    flag(
        "reads",
        SIGNED,
        Known::All,
        "-1",
        "reads of each thread; -1 is --num",
    ),
    flag(
        "writes",
        SIGNED,
        Known::RocksDbs,
        "-1",
        "writes of each thread; -1 is --num",
    ),
    flag(
        "deletes",
        SIGNED,
        Known::RocksDbs,
        "-1",
        "deletes of each thread; -1 is --num",
    ),
    flag(
        "threads",
        Kind::Whole(1, 4096),
        Known::All,
        "1",
        "threads; each does the full count",
    ),
    flag(
        "value_size",
        Kind::Whole(0, 1 << 30),
        Known::All,
        "100",
        "bytes of a value",
    ),
    flag(
        "key_size",
        Kind::Whole(1, 65_000),
        Known::RocksDbs,
        "16",
        "bytes of a key",
    ),
    flag(
        "key_prefix",
        Kind::Whole(0, 1000),
        Known::LevelDb,
        "0",
        "bytes in front of every key",
    ),
    flag(
        "prefix_size",
        Kind::Whole(0, 65_000),
        Known::New,
        "0",
        "bytes of a key's prefix",
    ),
    flag(
        "keys_per_prefix",
        COUNT,
        Known::New,
        "0",
        "keys that share a prefix",
    ),
    flag(
        "compression_ratio",
        Kind::Number(0.0, 1.0),
        Known::All,
        "0.5",
        "share of a value that is left after packing",
    ),
    flag(
        "value_size_distribution_type",
        TEXT,
        Known::New,
        "fixed",
        "fixed, uniform or normal",
    ),
    flag(
        "value_size_min",
        Kind::Whole(0, 1 << 30),
        Known::New,
        "100",
        "shortest value of a distribution",
    ),
    flag(
        "value_size_max",
        Kind::Whole(0, 1 << 30),
        Known::New,
        "102400",
        "longest value of a distribution",
    ),
    flag(
        "same_value_percentage",
        Kind::Number(0.0, 100.0),
        Known::New,
        "0",
        "percent of values that are the same",
    ),
    flag(
        "batch_size",
        Kind::Whole(1, 1_000_000),
        Known::New,
        "1",
        "writes of a batch, reads of a group",
    ),
    flag(
        "db",
        TEXT,
        Known::All,
        "",
        "directory; $TEST_TMPDIR/dbbench unless given",
    ),
    flag(
        "use_existing_db",
        BOOL,
        Known::All,
        "0",
        "keep the database; benchmarks that want a fresh one are skipped",
    ),
    flag(
        "histogram",
        BOOL,
        Known::All,
        "0",
        "print a histogram of latencies",
    ),
    flag(
        "statistics",
        BOOL,
        Known::RocksDbs,
        "0",
        "print the engine's counters at the end",
    ),
    flag(
        "stats_interval",
        COUNT,
        Known::RocksDbs,
        "0",
        "tell the progress of each thread every so many operations",
    ),
    flag(
        "stats_interval_seconds",
        COUNT,
        Known::RocksDbs,
        "0",
        "the same every so many seconds",
    ),
    flag(
        "stats_per_interval",
        COUNT,
        Known::RocksDbs,
        "0",
        "print the engine's statistics with each report",
    ),
    flag(
        "report_file",
        TEXT,
        Known::New,
        "report.csv",
        "file for --report_interval_seconds",
    ),
    flag(
        "report_interval_seconds",
        COUNT,
        Known::New,
        "0",
        "write throughput over time, every so many seconds",
    ),
    flag(
        "duration",
        COUNT,
        Known::RocksDbs,
        "0",
        "seconds; random work goes by time instead of counts",
    ),
    flag(
        "seed",
        Kind::Whole(0, i64::MAX),
        Known::RocksDbs,
        "0",
        "base of the seeds; 0 is the dialect's own (RocksDB: the clock)",
    ),
    flag(
        "confidence_interval_only",
        BOOL,
        Known::New,
        "0",
        "print confidence intervals of repeats",
    ),
    flag("sync", BOOL, Known::RocksDbs, "0", "sync each write"),
    flag(
        "disable_wal",
        BOOL,
        Known::RocksDbs,
        "0",
        "writes skip the log",
    ),
    flag(
        "finish_after_writes",
        BOOL,
        Known::New,
        "0",
        "the writer of readwhilewriting does its count",
    ),
    flag(
        "merge_operator",
        TEXT,
        Known::RocksDbs,
        "",
        "uint64add, put, put_v1, stringappend, stringappendtest, max, bytesxor or sortlist",
    ),
    flag(
        "merge_keys",
        SIGNED,
        Known::RocksDbs,
        "-1",
        "distinct keys of merges; -1 is --num",
    ),
    flag(
        "mergereadpercent",
        Kind::Whole(0, 100),
        Known::RocksDbs,
        "70",
        "percent of merges in readrandommergerandom",
    ),
    flag(
        "readwritepercent",
        Kind::Whole(0, 100),
        Known::RocksDbs,
        "90",
        "percent of reads in readrandomwriterandom",
    ),
    flag(
        "seek_nexts",
        COUNT,
        Known::New,
        "0",
        "entries to read behind each seek",
    ),
    flag(
        "reverse_iterator",
        BOOL,
        Known::New,
        "0",
        "read them backwards",
    ),
    flag(
        "multiread_stride",
        COUNT,
        Known::New,
        "0",
        "distance of the keys of a group",
    ),
    flag(
        "read_random_exp_range",
        Kind::Number(0.0, 100.0),
        Known::New,
        "0",
        "exponent that skews random reads",
    ),
    // Ours.
    flag(
        "compat",
        TEXT,
        Known::Own,
        "",
        "leveldb, rocksdb2013 or rocksdb; unless given, the flags decide",
    ),
    flag(
        "yes",
        BOOL,
        Known::Own,
        "0",
        "with --use_existing_db=0: destroy a database that no benchmark made",
    ),
    flag(
        "json",
        TEXT,
        Known::Own,
        "",
        "write everything measured to this file",
    ),
    flag(
        "target_rate",
        Kind::Number(0.0, 1e9),
        Known::Own,
        "0",
        "operations a second of all threads (open loop); 0 is a closed loop",
    ),
    flag(
        "value_source",
        TEXT,
        Known::Own,
        "random",
        "random, or file:<path>: each line is a value",
    ),
    flag(
        "key_distribution",
        TEXT,
        Known::Own,
        "",
        "keys of random work: uniform, zipfian:0.99, latest, hotspot:0.2:0.8 …",
    ),
    flag(
        "verify",
        BOOL,
        Known::Own,
        "0",
        "values belong to their keys; readrandom, readhot and readrandomwriterandom check them",
    ),
    flag(
        "drain",
        BOOL,
        Known::Own,
        "0",
        "wait for background work after each write benchmark, within its time",
    ),
    flag(
        "drop_cache",
        BOOL,
        Known::Own,
        "0",
        "before each benchmark that only reads: close, drop the files from the page cache, open",
    ),
    flag(
        "drop_system_cache",
        BOOL,
        Known::Own,
        "0",
        "with --drop_cache: then all that the system has cached, where it may be done",
    ),
    flag(
        "warm_up",
        COUNT,
        Known::Own,
        "0",
        "seconds of work in front of each benchmark that do not count",
    ),
    flag(
        "set",
        TEXT,
        Known::Own,
        "",
        "settings of the engine by their own names: name=value,name=value",
    ),
];

/// The flag of that name, with or without effect.
pub fn find(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.name == name)
}

/// Every flag with an effect.
pub fn effective() -> impl Iterator<Item = &'static Flag> {
    let mixed = MIXED_FLAGS.iter().filter(|flag| flag.without.is_empty());
    WORK_FLAGS.iter().chain(ENGINE_FLAGS).chain(mixed)
}

/// Every flag.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    let mixed = MIXED_FLAGS.iter().filter(|flag| !flag.without.is_empty());
    effective().chain(WITHOUT_EFFECT).chain(mixed)
}
