//! Times single parts of the engine, each against the simple thing it replaces.
//!
//! `cargo bench -p esker --bench parts [filter]`. Prints nanoseconds for each operation and, for
//! things that hold entries, bytes for each entry beyond key and value. Entries are those of the
//! usual key-value benchmarks: 16 decimal digits, 100 bytes of value.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use esker::base::hooks::merge_builtin::builtin;
use esker::base::types::cursor::Cursor;
use esker::base::types::ids::FileNumber;
use esker::base::types::key::Trailer;
use esker::base::types::kind::Kind;
use esker::base::types::order::KeyOrder;
use esker::base::types::seqno::SeqNo;
use esker::env::random::Random;
use esker::store::cache::block_key::BlockKey;
use esker::store::cache::sharded::ShardedCache;
use esker::store::mem::memtable::{Memtable, MemtableWriter};

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
    let mut writer = Memtable::create(KeyOrder::Bytewise, builtin(rule));
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
    let cache: ShardedCache<Arc<u64>> = ShardedCache::new(100_000 * 4096);
    let mut random = Random::new(7);
    time("cache: get, insert where absent", 10 * BLOCK_COUNT, || {
        for _ in 0..10 * BLOCK_COUNT {
            let block = random.below(BLOCK_COUNT);
            let (file, offset) = (FileNumber(block / 16_384), block % 16_384 * 4096);
            let key = BlockKey { file, offset };
            if cache.get(&key).is_none() {
                cache.insert(key, Arc::new(block), 4096);
            }
        }
    });
    let asked = cache.hits() + cache.misses();
    println!("{:<44} {:>8} of {asked}", "  hits", cache.hits());
}

fn main() {
    let (random, sequential) = (keys(true), keys(false));
    memtable(&random, &sequential);
    btree(&random);
    cache();
}
