//! One sorted file: how fast it is written, scanned and asked for single keys.
//!
//! `cargo bench -p esker --bench sst`. A million entries with keys of 16 bytes and values of 100
//! that compress to half; medians of five rounds, in nanoseconds for each operation. Files made of
//! blocks first, and then the kind that is searched while it is compressed.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark stands in the real world"
)]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::options::call::ReadOptions;
use esker::internals::base::options::sst::SstOptions;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::cursor::Cursor;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::Fs;
use esker::internals::env::random::Random;
use esker::internals::env::real::fs::RealFs;
use esker::internals::store::sst::any_builder::AnyBuilder;
use esker::internals::store::sst::any_reader::AnyReader;
use esker::internals::store::sst::block::fetch::BlockCache;
use esker::internals::store::sst::contract::BuildSettings;

const ENTRY_COUNT: u64 = 1_000_000;
const GET_COUNT: u64 = 200_000;
const ROUND_COUNT: usize = 5;
const NUMBER: FileNumber = FileNumber(1);

fn user_key(number: u64) -> Vec<u8> {
    format!("{number:016}").into_bytes()
}

#[derive(Clone, Copy)]
enum FileKind {
    BlockBased,
    Searchable,
}

fn write(path: &Path, kind: FileKind, compression: CompressionType) {
    let settings = BuildSettings {
        number: NUMBER,
        comparator: Comparator::Bytewise,
        sst: SstOptions::default(),
        compression,
        keyspace: KeyspaceId::DEFAULT,
        created_unix_s: 0,
    };
    let file = RealFs.create(path).expect("the file can be created");
    let mut builder = match kind {
        FileKind::BlockBased => AnyBuilder::block_based(file, settings),
        FileKind::Searchable => AnyBuilder::searchable(file, settings, None).expect("zstd starts"),
    };
    let mut random = Random::new(1);
    for number in 0..ENTRY_COUNT {
        let mut value = random.bytes(50);
        value.resize(100, b'x');
        let trailer = Trailer::new(SeqNo::new(random.below(1 << 30)), Kind::Put);
        let internal = key::encode(&user_key(number * 2), trailer);
        builder.add(&internal, &value).expect("the entry is added");
    }
    builder.finish().expect("the file is finished");
}

fn open(path: &Path, cache_bytes: usize) -> Arc<AnyReader> {
    let file = RealFs.open_read(path).expect("the file opens");
    let cache = Arc::new(BlockCache::new(cache_bytes));
    let reader = AnyReader::open(file, NUMBER, Comparator::Bytewise, cache);
    Arc::new(reader.expect("the file is sound"))
}

fn measure(what: &str, count: u64, mut run: impl FnMut()) {
    run();
    let mut rounds: Vec<f64> = (0..ROUND_COUNT)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos() as f64 / count as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("  {what:<34} {:8.1} ns", rounds[ROUND_COUNT / 2]);
}

fn scan(reader: &Arc<AnyReader>, fill_cache: bool) {
    let mut cursor = reader.cursor(ReadOptions {
        fill_cache,
        ..ReadOptions::default()
    });
    let mut is_on = cursor.seek_to_first().expect("the file is sound");
    let mut sum = 0u64;
    while is_on {
        sum +=
            u64::from(cursor.key()[15]) + u64::from(cursor.value().expect("the file is sound")[0]);
        is_on = cursor.next().expect("the file is sound");
    }
    black_box(sum);
}

fn scan_backward(reader: &Arc<AnyReader>) {
    let mut cursor = reader.cursor(ReadOptions::default());
    let mut is_on = cursor.seek_to_last().expect("the file is sound");
    let mut sum = 0u64;
    while is_on {
        sum +=
            u64::from(cursor.key()[15]) + u64::from(cursor.value().expect("the file is sound")[0]);
        is_on = cursor.prev().expect("the file is sound");
    }
    black_box(sum);
}

fn get(reader: &Arc<AnyReader>, odd: u64) {
    let mut random = Random::new(2);
    for _ in 0..GET_COUNT {
        let key = user_key(random.below(ENTRY_COUNT) * 2 + odd);
        let found = reader.get(&key, SeqNo::MAX, &ReadOptions::default());
        let found = found.expect("the file is sound");
        assert_eq!(found.is_some(), odd == 0);
        black_box(found);
    }
}

fn seek(reader: &Arc<AnyReader>, steps: usize) {
    let mut random = Random::new(3);
    let mut cursor = reader.cursor(ReadOptions::default());
    for _ in 0..GET_COUNT {
        let key = user_key(random.below(ENTRY_COUNT - 100) * 2 + 1);
        let target = key::encode(&key, Trailer::seek(SeqNo::MAX));
        assert!(cursor.seek(&target).expect("the file is sound"));
        for _ in 0..steps {
            assert!(cursor.next().expect("the file is sound"));
            black_box(cursor.value().expect("the file is sound"));
        }
    }
}

fn main() {
    let dir = std::env::temp_dir().join(format!("esker-bench-sst-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for the bench");
    let path = dir.join("000001.sst");
    for (what, kind, compression) in [
        ("blocks", FileKind::BlockBased, CompressionType::None),
        ("blocks, lz4", FileKind::BlockBased, CompressionType::Lz4),
        ("searchable", FileKind::Searchable, CompressionType::None),
        (
            "searchable, zstd",
            FileKind::Searchable,
            CompressionType::Zstd,
        ),
    ] {
        println!("{what}:");
        measure("write", ENTRY_COUNT, || write(&path, kind, compression));
        let cached = open(&path, 1 << 30);
        measure("scan forward, cached", ENTRY_COUNT, || scan(&cached, true));
        measure("scan backward, cached", ENTRY_COUNT, || {
            scan_backward(&cached)
        });
        measure("get, cached", GET_COUNT, || get(&cached, 0));
        measure("get missing", GET_COUNT, || get(&cached, 1));
        measure("seek, cached", GET_COUNT, || seek(&cached, 0));
        measure("seek + 10 next, cached", GET_COUNT, || seek(&cached, 10));
        let uncached = open(&path, 1);
        measure("scan forward, past the cache", ENTRY_COUNT, || {
            scan(&uncached, false)
        });
        println!(
            "  kept in memory                     {:8} bytes",
            cached.pinned_bytes()
        );
    }
    std::fs::remove_dir_all(&dir).expect("the bench cleans up");
}
