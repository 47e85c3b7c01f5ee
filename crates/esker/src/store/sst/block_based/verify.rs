//! Reads every byte of a block-based sorted file and holds it against what the file says.

use std::cmp::Ordering;

use crate::base::codec::checksum::hash64;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::store::names::FileName;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::format::BlockHandle;
use crate::store::sst::index::block::IndexBlock;
use crate::store::vlog::live_bytes::ValueLiveBytes;
use crate::store::vlog::pointer::ValuePointer;

/// Reads every block from the file, past the cache, and checks checksums, the order of entries,
/// separators, the filter, and the counts in the properties.
///
/// Errors: `Corruption` with file and offset of the first thing that is wrong.
pub fn verify(reader: &BlockBasedReader) -> Result<()> {
    let mut walk = Walk {
        reader,
        last_key: None,
        entry_count: 0,
        delete_count: 0,
        merge_count: 0,
        block_count: 0,
        raw_key_bytes: 0,
        raw_value_bytes: 0,
        values: ValueLiveBytes::default(),
    };
    let index = reader.index();
    for partition in 0..index.partition_count() {
        let leaf = index.leaf(reader.source(), partition, false)?;
        for slot in 0..leaf.len() {
            let handle = leaf.handle(slot);
            walk.block(&leaf, slot)
                .map_err(|error| reader.source().at(error, handle))?;
        }
    }
    walk.check_props()
        .map_err(|error| error.in_file(FileName::Sst(reader.number())))
}

struct Walk<'a> {
    reader: &'a BlockBasedReader,
    last_key: Option<Vec<u8>>,
    entry_count: u64,
    delete_count: u64,
    merge_count: u64,
    block_count: u64,
    raw_key_bytes: u64,
    raw_value_bytes: u64,
    values: ValueLiveBytes,
}

impl Walk<'_> {
    fn block(&mut self, leaf: &IndexBlock, slot: usize) -> Result<()> {
        let handle: BlockHandle = leaf.handle(slot);
        let block = self.reader.source().rows_from_file(handle)?;
        let mut cursor = BlockCursor::default();
        cursor.enter(block);
        let mut is_on = cursor.seek_to_first()?;
        if !is_on {
            return Err(Error::corruption("a data block has no entries"));
        }
        while is_on {
            self.entry(cursor.key(), leaf, slot)?;
            self.pointer(cursor.key(), cursor.value())?;
            self.raw_key_bytes += cursor.key().len() as u64;
            self.raw_value_bytes += cursor.value().len() as u64;
            is_on = cursor.next()?;
        }
        self.block_count += 1;
        Ok(())
    }

    fn entry(&mut self, internal_key: &[u8], leaf: &IndexBlock, slot: usize) -> Result<()> {
        let comparator = self.reader.comparator();
        let is_behind =
            |last: &Vec<u8>| key::compare(comparator, last, internal_key) == Ordering::Less;
        if !self.last_key.as_ref().is_none_or(is_behind) {
            return Err(Error::corruption("entries are out of order"));
        }
        let (user_key, trailer) = key::split(internal_key);
        if leaf.first_not_before(comparator, user_key, trailer.raw()) != slot {
            return Err(Error::corruption("the index leads past an entry"));
        }
        if !self.reader.may_contain(hash64(user_key)) {
            return Err(Error::corruption("the filter denies a key that is there"));
        }
        let props = self.reader.props();
        if comparator.compare(user_key, &props.smallest) == Ordering::Less
            || comparator.compare(user_key, &props.largest) == Ordering::Greater
            || trailer.seqno() < props.smallest_seqno
            || trailer.seqno() > props.largest_seqno
        {
            return Err(Error::corruption(
                "an entry lies outside of the file's bounds",
            ));
        }
        self.entry_count += 1;
        match trailer.kind() {
            Kind::Delete => self.delete_count += 1,
            Kind::Merge => self.merge_count += 1,
            _ => {}
        }
        let last = self.last_key.get_or_insert_default();
        last.clear();
        last.extend_from_slice(internal_key);
        Ok(())
    }

    fn pointer(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let entry = Entry::from_internal(internal_key, value);
        if let Some(pointer) = ValuePointer::of(&entry)? {
            let bytes = pointer.record_bytes(entry.key.len());
            self.values.add(pointer.segment, bytes);
        }
        Ok(())
    }

    fn check_props(&self) -> Result<()> {
        let props = self.reader.props();
        let counts = [
            ("entries", self.entry_count, props.entry_count),
            ("deletes", self.delete_count, props.delete_count),
            ("merges", self.merge_count, props.merge_count),
            ("bytes of keys", self.raw_key_bytes, props.raw_key_bytes),
            (
                "bytes of values",
                self.raw_value_bytes,
                props.raw_value_bytes,
            ),
            ("data blocks", self.block_count, props.data_block_count),
        ];
        for (what, found, said) in counts {
            if found != said {
                return Err(Error::corruption(format!(
                    "has {found} {what}, its properties say {said}"
                )));
            }
        }
        if self.values != props.values {
            return Err(Error::corruption(
                "its properties do not say what its entries point to in the value log",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
