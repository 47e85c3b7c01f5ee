//! Reads every byte of a block-based sorted file and holds it against what the file says.

use crate::base::codec::checksum::hash64;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::names::FileName;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::index::block::IndexBlock;
use crate::store::sst::recount::Recount;

/// Reads every block from the file, past the cache, and checks checksums, the order of entries,
/// separators, the filter, and the counts and bounds in the properties.
///
/// Errors: `Corruption` with file and offset of the first thing that is wrong.
pub fn verify(reader: &BlockBasedReader) -> Result<()> {
    let source = reader.sst().source();
    let mut recount = Recount::new(reader.sst());
    let mut block_count = 0;
    let index = reader.index();
    for partition in 0..index.partition_count() {
        let leaf = index.leaf(source, partition, false)?;
        if !leaf.is_ascending(reader.sst().comparator()) {
            let message = format!("separators of index block {partition} are out of order");
            let error = Error::corruption(message);
            return Err(error.in_file(FileName::Sst(reader.sst().number())));
        }
        for slot in 0..leaf.len() {
            verify_block(reader, &mut recount, (&leaf, slot))
                .map_err(|error| source.at(error, leaf.handle(slot)))?;
            block_count += 1;
        }
    }
    recount.check(block_count)
}

fn verify_block(
    reader: &BlockBasedReader,
    recount: &mut Recount<'_>,
    (leaf, slot): (&IndexBlock, usize),
) -> Result<()> {
    // Separators ascend, and so do entries, which the recount looks at: what holds for the first
    // and the last entry holds for those between. A search for each took a fifth of an ingest.
    let check_index = |internal_key: &[u8]| {
        let (user_key, trailer) = key::split(internal_key);
        let found = leaf.first_not_before(reader.sst().comparator(), user_key, trailer.raw());
        match found == slot {
            true => Ok(()),
            false => Err(Error::corruption("the index leads past an entry")),
        }
    };
    let mut cursor = BlockCursor::default();
    cursor.enter(reader.sst().source().rows_from_file(leaf.handle(slot))?);
    let mut is_on = cursor.seek_to_first()?;
    if !is_on {
        return Err(Error::corruption("a data block has no entries"));
    }
    check_index(cursor.key())?;
    while is_on {
        let is_new_key = recount.is_new_key(cursor.key())?;
        if !reader.may_contain(hash64(key::user_key(cursor.key()))) {
            return Err(Error::corruption("the filter denies a key that is there"));
        }
        recount.count(cursor.key(), cursor.value(), is_new_key)?;
        is_on = cursor.next()?;
    }
    check_index(recount.last_key())
}

#[cfg(test)]
mod tests;
