//! A searchable sorted file with any key page, any records and any damage, under right checksums.
//!
//! The file is built from the input: its first part becomes the one key page, framed and summed as
//! the builder does, so that the reader has to believe it. Whatever places the page then names for
//! records, what lies there is summed up anew until the file changes no more.

#![no_main]

use std::sync::Arc;

use esker::base::codec::checksum::{crc32c, crc32c_more, mask};
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
use esker::store::sst::format::{BlockHandle, block_checksum};
use esker::store::sst::index::builder::IndexBuilder;
use esker::store::sst::props::Props;
use esker::store::sst::searchable::format::Footer;
use esker::store::sst::searchable::keys::OpenGroup;
use esker::store::sst::searchable::page::Page;
use esker::store::vlog::shares::ValueShares;
use libfuzzer_sys::fuzz_target;

const NUMBER: FileNumber = FileNumber(9);

// Longest value that the file claims to hold, in bytes: more than any input packs.
const VALUE_BYTES_MAX: u32 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let Some((&cut, rest)) = input.split_first() else {
        return;
    };
    let (page, records) = rest.split_at(rest.len() * usize::from(cut) / 256);
    let mut file = records.to_vec();
    sum_up(&mut file, page);
    let page = push(&mut file, page);
    let mut index = IndexBuilder::default();
    index.add(&[0xff; 40], 0, page);
    let index = push(&mut file, &index.encode(0..1));
    let props = push(&mut file, &props().encode());
    let footer = Footer {
        index,
        dictionary: None,
        props,
        range_deletes: None,
        number: NUMBER,
        value_bytes_max: VALUE_BYTES_MAX,
    };
    let bytes = footer.encode(file.len() as u64);
    file.extend(bytes);
    read(file);
    // The input as a file of its own.
    read(input.to_vec());
});

fn push(file: &mut Vec<u8>, block: &[u8]) -> BlockHandle {
    let offset = file.len() as u64;
    let mut stored = block.to_vec();
    stored.push(0);
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

// Gives every record that the page names, and that lies in the file, its right checksum.
fn sum_up(file: &mut [u8], page: &[u8]) {
    let Ok(page) = Page::new(Arc::new(page.to_vec())) else {
        return;
    };
    let mut group = OpenGroup::default();
    for index in 0..page.group_count().min(100) {
        if group.open(&page, index).is_err() {
            return;
        }
        for entry in (0..group.len()).filter_map(|entry| group.entry(entry)) {
            let start = usize::try_from(entry.record.offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(entry.record.len as usize);
            let record = file.get_mut(start..end);
            let Some((body, sum)) = record.and_then(|record| record.split_last_chunk_mut::<4>())
            else {
                continue;
            };
            let crc = crc32c_more(crc32c(&NUMBER.0.to_le_bytes()), entry.prefix);
            let crc = crc32c_more(crc, &entry.trailer.raw().to_le_bytes());
            *sum = mask(crc32c_more(crc, body)).to_le_bytes();
        }
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
    while matches!(moved, Ok(true)) && keys.len() < 1000 {
        keys.push(cursor.key().to_vec());
        moved = cursor.next();
    }
    let mut count = 0;
    let mut moved = cursor.seek_to_last();
    while matches!(moved, Ok(true)) && count < 1000 {
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
    if let AnyReader::Searchable(searchable) = &*reader {
        for ordinal in [0, 1, 40, u64::MAX] {
            // Any answer will do, as long as there is one.
            let _ = searchable.key_at(ordinal, &ReadOptions::default());
        }
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
