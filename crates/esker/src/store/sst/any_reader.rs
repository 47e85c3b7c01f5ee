//! Every kind of open sorted file behind one enum.

use std::sync::Arc;

use esker_phrase::{Dictionary, DictionaryId};

use crate::base::codec::compress::CompressionType;
use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::{Cursor, Fill, Phrased, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::{ReadFile, Unchanging};
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::block::fetch::{BlockCache, BlockSource};
use crate::store::sst::block_based::cursor::BlockBasedCursor;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::block_based::verify;
use crate::store::sst::contract::{FinishedSst, Found};
use crate::store::sst::file_memory::FileMemory;
use crate::store::sst::format::Footer;
use crate::store::sst::opening::{RawFooter, read_part};
use crate::store::sst::props::Props;
use crate::store::sst::rank::{Gap, Rank};
use crate::store::sst::searchable;
use crate::store::sst::searchable::cursor::SearchableCursor;
use crate::store::sst::searchable::reader::SearchableReader;

/// An open sorted file. Any thread may call anything.
#[derive(Debug)]
pub enum AnyReader {
    /// A file made of blocks.
    BlockBased(Arc<BlockBasedReader>),
    /// A file that is searched while it is compressed.
    Searchable(Arc<SearchableReader>),
}

impl AnyReader {
    /// Opens the file with that number.
    ///
    /// Errors: `Unsupported` for a newer format, `NotBuilt` for a compressor that this build does
    /// not have, `Invalid` for another order of keys than the file was written with, `Corruption`
    /// with file and offset for everything that is damaged.
    pub fn open(
        file: Arc<dyn ReadFile>,
        number: FileNumber,
        comparator: Comparator,
        cache: Arc<BlockCache>,
    ) -> Result<AnyReader> {
        let footer = RawFooter::read(&*file, number)?;
        if footer.is_searchable() {
            let reader = SearchableReader::open(file, &footer, comparator, cache)?;
            return Ok(AnyReader::Searchable(Arc::new(reader)));
        }
        let reader = BlockBasedReader::open(file, &footer, comparator, cache)?;
        Ok(AnyReader::BlockBased(Arc::new(reader)))
    }

    /// How the blocks of the file with that number are compressed where that pays, by what it says
    /// about itself: two reads, whatever its size.
    ///
    /// Errors: as [`AnyReader::open`], but for the order of keys.
    pub fn compression_of(file: Arc<dyn ReadFile>, number: FileNumber) -> Result<CompressionType> {
        let footer = RawFooter::read(&*file, number)?;
        let props = match footer.is_searchable() {
            true => footer.decode(searchable::format::Footer::decode)?.props,
            false => footer.decode(Footer::decode)?.props,
        };
        let source = BlockSource::new(file, number, Arc::new(ShardedCache::new(0)));
        Ok(read_part(&source, props, Props::decode)?.compression)
    }

    /// Has records that are compressed by themselves read from a map of the file from now on, if
    /// there can be one. Blocks are read by calls: most have to be uncompressed into memory anyway.
    pub fn map(&mut self, word: Unchanging) {
        if let AnyReader::Searchable(reader) = self
            && let Some(reader) = Arc::get_mut(reader)
        {
            reader.map(word);
        }
    }

    /// Has what the file keeps in memory counted, as long as anybody has it open. For one that
    /// nobody else has yet.
    pub fn charge_to(&mut self, memory: &Arc<FileMemory>) {
        let charge = memory.charge(self.pinned_bytes(), self.shared_memory());
        match self {
            AnyReader::BlockBased(reader) => {
                let reader = Arc::get_mut(reader).expect("it was opened just now");
                reader.source_mut().keep(charge);
            }
            AnyReader::Searchable(reader) => {
                let reader = Arc::get_mut(reader).expect("it was opened just now");
                reader.source_mut().keep(charge);
            }
        }
    }

    /// The newest entry of the key that is visible at `at`, if the file has one. Range deletes
    /// are not looked at.
    ///
    /// Errors: `Corruption` with file and offset of the block; other keys stay readable.
    pub fn get(&self, user_key: &[u8], at: SeqNo, options: &ReadOptions) -> Result<Option<Found>> {
        match self {
            AnyReader::BlockBased(reader) => reader.get(user_key, at, options),
            AnyReader::Searchable(reader) => reader.get(user_key, at, options),
        }
    }

    /// As [`AnyReader::get`], for a caller who asks several files and has the key's `hash64`
    /// already.
    #[inline]
    pub fn get_hashed(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        match self {
            AnyReader::BlockBased(reader) => reader.get_hashed(user_key, hash, at, options),
            AnyReader::Searchable(reader) => reader.get_hashed(user_key, hash, at, options),
        }
    }

    /// Whether the file may have entries of the key with that `hash64`; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        match self {
            AnyReader::BlockBased(reader) => reader.may_contain(hash),
            // It has no filter: a fingerprint in the key page does the work of one.
            AnyReader::Searchable(_) => true,
        }
    }

    /// Whether [`AnyReader::may_contain`] ever says no.
    pub fn has_filter(&self) -> bool {
        match self {
            AnyReader::BlockBased(reader) => reader.has_filter(),
            AnyReader::Searchable(_) => false,
        }
    }

    /// About how much of the file lies before `gap`, without reading data: in a file made of blocks
    /// to half a block of bytes, and of entries as large a part; in a searchable one to an entry.
    ///
    /// Errors: `Corruption` and `Io` of reading a part of the index.
    pub fn rank(&self, gap: Gap<'_>, fill_cache: bool) -> Result<Rank> {
        match self {
            AnyReader::BlockBased(reader) => reader.rank(gap, fill_cache),
            AnyReader::Searchable(reader) => reader.rank(gap, fill_cache),
        }
    }

    /// A cursor over the point entries, standing nowhere.
    pub fn cursor(self: &Arc<Self>, options: ReadOptions) -> AnyCursor {
        match &**self {
            AnyReader::BlockBased(reader) => {
                let cursor = BlockBasedCursor::new(Arc::clone(reader), options);
                AnyCursor::BlockBased(Box::new(cursor))
            }
            AnyReader::Searchable(reader) => {
                let cursor = SearchableCursor::new(Arc::clone(reader), options);
                AnyCursor::Searchable(Box::new(cursor))
            }
        }
    }

    /// The file's range deletes, by ascending start.
    pub fn range_deletes(&self) -> &Arc<[RangeDelete]> {
        match self {
            AnyReader::BlockBased(reader) => reader.range_deletes(),
            AnyReader::Searchable(reader) => reader.range_deletes(),
        }
    }

    /// What the file says about itself.
    pub fn props(&self) -> &Props {
        match self {
            AnyReader::BlockBased(reader) => reader.props(),
            AnyReader::Searchable(reader) => reader.props(),
        }
    }

    /// Whether the file is searched while it is compressed.
    pub fn is_searchable(&self) -> bool {
        matches!(self, AnyReader::Searchable(_))
    }

    /// The dictionary that its values are phrases of, if they are.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        match self {
            AnyReader::BlockBased(_) => None,
            AnyReader::Searchable(reader) => reader.dictionary(),
        }
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        match self {
            AnyReader::BlockBased(reader) => reader.number(),
            AnyReader::Searchable(reader) => reader.number(),
        }
    }

    /// What the builder said when the file was finished, but for what became of its values: that
    /// is stored nowhere.
    pub fn finished(&self) -> FinishedSst {
        let source = match self {
            AnyReader::BlockBased(reader) => reader.source(),
            AnyReader::Searchable(reader) => reader.source(),
        };
        FinishedSst {
            size_bytes: source.size_bytes(),
            props: self.props().clone(),
            is_searchable: self.is_searchable(),
            compressed: None,
        }
    }

    /// What it keeps in memory together with other files, as long as one of them is open: its
    /// number and its bytes.
    pub fn shared_memory(&self) -> Option<(DictionaryId, usize)> {
        match self {
            AnyReader::BlockBased(_) => None,
            AnyReader::Searchable(reader) => reader.shared_memory(),
        }
    }

    /// Bytes of memory that are kept as long as the file is open, but for what it shares.
    pub fn pinned_bytes(&self) -> usize {
        match self {
            AnyReader::BlockBased(reader) => reader.pinned_bytes(),
            AnyReader::Searchable(reader) => reader.pinned_bytes(),
        }
    }

    /// Reads every byte of the file, past the cache, and holds it against what the file says.
    ///
    /// Errors: `Corruption` with file and offset of the first thing that is wrong.
    pub fn verify(&self) -> Result<()> {
        match self {
            AnyReader::BlockBased(reader) => verify::verify(reader),
            AnyReader::Searchable(reader) => searchable::verify::verify(reader),
        }
    }
}

/// Ordered movement over the point entries of one sorted file.
#[derive(Debug)]
pub enum AnyCursor {
    /// In a file made of blocks. Boxed: a merge moves cursors about, and this one is large.
    BlockBased(Box<BlockBasedCursor>),
    /// In a file that is searched while it is compressed. Boxed as the other is.
    Searchable(Box<SearchableCursor>),
}

impl AnyCursor {
    /// Moves to an entry at about `lot` 2^32nds of the way through the file: to pick some of all.
    pub fn seek_near(&mut self, lot: u32) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek_near(lot),
            AnyCursor::Searchable(cursor) => cursor.seek_near(lot),
        }
    }

    /// Has it read at most so much ahead from now on.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.set_readahead(bytes_max),
            AnyCursor::Searchable(cursor) => cursor.set_readahead(bytes_max),
        }
    }
}

impl Cursor for AnyCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek_to_first(),
            AnyCursor::Searchable(cursor) => cursor.seek_to_first(),
        }
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek_to_last(),
            AnyCursor::Searchable(cursor) => cursor.seek_to_last(),
        }
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek(target),
            AnyCursor::Searchable(cursor) => cursor.seek(target),
        }
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek_for_prev(target),
            AnyCursor::Searchable(cursor) => cursor.seek_for_prev(target),
        }
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.next(),
            AnyCursor::Searchable(cursor) => cursor.next(),
        }
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.prev(),
            AnyCursor::Searchable(cursor) => cursor.prev(),
        }
    }

    #[inline]
    fn is_valid(&self) -> bool {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.is_valid(),
            AnyCursor::Searchable(cursor) => cursor.is_valid(),
        }
    }

    #[inline]
    fn key(&self) -> &[u8] {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.key(),
            AnyCursor::Searchable(cursor) => cursor.key(),
        }
    }

    #[inline]
    fn is_surely_newest(&self) -> bool {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.is_surely_newest(),
            AnyCursor::Searchable(cursor) => cursor.is_surely_newest(),
        }
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.value(),
            AnyCursor::Searchable(cursor) => cursor.value(),
        }
    }

    fn value_bytes(&self) -> Result<Bytes> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.value_bytes(),
            AnyCursor::Searchable(cursor) => cursor.value_bytes(),
        }
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.fill(way, fill, chunk),
            AnyCursor::Searchable(cursor) => cursor.fill(way, fill, chunk),
        }
    }

    fn phrased(&self) -> Option<Phrased<'_>> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.phrased(),
            AnyCursor::Searchable(cursor) => cursor.phrased(),
        }
    }
}

#[cfg(test)]
mod tests;
