//! Every benchmark of db_bench, once.

use crate::flags::flag::Dialect;
use crate::flags::flag::Known::{self, All, LevelDb, LevelDbAndOld, New, RocksDbs};
use crate::scenario::db_bench::operation::{Count, Does, Method, Operation, as_given};
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::Numbers;
use crate::scenario::db_bench::{processor, reads, updates, writes};

/// Every benchmark.
pub static OPERATIONS: &[Operation] = &[
    fresh("fillseq", All, writes::sequential, one_by_one),
    fresh("fillbatch", All, writes::sequential, thousands),
    fresh("fillrandom", All, writes::random, one_by_one),
    fresh("fillsync", All, writes::random, synced),
    fresh("fill100K", All, writes::random, large),
    fresh("filluniquerandom", RocksDbs, writes::unique, one_by_one),
    kept(fresh("overwrite", All, writes::random, one_by_one)),
    walk("readseq", All, reads::forward),
    walk("readreverse", All, reads::backward),
    checked(read("readrandom", All, reads::random)),
    read("readmissing", All, reads::missing),
    checked(read("readhot", LevelDbAndOld, reads::hot)),
    Operation {
        adjust: |numbers, _| numbers.reads = (numbers.reads / 1000).max(1),
        ..checked(read("readrandomsmall", All, reads::random))
    },
    read("seekrandom", All, reads::seek_random),
    read("seekordered", LevelDb, reads::seek_ordered),
    read("newiterator", RocksDbs, reads::new_cursors),
    Operation {
        adjust: |numbers, _| numbers.reads = numbers.reads.div_ceil(numbers.per_batch.max(1)),
        ..read("multireadrandom", RocksDbs, reads::multi_random)
    },
    delete("deleteseq", writes::delete_sequential, false),
    delete("deleterandom", writes::delete_random, true),
    beside("readwhilewriting", All, reads::random, PUTS),
    merging(beside("readwhilemerging", RocksDbs, reads::random, MERGES)),
    beside("seekrandomwhilewriting", RocksDbs, SEEKS, PUTS),
    merging(beside("seekrandomwhilemerging", RocksDbs, SEEKS, MERGES)),
    update("updaterandom", updates::update_random),
    update("appendrandom", updates::append_random),
    update("xorupdaterandom", updates::xor_random),
    merging(update("mergerandom", updates::merge_random)),
    merging(update("readrandommergerandom", updates::read_merge_random)),
    checked(update("readrandomwriterandom", updates::read_write_random)),
    own("crc32c", All, processor::crc),
    own("xxhash", RocksDbs, processor::xxhash32),
    own("xxhash64", New, processor::xxhash64),
    own("xxh3", New, processor::xxhash3),
    own("snappycomp", LevelDbAndOld, processor::snappy_pack),
    own("snappyuncomp", LevelDbAndOld, processor::snappy_unpack),
    own("zstdcomp", LevelDb, processor::zstd_pack),
    own("zstduncomp", LevelDb, processor::zstd_unpack),
    own("compress", New, processor::any_pack),
    own("uncompress", New, processor::any_unpack),
    own("acquireload", All, processor::acquire_load),
    operation("open", LevelDb, Does::Reopen),
    operation("compact", All, Does::Timed(|bench| bench.store.compact())),
    operation(
        "compactall",
        New,
        Does::Untimed(|bench| bench.store.compact()),
    ),
    operation("flush", New, Does::Untimed(|bench| bench.store.flush())),
    operation(
        "waitforcompaction",
        New,
        Does::Untimed(|bench| bench.store.drain()),
    ),
    operation(
        "verifychecksum",
        New,
        Does::Timed(|bench| bench.store.verify()),
    ),
    operation("stats", All, Does::Property("stats")),
    operation("sstables", All, Does::Property("sstables")),
    operation("levelstats", RocksDbs, Does::Property("levelstats")),
    operation("memstats", New, Does::Property("approximate-memory-usage")),
    operation("resetstats", New, Does::ResetStats),
];

const SEEKS: Method = reads::seek_random;
const PUTS: Method = writes::put_beside;
const MERGES: Method = writes::merge_beside;

/// The benchmark of that name, if the dialect has it. Names that another dialect has are ours to
/// run where none was asked for.
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// Whether LevelDB's db_bench has no such benchmark, and RocksDB's has.
pub fn needs_rocksdb(name: &str) -> bool {
    find(name).is_some_and(|operation| !operation.is_known_to(Dialect::LevelDb))
}

const fn operation(name: &'static str, known: Known, does: Does) -> Operation {
    Operation {
        name,
        known,
        is_fresh: false,
        needs_merge: false,
        is_write: false,
        is_checked: false,
        adjust: as_given,
        does,
    }
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
        is_fresh: true,
        is_write: true,
        adjust,
        ..operation(name, known, work(method, Count::Writes, false))
    }
}

/// Of random reads, which `--duration` may bound.
const fn read(name: &'static str, known: Known, method: Method) -> Operation {
    operation(name, known, work(method, Count::Reads, true))
}

/// Of reads in order, which end at the end.
const fn walk(name: &'static str, known: Known, method: Method) -> Operation {
    operation(name, known, work(method, Count::Reads, false))
}

/// Of work that knows itself when it has enough.
const fn own(name: &'static str, known: Known, method: Method) -> Operation {
    operation(name, known, work(method, Count::Own, false))
}

const fn delete(name: &'static str, method: Method, is_by_time: bool) -> Operation {
    Operation {
        is_write: true,
        ..operation(name, All, work(method, Count::Deletes, is_by_time))
    }
}

const fn update(name: &'static str, method: Method) -> Operation {
    Operation {
        is_write: true,
        ..operation(name, RocksDbs, work(method, Count::Updates, true))
    }
}

const fn beside(name: &'static str, known: Known, method: Method, other: Method) -> Operation {
    let does = Does::Work {
        method,
        beside: Some(other),
        count: Count::Reads,
        is_by_time: true,
    };
    Operation {
        is_write: true,
        ..operation(name, known, does)
    }
}

const fn kept(operation: Operation) -> Operation {
    Operation {
        is_fresh: false,
        ..operation
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
    numbers.value_bytes = 100 * 1000;
    fewer(numbers, setup);
}
