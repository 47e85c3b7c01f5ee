//! Ordered reads of a block-based sorted file.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::sst::block::checked::Checked;
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block::readahead::Readahead;
use crate::store::sst::block_based::index::{IndexPlace, Target};
use crate::store::sst::block_based::reader::BlockBasedReader;

/// Ordered movement over the entries of one file, both ways.
///
/// Shape: holds one block, its buffers, and, while it scans forward past the cache, a window of
/// up to 256 KiB.
#[derive(Debug)]
pub struct BlockBasedCursor {
    reader: Arc<BlockBasedReader>,
    options: ReadOptions,
    /// The block that `rows` is in; `None` while standing nowhere.
    place: Option<IndexPlace>,
    rows: BlockCursor,
    ahead: Readahead,
    /// Memory of a block that was left: the next one is uncompressed into it.
    spare: Option<Arc<[u8]>>,
}

impl BlockBasedCursor {
    /// A cursor that stands nowhere.
    pub fn new(reader: Arc<BlockBasedReader>, options: ReadOptions) -> BlockBasedCursor {
        BlockBasedCursor {
            reader,
            options,
            place: None,
            rows: BlockCursor::default(),
            ahead: Readahead::new(options.readahead_bytes_max),
            spare: None,
        }
    }

    /// Moves to the first entry of the block at about `lot` 2^32nds of the way through the file.
    pub fn seek_near(&mut self, lot: u32) -> Result<bool> {
        let (reader, fill_cache) = (&self.reader, self.options.fill_cache);
        let place = reader.index().near(reader.sst().source(), lot, fill_cache);
        let result = place
            .and_then(|place| Ok(self.enter(place)? && self.moved(BlockCursor::seek_to_first)?));
        self.settled(result)
    }

    /// Has it read at most so much ahead from now on; with 0 it gives no lookaheads either.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        self.ahead.set_window_max(bytes_max);
    }

    // Stands nowhere, and lets go of the place.
    fn leave(&mut self) -> bool {
        self.place = None;
        self.rows.leave();
        false
    }

    // Enters the block at `place`; with `None` stands nowhere.
    fn enter(&mut self, place: Option<IndexPlace>) -> Result<bool> {
        let Some(place) = place else {
            return Ok(self.leave());
        };
        let handle = place.handle();
        let source = self.reader.sst().source();
        let fill_cache = self.options.fill_cache;
        let block = source.rows_ahead(handle, fill_cache, &mut self.ahead, &mut self.spare)?;
        self.spare = self.rows.enter(block).and_then(Checked::into_memory);
        self.place = Some(place);
        Ok(true)
    }

    // Goes on forward through blocks until one has an entry: only damaged ones have none.
    fn first_behind(&mut self) -> Result<bool> {
        while let Some(place) = self.place.take() {
            let reader = &self.reader;
            let next =
                reader
                    .index()
                    .after(reader.sst().source(), place, self.options.fill_cache)?;
            if self.enter(next)? && self.moved(BlockCursor::seek_to_first)? {
                return Ok(true);
            }
        }
        Ok(self.leave())
    }

    fn last_before(&mut self) -> Result<bool> {
        while let Some(place) = self.place.take() {
            let reader = &self.reader;
            let previous =
                reader
                    .index()
                    .before(reader.sst().source(), place, self.options.fill_cache)?;
            if self.enter(previous)? && self.moved(BlockCursor::seek_to_last)? {
                return Ok(true);
            }
        }
        Ok(self.leave())
    }

    // A movement inside the block, its errors with their place.
    #[inline]
    fn moved(&mut self, movement: impl FnOnce(&mut BlockCursor) -> Result<bool>) -> Result<bool> {
        match movement(&mut self.rows) {
            Ok(is_on) => Ok(is_on),
            Err(error) => Err(self.placed(error)),
        }
    }

    #[cold]
    fn placed(&self, error: Error) -> Error {
        match &self.place {
            Some(place) => self.reader.sst().source().at(error, place.handle()),
            None => error,
        }
    }

    // After an error the cursor stands nowhere.
    #[inline]
    fn settled(&mut self, result: Result<bool>) -> Result<bool> {
        if result.is_err() {
            self.leave();
        }
        result
    }

    fn try_first(&mut self) -> Result<bool> {
        let reader = &self.reader;
        let first = reader
            .index()
            .first_of(reader.sst().source(), 0, self.options.fill_cache)?;
        if self.enter(first)? && self.moved(BlockCursor::seek_to_first)? {
            return Ok(true);
        }
        self.first_behind()
    }

    fn try_last(&mut self) -> Result<bool> {
        let reader = &self.reader;
        let index = reader.index();
        let Some(last) = index.partition_count().checked_sub(1) else {
            return Ok(self.leave());
        };
        let place = index.last_of(reader.sst().source(), last, self.options.fill_cache)?;
        if self.enter(place)? && self.moved(BlockCursor::seek_to_last)? {
            return Ok(true);
        }
        self.last_before()
    }

    fn try_seek(&mut self, target: &[u8]) -> Result<bool> {
        let reader = &self.reader;
        let (user_key, trailer) = key::split(target);
        let wanted = Target {
            comparator: reader.sst().comparator(),
            user_key,
            trailer: trailer.raw(),
        };
        let fill_cache = self.options.fill_cache;
        let place = reader
            .index()
            .seek(reader.sst().source(), wanted, fill_cache)?;
        if self.is_in(place.as_ref()) {
            // Seeks often stay near: the block at hand need not be asked for again.
        } else if !self.enter(place)? {
            return Ok(false);
        }
        match self.rows.seek(self.reader.sst().comparator(), target) {
            Ok(true) => Ok(true),
            Ok(false) => self.first_behind(),
            Err(error) => Err(self.placed(error)),
        }
    }

    fn is_in(&self, place: Option<&IndexPlace>) -> bool {
        match (&self.place, place) {
            (Some(own), Some(other)) => own.handle() == other.handle(),
            _ => false,
        }
    }
}

impl Cursor for BlockBasedCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        let result = self.try_first();
        self.settled(result)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        let result = self.try_last();
        self.settled(result)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let result = self.try_seek(target);
        self.settled(result)
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        match self.rows.next() {
            Ok(true) => Ok(true),
            Ok(false) => {
                let result = self.first_behind();
                self.settled(result)
            }
            Err(error) => {
                let error = self.placed(error);
                self.settled(Err(error))
            }
        }
    }

    fn prev(&mut self) -> Result<bool> {
        let result = match self.moved(BlockCursor::prev) {
            Ok(false) => self.last_before(),
            other => other,
        };
        self.settled(result)
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.rows.is_valid()
    }

    #[inline]
    fn is_surely_newest(&self) -> bool {
        self.rows.is_surely_newest()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.rows.key()
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        Ok(self.rows.value())
    }

    fn value_bytes(&self) -> Result<Bytes> {
        Ok(self.rows.value_bytes())
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        match fill {
            Fill::Seen(terms) => self.rows.gather(way, terms, chunk),
            Fill::Next(count_max) => {
                self.ahead.is_on() && self.rows.lookahead(way, count_max, chunk)
            }
        }
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        None
    }
}
