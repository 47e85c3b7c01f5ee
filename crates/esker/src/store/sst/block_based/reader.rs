//! Point reads in a block-based sorted file.

use std::sync::Arc;

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::base::types::key::Trailer;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::ReadFile;
use crate::store::sst::block::fetch::{BlockCache, BlockSource};
use crate::store::sst::block::point::{Wanted, find};
use crate::store::sst::block_based::index::{Index, Target};
use crate::store::sst::contract::Found;
use crate::store::sst::filter::block::read_filter;
use crate::store::sst::filter::bloom::Bloom;
use crate::store::sst::format::Footer;
use crate::store::sst::opening::{RawFooter, read_description, read_part};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;

/// An open block-based sorted file. Any thread may call anything.
#[derive(Debug)]
pub struct BlockBasedReader {
    source: BlockSource,
    comparator: Comparator,
    index: Index,
    filter: Option<Bloom>,
    range_deletes: Arc<[RangeDelete]>,
    props: Props,
}

impl BlockBasedReader {
    /// Opens the file with that footer, and keeps its top index, filter, properties and range
    /// deletes in memory.
    ///
    /// Errors: `Unsupported` for a newer format, `Invalid` for another order of keys than the
    /// file was written with, `Corruption` with file and offset for everything that is damaged.
    pub fn open(
        file: Arc<dyn ReadFile>,
        footer: &RawFooter,
        comparator: Comparator,
        cache: Arc<BlockCache>,
    ) -> Result<BlockBasedReader> {
        let source = BlockSource::new(file, footer.number(), cache);
        let footer = footer.decode(Footer::decode)?;
        // The parts kept in memory lie side by side in front of the footer.
        let tail = footer.filter.unwrap_or(footer.index).offset;
        source.prefetch(tail, source.size_bytes().saturating_sub(tail));
        let (props, range_deletes) =
            read_description(&source, &comparator, footer.props, footer.range_deletes)?;
        let filter = match footer.filter {
            None => None,
            Some(handle) => Some(read_part(&source, handle, read_filter)?),
        };
        let top = source.index_from_file(footer.index)?;
        Ok(BlockBasedReader {
            index: Index::new(top, footer.is_index_partitioned),
            source,
            comparator,
            filter,
            range_deletes,
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
            comparator: &self.comparator,
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
        let found = find(&block, &self.comparator, wanted)
            .map_err(|error| self.source.at(error, handle))?;
        Ok(found.map(|(trailer, range)| Found {
            trailer,
            value: match self.source.is_much_pinned(handle) {
                false => block.share(range),
                true => block.slice(range),
            },
        }))
    }

    /// Whether the file may have entries of the key with that `hash64`; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.may_contain(hash))
    }

    /// Whether the file has a filter, without which it may contain any key.
    pub fn has_filter(&self) -> bool {
        self.filter.is_some()
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
    pub fn comparator(&self) -> &Comparator {
        &self.comparator
    }

    /// Where the file's blocks come from.
    pub fn source(&self) -> &BlockSource {
        &self.source
    }

    /// The same, of a file that nobody else has.
    pub fn source_mut(&mut self) -> &mut BlockSource {
        &mut self.source
    }

    /// The file's index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Bytes of memory that are kept as long as the file is open.
    pub fn pinned_bytes(&self) -> usize {
        let range_deletes = range_deletes::size_bytes(&self.range_deletes);
        let filter = self.filter.as_ref().map_or(0, Bloom::size_bytes);
        std::mem::size_of::<BlockBasedReader>() + self.index.pinned_bytes() + filter + range_deletes
    }
}
