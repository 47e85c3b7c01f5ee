//! Point reads in a block-based sorted file.

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::block::checked::Checked;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::block::point::{Wanted, find};
use crate::store::sst::block_based::index::{Index, Target};
use crate::store::sst::contract::{Announced, Found};
use crate::store::sst::filter::block::read_filter;
use crate::store::sst::filter::bloom::Bloom;
use crate::store::sst::format::{BlockHandle, Footer};
use crate::store::sst::opening::{KeptParts, OpenSst, read_part};

/// An open block-based sorted file. Any thread may call anything.
#[derive(Debug)]
pub struct BlockBasedReader {
    sst: OpenSst,
    index: Index,
    filter: Option<Bloom>,
}

/// Where the entry of a key is, if the file has one.
#[derive(Debug)]
pub struct EntryPlace {
    handle: BlockHandle,
    /// The block, where it was in memory.
    rows: Option<Checked>,
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
        let (target, fill_cache) = (self.target(user_key, at), options.fill_cache);
        let Some(handle) = self.index.find(self.sst.source(), target, fill_cache)? else {
            return Ok(None);
        };
        let block = self.sst.source().rows(handle, fill_cache)?;
        self.find_in(&block, handle, user_key, hash, Trailer::seek(at))
    }

    #[inline(always)]
    fn find_in(
        &self,
        block: &Checked,
        handle: BlockHandle,
        user_key: &[u8],
        hash: u64,
        newest: Trailer,
    ) -> Result<Option<Found>> {
        let wanted = Wanted {
            key: user_key,
            hash,
            newest,
        };
        let found = find(block, self.sst.comparator(), wanted)
            .map_err(|error| self.sst.source().at(error, handle))?;
        Ok(found.map(|(trailer, range)| Found {
            trailer,
            value: match self.sst.source().is_much_pinned(handle) {
                false => block.share(range),
                true => block.slice(range),
            },
        }))
    }

    /// Goes to where a get would find its entry, as far as what is in memory leads, and says what
    /// will be read. With `is_index_announced`, which is to be said after that was the result, the
    /// index is read. Errors as [`BlockBasedReader::get`].
    pub fn announce(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
        is_index_announced: bool,
        announcer: &mut Announcer,
    ) -> Result<Announced<EntryPlace>> {
        if !self.may_contain(hash) {
            return Ok(Announced::Absent);
        }
        let (source, target) = (self.sst.source(), self.target(user_key, at));
        let found = if is_index_announced {
            let found = self.index.find(source, target, options.fill_cache)?;
            found.map_or(Announced::Absent, Announced::Place)
        } else {
            self.index.announce(source, target, announcer)?
        };
        found.try_map(|handle| {
            let rows = source.rows_or_announce(handle, announcer)?;
            Ok(EntryPlace { handle, rows })
        })
    }

    /// As [`BlockBasedReader::get_hashed`], from where [`BlockBasedReader::announce`] came to.
    pub fn get_at_place(
        &self,
        entry: EntryPlace,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        let EntryPlace { handle, rows } = entry;
        let block = match rows {
            Some(rows) => rows,
            None => self
                .sst
                .source()
                .announced_rows(handle, options.fill_cache)?,
        };
        self.find_in(&block, handle, user_key, hash, Trailer::seek(at))
    }

    #[inline(always)]
    fn target<'a>(&'a self, user_key: &'a [u8], at: SeqNo) -> Target<'a> {
        Target {
            comparator: self.sst.comparator(),
            user_key,
            trailer: Trailer::seek(at).raw(),
        }
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
