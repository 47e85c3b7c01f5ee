//! Takes what is whole of a damaged searchable file: every record by itself.
//!
//! The key index says where key pages lie, and pages where records do. Where the index is damaged
//! the pages before it are found by their checksums; nothing else says where a record ends.

use std::sync::Arc;

use crate::base::options::call::ReadOptions;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::block::stray::block_before;
use crate::store::sst::format::BlockHandle;
use crate::store::sst::index::block::IndexBlock;
use crate::store::sst::props::Props;
use crate::store::sst::saving::{Saving, only_damage};
use crate::store::sst::searchable::dictionary::SharedDictionary;
use crate::store::sst::searchable::format::Footer;
use crate::store::sst::searchable::keys::OpenGroup;
use crate::store::sst::searchable::page::{Page, bad};
use crate::store::sst::searchable::records::{Record, Sealed, VALUE_BYTES_CLAIM_MAX};
use crate::store::sst::searchable::window::Window;

/// Hands every record that is whole to `saving`.
pub fn salvage(source: &BlockSource, footer: &Footer, saving: &mut Saving<'_>) -> Result<()> {
    let dictionary = match footer.dictionary {
        None => None,
        // Records that need it are lost one by one; the others are not.
        Some(handle) => only_damage(dictionary_at(source, handle))?.ok(),
    };
    let mut records = Records {
        source,
        dictionary,
        value_bytes_max: (footer.value_bytes_max as usize).min(VALUE_BYTES_CLAIM_MAX),
        window: Window::by_calls(ReadOptions::READAHEAD_BYTES),
        key: Vec::new(),
        value: Vec::new(),
    };
    match only_damage(source.index_from_file(footer.index))? {
        Ok(index) => {
            for slot in 0..index.len() {
                let handle = index.handle(slot);
                let page = source.read_plain(handle).and_then(|plain| {
                    let page = Page::new(Arc::new(plain));
                    page.map_err(|error| source.at(error, handle))
                });
                if let Some(page) = saving.read("a key page", page)? {
                    records.take_page(&page, saving)?;
                }
            }
        }
        Err(error) => {
            let pages = stray_pages(source, footer.index.offset)?;
            if pages.first().is_none_or(|page| page.first_ordinal() != 0) {
                saving.lose("key pages", &error);
            }
            for page in pages {
                records.take_page(&page, saving)?;
            }
        }
    }
    Ok(())
}

/// The footer of a file whose own is damaged, as far as it follows from the blocks before it.
pub fn rebuilt_footer(
    source: &BlockSource,
    props: (BlockHandle, &Props),
) -> Result<Option<Footer>> {
    let (props_handle, props) = props;
    let mut footer = Footer {
        index: BlockHandle::default(),
        dictionary: None,
        props: props_handle,
        range_deletes: None,
        number: source.bound(),
        value_bytes_max: u32::MAX,
    };
    let mut end = props_handle.offset;
    if props.range_delete_count > 0 {
        let Some((_, handle)) = block_before(source, 0, end, Some)? else {
            return Ok(None);
        };
        footer.range_deletes = Some(handle);
        end = handle.offset;
    }
    // The index, and perhaps the dictionary behind it. Only an index leads up to itself.
    for _ in 0..2 {
        let Some((plain, handle)) = block_before(source, 0, end, Some)? else {
            return Ok(None);
        };
        let index = IndexBlock::read(&plain)
            .ok()
            .filter(|index| !index.is_empty());
        let pages_end = index.and_then(|index| index.handle(index.len() - 1).end());
        if pages_end == Some(handle.offset) {
            let index = handle;
            return Ok(Some(Footer { index, ..footer }));
        }
        footer.dictionary = Some(handle);
        end = handle.offset;
    }
    Ok(None)
}

fn dictionary_at(source: &BlockSource, handle: BlockHandle) -> Result<SharedDictionary> {
    let plain = source.read_plain(handle)?;
    SharedDictionary::read(&plain).map_err(|error| source.at(error, handle))
}

// The pages before a damaged index, the first one first: back to the first place that is none.
fn stray_pages(source: &BlockSource, end: u64) -> Result<Vec<Page>> {
    let (mut pages, mut end) = (Vec::new(), end);
    let read = |plain| Page::new(Arc::new(plain)).ok();
    while let Some((page, handle)) = block_before(source, 0, end, read)? {
        let is_first = page.first_ordinal() == 0;
        pages.push(page);
        end = handle.offset;
        if is_first {
            break;
        }
    }
    pages.reverse();
    Ok(pages)
}

struct Records<'a> {
    source: &'a BlockSource,
    dictionary: Option<SharedDictionary>,
    value_bytes_max: usize,
    window: Window,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Records<'_> {
    fn take_page(&mut self, page: &Page, saving: &mut Saving<'_>) -> Result<()> {
        let mut group = OpenGroup::default();
        for index in 0..page.group_count() {
            if saving
                .read("a group of records", group.open(page, index))?
                .is_none()
            {
                continue;
            }
            for place in 0..group.len() {
                let read = self.read(&group, place);
                if saving.read("a record", read)?.is_some() {
                    saving.entry(&self.key, &self.value)?;
                }
            }
        }
        Ok(())
    }

    // Reads an entry into `key` and `value`.
    fn read(&mut self, group: &OpenGroup, index: usize) -> Result<()> {
        let entry = group.entry(index);
        let entry = entry.ok_or_else(|| bad("an entry is missing"))?;
        let place = entry.record;
        let sealed = Sealed {
            number: self.source.bound(),
            prefix: entry.prefix,
            trailer: entry.trailer,
        };
        let bytes = self.window.record(self.source, place)?;
        let at = |error: Error| {
            let place = BlockHandle {
                offset: place.offset,
                ..BlockHandle::default()
            };
            self.source.at(error, place)
        };
        let record = Record::read(bytes, &sealed, self.value_bytes_max).map_err(at)?;
        let dictionary = self.dictionary.as_ref().map(|shared| &**shared.get());
        record
            .uncompress_into(dictionary, &mut self.value)
            .map_err(at)?;
        self.key.clear();
        self.key.extend_from_slice(entry.prefix);
        record.tail.put_into(&mut self.key);
        key::encode_into(&mut self.key, &[], entry.trailer);
        Ok(())
    }
}
