//! Ordered reads of a searchable sorted file.

use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::EntryChunk;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::store::sst::index::block::share;
use crate::store::sst::searchable::keys::{Landing, OpenGroup, Spot, Wanted};
use crate::store::sst::searchable::page::{Page, RecordPlace, bad, no_place};
use crate::store::sst::searchable::reader::SearchableReader;
use crate::store::sst::searchable::records::Record;
use crate::store::sst::searchable::window::Window;

/// Ordered movement over the entries of one file, both ways.
///
/// Shape: holds one key page, the prefixes of one group, the record it stands on, uncompressed when
/// it is asked for, and a window of records of up to 256 KiB while it walks.
#[derive(Debug)]
pub struct SearchableCursor {
    reader: Arc<SearchableReader>,
    fill_cache: bool,
    /// The page that `group` is in, with its number; `None` while standing nowhere.
    page: Option<(usize, Page)>,
    group: OpenGroup,
    /// Number of the open group in its page, and of the entry in the group.
    spot: Spot,
    window: Window,
    /// Internal key of the entry, and where its record lies.
    key: Vec<u8>,
    record: RecordPlace,
    /// Its raw value, once somebody asked for it; and memory for the next one.
    value: OnceCell<Vec<u8>>,
    spare: RefCell<Vec<u8>>,
    is_valid: bool,
}

impl SearchableCursor {
    /// A cursor that stands nowhere.
    pub fn new(reader: Arc<SearchableReader>, options: ReadOptions) -> SearchableCursor {
        SearchableCursor {
            reader,
            fill_cache: options.fill_cache,
            page: None,
            group: OpenGroup::default(),
            spot: Spot { group: 0, entry: 0 },
            window: Window::new(options.readahead_bytes_max),
            key: Vec::new(),
            record: RecordPlace { offset: 0, len: 0 },
            value: OnceCell::new(),
            spare: RefCell::default(),
            is_valid: false,
        }
    }

    /// Moves to the first entry of the page at about `lot` 2^32nds of the way through the file.
    pub fn seek_near(&mut self, lot: u32) -> Result<bool> {
        let result = self.first_of(share(lot, self.reader.page_count()).0);
        self.settled(result)
    }

    /// Has it read at most so much ahead from now on.
    pub fn set_readahead(&mut self, bytes_max: usize) {
        self.window.set_bytes_max(bytes_max);
    }

    // Stands nowhere.
    fn leave(&mut self) -> bool {
        self.page = None;
        self.group.close();
        self.is_valid = false;
        false
    }

    // After an error the cursor stands nowhere.
    #[inline]
    fn settled(&mut self, result: Result<bool>) -> Result<bool> {
        if result.is_err() {
            self.leave();
        }
        result
    }

    // Goes to page number `slot`, and says how many groups it has; `None` behind the last one.
    fn enter_page(&mut self, slot: usize) -> Result<Option<usize>> {
        if slot >= self.reader.page_count() {
            return Ok(None);
        }
        let page = match self.page.take() {
            Some((own, page)) if own == slot => page,
            _ => {
                self.group.close();
                self.reader.page(slot, self.fill_cache)?
            }
        };
        let group_count = page.group_count();
        self.page = Some((slot, page));
        Ok(Some(group_count))
    }

    // Opens a group of the page, and says how many entries it has.
    fn open_group(&mut self, index: usize) -> Result<usize> {
        let (slot, page) = self.page.as_ref().expect("a page was entered");
        let opened = self.group.open(page, index);
        opened.map_err(|error| self.reader.in_page(error, *slot))?;
        self.spot.group = index;
        Ok(self.group.len())
    }

    // Stands on entry number `index` of the open group: reads and checks its record.
    #[inline]
    fn load(&mut self, index: usize) -> Result<bool> {
        let entry = self.group.entry(index);
        let entry = entry.ok_or_else(|| bad("an entry is missing"))?;
        let reader = &*self.reader;
        let bytes = self.window.record(reader.sst().source(), entry.record)?;
        let record = reader.record(bytes, entry.prefix, entry.trailer, entry.record)?;
        self.key.clear();
        self.key.extend_from_slice(entry.prefix);
        record.tail.put_into(&mut self.key);
        key::encode_into(&mut self.key, &[], entry.trailer);
        self.record = entry.record;
        if let Some(value) = self.value.take() {
            self.spare.replace(value);
        }
        self.spot.entry = index;
        self.is_valid = true;
        Ok(true)
    }

    // The record it stands on, which was held against its checksum when the cursor came there.
    fn standing(&self) -> Result<Record<'_>> {
        let held = self.window.held(self.reader.sst().source(), self.record);
        let bytes = held.ok_or_else(no_place)?;
        Record::standing(bytes, key::split(&self.key).1.kind())
    }

    // The first entry from the beginning of page number `slot` on.
    fn first_of(&mut self, slot: usize) -> Result<bool> {
        if self.enter_page(slot)?.is_none() {
            return Ok(self.leave());
        }
        self.open_group(0)?;
        self.load(0)
    }

    // The last entry of page number `slot`.
    fn last_of(&mut self, slot: usize) -> Result<bool> {
        let Some(group_count) = self.enter_page(slot)? else {
            return Ok(self.leave());
        };
        let len = self.open_group(group_count - 1)?;
        self.load(len - 1)
    }

    fn try_last(&mut self) -> Result<bool> {
        match self.reader.page_count().checked_sub(1) {
            None => Ok(self.leave()),
            Some(slot) => self.last_of(slot),
        }
    }

    fn try_next(&mut self) -> Result<bool> {
        if self.spot.entry + 1 < self.group.len() {
            return self.load(self.spot.entry + 1);
        }
        let (slot, page) = self.page.as_ref().expect("it stands on an entry");
        let (slot, group) = (*slot, self.spot.group + 1);
        if group == page.group_count() {
            return self.first_of(slot + 1);
        }
        self.open_group(group)?;
        self.load(0)
    }

    fn try_prev(&mut self) -> Result<bool> {
        if let Some(entry) = self.spot.entry.checked_sub(1) {
            return self.load(entry);
        }
        let (slot, _) = self.page.as_ref().expect("it stands on an entry");
        let Some(group) = self.spot.group.checked_sub(1) else {
            return match slot.checked_sub(1) {
                None => Ok(self.leave()),
                Some(slot) => self.last_of(slot),
            };
        };
        let len = self.open_group(group)?;
        self.load(len - 1)
    }

    fn try_seek(&mut self, target: &[u8]) -> Result<bool> {
        let reader = Arc::clone(&self.reader);
        let (user_key, trailer) = key::split(target);
        let Some(slot) = reader.page_of(user_key, trailer) else {
            return Ok(self.leave());
        };
        self.enter_page(slot)?;
        let (_, page) = self.page.as_ref().expect("a page was entered");
        let wanted = Wanted {
            comparator: reader.sst().comparator(),
            user_key,
            trailer,
        };
        let landing = wanted.find(page);
        let landing = landing.map_err(|error| reader.in_page(error, slot))?;
        let spot = match landing {
            Landing::Perhaps(spot, _) | Landing::Behind(spot) => spot,
            Landing::AtEnd => return self.first_of(slot + 1),
        };
        if self.group.is_empty() || self.spot.group != spot.group {
            self.open_group(spot.group)?;
        }
        let mut is_on = self.load(spot.entry)?;
        // Once, at the most: its record tells that the entry is before what is wanted.
        while is_on && key::compare(reader.sst().comparator(), &self.key, target) == Ordering::Less
        {
            is_on = self.try_next()?;
        }
        Ok(is_on)
    }
}

impl Cursor for SearchableCursor {
    fn seek_to_first(&mut self) -> Result<bool> {
        let result = self.first_of(0);
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
        assert!(self.is_valid);
        let result = self.try_next();
        self.settled(result)
    }

    fn prev(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        let result = self.try_prev();
        self.settled(result)
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.is_valid
    }

    #[inline]
    fn key(&self) -> &[u8] {
        assert!(self.is_valid);
        &self.key
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        assert!(self.is_valid);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let mut raw = self.spare.take();
        self.reader
            .uncompress(&self.standing()?, self.record, &mut raw)?;
        Ok(self.value.get_or_init(|| raw))
    }

    fn is_surely_newest(&self) -> bool {
        false
    }

    fn value_bytes(&self) -> Result<Bytes> {
        self.value().map(Bytes::copy_of)
    }

    fn fill(&mut self, _: Way, _: Fill<'_>, _: &mut EntryChunk) -> bool {
        false
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        assert!(self.is_valid);
        let (dictionary, record) = (self.reader.dictionary()?, self.standing().ok()?);
        record.encoded(dictionary.id())
    }
}
