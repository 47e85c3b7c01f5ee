//! Brings a block: from the cache, else read, checked and uncompressed.

use std::fmt;
use std::sync::Arc;

use crate::base::codec::compress::CompressionType;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::limits::VALUE_BYTES_MAX;
use crate::env::fs::{MappedFile, ReadFile, Unchanging};
use crate::store::cache::block_key::BlockKey;
use crate::store::cache::pinned::Holdable;
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::block::around::Around;
use crate::store::sst::block::buffers;
use crate::store::sst::block::checked::Checked;
use crate::store::sst::block::readahead::Readahead;
use crate::store::sst::block::uncompressed::Uncompressed;
use crate::store::sst::file_memory::FileReservation;
use crate::store::sst::format::{BlockHandle, TRAILER_BYTES, block_checksum};
use crate::store::sst::index::block::IndexBlock;

/// A block as the cache keeps it.
#[derive(Clone, Debug)]
pub enum Cached {
    /// Entries.
    Rows(Checked),
    /// Separators and handles: a partition of a large index.
    Index(Arc<IndexBlock>),
    /// Plain bytes, which whoever asks for them looks into by himself.
    Plain(Arc<Vec<u8>>),
    /// No block but a record that was compressed by itself.
    Record(Uncompressed),
}

// With its key and what the cache notes beside it a line of the processor's cache.
const _: () = assert!(size_of::<Option<Cached>>() == 32);

impl Holdable for Cached {
    fn is_held_elsewhere(&self) -> bool {
        match self {
            Cached::Rows(rows) => Arc::strong_count(rows.memory()) > 1,
            Cached::Index(index) => Arc::strong_count(index) > 1,
            Cached::Plain(plain) => Arc::strong_count(plain) > 1,
            Cached::Record(record) => record.is_held_elsewhere(),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Cached::Rows(rows) => rows.size_bytes(),
            Cached::Index(index) => index.size_bytes(),
            Cached::Plain(plain) => plain.capacity() + size_of::<Vec<u8>>(),
            Cached::Record(record) => record.size_bytes(),
        }
    }
}

/// The block cache that all sorted files of a database share.
pub type BlockCache = ShardedCache<Cached>;

/// Longest plain block: one that holds the largest value, with 64 MiB for its company. Nothing
/// longer is uncompressed, whatever an index says.
const PLAIN_BYTES_MAX: usize = VALUE_BYTES_MAX + (64 << 20);

/// Where the blocks of one file come from.
#[derive(Clone)]
pub struct BlockSource {
    file: Arc<dyn ReadFile>,
    /// The file in memory, where it is to be read so.
    map: Option<Arc<dyn MappedFile>>,
    number: FileNumber,
    bound: FileNumber,
    cache: Arc<BlockCache>,
    around: Arc<Around>,
    /// Of what the open file keeps in memory.
    charge: Option<Arc<FileReservation>>,
}

impl BlockSource {
    /// The blocks of `file`, which is known so.
    pub fn new(
        file: Arc<dyn ReadFile>,
        binding: impl Into<FileBinding>,
        cache: Arc<BlockCache>,
    ) -> BlockSource {
        let FileBinding { number, bound, .. } = binding.into();
        BlockSource {
            around: Arc::new(Around::new(file.size_bytes())),
            map: None,
            charge: None,
            file,
            number,
            bound,
            cache,
        }
    }

    /// Has records read from a map of the file from now on, if there can be one.
    pub fn map(&mut self, word: Unchanging) {
        self.map = self.file.map(word);
    }

    /// Keeps that charge as long as anybody has the file open.
    pub fn keep(&mut self, charge: FileReservation) {
        self.charge = Some(Arc::new(charge));
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    /// The number that its checksums contain.
    pub fn bound(&self) -> FileNumber {
        self.bound
    }

    /// Size of the file in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// Says that the range will be read soon.
    pub fn prefetch(&self, offset: u64, len: u64) {
        self.file.prefetch(offset, len);
    }

    /// Says that `len` bytes that are no block will be read soon.
    pub fn announce(&self, offset: u64, len: u64, announcer: &mut Announcer) {
        announcer.announce(&*self.file, self.number, offset, len);
    }

    /// A block of entries that the cache has; otherwise says that it will be read soon.
    pub fn rows_or_announce(
        &self,
        handle: BlockHandle,
        announcer: &mut Announcer,
    ) -> Result<Option<Checked>> {
        match self.cached_or_announce(handle, announcer)? {
            None => Ok(None),
            Some(Cached::Rows(rows)) => Ok(Some(rows)),
            Some(_) => Err(self.two_kinds(handle)),
        }
    }

    /// A partition of the index that the cache has; otherwise says that it will be read soon.
    pub fn partition_or_announce(
        &self,
        handle: BlockHandle,
        announcer: &mut Announcer,
    ) -> Result<Option<Arc<IndexBlock>>> {
        match self.cached_or_announce(handle, announcer)? {
            None => Ok(None),
            Some(Cached::Index(index)) => Ok(Some(index)),
            Some(_) => Err(self.two_kinds(handle)),
        }
    }

    /// The plain bytes of another block that the cache has; otherwise says that it will be read
    /// soon.
    pub fn plain_or_announce(
        &self,
        handle: BlockHandle,
        announcer: &mut Announcer,
    ) -> Result<Option<Arc<Vec<u8>>>> {
        match self.cached_or_announce(handle, announcer)? {
            None => Ok(None),
            Some(Cached::Plain(plain)) => Ok(Some(plain)),
            Some(_) => Err(self.two_kinds(handle)),
        }
    }

    fn cached_or_announce(
        &self,
        handle: BlockHandle,
        announcer: &mut Announcer,
    ) -> Result<Option<Cached>> {
        let cached = self.cache.get_before_reading(&self.key(handle));
        if cached.is_none() {
            let len = self.stored_len(handle);
            let len = len.map_err(|error| self.at(error, handle))?;
            self.announce(handle.offset, len as u64, announcer);
        }
        Ok(cached)
    }

    /// A block of entries, for a point read.
    pub fn rows(&self, handle: BlockHandle, fill_cache: bool) -> Result<Checked> {
        if let Some(rows) = self.cached_rows(handle)? {
            return Ok(rows);
        }
        self.read_around(handle, fill_cache);
        self.bring_rows(handle, fill_cache)
    }

    /// A block of entries that was announced. What lies around it is left alone: the medium has
    /// others to read that were announced as well.
    pub fn announced_rows(&self, handle: BlockHandle, fill_cache: bool) -> Result<Checked> {
        if let Some(rows) = self.cached_rows(handle)? {
            return Ok(rows);
        }
        self.bring_rows(handle, fill_cache)
    }

    /// Whether so many blocks are pinned near that one that small values should be copied.
    #[inline]
    pub fn is_much_pinned(&self, handle: BlockHandle) -> bool {
        self.cache.is_much_pinned(&self.key(handle))
    }

    /// A block of entries, for a scan that goes on behind it. `spare` is the memory of a block that
    /// the scan needs no more; it may become that of this one.
    ///
    /// What was read ahead is kept in the cache only where that pushes nothing out: a long scan
    /// reads it again for little, in large pieces, and would cost point reads what they keep.
    pub fn rows_ahead(
        &self,
        handle: BlockHandle,
        fill_cache: bool,
        ahead: &mut Readahead,
        spare: &mut Option<Arc<[u8]>>,
    ) -> Result<Checked> {
        if let Some(rows) = self.cached_rows(handle)? {
            if ahead.pass(handle) {
                rows.touch();
            }
            return Ok(rows);
        }
        let Some(stored) = ahead.stored(&*self.file, handle) else {
            self.read_around(handle, fill_cache);
            return self.bring_rows(handle, fill_cache);
        };
        let rows = stored.and_then(|stored| {
            let (compression, compressed) = self.check(stored, handle)?;
            uncompress_rows(compression, compressed, handle, spare.take())
        });
        let rows = rows.map_err(|error| self.at(error, handle))?;
        let has_room = fill_cache && self.cache.has_room(&self.key(handle), rows.size_bytes());
        self.keep_rows(handle, &rows, has_room);
        Ok(rows)
    }

    /// A block of entries as the file has it, past the cache.
    pub fn rows_from_file(&self, handle: BlockHandle) -> Result<Checked> {
        self.read_rows(handle)
    }

    /// A partition of the index.
    pub fn partition(&self, handle: BlockHandle, fill_cache: bool) -> Result<Arc<IndexBlock>> {
        match self.cache.get(&self.key(handle)) {
            Some(Cached::Index(index)) => return Ok(index),
            Some(_) => return Err(self.two_kinds(handle)),
            None => {}
        }
        self.read_around(handle, fill_cache);
        let index = Arc::new(self.index_from_file(handle)?);
        if fill_cache {
            let cached = Cached::Index(Arc::clone(&index));
            let charge = cached.size_bytes();
            self.cache.insert(self.key(handle), cached, charge);
        }
        Ok(index)
    }

    /// An index block as the file has it, past the cache.
    pub fn index_from_file(&self, handle: BlockHandle) -> Result<IndexBlock> {
        let plain = self.read_plain(handle)?;
        IndexBlock::read(&plain).map_err(|error| self.at(error, handle))
    }

    /// The plain bytes of a block that is neither of entries nor of an index.
    pub fn plain(&self, handle: BlockHandle, fill_cache: bool) -> Result<Arc<Vec<u8>>> {
        match self.cache.get(&self.key(handle)) {
            Some(Cached::Plain(plain)) => return Ok(plain),
            Some(_) => return Err(self.two_kinds(handle)),
            None => {}
        }
        let plain = Arc::new(self.read_plain(handle)?);
        if fill_cache {
            let cached = Cached::Plain(Arc::clone(&plain));
            let charge = cached.size_bytes();
            self.cache.insert(self.key(handle), cached, charge);
        }
        Ok(plain)
    }

    /// What the cache has uncompressed under the user key with that `hash64`, or one with the same.
    #[inline]
    pub fn cached_record(&self, hash: u64) -> Option<Uncompressed> {
        match self.cache.get(&BlockKey::of_user_key(self.number, hash)) {
            Some(Cached::Record(record)) => Some(record),
            // Nothing else is put under a key.
            Some(_) | None => None,
        }
    }

    /// Offers the newest record of a user key with that `hash64` to the cache. It is brought again
    /// by one small access, where a block that it would push out takes as long and serves many.
    pub fn offer_record(&self, hash: u64, record: Uncompressed) {
        let charge = record.size_bytes();
        let key = BlockKey::of_user_key(self.number, hash);
        self.cache.offer(key, Cached::Record(record), charge);
    }

    /// `len` bytes that are no block, where the file is mapped; unchecked.
    #[inline]
    pub fn mapped(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.map.as_ref()?.bytes(offset, len)
    }

    /// `len` bytes that are no block, from the map or else by a call into `bytes`, in place of what
    /// that held; unchecked. Errors name the file.
    pub fn bare<'a>(&'a self, offset: u64, len: u32, bytes: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        if let Some(mapped) = self.mapped(offset, len as usize) {
            return Ok(mapped);
        }
        bytes.clear();
        self.read_bare(offset, u64::from(len), bytes)?;
        Ok(bytes)
    }

    /// Appends `len` bytes that are no block to `bytes`, unchecked. Errors name the file.
    pub fn read_bare(&self, offset: u64, len: u64, bytes: &mut Vec<u8>) -> Result<()> {
        // Held against the file's size first: a damaged length must not become an allocation.
        let end = offset.checked_add(len);
        let len = usize::try_from(len).ok();
        let read = match len.filter(|_| end.is_some_and(|end| end <= self.size_bytes())) {
            None => Err(Error::corruption("a part of the file lies behind its end")),
            Some(len) => self.file.read_onto(offset, len, bytes),
        };
        read.map_err(|error| self.at_offset(error, offset))
    }

    /// The plain bytes of any block: read, checked, uncompressed.
    pub fn read_plain(&self, handle: BlockHandle) -> Result<Vec<u8>> {
        self.read_stored(handle, |compression, compressed| {
            compression.uncompress(compressed, plain_len(handle)?)
        })
    }

    /// The error, with the file and the block it concerns.
    pub fn at(&self, error: Error, handle: BlockHandle) -> Error {
        self.at_offset(error, handle.offset)
    }

    fn at_offset(&self, error: Error, offset: u64) -> Error {
        let error = error.in_file(FileName::Sst(self.number));
        error.at_offset(offset)
    }

    fn key(&self, handle: BlockHandle) -> BlockKey {
        self.key_at(handle.offset)
    }

    fn key_at(&self, offset: u64) -> BlockKey {
        BlockKey {
            file: self.number,
            offset,
        }
    }

    fn cached_rows(&self, handle: BlockHandle) -> Result<Option<Checked>> {
        match self.cache.get(&self.key(handle)) {
            Some(Cached::Rows(rows)) => Ok(Some(rows)),
            Some(_) => Err(self.two_kinds(handle)),
            None => Ok(None),
        }
    }

    fn bring_rows(&self, handle: BlockHandle, fill_cache: bool) -> Result<Checked> {
        let rows = self.read_rows(handle)?;
        self.keep_rows(handle, &rows, fill_cache);
        Ok(rows)
    }

    fn keep_rows(&self, handle: BlockHandle, rows: &Checked, fill_cache: bool) {
        if fill_cache {
            let charge = rows.size_bytes();
            let cached = Cached::Rows(rows.clone());
            let gone = self.cache.insert(self.key(handle), cached, charge);
            if let Some(Cached::Rows(gone)) = gone
                && let Some(memory) = gone.into_memory()
            {
                buffers::give_back(memory);
            }
        }
    }

    // Who keeps nothing passes through once, and reads ahead by himself.
    fn read_around(&self, handle: BlockHandle, fill_cache: bool) {
        if fill_cache {
            self.around.touch(&*self.file, handle.offset);
        }
    }

    // Only two damaged handles with right checksums can lead one block into both roles.
    fn two_kinds(&self, handle: BlockHandle) -> Error {
        let error = Error::corruption("one block is used as two kinds");
        self.at(error, handle)
    }

    fn read_rows(&self, handle: BlockHandle) -> Result<Checked> {
        self.read_stored(handle, |compression, compressed| {
            uncompress_rows(compression, compressed, handle, None)
        })
    }

    // Held against the file's size: a damaged length must not become an allocation.
    fn stored_len(&self, handle: BlockHandle) -> Result<usize> {
        let fits = handle.end().is_some_and(|end| end <= self.size_bytes());
        let len = usize::try_from(handle.stored_len()).ok();
        len.filter(|_| fits)
            .ok_or_else(|| Error::corruption("a block handle points behind the file"))
    }

    // By way of a buffer of the thread, which keeps its length so that nothing is cleared; a long
    // block by way of one of its own.
    fn read_stored<T>(
        &self,
        handle: BlockHandle,
        uncompress: impl FnOnce(CompressionType, &[u8]) -> Result<T>,
    ) -> Result<T> {
        let read = self.stored_len(handle).and_then(|len| {
            let mut stored = match buffers::STORED_BUFFER.keeps(len) {
                true => buffers::STORED_BUFFER.take(),
                false => vec![0; len],
            };
            if stored.len() < len {
                stored.resize(len, 0);
            }
            let uncompressed = self
                .file
                .read_at(handle.offset, &mut stored[..len])
                .and_then(|()| self.check(&stored[..len], handle))
                .and_then(|(compression, compressed)| uncompress(compression, compressed));
            buffers::STORED_BUFFER.give_back(stored);
            uncompressed
        });
        read.map_err(|error| self.at(error, handle))
    }

    // Compressed bytes whose checksum is right, and how they are compressed.
    fn check<'a>(
        &self,
        stored: &'a [u8],
        handle: BlockHandle,
    ) -> Result<(CompressionType, &'a [u8])> {
        let parts = stored
            .split_last_chunk::<4>()
            .and_then(|(covered, checksum)| Some((covered, checksum, covered.split_last()?)));
        let Some((covered, checksum, (compression, compressed))) = parts else {
            return Err(Error::corruption("a block is shorter than its trailer"));
        };
        if u32::from_le_bytes(*checksum) != block_checksum(covered, self.bound, handle.offset) {
            return Err(Error::corruption("block checksum differs"));
        }
        match CompressionType::from_byte(*compression) {
            Some(compression) => Ok((compression, compressed)),
            None => Err(Error::corruption(format!(
                "block is compressed in an unknown way, {compression}"
            ))),
        }
    }
}

const _: () = assert!(TRAILER_BYTES == 1 + 4);

// Asked for before anything is allocated: a damaged length must not become an allocation.
fn plain_len(handle: BlockHandle) -> Result<usize> {
    let plain_len = handle.plain_len as usize;
    match plain_len <= PLAIN_BYTES_MAX {
        true => Ok(plain_len),
        false => Err(Error::corruption(format!(
            "a block claims to uncompress to {plain_len} bytes"
        ))),
    }
}

fn uncompress_rows(
    compression: CompressionType,
    compressed: &[u8],
    handle: BlockHandle,
    spare: Option<Arc<[u8]>>,
) -> Result<Checked> {
    let len = plain_len(handle)?;
    let mut memory = buffers::for_plain(len, spare);
    let plain = Arc::get_mut(&mut memory).expect("nobody else holds it");
    compression.uncompress_to(compressed, &mut plain[..len])?;
    Checked::in_memory(memory, len)
}

impl fmt::Debug for BlockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlockSource({})", FileName::Sst(self.number))
    }
}
