//! Point reads in a searchable sorted file.

use std::sync::Arc;

use esker_phrase::{Dictionary, DictionaryId};

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::key::Trailer;
use crate::base::types::seqno::SeqNo;
use crate::store::names::FileName;
use crate::store::sst::block::announcer::Announcer;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::block::uncompressed::Uncompressed;
use crate::store::sst::contract::{Announced, Found};
use crate::store::sst::index::block::IndexBlock;
use crate::store::sst::opening::{KeptParts, OpenSst, read_part};
use crate::store::sst::searchable::dictionary::SharedDictionary;
use crate::store::sst::searchable::format::{Footer, fingerprint_of};
use crate::store::sst::searchable::keys::{Landing, Spot, Wanted, put_next};
use crate::store::sst::searchable::page::{Page, RecordPlace, bad};
use crate::store::sst::searchable::records::{Record, Sealed, VALUE_BYTES_CLAIM_MAX};

/// An open searchable sorted file. Any thread may call anything.
#[derive(Debug)]
pub struct SearchableReader {
    sst: OpenSst,
    index: IndexBlock,
    dictionary: Option<SharedDictionary>,
    value_bytes_max: usize,
}

/// Where the entry of a key is, if the file has one.
#[derive(Debug)]
pub enum EntryPlace {
    /// In memory.
    Cached(Found),
    /// In a record, unless its key goes on otherwise.
    Record {
        /// The entry's.
        trailer: Trailer,
        /// How much of the key the key page has.
        prefix_len: usize,
        /// Where the record lies.
        place: RecordPlace,
    },
}

impl SearchableReader {
    /// Opens the file with that footer, and keeps its key index, dictionary, properties and range
    /// deletes in memory.
    ///
    /// Errors: `Invalid` for another order of keys than the file was written with, `Unsupported`
    /// for a dictionary of a newer format, `Corruption` with file and offset for everything that
    /// is damaged.
    pub fn open(
        source: BlockSource,
        footer: &Footer,
        comparator: Comparator,
    ) -> Result<SearchableReader> {
        let parts = KeptParts {
            start: footer.index.offset,
            props: footer.props,
            range_deletes: footer.range_deletes,
        };
        let sst = OpenSst::open(source, comparator, parts)?;
        let dictionary = match footer.dictionary {
            None => None,
            Some(handle) => Some(read_part(sst.source(), handle, SharedDictionary::read)?),
        };
        Ok(SearchableReader {
            index: sst.source().index_from_file(footer.index)?,
            dictionary,
            sst,
            value_bytes_max: (footer.value_bytes_max as usize).min(VALUE_BYTES_CLAIM_MAX),
        })
    }

    /// The newest entry of the key that is visible at `at`, if the file has one. Range deletes
    /// are not looked at.
    ///
    /// Errors: `Corruption` with file and offset of the page or record; other keys stay readable.
    pub fn get(&self, user_key: &[u8], at: SeqNo, options: &ReadOptions) -> Result<Option<Found>> {
        self.get_hashed(user_key, hash64(user_key), at, options)
    }

    /// As [`SearchableReader::get`], for a caller who has the key's `hash64` already.
    pub fn get_hashed(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        let newest = Trailer::seek(at);
        if let Some(found) = self.cached(user_key, hash, newest) {
            return Ok(Some(found));
        }
        let Some(slot) = self.page_of(user_key, newest) else {
            return Ok(None);
        };
        let page = self.page(slot, options.fill_cache)?;
        let candidate = self.candidate(&page, user_key, hash, newest);
        match candidate.map_err(|error| self.in_page(error, slot))? {
            None => Ok(None),
            Some(candidate) => self.get_at_place(candidate, user_key, hash, at, options),
        }
    }

    /// Goes to where a get would find its record, as far as what is in memory leads, and says what
    /// will be read. With `is_index_announced`, which is to be said after that was the result, the
    /// key page is read. Errors as [`SearchableReader::get`].
    pub fn announce(
        &self,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
        is_index_announced: bool,
        announcer: &mut Announcer,
    ) -> Result<Announced<EntryPlace>> {
        let newest = Trailer::seek(at);
        if let Some(found) = self.cached(user_key, hash, newest) {
            return Ok(Announced::Place(EntryPlace::Cached(found)));
        }
        let Some(slot) = self.page_of(user_key, newest) else {
            return Ok(Announced::Absent);
        };
        let page = if is_index_announced {
            self.page(slot, options.fill_cache)?
        } else {
            let handle = self.index.handle(slot);
            match self.sst.source().plain_or_announce(handle, announcer)? {
                None => return Ok(Announced::Index),
                Some(plain) => Page::new(plain).map_err(|error| self.in_page(error, slot))?,
            }
        };
        let candidate = self.candidate(&page, user_key, hash, newest);
        let candidate = candidate.map_err(|error| self.in_page(error, slot))?;
        let Some(entry) = candidate else {
            return Ok(Announced::Absent);
        };
        if let EntryPlace::Record { place, .. } = &entry {
            let source = self.sst.source();
            source.announce(place.offset, u64::from(place.len), announcer);
        }
        Ok(Announced::Place(entry))
    }

    /// As [`SearchableReader::get_hashed`], from where [`SearchableReader::announce`] came to.
    pub fn get_at_place(
        &self,
        entry: EntryPlace,
        user_key: &[u8],
        hash: u64,
        at: SeqNo,
        options: &ReadOptions,
    ) -> Result<Option<Found>> {
        let (trailer, prefix_len, place) = match entry {
            EntryPlace::Cached(found) => return Ok(Some(found)),
            EntryPlace::Record {
                trailer,
                prefix_len,
                place,
            } => (trailer, prefix_len, place),
        };
        let (prefix, rest) = user_key.split_at(prefix_len);
        let Some(raw) = self.value_of(prefix, rest, trailer, place)? else {
            return Ok(None);
        };
        let uncompressed = Uncompressed::new(raw, user_key, trailer);
        let value = uncompressed.value();
        // Whoever asks again takes what is kept for the newest in the file.
        let is_newest = self.sst.props().largest_seqno.is_visible_at(at);
        if is_newest && options.fill_cache {
            self.sst.source().offer_record(hash, uncompressed);
        }
        Ok(Some(Found { trailer, value }))
    }

    // Found by the key, so that index and page are not looked at: half of the time of a hit.
    fn cached(&self, user_key: &[u8], hash: u64, newest: Trailer) -> Option<Found> {
        let cached = self.sst.source().cached_record(hash)?;
        let (cached_key, trailer) = cached.key();
        (cached_key == user_key && trailer <= newest).then(|| Found {
            trailer,
            value: cached.value(),
        })
    }

    // The value of the record at `place`, if `rest` is what its key has behind `prefix`.
    fn value_of(
        &self,
        prefix: &[u8],
        rest: &[u8],
        trailer: Trailer,
        place: RecordPlace,
    ) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let bytes = self
            .sst
            .source()
            .bare(place.offset, place.len, &mut bytes)?;
        let record = self.record(bytes, prefix, trailer, place)?;
        if !record.tail.is(rest) {
            return Ok(None);
        }
        let mut raw = Vec::new();
        self.uncompress(&record, place, &mut raw)?;
        Ok(Some(raw))
    }

    // The one entry that may be what is asked for.
    fn candidate(
        &self,
        page: &Page,
        user_key: &[u8],
        hash: u64,
        newest: Trailer,
    ) -> Result<Option<EntryPlace>> {
        let wanted = Wanted {
            comparator: self.sst.comparator(),
            user_key,
            trailer: newest,
        };
        let Landing::Perhaps(spot, prefix_len) = wanted.find(page)? else {
            return Ok(None);
        };
        let group = page.group(spot.group)?;
        if group.fingerprint(spot.entry) != Some(fingerprint_of(hash)) {
            return Ok(None);
        }
        let marks = group.marks()?;
        let trailer = marks.trailer(spot.entry)?;
        if trailer > newest {
            return Ok(None);
        }
        Ok(Some(EntryPlace::Record {
            trailer,
            prefix_len,
            place: marks.record(spot.entry)?,
        }))
    }

    /// The user key of the entry with that ordinal, counted from 0; `None` beyond the last.
    ///
    /// Reads a page for each halving of the file and one record.
    pub fn key_at(&self, ordinal: u64, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        let (mut lower, mut upper) = (0, self.page_count());
        while upper - lower > 1 {
            let middle = (lower + upper) / 2;
            if self.page(middle, options.fill_cache)?.first_ordinal() <= ordinal {
                lower = middle;
            } else {
                upper = middle;
            }
        }
        if lower == self.page_count() {
            return Ok(None);
        }
        let page = self.page(lower, options.fill_cache)?;
        let in_page = |error| self.in_page(error, lower);
        match spot_of(&page, ordinal).map_err(in_page)? {
            Some(spot) => self.key_of(&page, spot).map(Some),
            None => Ok(None),
        }
    }

    fn key_of(&self, page: &Page, spot: Spot) -> Result<Vec<u8>> {
        let group = page.group(spot.group)?;
        let (marks, mut fronts) = (group.marks()?, group.fronts());
        let mut user_key = Vec::new();
        for _ in 0..=spot.entry {
            put_next(&mut user_key, &mut fronts)?;
        }
        let (place, trailer) = (marks.record(spot.entry)?, marks.trailer(spot.entry)?);
        let mut bytes = Vec::new();
        let bytes = self
            .sst
            .source()
            .bare(place.offset, place.len, &mut bytes)?;
        let record = self.record(bytes, &user_key, trailer, place)?;
        record.tail.put_into(&mut user_key);
        Ok(user_key)
    }

    /// Holds the bytes of a record against its checksum. Errors name the file and the record.
    pub fn record<'a>(
        &self,
        bytes: &'a [u8],
        prefix: &[u8],
        trailer: Trailer,
        place: RecordPlace,
    ) -> Result<Record<'a>> {
        let sealed = Sealed {
            number: self.sst.source().bound(),
            prefix,
            trailer,
        };
        Record::read(bytes, &sealed, self.value_bytes_max)
            .map_err(|error| self.in_record(error, place))
    }

    /// Replaces what is in `raw` by the raw value of a record. Errors name the file and the record.
    pub fn uncompress(
        &self,
        record: &Record<'_>,
        place: RecordPlace,
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let dictionary = self.dictionary.as_ref().map(|shared| &**shared.get());
        record
            .uncompress_into(dictionary, raw)
            .map_err(|error| self.in_record(error, place))
    }

    /// The dictionary, if a record needs one.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.dictionary.as_ref().map(SharedDictionary::get)
    }

    /// Number of the page that may hold the first entry not before that one; `None` when all
    /// entries are before it.
    pub fn page_of(&self, user_key: &[u8], trailer: Trailer) -> Option<usize> {
        let slot = self
            .index
            .first_not_before(self.sst.comparator(), user_key, trailer.raw());
        (slot < self.page_count()).then_some(slot)
    }

    /// Key pages of the file.
    pub fn page_count(&self) -> usize {
        self.index.len()
    }

    /// Key page number `slot`, which must be there.
    pub fn page(&self, slot: usize, fill_cache: bool) -> Result<Page> {
        let plain = self
            .sst
            .source()
            .plain(self.index.handle(slot), fill_cache)?;
        Page::new(plain).map_err(|error| self.in_page(error, slot))
    }

    /// The error, with the file and the page it concerns.
    pub fn in_page(&self, error: Error, slot: usize) -> Error {
        self.sst.source().at(error, self.index.handle(slot))
    }

    /// The error, with the file and the record it concerns.
    pub fn in_record(&self, error: Error, place: RecordPlace) -> Error {
        let error = error.in_file(FileName::Sst(self.sst.source().number()));
        error.at_offset(place.offset)
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

    /// The index over the key pages.
    pub fn index(&self) -> &IndexBlock {
        &self.index
    }

    /// Bytes of memory that are kept as long as the file is open, but for its dictionary.
    pub fn pinned_bytes(&self) -> usize {
        let fixed = std::mem::size_of::<SearchableReader>();
        fixed + self.index.size_bytes() + self.sst.pinned_bytes()
    }

    /// The dictionary's number and bytes of memory, which all files share that have it.
    pub fn shared_memory(&self) -> Option<(DictionaryId, usize)> {
        let shared = self.dictionary.as_ref()?;
        Some((shared.get().id(), shared.size_bytes()))
    }
}

// Where the entry with that ordinal is, if the page reaches so far.
fn spot_of(page: &Page, ordinal: u64) -> Result<Option<Spot>> {
    let before = ordinal.checked_sub(page.first_ordinal());
    let mut left = before.ok_or_else(|| bad("its ordinals are out of order"))?;
    for group in 0..page.group_count() {
        let len = page.group(group)?.len() as u64;
        if left < len {
            let entry = usize::try_from(left).expect("below the length of a group");
            return Ok(Some(Spot { group, entry }));
        }
        left -= len;
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
