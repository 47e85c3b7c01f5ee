//! Times single parts of the engine, each against the simple thing it replaces.
//!
//! `cargo bench -p esker --bench parts [filter]`. Prints nanoseconds for each operation and, for
//! things that hold entries, bytes for each entry beyond key and value. Entries are those of the
//! usual key-value benchmarks: 16 decimal digits, 100 bytes of value.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use esker::internals::base::codec::checksum::{crc32c, hash64};
use esker::internals::base::hooks::merge_builtin::builtin;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::cursor::Cursor;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::key::Trailer;
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::limits::LOCKS_PER_OWNER_MAX;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::db::txn::locks::lock_id::TxnId;
use esker::internals::db::txn::locks::lock_mode::KeyMode;
use esker::internals::db::txn::locks::lock_table::LockTable;
use esker::internals::db::txn::locks::owned_locks::OwnedLocks;
use esker::internals::db::txn::locks::waiting::Patience;
use esker::internals::env::bundle::Env;
use esker::internals::env::fs::LogFile;
use esker::internals::env::primitives::ArcSwap;
use esker::internals::env::random::Random;
use esker::internals::env::real::log::RealLogFile;
use esker::internals::store::cache::block_key::BlockKey;
use esker::internals::store::mem::memtable::{Memtable, MemtableWriter};
use esker::internals::store::sst::block::fetch::{BlockCache, Cached};

/// Entries in each structure: about 150 MB, far beyond any cache.
const ENTRY_COUNT: u64 = 1_000_000;

/// Bytes of a value.
const VALUE_BYTES: usize = 100;

/// Bytes of a key.
const KEY_BYTES: usize = 16;

/// The keys 0 to `ENTRY_COUNT` in a random order, or as they rise.
fn keys(is_random: bool) -> Vec<[u8; KEY_BYTES]> {
    let mut random = Random::new(301);
    let number = |index| {
        if is_random {
            random.below(ENTRY_COUNT)
        } else {
            index
        }
    };
    let digits = |number: u64| format!("{number:016}").into_bytes().try_into();
    (0..ENTRY_COUNT)
        .map(number)
        .map(|number| digits(number).expect("16 digits"))
        .collect()
}

/// Nanoseconds of processor time that this thread has used: on a machine that does other things
/// too, the wall clock measures those. `None` where the system does not tell.
#[allow(clippy::disallowed_methods, reason = "a benchmark asks the real world")]
fn processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Runs `work` and prints what each of `count` operations took.
#[allow(clippy::disallowed_methods, reason = "a benchmark asks the real world")]
fn time<T>(name: &str, count: u64, work: impl FnOnce() -> T) -> T {
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let (begin, processor_begin) = (std::time::Instant::now(), processor_ns());
    let result = black_box(work());
    let wall = begin.elapsed().as_nanos() as f64 / count as f64;
    if filter.is_none_or(|filter| name.contains(&filter)) {
        let used = processor_ns()
            .zip(processor_begin)
            .map(|(end, begin)| end - begin);
        let used = used.map_or(wall, |ns| ns as f64 / count as f64);
        println!("{name:<44} {used:>8.0} ns/op   (wall clock {wall:.0})");
    }
    result
}

fn fill(keys: &[[u8; KEY_BYTES]], kind: Kind, value: &[u8], rule: &str) -> MemtableWriter {
    let mut writer = Memtable::create(Comparator::Bytewise, builtin(rule));
    for (seqno, key) in (1..).zip(keys) {
        writer.insert(Trailer::new(SeqNo::new(seqno), kind), key, value);
    }
    writer
}

fn print_overhead(table: &Memtable) {
    let content = table.entry_count() * (KEY_BYTES + VALUE_BYTES);
    let over = (table.used_bytes() - content) as f64 / table.entry_count() as f64;
    println!("{:<44} {over:>8.0} bytes/entry", "  beyond key and value");
}

fn memtable(random: &[[u8; KEY_BYTES]], sequential: &[[u8; KEY_BYTES]]) {
    let value = [b'v'; VALUE_BYTES];
    let filled = time("memtable: sequential insert", ENTRY_COUNT, || {
        fill(sequential, Kind::Put, &value, "put")
    });
    print_overhead(filled.table());
    drop(filled);
    let filled = time("memtable: random insert", ENTRY_COUNT, || {
        fill(random, Kind::Put, &value, "put")
    });
    print_overhead(filled.table());
    let table = filled.table();
    time("memtable: random get", ENTRY_COUNT, || {
        let found = random
            .iter()
            .rev()
            .filter(|key| table.get(*key, SeqNo::MAX).is_some());
        assert_eq!(found.count(), random.len());
    });
    time("memtable: random get, absent", ENTRY_COUNT, || {
        let mut missing = 0;
        for key in random {
            let mut key = *key;
            key[0] = b'1';
            key.swap(0, KEY_BYTES - 1);
            missing += u64::from(table.get(&key, SeqNo::MAX).is_none());
        }
        missing
    });
    let mut cursor = table.cursor();
    time("memtable: scan forward", ENTRY_COUNT, || {
        let mut is_valid = cursor.seek_to_first().expect("memory does not fail");
        let mut sum = 0;
        while is_valid {
            sum += cursor.key().len() + cursor.value().expect("memory does not fail").len();
            is_valid = cursor.next().expect("memory does not fail");
        }
        sum
    });
    time("memtable: scan backward", ENTRY_COUNT, || {
        let mut is_valid = cursor.seek_to_last().expect("memory does not fail");
        let mut sum = 0;
        while is_valid {
            sum += cursor.key().len() + cursor.value().expect("memory does not fail").len();
            is_valid = cursor.prev().expect("memory does not fail");
        }
        sum
    });
    drop((cursor, filled));
    let counters = fill_counters(random);
    println!(
        "{:<44} {:>8} of {ENTRY_COUNT}",
        "  folded",
        counters.table().fold_count()
    );
}

fn fill_counters(random: &[[u8; KEY_BYTES]]) -> MemtableWriter {
    let hot: Vec<_> = random
        .iter()
        .map(|key| {
            let mut key = *key;
            key[KEY_BYTES - 3..].fill(b'0');
            key
        })
        .collect();
    let one = 1u64.to_le_bytes();
    time(
        "memtable: uint64add merge, 1000 counters",
        ENTRY_COUNT,
        || fill(&hot, Kind::Merge, &one, "uint64add"),
    )
}

fn btree(random: &[[u8; KEY_BYTES]]) {
    let mut tree = BTreeMap::new();
    time("std BTreeMap: random insert", ENTRY_COUNT, || {
        for key in random {
            tree.insert(key.to_vec(), vec![b'v'; VALUE_BYTES]);
        }
    });
    time("std BTreeMap: random get", ENTRY_COUNT, || {
        random
            .iter()
            .rev()
            .filter(|key| tree.contains_key(&key[..]))
            .count()
    });
}

fn cache() {
    /// Blocks that are asked for; two thirds of them fit the budget.
    const BLOCK_COUNT: u64 = 150_000;
    let cache = BlockCache::new(100_000 * 4096);
    let mut random = Random::new(7);
    time("cache: get, insert where absent", 10 * BLOCK_COUNT, || {
        for _ in 0..10 * BLOCK_COUNT {
            let block = random.below(BLOCK_COUNT);
            let (file, offset) = (FileNumber(block / 16_384), block % 16_384 * 4096);
            let key = BlockKey { file, offset };
            if cache.get(&key).is_none() {
                cache.insert(key, Cached::Plain(Arc::default()), 4096);
            }
        }
    });
    let asked = cache.hits() + cache.misses();
    println!("{:<44} {:>8} of {asked}", "  hits", cache.hits());
}

/// What a lock of a key takes that nobody else wants: one that is released at once, as the next is
/// taken, and a transaction of nothing but locks.
fn locks(random: &[[u8; KEY_BYTES]]) {
    let env = Env::real(1);
    let table = Arc::new(LockTable::new(Arc::default(), LOCKS_PER_OWNER_MAX));
    let mut owned = OwnedLocks::new(Arc::clone(&table), TxnId(1));
    let patience = Patience {
        env: &env,
        wait_max: Duration::ZERO,
    };
    let lock = |owned: &mut OwnedLocks, key: &[u8]| {
        let taken = owned.lock_key(KeyspaceId::DEFAULT, key, KeyMode::Exclusive, patience);
        taken.expect("nobody else locks")
    };
    lock(&mut owned, b"the first one announces it on the keyspace");
    let mark = owned.mark();
    time("locks: lock, release", ENTRY_COUNT, || {
        for key in random {
            assert!(lock(&mut owned, key));
            owned.release_to(mark);
        }
    });
    time("locks: begin, lock, end", ENTRY_COUNT, || {
        for key in random {
            let mut owned = OwnedLocks::new(Arc::clone(&table), TxnId(2));
            assert!(lock(&mut owned, key));
        }
    });
    time("locks: lock many", ENTRY_COUNT, || {
        for key in random {
            lock(&mut owned, key);
        }
    });
    let bytes = table.statistics().table_bytes as f64 / table.statistics().held as f64;
    println!("{:<44} {bytes:>8.0} bytes/lock", "  of the table");
    time("locks: release many", ENTRY_COUNT, || owned.release_all());
}

/// What it takes to get hold of something that is seldom changed and always read, by one and by two
/// threads at the same time.
#[allow(clippy::disallowed_methods, reason = "a benchmark asks the real world")]
fn views() {
    const LOAD_COUNT: u64 = 20_000_000;
    let swapped = ArcSwap::from_pointee(7_u64);
    let locked = RwLock::new(Arc::new(7_u64));
    let load = || (0..LOAD_COUNT).map(|_| **swapped.load()).sum::<u64>();
    let clone = || {
        let value = || Arc::clone(&locked.read().expect("nobody panics"));
        (0..LOAD_COUNT).map(|_| *value()).sum::<u64>()
    };
    time("view: one pointer, one thread", LOAD_COUNT, load);
    time("view: lock and count, one thread", LOAD_COUNT, clone);
    std::thread::scope(|scope| {
        scope.spawn(load);
        time("view: one pointer, beside another thread", LOAD_COUNT, load);
    });
    std::thread::scope(|scope| {
        scope.spawn(clone);
        time("view: lock and count, beside another", LOAD_COUNT, clone);
    });
}

/// What a record of the log, a block and a large value take to be checked.
fn checksums() {
    for (bytes, count) in [
        (130_usize, 4_000_000_u64),
        (4 << 10, 400_000),
        (100_000, 20_000),
    ] {
        let content = vec![b'x'; bytes];
        let crc = || {
            (0..count)
                .map(|_| u64::from(crc32c(black_box(&content))))
                .sum::<u64>()
        };
        let xxh3 = || {
            (0..count)
                .map(|_| hash64(black_box(&content)))
                .fold(0, u64::wrapping_add)
        };
        time(&format!("checksum: CRC32C of {bytes} bytes"), count, crc);
        time(&format!("checksum: XXH3 of {bytes} bytes"), count, xxh3);
    }
}

/// What a record takes on its way into the page cache.
#[allow(clippy::disallowed_methods, reason = "a benchmark asks the real world")]
fn log_records() {
    const RECORD_BYTES: usize = 130;
    const RECORD_COUNT: u64 = 200_000;
    let room = tempfile::tempdir().expect("a folder for the log");
    let record = [b'r'; RECORD_BYTES];
    let offset_of = |index: u64| index * RECORD_BYTES as u64;
    let capacity_bytes = offset_of(RECORD_COUNT);
    let fill = |name: &str, is_recycled: bool| {
        let path = room.path().join("log");
        let mut log = RealLogFile::open(&*path, capacity_bytes).expect("a log");
        let what = if is_recycled { "again" } else { "new" };
        time(&format!("log record: {name}, {what}"), RECORD_COUNT, || {
            for index in 0..RECORD_COUNT {
                log.write_at(offset_of(index), &record).expect("room");
            }
        });
    };
    fill("mapped", false);
    fill("mapped", true);
    let file = std::fs::File::create(room.path().join("calls")).expect("a file");
    time("log record: a call for each", RECORD_COUNT, || {
        for index in 0..RECORD_COUNT {
            file.write_all_at(&record, offset_of(index)).expect("room");
        }
    });
    let batch = record.repeat(16);
    time("log record: a call for 16", RECORD_COUNT, || {
        for index in (0..RECORD_COUNT).step_by(16) {
            file.write_all_at(&batch, offset_of(index)).expect("room");
        }
    });
}

fn main() {
    log_records();
    checksums();
    views();
    let (random, sequential) = (keys(true), keys(false));
    locks(&random);
    memtable(&random, &sequential);
    btree(&random);
    cache();
}
