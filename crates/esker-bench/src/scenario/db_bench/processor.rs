//! Benchmarks of the processor: checksums, packing, loads. No store is touched.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use esker::internals::base::codec::checksum::crc32c;
use esker::internals::base::codec::compress::{CompressionType, Compressor};

use crate::fail::{Failure, Outcome};
use crate::flags::flag::Dialect;
use crate::run::lane::Lane;
use crate::scenario::db_bench::work::{Bench, COMPRESS, CRC, OP};

/// Bytes that are checked in all, by dialect; those that are packed.
const CHECKED_LEVELDB: u64 = (500 << 20) / PART;
const CHECKED_ROCKSDB: u64 = (5000 << 20) / PART;
const PACKED: u64 = (1 << 30) / PART;

/// The level of zstd, as LevelDB has it.
const ZSTD_LEVEL: i32 = 1;

/// A build without optimisation warns that its figures mean nothing: a part is enough to see that
/// everything runs, and ten seconds less for a test of the whole list.
const PART: u64 = if cfg!(debug_assertions) { 16 } else { 1 };

/// Operations of `acquireload`, and loads of each.
const LOAD_OPS: u64 = 100_000;
const LOADS: u32 = 1000;

/// CRC32C of a block.
pub fn crc(bench: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let is_leveldb = bench.setup.dialect() == Dialect::LevelDb;
    let (size, limit, message) = match is_leveldb {
        true => (4096, CHECKED_LEVELDB, "(4K per op)".to_owned()),
        false => {
            let size = bench.setup.given.count("block_size");
            (size, CHECKED_ROCKSDB, format!("({size} per op)"))
        }
    };
    let block = vec![b'x'; usize::try_from(size).expect("the catalogue bounds it")];
    let mut done = 0;
    while done < limit && lane.go() {
        black_box(crc32c(black_box(&block)));
        done += size;
        lane.finish(CRC, 1);
    }
    lane.add_bytes(done);
    lane.say(message);
    Ok(())
}

/// LevelDB packs 4096 bytes, whatever the flag says that came later.
fn block(bench: &Bench<'_>, lane: &Lane<'_>) -> Vec<u8> {
    let size = usize::try_from(bench.setup.given.count("block_size"));
    let size = size.expect("the catalogue bounds it");
    let mut hands = bench.hands(lane);
    let mut block = Vec::with_capacity(size);
    while block.len() < size {
        let piece = hands.values.next_slice((size - block.len()).min(4096));
        block.extend_from_slice(piece);
    }
    block
}

fn failed(error: esker::Error) -> Failure {
    Failure::failed(format!("compression error: {error}"))
}

/// Packs a block.
pub fn pack(bench: &Bench<'_>, lane: &mut Lane<'_>, packing: CompressionType) -> Outcome {
    let plain = block(bench, lane);
    let (mut packer, mut packed) = (Compressor::default(), Vec::new());
    let (mut done, mut made) = (0, 0);
    while done < PACKED && lane.go() {
        packed.clear();
        packer
            .compress(packing, black_box(&plain), ZSTD_LEVEL, &mut packed)
            .map_err(failed)?;
        done += plain.len() as u64;
        made += packed.len() as u64;
        lane.finish(COMPRESS, 1);
    }
    lane.add_bytes(done);
    let share = made as f64 * 100.0 / (done as f64).max(1.0);
    lane.say(format!("(output: {share:.1}%)"));
    Ok(())
}

/// Unpacks a block.
pub fn unpack(bench: &Bench<'_>, lane: &mut Lane<'_>, packing: CompressionType) -> Outcome {
    let plain = block(bench, lane);
    let (mut packed, mut unpacked, mut done) = (Vec::new(), Vec::new(), 0);
    packing
        .compress(&plain, ZSTD_LEVEL, &mut packed)
        .map_err(failed)?;
    while done < PACKED && lane.go() {
        packing
            .uncompress_into(black_box(&packed), plain.len(), &mut unpacked)
            .map_err(failed)?;
        done += plain.len() as u64;
        lane.finish(COMPRESS, 1);
    }
    lane.add_bytes(done);
    Ok(())
}

/// Loads one number over and over, as readers of a shared pointer do.
pub fn acquire_load(_: &Bench<'_>, lane: &mut Lane<'_>) -> Outcome {
    let cell = AtomicUsize::new(1);
    let mut done = 0;
    while done < LOAD_OPS && lane.go() {
        for _ in 0..LOADS {
            // Acquire is what is measured.
            black_box(black_box(&cell).load(Ordering::Acquire));
        }
        done += 1;
        lane.finish(OP, 1);
    }
    lane.say("(each op is 1000 loads)");
    Ok(())
}
