//! Point reads in a block-based sorted file.

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::block::point::{Wanted, find};
use crate::store::sst::block_based::index::{Index, Target};
use crate::store::sst::contract::Found;
use crate::store::sst::filter::block::read_filter;
use crate::store::sst::filter::bloom::Bloom;
use crate::store::sst::format::Footer;
use crate::store::sst::opening::{KeptParts, OpenSst, read_part};

/// An open block-based sorted file. Any thread may call anything.
#[derive(Debug)]
pub struct BlockBasedReader {
    sst: OpenSst,
    index: Index,
    filter: Option<Bloom>,
}

impl BlockBasedReader {
    /// Opens the file with that footer, and keeps its top index, filter, properties and range
    /// deletes in memory.
    ///
    /// Errors: `Invalid` for another order of keys than the file was written with, `Corruption`
    /// with file and offset for everything that is damaged.
    pub fn open(
        source: BlockSource,
        footer: &Footer,
        comparator: Comparator,
    ) -> Result<BlockBasedReader> {
        let parts = KeptParts {
            start: footer.filter.unwrap_or(footer.index).offset,
            props: footer.props,
            range_deletes: footer.range_deletes,
        };
        let sst = OpenSst::open(source, comparator, parts)?;
        let filter = match footer.filter {
            None => None,
            Some(handle) => Some(read_part(sst.source(), handle, read_filter)?),
        };
        let top = sst.source().index_from_file(footer.index)?;
        Ok(BlockBasedReader {
            index: Index::new(top, footer.is_index_partitioned),
            sst,
            filter,
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
            comparator: self.sst.comparator(),
            user_key,
            trailer: newest.raw(),
        };
        let fill_cache = options.fill_cache;
        let Some(handle) = self.index.find(self.sst.source(), target, fill_cache)? else {
            return Ok(None);
        };
        let block = self.sst.source().rows(handle, fill_cache)?;
        let wanted = Wanted {
            key: user_key,
            hash,
            newest,
        };
        let found = find(&block, self.sst.comparator(), wanted)
            .map_err(|error| self.sst.source().at(error, handle))?;
        Ok(found.map(|(trailer, range)| Found {
            trailer,
            value: match self.sst.source().is_much_pinned(handle) {
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

    /// What it has of the file, whatever its kind.
    #[inline]
    pub fn sst(&self) -> &OpenSst {
        &self.sst
    }

    /// The same, of a file that nobody else has.
    pub fn sst_mut(&mut self) -> &mut OpenSst {
        &mut self.sst
    }

    /// The file's index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Bytes of memory that are kept as long as the file is open.
    pub fn pinned_bytes(&self) -> usize {
        let filter = self.filter.as_ref().map_or(0, Bloom::size_bytes);
        let fixed = std::mem::size_of::<BlockBasedReader>();
        fixed + self.index.pinned_bytes() + filter + self.sst.pinned_bytes()
    }
}
