//! Every benchmark of db_bench, once.

use crate::flags::flag::{Dialect, Known};
use crate::make::values::ValueSize;
use crate::scenario::db_bench::operation::{Count, Does, Method, Operation, as_given};
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::time_series::TIME_SERIES;
use crate::scenario::db_bench::work::{Bench, Numbers};
use crate::scenario::db_bench::{mix_graph, processor, reads, time_series, updates, writes};

/// Every benchmark.
pub static OPERATIONS: &[Operation] = &[
    fresh("fillseq", Known::All, writes::sequential, one_by_one),
    fresh("fillbatch", Known::All, writes::sequential, thousands),
    fresh("fillrandom", Known::All, writes::random, one_by_one),
    fresh("fillsync", Known::All, writes::random, synced),
    fresh("fill100K", Known::All, writes::random, large),
    fresh(
        "filluniquerandom",
        Known::RocksDbs,
        writes::unique_random,
        one_by_one,
    ),
    Operation {
        is_fresh: false,
        ..fresh("overwrite", Known::All, writes::random, one_by_one)
    },
    reading("readseq", Known::All, reads::forward, Count::Reads, false),
    reading(
        "readreverse",
        Known::All,
        reads::backward,
        Count::Reads,
        false,
    ),
    checked(reading(
        "readrandom",
        Known::All,
        reads::random,
        Count::Reads,
        true,
    )),
    reading(
        "readmissing",
        Known::All,
        reads::missing,
        Count::Reads,
        true,
    ),
    checked(reading(
        "readhot",
        Known::LevelDbAndOld,
        reads::hot,
        Count::Reads,
        true,
    )),
    Operation {
        adjust: |numbers, _| numbers.reads = (numbers.reads / 1000).max(1),
        ..checked(reading(
            "readrandomsmall",
            Known::All,
            reads::random,
            Count::Reads,
            true,
        ))
    },
    reading(
        "seekrandom",
        Known::All,
        reads::seek_random,
        Count::Reads,
        true,
    ),
    reading(
        "seekordered",
        Known::LevelDb,
        reads::seek_ordered,
        Count::Reads,
        true,
    ),
    reading(
        "newiterator",
        Known::RocksDbs,
        reads::new_cursors,
        Count::Reads,
        true,
    ),
    Operation {
        adjust: |numbers, _| numbers.reads = numbers.reads.div_ceil(numbers.per_batch.max(1)),
        ..reading(
            "multireadrandom",
            Known::RocksDbs,
            reads::multi_random,
            Count::Reads,
            true,
        )
    },
    reading(
        "multiscan",
        Known::New,
        reads::multi_scan,
        Count::Reads,
        true,
    ),
    reading(
        "readtocache",
        Known::New,
        reads::to_cache,
        Count::Own,
        false,
    ),
    fresh_reading("fillseekseq", writes::fill_seek),
    Operation {
        is_write: true,
        ..reading("mixgraph", Known::New, mix_graph::run, Count::Reads, true)
    },
    Operation {
        known: Known::New,
        is_fresh: true,
        does: Does::Work {
            method: time_series::write,
            beside: Some(time_series::read_or_delete),
            count: Count::Writes,
            is_by_time: true,
        },
        ..updating(TIME_SERIES, time_series::write)
    },
    deleting("deleteseq", writes::delete_sequential, false),
    deleting("deleterandom", writes::delete_random, true),
    beside(
        "readwhilewriting",
        Known::All,
        reads::random,
        writes::put_beside,
    ),
    merging(beside(
        "readwhilemerging",
        Known::RocksDbs,
        reads::random,
        writes::merge_beside,
    )),
    beside(
        "readwhilescanning",
        Known::New,
        reads::random,
        reads::scan_beside,
    ),
    beside(
        "seekrandomwhilewriting",
        Known::RocksDbs,
        reads::seek_random,
        writes::put_beside,
    ),
    merging(beside(
        "seekrandomwhilemerging",
        Known::RocksDbs,
        reads::seek_random,
        writes::merge_beside,
    )),
    beside(
        "multireadwhilewriting",
        Known::New,
        reads::multi_random,
        writes::put_beside,
    ),
    beside(
        "newiteratorwhilewriting",
        Known::RocksDbs,
        reads::new_cursors,
        writes::put_beside,
    ),
    updating("updaterandom", updates::update_random),
    updating("appendrandom", updates::append_random),
    updating("xorupdaterandom", updates::xor_random),
    merging(updating("mergerandom", updates::merge_random)),
    merging(updating(
        "readrandommergerandom",
        updates::read_merge_random,
    )),
    checked(updating(
        "readrandomwriterandom",
        updates::read_write_random,
    )),
    reading("crc32c", Known::All, processor::crc, Count::Own, false),
    reading(
        "xxhash",
        Known::RocksDbs,
        processor::xxhash32,
        Count::Own,
        false,
    ),
    reading(
        "xxhash64",
        Known::New,
        processor::xxhash64,
        Count::Own,
        false,
    ),
    reading("xxh3", Known::New, processor::xxhash3, Count::Own, false),
    reading(
        "snappycomp",
        Known::LevelDbAndOld,
        processor::snappy_pack,
        Count::Own,
        false,
    ),
    reading(
        "snappyuncomp",
        Known::LevelDbAndOld,
        processor::snappy_unpack,
        Count::Own,
        false,
    ),
    reading(
        "zstdcomp",
        Known::LevelDb,
        processor::zstd_pack,
        Count::Own,
        false,
    ),
    reading(
        "zstduncomp",
        Known::LevelDb,
        processor::zstd_unpack,
        Count::Own,
        false,
    ),
    reading(
        "compress",
        Known::New,
        processor::any_pack,
        Count::Own,
        false,
    ),
    reading(
        "uncompress",
        Known::New,
        processor::any_unpack,
        Count::Own,
        false,
    ),
    reading(
        "acquireload",
        Known::All,
        processor::acquire_load,
        Count::Own,
        false,
    ),
    doing("open", Known::LevelDb, Does::Reopen),
    doing(
        "compact",
        Known::All,
        Does::Timed(|bench| bench.store.compact()),
    ),
    doing(
        "compactall",
        Known::New,
        Does::Untimed(|bench| bench.store.compact()),
    ),
    doing(
        "compact0",
        Known::New,
        Does::Untimed(|bench| bench.store.compact()),
    ),
    doing(
        "compact1",
        Known::New,
        Does::Untimed(|bench| bench.store.compact()),
    ),
    doing(
        "flush",
        Known::New,
        Does::Untimed(|bench| bench.store.flush()),
    ),
    doing(
        "waitforcompaction",
        Known::New,
        Does::Untimed(|bench| bench.store.drain()),
    ),
    doing(
        "verifychecksum",
        Known::New,
        Does::Timed(|bench| bench.store.verify()),
    ),
    doing(
        "verifyfilechecksums",
        Known::New,
        Does::Timed(|bench| bench.store.verify()),
    ),
    doing(
        "heapprofile",
        Known::LevelDbAndOld,
        Does::Remark("heap profiling not supported"),
    ),
    missing("backup", "there are no backups yet"),
    missing("restore", "there are no backups yet"),
    missing("randomtransaction", "there are no transactions yet"),
    missing("ingestexternalfile", "files are not taken in yet"),
    missing("randomreplacekeys", "there are no single deletes"),
    missing(
        "getmergeoperands",
        "operands are folded before they are read",
    ),
    missing("approximatesizerandom", "sizes of ranges are not estimated"),
    missing(
        "approximatememtablestats",
        "sizes of ranges are not estimated",
    ),
    missing("randomwithverify", "--verify checks what random reads find"),
    missing(
        "verify",
        "two databases are not compared; see verifychecksum",
    ),
    missing("replay", "there are no traces of calls"),
    missing("openandcompact", "nobody compacts but the database itself"),
    missing(
        "stats_history",
        "--json keeps what was counted, benchmark by benchmark",
    ),
    missing("secondarycacheupdate", "there is one cache"),
    doing("stats", Known::All, Does::Property("stats")),
    doing("sstables", Known::All, Does::Property("sstables")),
    doing("levelstats", Known::RocksDbs, Does::Property("levelstats")),
    doing(
        "memstats",
        Known::New,
        Does::Property("approximate-memory-usage"),
    ),
    doing("resetstats", Known::New, Does::ResetStats),
];

/// The benchmark of that name, if the dialect has it. Names that another dialect has are ours to
/// run where none was asked for.
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// Whether LevelDB's db_bench has no such benchmark, and RocksDB's has.
pub fn needs_rocksdb(name: &str) -> bool {
    find(name).is_some_and(|operation| !operation.is_known_to(Dialect::LevelDb))
}

const fn work(method: Method, count: Count, is_by_time: bool) -> Does {
    Does::Work {
        method,
        beside: None,
        count,
        is_by_time,
    }
}

const fn fresh(
    name: &'static str,
    known: Known,
    method: Method,
    adjust: fn(&mut Numbers, &Setup),
) -> Operation {
    Operation {
        name,
        known,
        is_fresh: true,
        needs_merge: false,
        is_write: true,
        is_checked: false,
        adjust,
        does: work(method, Count::Writes, false),
    }
}

const fn reading(
    name: &'static str,
    known: Known,
    method: Method,
    count: Count,
    is_by_time: bool,
) -> Operation {
    Operation {
        name,
        known,
        is_fresh: false,
        needs_merge: false,
        is_write: false,
        is_checked: false,
        adjust: as_given,
        does: work(method, count, is_by_time),
    }
}

const fn deleting(name: &'static str, method: Method, is_by_time: bool) -> Operation {
    Operation {
        is_write: true,
        ..reading(name, Known::All, method, Count::Deletes, is_by_time)
    }
}

const fn updating(name: &'static str, method: Method) -> Operation {
    Operation {
        is_write: true,
        ..reading(name, Known::RocksDbs, method, Count::Updates, true)
    }
}

const fn beside(name: &'static str, known: Known, method: Method, other: Method) -> Operation {
    Operation {
        is_write: true,
        does: Does::Work {
            method,
            beside: Some(other),
            count: Count::Reads,
            is_by_time: true,
        },
        ..reading(name, known, method, Count::Reads, true)
    }
}

const fn checked(operation: Operation) -> Operation {
    Operation {
        is_checked: true,
        ..operation
    }
}

const fn merging(operation: Operation) -> Operation {
    Operation {
        needs_merge: true,
        ..operation
    }
}

const fn fresh_reading(name: &'static str, method: Method) -> Operation {
    Operation {
        is_fresh: true,
        is_write: true,
        ..reading(name, Known::New, method, Count::Own, false)
    }
}

const fn missing(name: &'static str, why: &'static str) -> Operation {
    doing(name, Known::RocksDbs, Does::Missing(why))
}

const fn doing(name: &'static str, known: Known, does: Does) -> Operation {
    Operation {
        does,
        ..reading(name, known, |_: &Bench<'_>, _| Ok(()), Count::Own, false)
    }
}

// LevelDB knows no batches but fillbatch's, and counts its writes by --num alone.
fn one_by_one(numbers: &mut Numbers, setup: &Setup) {
    numbers.how.sync |= setup.given.is("sync");
    by_batches(numbers);
}

fn by_batches(numbers: &mut Numbers) {
    numbers.per_batch = numbers.per_batch.max(1);
    numbers.writes = numbers.writes.div_ceil(numbers.per_batch);
}

fn thousands(numbers: &mut Numbers, _: &Setup) {
    numbers.per_batch = 1000;
    by_batches(numbers);
}

// RocksDB makes the key space smaller and not the count of operations, unless it is told one:
// each of the two is what its own users compare with.
fn fewer(numbers: &mut Numbers, setup: &Setup) {
    numbers.num = (numbers.num / 1000).max(1);
    if setup.dialect() == Dialect::LevelDb {
        numbers.writes = numbers.num;
    }
    by_batches(numbers);
}

fn synced(numbers: &mut Numbers, setup: &Setup) {
    numbers.how.sync = true;
    fewer(numbers, setup);
}

fn large(numbers: &mut Numbers, setup: &Setup) {
    numbers.value_size = ValueSize::Fixed(100 * 1000);
    fewer(numbers, setup);
}
