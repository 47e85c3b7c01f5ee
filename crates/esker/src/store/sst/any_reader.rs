//! Every kind of open sorted file behind one enum.

use std::sync::Arc;

use esker_phrase::{Dictionary, DictionaryId};

use crate::base::codec::checksum::hash64;
use crate::base::codec::compress::CompressionType;
use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::env::fs::{ReadFile, Unchanging};
use crate::store::cache::sharded::ShardedCache;
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::any_footer::AnyFooter;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::block::fetch::{BlockCache, BlockSource};
use crate::store::sst::block_based;
use crate::store::sst::block_based::cursor::BlockBasedCursor;
use crate::store::sst::block_based::reader::BlockBasedReader;
use crate::store::sst::block_based::verify;
use crate::store::sst::contract::{Announced, FinishedSst, Found};
use crate::store::sst::file_memory::FileMemory;
use crate::store::sst::opening::{OpenSst, RawFooter, read_part};
use crate::store::sst::props::Props;
use crate::store::sst::rank::{Gap, Rank};
use crate::store::sst::renumbered::{RenumberedCursor, RenumberedReader};
use crate::store::sst::searchable;
use crate::store::sst::searchable::cursor::SearchableCursor;
use crate::store::sst::searchable::reader::SearchableReader;

macro_rules! each {
    ($kinds:ident, $self:ident, $inner:ident => $call:expr) => {
        match $self {
            $kinds::BlockBased($inner) => $call,
            $kinds::Searchable($inner) => $call,
            $kinds::Adopted($inner) => apart(|| $call),
        }
    };
}

// What is done for files that were written elsewhere, out of the way of all others.
#[cold]
#[inline(never)]
fn apart<T>(call: impl FnOnce() -> T) -> T {
    call()
}

/// An open sorted file. Any thread may call anything.
#[derive(Debug)]
pub enum AnyReader {
    /// A file made of blocks.
    BlockBased(Arc<BlockBasedReader>),
    /// A file that is searched while it is compressed.
    Searchable(Arc<SearchableReader>),
    /// A file of either kind that was written elsewhere.
    Adopted(Arc<RenumberedReader<AnyReader>>),
}

/// Where the entry of a key is in one sorted file, if that has one.
#[derive(Debug)]
pub enum AnyEntryPlace {
    /// In a file made of blocks.
    BlockBased(block_based::reader::EntryPlace),
    /// In a file that is searched while it is compressed.
    Searchable(searchable::reader::EntryPlace),
}

impl AnyReader {
    /// Opens the file that is known so.
    ///
    /// Errors: `Unsupported` for a newer format, `NotBuilt` for a compressor that this build does
    /// not have, `Invalid` for another order of keys than the file was written with, `Corruption`
    /// with file and offset for everything that is damaged.
    pub fn open(
        file: Arc<dyn ReadFile>,
        binding: impl Into<FileBinding>,
        comparator: Comparator,
        cache: Arc<BlockCache>,
    ) -> Result<AnyReader> {
        let binding = binding.into();
        let footer = AnyFooter::decode(&RawFooter::read(&*file, binding)?)?;
        let source = BlockSource::new(file, binding, cache);
        let reader = match footer {
            AnyFooter::BlockBased(footer) => {
                let reader = BlockBasedReader::open(source, &footer, comparator)?;
                AnyReader::BlockBased(Arc::new(reader))
            }
            AnyFooter::Searchable(footer) => {
                let reader = SearchableReader::open(source, &footer, comparator)?;
                AnyReader::Searchable(Arc::new(reader))
            }
        };
        Ok(match binding.renumbering {
            None => reader,
            Some(renumbering) => {
                let (said, ranges) = (reader.props().clone(), Arc::clone(reader.range_deletes()));
                let adopted = RenumberedReader::new(reader, (said, &ranges), renumbering);
                AnyReader::Adopted(Arc::new(adopted))
            }
        })
    }

    /// How the blocks of the file that is known so are compressed where that pays, by what it says
    /// about itself: two reads, whatever its size.
    ///
    /// Errors: as [`AnyReader::open`], but for the order of keys.
    pub fn compression_of(
        file: Arc<dyn ReadFile>,
        binding: FileBinding,
    ) -> Result<CompressionType> {
        let footer = AnyFooter::decode(&RawFooter::read(&*file, binding)?)?;
        let source = BlockSource::new(file, binding, Arc::new(ShardedCache::new(0)));
        Ok(read_part(&source, footer.props(), Props::decode)?.compression)
    }

    /// Has records that are compressed by themselves read from a map of the file from now on, if
    /// there can be one. Blocks are read by calls: most have to be uncompressed into memory anyway.
    /// For a file that nobody else has yet.
    pub fn map(&mut self, word: Unchanging) {
        if self.is_searchable() {
            self.sst_mut().source_mut().map(word);
        }
    }

    /// Has what the file keeps in memory counted, as long as anybody has it open. For one that
    /// nobody else has yet.
    pub fn charge_to(&mut self, memory: &Arc<FileMemory>) {
        let charge = memory.charge(self.pinned_bytes(), self.shared_memory());
        self.sst_mut().source_mut().keep(charge);
    }

    fn sst(&self) -> &OpenSst {
        match self {
            AnyReader::BlockBased(reader) => reader.sst(),
            AnyReader::Searchable(reader) => reader.sst(),
            AnyReader::Adopted(reader) => reader.inner.sst(),
        }
    }

    fn sst_mut(&mut self) -> &mut OpenSst {
        let new = "it was opened just now";
        match self {
            AnyReader::BlockBased(reader) => Arc::get_mut(reader).expect(new).sst_mut(),
            AnyReader::Searchable(reader) => Arc::get_mut(reader).expect(new).sst_mut(),
            AnyReader::Adopted(reader) => {
                let reader = Arc::get_mut(reader).expect(new);
                Arc::get_mut(&mut reader.inner).expect(new).sst_mut()
            }
        }
    }

    /// What is seen of it where no sequence number matters.
    pub fn stored(&self) -> &AnyReader {
        match self {
            AnyReader::BlockBased(_) | AnyReader::Searchable(_) => self,
            AnyReader::Adopted(reader) => &reader.inner,
        }
    }

    /// The newest entry of the key that is visible at `at`, if the file has one. Range deletes
    /// are not looked at.
    ///
    /// Errors: `Corruption` with file and offset of the block; other keys stay readable.
    pub fn get(&self, user_key: &[u8], at: SeqNo, options: &ReadOptions) -> Result<Option<Found>> {
        self.get_hashed(user_key, hash64(user_key), at, options)
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
            AnyReader::Adopted(reader) => apart(|| {
                reader.get_at(at, |inner, at| {
                    inner.get_hashed(user_key, hash, at, options)
                })
            }),
        }
    }

    /// Goes to where a get would find its entry, as far as what is in memory leads, and says to the
    /// system what will be read. With `is_index_announced`, which is to be said after that was the
    /// result, that part of the index is read. Errors as [`AnyReader::get`].
    pub fn announce(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
        is_index_announced: bool,
        announcer: &mut Announcer,
    ) -> Result<Announced<AnyEntryPlace>> {
        match self {
            AnyReader::BlockBased(reader) => reader
                .announce(user_key, hash, at, options, is_index_announced, announcer)?
                .try_map(|entry| Ok(AnyEntryPlace::BlockBased(entry))),
            AnyReader::Searchable(reader) => reader
                .announce(user_key, hash, at, options, is_index_announced, announcer)?
                .try_map(|entry| Ok(AnyEntryPlace::Searchable(entry))),
            AnyReader::Adopted(reader) => match reader.renumbering.stored(at) {
                None => Ok(Announced::Absent),
                Some(at) => reader.inner.announce(
                    user_key,
                    hash,
                    at,
                    options,
                    is_index_announced,
                    announcer,
                ),
            },
        }
    }

    /// As [`AnyReader::get_hashed`], from where [`AnyReader::announce`] of this file came to.
    pub fn get_at_place(
        &self,
        entry: AnyEntryPlace,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        match (self, entry) {
            (AnyReader::BlockBased(reader), AnyEntryPlace::BlockBased(entry)) => {
                reader.get_at_place(entry, user_key, hash, at, options)
            }
            (AnyReader::Searchable(reader), AnyEntryPlace::Searchable(entry)) => {
                reader.get_at_place(entry, user_key, hash, at, options)
            }
            (AnyReader::Adopted(reader), entry) => reader.get_at(at, |inner, at| {
                inner.get_at_place(entry, user_key, hash, at, options)
            }),
            _ => unreachable!("a file is of one kind as long as it is there"),
        }
    }

    /// Whether the file may have entries of the key with that `hash64`; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        match self {
            AnyReader::BlockBased(reader) => reader.may_contain(hash),
            // It has no filter: a fingerprint in the key page does the work of one.
            AnyReader::Searchable(_) => true,
            AnyReader::Adopted(reader) => apart(|| reader.inner.may_contain(hash)),
        }
    }

    /// Whether [`AnyReader::may_contain`] ever says no.
    pub fn has_filter(&self) -> bool {
        match self {
            AnyReader::BlockBased(reader) => reader.has_filter(),
            AnyReader::Searchable(_) => false,
            AnyReader::Adopted(reader) => reader.inner.has_filter(),
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
            AnyReader::Adopted(reader) => reader.inner.rank(gap, fill_cache),
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
            AnyReader::Adopted(reader) => {
                let inner = reader.inner.cursor(options);
                let cursor = RenumberedCursor::new(inner, reader.renumbering);
                AnyCursor::Adopted(Box::new(cursor))
            }
        }
    }

    /// The file's range deletes, by ascending start.
    pub fn range_deletes(&self) -> &Arc<[RangeDelete]> {
        match self {
            AnyReader::BlockBased(_) | AnyReader::Searchable(_) => self.sst().range_deletes(),
            AnyReader::Adopted(reader) => &reader.range_deletes,
        }
    }

    /// What the file says about itself; of an adopted one, as it is seen here.
    pub fn props(&self) -> &Props {
        match self {
            AnyReader::BlockBased(_) | AnyReader::Searchable(_) => self.sst().props(),
            AnyReader::Adopted(reader) => &reader.props,
        }
    }

    /// Whether the file is searched while it is compressed.
    pub fn is_searchable(&self) -> bool {
        matches!(self.stored(), AnyReader::Searchable(_))
    }

    /// The dictionary that its values are phrases of, if they are.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        match self {
            AnyReader::BlockBased(_) => None,
            AnyReader::Searchable(reader) => reader.dictionary(),
            AnyReader::Adopted(reader) => reader.inner.dictionary(),
        }
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        self.sst().number()
    }

    /// What the builder said when the file was finished, but for what became of its values: that
    /// is stored nowhere.
    pub fn finished(&self) -> FinishedSst {
        FinishedSst {
            size_bytes: self.sst().source().size_bytes(),
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
            AnyReader::Adopted(reader) => reader.inner.shared_memory(),
        }
    }

    /// Bytes of memory that are kept as long as the file is open, but for what it shares.
    pub fn pinned_bytes(&self) -> usize {
        match self {
            AnyReader::BlockBased(reader) => reader.pinned_bytes(),
            AnyReader::Searchable(reader) => reader.pinned_bytes(),
            AnyReader::Adopted(reader) => reader.pinned_bytes() + reader.inner.pinned_bytes(),
        }
    }

    /// Reads every byte of the file, past the cache, and holds it against what the file says.
    ///
    /// Errors: `Corruption` with file and offset of the first thing that is wrong.
    pub fn verify(&self) -> Result<()> {
        match self {
            AnyReader::BlockBased(reader) => verify::verify(reader),
            AnyReader::Searchable(reader) => searchable::verify::verify(reader),
            AnyReader::Adopted(reader) => reader.inner.verify(),
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
    /// In a file that was written elsewhere.
    Adopted(Box<RenumberedCursor<AnyCursor>>),
}

impl AnyCursor {
    /// Moves to an entry at about `lot` 2^32nds of the way through the file: to pick some of all.
    pub fn seek_near(&mut self, lot: u32) -> Result<bool> {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.seek_near(lot),
            AnyCursor::Searchable(cursor) => cursor.seek_near(lot),
            AnyCursor::Adopted(cursor) => cursor.move_by(|inner| inner.seek_near(lot)),
        }
    }

    /// Has it read at most so much ahead from now on.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        match self {
            AnyCursor::BlockBased(cursor) => cursor.set_readahead(bytes_max),
            AnyCursor::Searchable(cursor) => cursor.set_readahead(bytes_max),
            AnyCursor::Adopted(cursor) => cursor.inner_mut().set_readahead(bytes_max),
        }
    }
}

impl Cursor for AnyCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.seek_to_first())
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.seek_to_last())
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.seek(target))
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.seek_for_prev(target))
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.next())
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        each!(AnyCursor, self, cursor => cursor.prev())
    }

    #[inline]
    fn is_valid(&self) -> bool {
        each!(AnyCursor, self, cursor => cursor.is_valid())
    }

    #[inline]
    fn key(&self) -> &[u8] {
        each!(AnyCursor, self, cursor => cursor.key())
    }

    #[inline]
    fn is_surely_newest(&self) -> bool {
        each!(AnyCursor, self, cursor => cursor.is_surely_newest())
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        each!(AnyCursor, self, cursor => cursor.value())
    }

    fn value_bytes(&self) -> Result<Bytes> {
        each!(AnyCursor, self, cursor => cursor.value_bytes())
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        each!(AnyCursor, self, cursor => cursor.fill(way, fill, chunk))
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        each!(AnyCursor, self, cursor => cursor.encoded())
    }
}

#[cfg(test)]
mod tests;
