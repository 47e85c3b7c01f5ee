//! One kind of operation again and again, for a tool that counts instructions.
//!
//! `scripts/counts.sh` runs it under callgrind, which counts what happens within `measured` only,
//! and not on the threads of the background; of `flush` and `compact` what their job does, for each
//! entry that goes into it. Keys, values and files follow from seeds, so that two runs of one build
//! count alike whatever else the machine does.
//!
//!     cargo run --release -p esker --example counts -- get /tmp/empty-directory
#![allow(
    clippy::disallowed_methods,
    reason = "a measuring program stands in the real world"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use esker::internals::env::bundle::Env;
use esker::internals::env::random::Random;
use esker::{Db, Result, TransactionMode, TransactionOptions};

/// Keys of the store; callgrind is fifty times slower than the machine.
const KEY_COUNT: u64 = 50_000;

/// Operations that are counted.
const OPERATION_COUNT: u64 = 20_000;

/// Bytes of a value.
const VALUE_BYTES: usize = 100;

/// What is done, and what `measured` is given: a store at rest, or an empty one.
const KINDS: [(&str, bool); 20] = [
    ("put", false),
    ("put-ordered", false),
    ("merge", false),
    ("delete", false),
    ("batch-100", false),
    ("get", true),
    ("get-missing", true),
    ("get-uncached", true),
    ("get-put", true),
    ("transaction", true),
    ("transaction-locking", true),
    ("seek", true),
    ("seek-fresh", true),
    ("seek-layers", true),
    ("next", true),
    ("prev", true),
    ("next-layers", true),
    ("prev-layers", true),
    ("flush", false),
    ("compact", false),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["kinds"] {
        println!("{}", names().join(" "));
        return ExitCode::SUCCESS;
    }
    let [kind, dir] = words.as_slice() else {
        return usage();
    };
    let Some((_, is_loaded)) = KINDS.iter().find(|(name, _)| name == kind) else {
        return usage();
    };
    match run(kind, Path::new(dir), *is_loaded) {
        Ok(count) => {
            println!("{kind} {count}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("counts: {error}");
            ExitCode::FAILURE
        }
    }
}

fn names() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: counts KIND DIRECTORY, where KIND is one of {}",
        names().join(", ")
    );
    ExitCode::from(2)
}

/// The operations that were done.
fn run(kind: &str, dir: &Path, is_loaded: bool) -> Result<u64> {
    let builder = Db::builder(dir)
        .set("merge_operator", "uint64add")?
        // Merges at moments of their own would leave another tree each time.
        .set("compaction.automatic", "false")?;
    let builder = match kind {
        // Packing blocks would be most of what is counted.
        "flush" | "compact" => builder
            .set("memory_limit", "256MiB")?
            .set("compression", "none")?
            .set("sst.compression_upper", "none")?,
        // The cache has a part of the store, and what is not there is read, checked and unpacked.
        "get-uncached" => builder
            .env(Env::real(2))
            .set("memory_limit", "4MiB")?
            .set("compression", "lz4")?,
        _ => builder.set("memory_limit", "256MiB")?,
    };
    let db = builder.open()?;
    let value = value();
    if is_loaded {
        for number in 0..KEY_COUNT {
            // Even numbers, so that the odd ones are missing.
            db.put(key(number * 2), &value)?;
        }
        db.flush()?;
        db.compact::<&[u8]>(..)?;
        if kind.ends_with("-layers") {
            // Two runs of level 0 above it, and a memtable.
            for layer in 1..=3 {
                for number in (layer..KEY_COUNT).step_by(10) {
                    db.put(key(number * 2), &value)?;
                }
                if layer < 3 {
                    db.flush()?;
                }
            }
        }
        // Blocks, filters and indexes are read once before it counts.
        black_box(db.iter()?.count());
        for number in 0..KEY_COUNT {
            black_box(db.get(key(number * 2))?);
        }
    }
    let count = measured(&db, kind, &value)?;
    db.close()?;
    Ok(count)
}

#[inline(never)]
fn measured(db: &Db, kind: &str, value: &[u8]) -> Result<u64> {
    let mut random = Random::new(7);
    let mut draw = || random.below(KEY_COUNT) * 2;
    match kind {
        "put" => (0..OPERATION_COUNT).try_for_each(|_| db.put(key(draw()), value))?,
        "put-ordered" => (0..OPERATION_COUNT).try_for_each(|number| db.put(key(number), value))?,
        "merge" => {
            let one = 1_u64.to_le_bytes();
            (0..OPERATION_COUNT).try_for_each(|_| db.merge(key(draw()), one))?;
        }
        "delete" => (0..OPERATION_COUNT).try_for_each(|_| db.delete(key(draw())))?,
        "batch-100" => {
            for _ in 0..OPERATION_COUNT / 100 {
                let mut batch = db.batch();
                for _ in 0..100 {
                    batch.put(db, key(draw()), value);
                }
                batch.commit()?;
            }
        }
        "get" | "get-uncached" => {
            for _ in 0..OPERATION_COUNT {
                black_box(db.get(key(draw()))?);
            }
        }
        "get-missing" => {
            for _ in 0..OPERATION_COUNT {
                black_box(db.get(key(draw() + 1))?);
            }
        }
        "get-put" => read_and_write(db, None, value, draw)?,
        "transaction" => read_and_write(db, Some(TransactionMode::Optimistic), value, draw)?,
        "transaction-locking" => {
            read_and_write(db, Some(TransactionMode::Locking), value, draw)?;
        }
        "seek" => {
            let mut cursor = db.cursor()?;
            for _ in 0..OPERATION_COUNT {
                black_box(cursor.seek(key(draw()))?);
            }
        }
        "seek-fresh" | "seek-layers" => {
            for _ in 0..OPERATION_COUNT {
                let mut cursor = db.cursor()?;
                black_box(cursor.seek(key(draw()))?);
                black_box(cursor.value()?);
            }
        }
        "flush" => {
            (0..OPERATION_COUNT).try_for_each(|_| db.put(key(draw()), value))?;
            db.flush()?;
        }
        "compact" => return compact(db, value),
        "next" | "next-layers" => {
            let mut cursor = db.cursor()?;
            cursor.seek_to_first()?;
            for _ in 1..OPERATION_COUNT {
                black_box(cursor.next()?);
            }
        }
        _ => {
            let mut cursor = db.cursor()?;
            cursor.seek_to_last()?;
            for _ in 1..OPERATION_COUNT {
                black_box(cursor.prev()?);
            }
        }
    }
    Ok(OPERATION_COUNT)
}

/// A get and a put of the same key, alone or in a transaction that nobody meets. One that locks
/// reads to write.
fn read_and_write(
    db: &Db,
    mode: Option<TransactionMode>,
    value: &[u8],
    mut draw: impl FnMut() -> u64,
) -> Result<()> {
    for _ in 0..OPERATION_COUNT {
        let key = key(draw());
        let Some(mode) = mode else {
            black_box(db.get(key)?);
            db.put(key, value)?;
            continue;
        };
        let mut tx = db.begin_with(TransactionOptions {
            mode,
            ..TransactionOptions::default()
        });
        match mode {
            TransactionMode::Optimistic => black_box(tx.get(key)?),
            TransactionMode::Locking => black_box(tx.get_for_update(db, key)?),
        };
        tx.put(db, key, value)?;
        tx.commit()?;
    }
    Ok(())
}

/// Merges three runs, one with every key, one with every second and one with every third; the
/// entries that go into it.
fn compact(db: &Db, value: &[u8]) -> Result<u64> {
    let mut count = 0;
    for step in 1..=3 {
        for number in (0..KEY_COUNT).step_by(step) {
            db.put(key(number), value)?;
            count += 1;
        }
        db.flush()?;
    }
    db.compact::<&[u8]>(..)?;
    Ok(count)
}

fn key(number: u64) -> [u8; 16] {
    let mut digits = [b'0'; 16];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

/// Packs to about half.
fn value() -> Vec<u8> {
    let mut random = Random::new(3);
    let mut value: Vec<u8> = (0..VALUE_BYTES / 2)
        .map(|_| random.below(256) as u8)
        .collect();
    value.resize(VALUE_BYTES, b' ');
    value
}
