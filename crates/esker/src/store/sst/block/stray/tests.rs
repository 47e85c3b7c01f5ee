//! Tests of `stray`.

use std::sync::Arc;

use super::*;
#[cfg(not(all(feature = "lz4", feature = "snappy", feature = "zstd")))]
use crate::base::types::error::ErrorKind;
use crate::base::types::ids::FileNumber;
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::block::writer::{BlockWriter, CompressionSettings};
use crate::store::sst::memory_file::{MemoryBytes, MemoryFile};

fn file(compression: CompressionType) -> (BlockSource, Vec<(u64, Vec<u8>)>) {
    let number = FileNumber(5);
    let memory = MemoryFile::default();
    let settings = CompressionSettings {
        number,
        compression,
        zstd_level: 1,
    };
    let mut writer = BlockWriter::new(Box::new(memory.clone()), settings);
    let mut blocks = Vec::new();
    for round in 1..6u8 {
        let plain = b"over and over".repeat(usize::from(round) * 40);
        blocks.push((writer.offset(), plain.clone()));
        writer.write_compressed(&plain).unwrap();
    }
    let bytes = Arc::new(MemoryBytes(memory.bytes()));
    let cache = Arc::new(ShardedCache::new(1 << 16));
    (BlockSource::new(bytes, number, cache), blocks)
}

#[test]
fn blocks_are_found_from_either_end() {
    for (name, compression) in CompressionType::built() {
        let (source, blocks) = file(compression);
        let mut at = 0;
        for (offset, plain) in &blocks {
            assert_eq!(at, *offset, "{name}");
            let found = block_at(&source, at, source.size_bytes(), u64::MAX, Some);
            let (found, end) = found.unwrap().unwrap();
            assert_eq!(&found, plain, "{name}");
            at = end;
        }
        assert_eq!(at, source.size_bytes());
        for (offset, plain) in blocks.iter().rev() {
            let (found, handle) = block_before(&source, 0, at, Some).unwrap().unwrap();
            assert_eq!((&found, handle.offset), (plain, *offset), "{name}");
            assert_eq!(&source.read_plain(handle).unwrap(), plain, "{name}");
            at = handle.offset;
        }
        assert_eq!(at, 0);
        // Nowhere else, and not for one who does not understand it.
        let size_bytes = source.size_bytes();
        assert!(
            block_at(&source, 1, size_bytes, u64::MAX, Some)
                .unwrap()
                .is_none()
        );
        assert!(
            block_before(&source, 0, size_bytes - 1, Some)
                .unwrap()
                .is_none()
        );
        let refused = block_at(&source, 0, size_bytes, u64::MAX, |_| None::<()>);
        assert!(refused.unwrap().is_none());
        assert!(
            block_at(&source, size_bytes, size_bytes, 9, Some)
                .unwrap()
                .is_none()
        );
    }
}

#[cfg(not(all(feature = "lz4", feature = "snappy", feature = "zstd")))]
#[test]
fn a_block_that_this_build_cannot_uncompress_is_no_loss() {
    // Its checksum is right, so it is there; only what is in it cannot be told here.
    let missing = CompressionType::NAMES
        .iter()
        .find(|(_, way)| !way.is_built());
    let (_, missing) = missing.unwrap();
    let number = FileNumber(5);
    let mut bytes = b"compressed by somebody else".to_vec();
    bytes.push(*missing as u8);
    let checksum = block_checksum(&bytes, number, 0);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    let cache = Arc::new(ShardedCache::new(1 << 16));
    let source = BlockSource::new(Arc::new(MemoryBytes(bytes)), number, cache);
    let size_bytes = source.size_bytes();
    for error in [
        block_at(&source, 0, size_bytes, u64::MAX, Some).map(drop),
        block_before(&source, 0, size_bytes, Some).map(drop),
    ] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotBuilt);
    }
}
