//! Reads every byte of a searchable sorted file and holds it against what the file says.

use std::sync::Arc;

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::names::FileName;
use crate::store::sst::recount::Recount;
use crate::store::sst::searchable::format::fingerprint_of;
use crate::store::sst::searchable::keys::{OpenGroup, prefix_len};
use crate::store::sst::searchable::page::{Page, bad};
use crate::store::sst::searchable::reader::SearchableReader;
use crate::store::sst::searchable::window::Window;

/// Reads every page and every record, past the cache, and checks checksums, the order of entries,
/// that records lie without gaps, prefixes, fingerprints, separators, ordinals, and the counts in
/// the properties.
///
/// Errors: `Corruption` with file and offset of the first thing that is wrong.
pub fn verify(reader: &SearchableReader) -> Result<()> {
    let mut walk = Walk::new(reader);
    for slot in 0..reader.page_count() {
        let page = Page::new(Arc::new(
            reader
                .sst()
                .source()
                .read_plain(reader.index().handle(slot))?,
        ));
        let page = page.map_err(|error| reader.in_page(error, slot))?;
        walk.page(&page, slot)
            .map_err(|error| reader.in_page(error, slot))?;
    }
    walk.check_end()
}

struct Walk<'a> {
    reader: &'a SearchableReader,
    recount: Recount<'a>,
    window: Window,
    group: OpenGroup,
    /// Where the next record must lie.
    records_end: u64,
    /// Length of the prefix of the entry before.
    last_prefix_len: usize,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Walk<'a> {
    fn new(reader: &'a SearchableReader) -> Walk<'a> {
        Walk {
            reader,
            recount: Recount::new(reader.sst()),
            window: Window::by_calls(ReadOptions::READAHEAD_BYTES),
            group: OpenGroup::default(),
            records_end: 0,
            last_prefix_len: 0,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn page(&mut self, page: &Page, slot: usize) -> Result<()> {
        if page.first_ordinal() != self.recount.entry_count() {
            return Err(bad("its first ordinal is not the number of entries before"));
        }
        for index in 0..page.group_count() {
            let mut group = std::mem::take(&mut self.group);
            group.open(page, index)?;
            let marks = page.group(index)?;
            for entry in 0..group.len() {
                self.entry(&group, entry)?;
                let (user_key, trailer) = key::split(&self.key);
                if self.reader.page_of(user_key, trailer) != Some(slot) {
                    return Err(bad("the key index leads past an entry"));
                }
                if marks.fingerprint(entry) != Some(fingerprint_of(hash64(user_key))) {
                    return Err(bad("a fingerprint is not its key's"));
                }
            }
            self.group = group;
        }
        Ok(())
    }

    // Reads an entry into `key` and `value`.
    fn entry(&mut self, group: &OpenGroup, index: usize) -> Result<()> {
        let reader = self.reader;
        let entry = group.entry(index);
        let entry = entry.ok_or_else(|| bad("an entry is missing"))?;
        if entry.record.offset != self.records_end {
            return Err(bad("records do not lie one behind the other"));
        }
        self.records_end += u64::from(entry.record.len);
        let bytes = self.window.record(reader.sst().source(), entry.record)?;
        let record = reader.record(bytes, entry.prefix, entry.trailer, entry.record)?;
        reader.uncompress(&record, entry.record, &mut self.value)?;
        self.key.clear();
        self.key.extend_from_slice(entry.prefix);
        record.tail.put_into(&mut self.key);
        key::encode_into(&mut self.key, &[], entry.trailer);
        self.check_key(entry.prefix.len())
    }

    // Holds the entry's key against that of the entry before, and counts the entry.
    fn check_key(&mut self, own_len: usize) -> Result<()> {
        let is_new_key = self.recount.is_new_key(&self.key)?;
        let (own_key, last_len) = (key::user_key(&self.key), self.last_prefix_len);
        if self.recount.entry_count() > 0 {
            let last_key = key::user_key(self.recount.last_key());
            let is_long_enough = match self.reader.sst().comparator() {
                Comparator::Bytewise if is_new_key => {
                    let needed = |own: &[u8], other: &[u8]| prefix_len(None, own, Some(other));
                    last_len >= needed(last_key, own_key) && own_len >= needed(own_key, last_key)
                }
                // Of several entries of a key each has the whole key, and so in other orders.
                _ => last_len == last_key.len() && own_len == own_key.len(),
            };
            if !is_long_enough {
                return Err(bad("a prefix is too short to tell its key from the next"));
            }
        }
        self.last_prefix_len = own_len;
        self.recount.count(&self.key, &self.value, is_new_key)
    }

    fn check_end(self) -> Result<()> {
        let reader = self.reader;
        let pages_start = match reader.page_count() {
            0 => self.records_end,
            _ => reader.index().handle(0).offset,
        };
        if self.records_end != pages_start {
            let error = Error::corruption("bytes lie between records and key pages");
            return Err(error.in_file(FileName::Sst(reader.sst().number())));
        }
        self.recount.check(reader.page_count() as u64)
    }
}
