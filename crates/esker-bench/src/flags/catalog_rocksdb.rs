//! Flags that are accepted so that old command lines run, and why they have no effect.

use crate::flags::flag::{Flag, Kind, Known, without};

const BOOL: Kind = Kind::Bool;
const WHOLE: Kind = Kind::Whole(i64::MIN, i64::MAX);
const NUMBER: Kind = Kind::Number(f64::MIN, f64::MAX);

const SEEK: &str = "no compaction is triggered by reads here";
const JANITOR: &str = "dead files are removed when the last reader leaves them, without a scan";
const CUTS: &str = "compactions are cut by the engine's own rule";
const STALLS: &str = "writers are slowed by memory and by what compaction owes";
const ONE: &str = "one database with one keyspace is measured";
const CACHE: &str = "the engine divides its cache by itself";
const FILES: &str = "the engine chooses how it reads and writes files";
const TABLE: &str = "there is one kind of sorted file";
const MEMTABLE: &str = "there is one kind of memtable";
const SYNC: &str = "files are always synced before they are used";

/// The flags.
pub static WITHOUT_EFFECT: &[Flag] = &[
    without(
        "comparisons",
        BOOL,
        Known::LevelDb,
        "keys are compared inside the engine, where nobody counts",
    ),
    without(
        "reuse_logs",
        BOOL,
        Known::LevelDb,
        "logs are replayed and then replaced",
    ),
    without("disable_seek_compaction", WHOLE, Known::RocksDbs, SEEK),
    without(
        "delete_obsolete_files_period_micros",
        WHOLE,
        Known::RocksDbs,
        JANITOR,
    ),
    without("max_grandparent_overlap_factor", WHOLE, Known::Old, CUTS),
    without("source_compaction_factor", WHOLE, Known::Old, CUTS),
    without("expanded_compaction_factor", WHOLE, Known::Old, CUTS),
    without("max_compaction_bytes", WHOLE, Known::New, CUTS),
    without("disable_data_sync", BOOL, Known::Old, SYNC),
    without("soft_rate_limit", NUMBER, Known::Old, STALLS),
    without("hard_rate_limit", NUMBER, Known::Old, STALLS),
    without(
        "rate_limit_delay_max_milliseconds",
        WHOLE,
        Known::Old,
        STALLS,
    ),
    without("delayed_write_rate", WHOLE, Known::New, STALLS),
    without(
        "soft_pending_compaction_bytes_limit",
        WHOLE,
        Known::New,
        STALLS,
    ),
    without(
        "hard_pending_compaction_bytes_limit",
        WHOLE,
        Known::New,
        STALLS,
    ),
    without(
        "use_multiget",
        BOOL,
        Known::Old,
        "multireadrandom is a benchmark of its own",
    ),
    without(
        "keys_per_multiget",
        WHOLE,
        Known::Old,
        "--batch_size says it now",
    ),
    without(
        "multiread_batched",
        BOOL,
        Known::New,
        "there is one call for several keys",
    ),
    without(
        "read_range",
        WHOLE,
        Known::Old,
        "seekrandom with --seek_nexts reads ranges",
    ),
    without(
        "warn_missing_keys",
        BOOL,
        Known::Old,
        "missing keys are counted",
    ),
    without(
        "writes_per_second",
        WHOLE,
        Known::Old,
        "--benchmark_write_rate_limit or --target_rate say it now",
    ),
    without("use_snapshot", BOOL, Known::Old, "reads see the present"),
    without(
        "get_approx",
        BOOL,
        Known::Old,
        "sizes are not estimated by reads",
    ),
    without(
        "target_file_size_multiplier",
        WHOLE,
        Known::RocksDbs,
        "files are of one size on all levels",
    ),
    without(
        "max_bytes_for_level_multiplier_additional",
        Kind::Text,
        Known::RocksDbs,
        "levels grow by one factor",
    ),
    without(
        "level_compaction_dynamic_level_bytes",
        BOOL,
        Known::New,
        "level sizes always follow from the bottom level",
    ),
    without(
        "min_write_buffer_number_to_merge",
        WHOLE,
        Known::RocksDbs,
        "memtables are flushed as they come",
    ),
    without(
        "max_background_flushes",
        WHOLE,
        Known::RocksDbs,
        "flushes and compactions share their threads",
    ),
    without(
        "compaction_style",
        WHOLE,
        Known::RocksDbs,
        "compaction is leveled",
    ),
    without(
        "universal_size_ratio",
        WHOLE,
        Known::RocksDbs,
        "compaction is leveled",
    ),
    without(
        "compaction_pri",
        WHOLE,
        Known::New,
        "the engine chooses what to compact",
    ),
    without("compaction_readahead_size", WHOLE, Known::New, FILES),
    without("bufferedio", BOOL, Known::Old, FILES),
    without("mmap_write", BOOL, Known::RocksDbs, FILES),
    without(
        "readonly",
        BOOL,
        Known::RocksDbs,
        "the database is opened for writing",
    ),
    without("advise_random_on_open", BOOL, Known::RocksDbs, FILES),
    without("compaction_fadvice", Kind::Text, Known::RocksDbs, FILES),
    without("use_direct_reads", BOOL, Known::New, FILES),
    without(
        "use_direct_io_for_flush_and_compaction",
        BOOL,
        Known::New,
        FILES,
    ),
    without("use_fsync", BOOL, Known::RocksDbs, FILES),
    without("bytes_per_sync", WHOLE, Known::RocksDbs, FILES),
    without("wal_bytes_per_sync", WHOLE, Known::New, FILES),
    without(
        "wal_dir",
        Kind::Text,
        Known::RocksDbs,
        "the log lies in the database's directory",
    ),
    without(
        "wal_ttl_seconds",
        WHOLE,
        Known::RocksDbs,
        "the log goes when its entries lie in sorted files",
    ),
    without(
        "wal_size_limit_MB",
        WHOLE,
        Known::RocksDbs,
        "the log goes when its entries lie in sorted files",
    ),
    without(
        "max_total_wal_size",
        WHOLE,
        Known::New,
        "set it with --set=wal.total_size=…",
    ),
    without(
        "verify_checksum",
        BOOL,
        Known::RocksDbs,
        "every block is always checked",
    ),
    without(
        "use_existing_keys",
        BOOL,
        Known::New,
        "keys are drawn from [0, --num)",
    ),
    without("num_column_families", WHOLE, Known::New, ONE),
    without("num_multi_db", WHOLE, Known::RocksDbs, ONE),
    without("cache_numshardbits", WHOLE, Known::RocksDbs, CACHE),
    without("cache_index_and_filter_blocks", BOOL, Known::New, CACHE),
    without(
        "pin_l0_filter_and_index_blocks_in_cache",
        BOOL,
        Known::New,
        CACHE,
    ),
    without("cache_high_pri_pool_ratio", NUMBER, Known::New, CACHE),
    without("cache_type", Kind::Text, Known::New, CACHE),
    without("compressed_cache_size", WHOLE, Known::RocksDbs, CACHE),
    without("row_cache_size", WHOLE, Known::New, CACHE),
    without("use_cache_memkind_kmem_allocator", BOOL, Known::New, CACHE),
    without("table_cache_numshardbits", WHOLE, Known::RocksDbs, CACHE),
    without("format_version", WHOLE, Known::New, TABLE),
    without("index_block_restart_interval", WHOLE, Known::New, TABLE),
    without("use_plain_table", BOOL, Known::RocksDbs, TABLE),
    without("use_hash_search", BOOL, Known::New, TABLE),
    without("whole_key_filtering", BOOL, Known::New, TABLE),
    without("partition_index_and_filters", BOOL, Known::New, TABLE),
    without("memtablerep", Kind::Text, Known::RocksDbs, MEMTABLE),
    without("hash_bucket_count", WHOLE, Known::RocksDbs, MEMTABLE),
    without("memtable_bloom_size_ratio", NUMBER, Known::New, MEMTABLE),
    without(
        "memtable_insert_with_hint_prefix_size",
        WHOLE,
        Known::New,
        MEMTABLE,
    ),
    without("inplace_update_support", BOOL, Known::RocksDbs, MEMTABLE),
    without(
        "allow_concurrent_memtable_write",
        BOOL,
        Known::New,
        MEMTABLE,
    ),
    without(
        "enable_write_thread_adaptive_yield",
        BOOL,
        Known::New,
        MEMTABLE,
    ),
    without("enable_pipelined_write", BOOL, Known::New, MEMTABLE),
    without(
        "filter_deletes",
        BOOL,
        Known::Old,
        "deletes are always written",
    ),
    without(
        "purge_redundant_kvs_while_flush",
        BOOL,
        Known::Old,
        "flushes always drop what is hidden",
    ),
    without(
        "use_tailing_iterator",
        BOOL,
        Known::RocksDbs,
        "iterators see the moment they were made",
    ),
    without(
        "iter_refresh_interval_us",
        WHOLE,
        Known::RocksDbs,
        "iterators see the moment they were made",
    ),
    without("perf_level", WHOLE, Known::New, "counters are always kept"),
    without(
        "thread_status_per_interval",
        WHOLE,
        Known::New,
        "threads are told of one by one anyway",
    ),
    without(
        "stats_dump_period_sec",
        WHOLE,
        Known::New,
        "use --stats_per_interval",
    ),
    without(
        "open_as_follower",
        BOOL,
        Known::New,
        "there is no other process to follow",
    ),
    without("options_file", Kind::Text, Known::New, "use --set"),
    without(
        "max_scan_distance",
        WHOLE,
        Known::New,
        "scans end by --seek_nexts",
    ),
    without(
        "compression_zstd_max_train_bytes",
        WHOLE,
        Known::New,
        "blocks are packed without a dictionary",
    ),
    without(
        "compression_max_dict_bytes",
        WHOLE,
        Known::New,
        "blocks are packed without a dictionary",
    ),
    without(
        "compression_parallel_threads",
        WHOLE,
        Known::New,
        "--subcompactions makes compactions parallel",
    ),
    without(
        "slow_usecs",
        WHOLE,
        Known::New,
        "the histogram and --json tell of slow operations",
    ),
    without(
        "enable_numa",
        BOOL,
        Known::New,
        "threads run where the system puts them",
    ),
    without(
        "progress_reports",
        BOOL,
        Known::New,
        "there is a live line on a terminal, and silence in a pipe",
    ),
];
