//! A sorted file with any data block, any index and any damage, all under right checksums.
//!
//! The file is built from the input: one data block and the index block are taken from it as
//! they are, framed and summed as the builder does, so that the reader has to believe them.

#![no_main]

use std::sync::Arc;

use esker::base::codec::compress::Compression;
use esker::base::options::call::ReadOptions;
use esker::base::types::bytes::Bytes;
use esker::base::types::cursor::Cursor;
use esker::base::types::error::{Error, Result};
use esker::base::types::ids::{FileNumber, KeyspaceId};
use esker::base::types::key::{self, Trailer};
use esker::base::types::order::KeyOrder;
use esker::base::types::seqno::SeqNo;
use esker::env::fs::ReadFile;
use esker::store::sst::any_reader::AnyReader;
use esker::store::sst::block::fetch::BlockCache;
use esker::store::sst::format::{BlockHandle, Footer, block_checksum};
use esker::store::sst::props::Props;
use esker::store::vlog::shares::ValueShares;
use libfuzzer_sys::fuzz_target;

const NUMBER: FileNumber = FileNumber(9);

fuzz_target!(|input: &[u8]| {
    let Some((&[packing, levels, cut], rest)) = input.split_first_chunk::<3>() else {
        return;
    };
    let (index, rows) = rest.split_at(rest.len() * usize::from(cut) / 256);
    let mut file = Vec::new();
    push(&mut file, rows, packing % 4);
    let index = push(&mut file, index, 0);
    let props = push(&mut file, &props().encode(), 0);
    let footer = Footer {
        index,
        filter: None,
        props,
        range_deletes: None,
        number: NUMBER,
        is_index_partitioned: levels % 2 == 1,
    };
    let bytes = footer.encode(file.len() as u64);
    file.extend(bytes);
    read(file);
    // The input as a file of its own.
    read(input.to_vec());
});

fn push(file: &mut Vec<u8>, block: &[u8], packing: u8) -> BlockHandle {
    let offset = file.len() as u64;
    let mut stored = block.to_vec();
    stored.push(packing);
    let checksum = block_checksum(&stored, NUMBER, offset);
    file.extend(stored);
    file.extend(checksum.to_le_bytes());
    let len = u32::try_from(block.len()).expect("inputs are short");
    BlockHandle {
        offset,
        packed_len: len,
        plain_len: len,
    }
}

fn read(file: Vec<u8>) {
    let cache = Arc::new(BlockCache::new(1 << 20));
    let file = Arc::new(Memory(file));
    let Ok(reader) = AnyReader::open(file, NUMBER, KeyOrder::Bytewise, cache) else {
        return;
    };
    let reader = Arc::new(reader);
    let mut cursor = reader.cursor(ReadOptions::default());
    let mut keys = Vec::new();
    let mut moved = cursor.seek_to_first();
    while matches!(moved, Ok(true)) && keys.len() < 10_000 {
        keys.push(cursor.key().to_vec());
        moved = cursor.next();
    }
    let mut count = 0;
    let mut moved = cursor.seek_to_last();
    while matches!(moved, Ok(true)) && count < 10_000 {
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
}

fn props() -> Props {
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
        data_block_count: 1,
        index_bytes: 0,
        filter_bytes: 0,
        order_name: Bytes::copy_of(b"bytewise"),
        compression: Compression::None,
        created_unix_s: 0,
        values: ValueShares::default(),
    }
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
