//! Every benchmark of db_bench, once.

use esker::CompressionType::{Snappy, Zstd};

use crate::flags::flag::Dialect;
use crate::flags::flag::Known::{self, All, LevelDb, LevelDbAndOld, New, RocksDbs};
use crate::scenario::db_bench::operation::{Count, Does, Method, Operation, as_given};
use crate::scenario::db_bench::processor::{self, pack, unpack};
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::Numbers;
use crate::scenario::db_bench::{reads, updates, writes};

/// Every benchmark.
pub static OPERATIONS: &[Operation] = &[
    fresh("fillseq", writes::sequential, one_by_one),
    fresh("fillrandom", writes::random, one_by_one),
    fresh("fillsync", writes::random, synced),
    fresh("fill100K", writes::random, large),
    Operation {
        is_fresh: false,
        ..fresh("overwrite", writes::random, one_by_one)
    },
    walk("readseq", reads::forward),
    walk("readreverse", reads::backward),
    Operation {
        is_checked: true,
        ..read("readrandom", All, reads::random)
    },
    read("readmissing", All, reads::missing),
    read("seekrandom", All, reads::seek_random),
    Operation {
        adjust: |numbers, _| numbers.reads = numbers.reads.div_ceil(numbers.per_batch.max(1)),
        ..read("multireadrandom", RocksDbs, reads::multi_random)
    },
    delete("deleteseq", writes::delete_sequential, false),
    delete("deleterandom", writes::delete_random, true),
    Operation {
        is_write: true,
        does: Does::Work {
            method: reads::random,
            beside: Some(writes::put_beside),
            count: Count::Reads,
            is_by_time: true,
        },
        ..read("readwhilewriting", All, reads::random)
    },
    update("updaterandom", updates::update_random),
    Operation {
        needs_merge: true,
        ..update("mergerandom", updates::merge_random)
    },
    own("crc32c", All, processor::crc),
    own("snappycomp", LevelDbAndOld, |bench, lane| {
        pack(bench, lane, Snappy)
    }),
    own("snappyuncomp", LevelDbAndOld, |bench, lane| {
        unpack(bench, lane, Snappy)
    }),
    own("zstdcomp", LevelDb, |bench, lane| pack(bench, lane, Zstd)),
    own("zstduncomp", LevelDb, |bench, lane| {
        unpack(bench, lane, Zstd)
    }),
    own("acquireload", All, processor::acquire_load),
    operation("compact", All, Does::Timed(|bench| bench.store.compact())),
    operation("flush", New, Does::Untimed(|bench| bench.store.flush())),
    operation(
        "waitforcompaction",
        New,
        Does::Untimed(|bench| bench.store.drain()),
    ),
    operation("stats", All, Does::Stats),
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

const fn fresh(name: &'static str, method: Method, adjust: fn(&mut Numbers, &Setup)) -> Operation {
    Operation {
        is_fresh: true,
        is_write: true,
        adjust,
        ..operation(name, All, work(method, Count::Writes, false))
    }
}

/// Of random reads, which `--duration` may bound.
const fn read(name: &'static str, known: Known, method: Method) -> Operation {
    operation(name, known, work(method, Count::Reads, true))
}

/// Of reads in order, which end at the end.
const fn walk(name: &'static str, method: Method) -> Operation {
    operation(name, All, work(method, Count::Reads, false))
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

fn one_by_one(numbers: &mut Numbers, setup: &Setup) {
    numbers.how.sync |= setup.given.is("sync");
}

// RocksDB makes the key space smaller and not the count of operations, unless it is told one:
// each of the two is what its own users compare with.
fn fewer(numbers: &mut Numbers, setup: &Setup) {
    numbers.num = (numbers.num / 1000).max(1);
    if setup.dialect() == Dialect::LevelDb {
        numbers.writes = numbers.num;
    }
}

fn synced(numbers: &mut Numbers, setup: &Setup) {
    numbers.how.sync = true;
    fewer(numbers, setup);
}

fn large(numbers: &mut Numbers, setup: &Setup) {
    numbers.value_bytes = 100 * 1000;
    fewer(numbers, setup);
}
