//! A sorted file in memory, made piece by piece, and read in every way.

use std::sync::Arc;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::options::call::ReadOptions;
use esker::internals::base::types::bytes::Bytes;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::cursor::Cursor;
use esker::internals::base::types::error::{Error, Result};
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::ReadFile;
use esker::internals::store::sst::any_reader::AnyReader;
use esker::internals::store::sst::block::fetch::BlockCache;
use esker::internals::store::sst::format::{BlockHandle, block_checksum};
use esker::internals::store::sst::origin::Origin;
use esker::internals::store::sst::props::Props;
use esker::internals::store::vlog::live_bytes::ValueLiveBytes;

/// The number of the file, which its checksums cover.
pub const NUMBER: FileNumber = FileNumber(9);

/// Adds a block with its compression's byte and its right checksum, as the builder does.
pub fn push(file: &mut Vec<u8>, block: &[u8], compression: u8) -> BlockHandle {
    let offset = file.len() as u64;
    let mut stored = block.to_vec();
    stored.push(compression);
    let checksum = block_checksum(&stored, NUMBER, offset);
    file.extend(stored);
    file.extend(checksum.to_le_bytes());
    let len = u32::try_from(block.len()).expect("inputs are short");
    BlockHandle {
        offset,
        compressed_len: len,
        plain_len: len,
    }
}

/// Properties that the reader believes.
pub fn props() -> Props {
    Props {
        keyspace: KeyspaceId(1),
        entry_count: 1,
        delete_count: 0,
        merge_count: 0,
        range_delete_count: 0,
        key_count: 1,
        raw_key_bytes: 9,
        raw_value_bytes: 1,
        smallest: Bytes::EMPTY,
        largest: Bytes::EMPTY,
        smallest_seqno: SeqNo::ZERO,
        largest_seqno: SeqNo::MAX,
        newest_expiry_s: None,
        has_millis: false,
        passing: None,
        data_block_count: 1,
        index_bytes: 0,
        filter_bytes: 0,
        comparator_name: Bytes::copy_of(b"bytewise"),
        compression: CompressionType::None,
        created_unix_s: 0,
        values: ValueLiveBytes::default(),
        origin: Origin::default(),
    }
}

/// Reads a file forward, backward (at most `entries_max` entries), by key and whole; any answer
/// will do. Returns its reader, if it can be opened.
pub fn read(file: Vec<u8>, entries_max: usize) -> Option<Arc<AnyReader>> {
    let cache = Arc::new(BlockCache::new(1 << 20));
    let file = Arc::new(Memory(file));
    let reader = Arc::new(AnyReader::open(file, NUMBER, Comparator::Bytewise, cache).ok()?);
    let mut cursor = reader.cursor(ReadOptions::default());
    let mut keys = Vec::new();
    let mut moved = cursor.seek_to_first();
    while matches!(moved, Ok(true)) && keys.len() < entries_max {
        keys.push(cursor.key().to_vec());
        moved = cursor.next();
    }
    let mut count = 0;
    let mut moved = cursor.seek_to_last();
    while matches!(moved, Ok(true)) && count < entries_max {
        count += 1;
        moved = cursor.prev();
    }
    keys.push(key::encode(b"key", Trailer::seek(SeqNo::MAX)));
    for internal in keys.iter().rev().take(20) {
        // Any answer will do, as long as there is one.
        let _ = cursor.seek(internal);
        // Any answer will do, as long as there is one.
        let _ = cursor.seek_for_prev(internal);
        // Any answer will do, as long as there is one.
        let _ = reader.get(key::user_key(internal), SeqNo::MAX, &ReadOptions::default());
    }
    // Any answer will do, as long as there is one.
    let _ = reader.verify();
    Some(reader)
}

struct Memory(Vec<u8>);

impl ReadFile for Memory {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).expect("inputs are short");
        let end = start + buffer.len();
        let bytes = self.0.get(start..end);
        buffer.copy_from_slice(bytes.ok_or_else(|| Error::corruption("ends too early"))?);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn prefetch(&self, _: u64, _: u64) {}
}
