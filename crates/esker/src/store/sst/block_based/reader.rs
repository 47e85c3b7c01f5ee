//! Point reads in a block-based sorted file.

use std::sync::Arc;

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key::Trailer;
use crate::base::types::order::KeyOrder;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::sst::block::fetch::{BlockCache, BlockSource};
use crate::store::sst::block::point::{Wanted, find};
use crate::store::sst::block_based::index::{Index, Target};
use crate::store::sst::contract::Found;
use crate::store::sst::filter::block::read_filter;
use crate::store::sst::filter::bloom::Bloom;
use crate::store::sst::format::{BlockHandle, FOOTER_BYTES, Footer};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;

/// An open block-based sorted file. Any thread may call anything.
#[derive(Debug)]
pub struct BlockBasedReader {
    source: BlockSource,
    order: KeyOrder,
    index: Index,
    filter: Option<Bloom>,
    range_deletes: Arc<[RangeDelete]>,
    props: Props,
}

impl BlockBasedReader {
    /// Opens the file with that number, and keeps its top index, filter, properties and range
    /// deletes in memory.
    ///
    /// Errors: `Unsupported` for a newer format, `Invalid` for another order of keys than the
    /// file was written with, `Corruption` with file and offset for everything that is damaged.
    pub fn open(
        file: Arc<dyn ReadFile>,
        number: FileNumber,
        order: KeyOrder,
        cache: Arc<BlockCache>,
    ) -> Result<BlockBasedReader> {
        let footer =
            read_footer(&*file, number).map_err(|error| error.in_file(FileName::Sst(number)))?;
        let source = BlockSource::new(file, number, cache);
        // The parts kept in memory lie side by side in front of the footer.
        let tail = footer.filter.unwrap_or(footer.index).offset;
        source.prefetch(tail, source.size_bytes().saturating_sub(tail));
        let props = parse(&source, footer.props, Props::decode)?;
        if props.order_name != order.name() {
            return Err(another_order(&props, &order).in_file(FileName::Sst(number)));
        }
        let range_deletes = match footer.range_deletes {
            None => Vec::new(),
            Some(handle) => parse(&source, handle, |plain| {
                range_deletes::decode(&order, plain)
            })?,
        };
        if range_deletes.len() as u64 != props.range_delete_count {
            let error = Error::corruption("the number of range deletes is not what it was");
            return Err(error.in_file(FileName::Sst(number)));
        }
        let filter = match footer.filter {
            None => None,
            Some(handle) => Some(parse(&source, handle, read_filter)?),
        };
        let top = source.index_from_file(footer.index)?;
        Ok(BlockBasedReader {
            index: Index::new(top, footer.is_index_partitioned),
            source,
            order,
            filter,
            range_deletes: range_deletes.into(),
            props,
        })
    }

    /// The newest entry of the key that is visible at `at`, if the file has one. Range deletes
    /// are not looked at.
    ///
    /// Errors: `Corruption` with file and offset of the block; other keys stay readable.
    pub fn get(&self, user_key: &[u8], at: SeqNo, options: &ReadOptions) -> Result<Option<Found>> {
        self.get_hashed(user_key, hash64(user_key), at, options)
    }

    /// As [`BlockBasedReader::get`], for a caller who asks several files and has the key's
    /// `hash64` already.
    pub fn get_hashed(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        if !self.may_contain(hash) {
            return Ok(None);
        }
        let newest = Trailer::seek(at);
        let target = Target {
            order: &self.order,
            user_key,
            trailer: newest.raw(),
        };
        let fill_cache = options.fill_cache;
        let Some(handle) = self.index.find(&self.source, target, fill_cache)? else {
            return Ok(None);
        };
        let block = self.source.rows(handle, fill_cache)?;
        let wanted = Wanted {
            key: user_key,
            hash,
            newest,
        };
        let found =
            find(&block, &self.order, wanted).map_err(|error| self.source.at(error, handle))?;
        Ok(found.map(|(trailer, range)| Found {
            trailer,
            value: block.slice(range),
        }))
    }

    /// Whether the file may have entries of the key with that `hash64`; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.may_contain(hash))
    }

    /// The file's range deletes, by ascending start.
    pub fn range_deletes(&self) -> &Arc<[RangeDelete]> {
        &self.range_deletes
    }

    /// What the file says about itself.
    pub fn props(&self) -> &Props {
        &self.props
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        self.source.number()
    }

    /// How the file's keys compare.
    pub fn order(&self) -> &KeyOrder {
        &self.order
    }

    /// Where the file's blocks come from.
    pub fn source(&self) -> &BlockSource {
        &self.source
    }

    /// The file's index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Bytes of memory that are kept as long as the file is open.
    pub fn pinned_bytes(&self) -> usize {
        let range_deletes: usize = self
            .range_deletes
            .iter()
            .map(|range| std::mem::size_of::<RangeDelete>() + range.start.len() + range.end.len())
            .sum();
        let filter = self.filter.as_ref().map_or(0, Bloom::size_bytes);
        std::mem::size_of::<BlockBasedReader>() + self.index.pinned_bytes() + filter + range_deletes
    }
}

fn read_footer(file: &dyn ReadFile, number: FileNumber) -> Result<Footer> {
    let size_bytes = file.size_bytes();
    let Some(offset) = size_bytes.checked_sub(FOOTER_BYTES as u64) else {
        return Err(Error::corruption(format!(
            "is {size_bytes} bytes long, which is too short for a sorted file"
        )));
    };
    let mut bytes = [0; FOOTER_BYTES];
    file.read_at(offset, &mut bytes)?;
    Footer::decode(&bytes, number, offset).map_err(|error| error.at_offset(offset))
}

fn parse<T>(
    source: &BlockSource,
    handle: BlockHandle,
    read: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let plain = source.read_plain(handle)?;
    read(&plain).map_err(|error| source.at(error, handle))
}

fn another_order(props: &Props, order: &KeyOrder) -> Error {
    let written = props.order_name.escape_ascii();
    Error::new(
        ErrorKind::Invalid,
        format!(
            "keys are in the order \"{written}\", but the keyspace was opened with \"{}\"",
            order.name()
        ),
    )
}
