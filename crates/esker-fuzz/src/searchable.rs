//! A searchable sorted file with any key page, any records and any damage, under right checksums.
//!
//! The file is built from the input: its first part becomes the one key page, framed and summed as
//! the builder does, so that the reader has to believe it. Whatever places the page then names for
//! records, what lies there is summed up anew until the file changes no more.

use std::sync::Arc;

use crate::sorted_file::{NUMBER, props, push, read};
use esker::internals::base::codec::checksum::{crc32c, crc32c_more, mask};
use esker::internals::base::options::call::ReadOptions;
use esker::internals::store::sst::any_reader::AnyReader;
use esker::internals::store::sst::index::builder::IndexBuilder;
use esker::internals::store::sst::searchable::format::Footer;
use esker::internals::store::sst::searchable::keys::OpenGroup;
use esker::internals::store::sst::searchable::page::Page;

// Damaged pages may name one record many times over; uncompressing it again would find nothing new.
const ENTRIES_MAX: usize = 1000;

// Longest value that the file claims to hold, in bytes: more than any input compresses.
const VALUE_BYTES_MAX: u32 = 1 << 20;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&cut, rest)) = input.split_first() else {
        return;
    };
    let (page, records) = rest.split_at(rest.len() * usize::from(cut) / 256);
    let mut file = records.to_vec();
    sum_up(&mut file, page);
    let page = push(&mut file, page, 0);
    let mut index = IndexBuilder::default();
    index.add(&[0xff; 40], 0, page);
    let index = push(&mut file, &index.encode(0..1), 0);
    let props = push(&mut file, &props().encode(), 0);
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
    read_all(file);
    // The input as a file of its own.
    read_all(input.to_vec());
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

// As any sorted file, and keys by their place in it.
fn read_all(file: Vec<u8>) {
    let Some(reader) = read(file, ENTRIES_MAX) else {
        return;
    };
    if let AnyReader::Searchable(searchable) = &*reader {
        for ordinal in [0, 1, 40, u64::MAX] {
            // Any answer will do, as long as there is one.
            let _ = searchable.key_at(ordinal, &ReadOptions::default());
        }
    }
}
