//! Writes a searchable sorted file, in one pass.

use esker_phrase::Encoder;

use crate::base::codec::checksum::hash64;
use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::cursor::Encoded;
use crate::base::types::entry::Entry;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::env::fs::AppendFile;
use crate::store::sst::block::writer::BlockWriter;
use crate::store::sst::contract::{BuildSettings, CompressionTally, FinishedSst};
use crate::store::sst::draft::SstDraft;
use crate::store::sst::format::BlockHandle;
use crate::store::sst::index::builder::{IndexBuilder, last_separator, separator};
use crate::store::sst::searchable::dictionary::encoding_of;
use crate::store::sst::searchable::format::{Footer, GROUP_ENTRIES, Method};
use crate::store::sst::searchable::keys::prefix_len;
use crate::store::sst::searchable::page_builder::{KeyOfRecord, PageBuilder};
use crate::store::sst::searchable::records::{
    CompressedValue, PHRASE_VALUE_BYTES_MAX, Sealed, ValueCompressor,
};

/// Largest key page, in bytes, whatever is set for blocks: of a value nothing is in it, so it need
/// not grow with values, and a cold read brings it whole.
const PAGE_BYTES_MAX: usize = 64 << 10;

/// Writes one searchable sorted file, front to back.
///
/// Shape: memory for one record, and five to six bytes for each key whose front is short. Records
/// are written as they come; the key pages follow when all are there.
pub struct SearchableBuilder {
    draft: SstDraft,
    compressor: ValueCompressor,
    phrases: PhraseUse,
    /// The entry added last: how much of its key the page needs shows when the next key comes.
    pending: Option<Pending>,
    /// Internal key of the entry added last, and the user key before it.
    last_key: Vec<u8>,
    key_before: Option<Vec<u8>>,
    keys: KeyPages,
    record: Vec<u8>,
    value_bytes_max: usize,
}

/// What a file's dictionary did for it.
#[derive(Debug, Default)]
struct PhraseUse {
    /// Whether a value is phrases of it: then it is part of the file.
    is_used: bool,
    /// What became of the values that were compressed anew; `None` without a dictionary.
    tally: Option<CompressionTally>,
}

struct Pending {
    value: CompressedValue,
    /// Whether the entry before is one of the same key: then its key stands whole.
    has_newer: bool,
}

/// The key pages of a file, until they are written.
struct KeyPages {
    page_bytes: usize,
    page: PageBuilder,
    finished: Vec<FinishedPage>,
    finished_bytes: usize,
    /// Internal key of the entry added last.
    last_key: Vec<u8>,
}

struct FinishedPage {
    plain: Vec<u8>,
    /// User key and raw trailer that stand between this page and the next.
    separator: (Vec<u8>, u64),
}

/// The level at which values of such files are given to Zstd; `None` where nothing is compressed,
/// and in a build without Zstd.
pub fn zstd_level(compression: CompressionType, settings: &SstOptions) -> Option<i32> {
    let is_compressed = compression != CompressionType::None && CompressionType::Zstd.is_built();
    is_compressed.then_some(settings.zstd_level)
}

impl SearchableBuilder {
    /// A builder that writes to an empty `file`. Values are compressed by `phrases` and, where it
    /// cannot or is not there, with Zstd, unless the settings say that nothing is compressed; pages
    /// are closed after as many bytes as the settings say for blocks.
    pub fn new(
        file: Box<dyn AppendFile>,
        settings: BuildSettings,
        phrases: Option<Encoder>,
    ) -> Result<SearchableBuilder> {
        let mut settings = settings;
        let zstd_level = zstd_level(settings.compression, &settings.sst);
        if zstd_level.is_some() {
            settings.compression = CompressionType::Zstd;
        }
        let compressor = ValueCompressor::new(phrases, zstd_level)?;
        let dictionary = compressor.dictionary();
        Ok(SearchableBuilder {
            phrases: PhraseUse {
                is_used: false,
                tally: dictionary.map(|dictionary| CompressionTally::new(dictionary.id())),
            },
            compressor,
            pending: None,
            last_key: Vec::new(),
            key_before: None,
            keys: KeyPages::new(settings.sst.block_size_bytes.min(PAGE_BYTES_MAX)),
            record: Vec::new(),
            value_bytes_max: 0,
            draft: SstDraft::new(file, settings),
        })
    }

    /// Adds a point entry, which must be behind the one added last.
    ///
    /// Errors: those of the file; the file is then useless. `Invalid` for an
    /// entry that expires and has no expiry, `Corruption` for a pointer that is none.
    ///
    /// # Panics
    /// When entries come out of order, or are of a kind that lies only elsewhere.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let kind = key::split(internal_key).1.kind();
        if value.len() < kind.expiry_bytes() {
            // It tells what is wrong.
            return self.count(internal_key, value).map(drop);
        }
        let compressed = self.compressor.compress(kind, value)?;
        self.add_compressed(internal_key, value, compressed)
    }

    /// As [`SearchableBuilder::add`], of a value that a compressor made as this builder's own has
    /// compressed.
    ///
    /// # Panics
    /// As that.
    pub fn add_compressed(
        &mut self,
        internal_key: &[u8],
        value: &[u8],
        compressed: CompressedValue,
    ) -> Result<()> {
        let is_new = self.count(internal_key, value)?;
        self.phrases
            .count(key::split(internal_key).1.kind(), &compressed);
        self.push(internal_key, is_new, compressed)
    }

    /// As [`SearchableBuilder::add`], of a put whose value is phrases already.
    ///
    /// # Panics
    /// As that; and when it is not a put, or the phrases are of another dictionary: they could
    /// not be read again.
    pub fn add_encoded(&mut self, internal_key: &[u8], value: &Encoded<'_>) -> Result<()> {
        assert_eq!(key::split(internal_key).1.kind(), Kind::Put);
        let own = self
            .compressor
            .dictionary()
            .map(|own| encoding_of(own.id()));
        assert_eq!(own, Some(value.encoding));
        let is_new = self.draft.is_new_key(&self.last_key, internal_key);
        self.draft
            .tally
            .count_compressed(internal_key, value.plain_len, is_new);
        self.phrases.is_used = true;
        let value = CompressedValue::of_encoded(value, self.compressor.take_memory());
        self.push(internal_key, is_new, value)
    }

    // Counts an entry; whether its key is another than that of the entry before.
    fn count(&mut self, internal_key: &[u8], value: &[u8]) -> Result<bool> {
        let entry = Entry::from_internal(internal_key, value);
        let is_new = self.draft.is_new_key(&self.last_key, internal_key);
        self.draft.tally.count(&entry, is_new)?;
        Ok(is_new)
    }

    // The entry waits, and the one before it is written.
    fn push(&mut self, internal_key: &[u8], is_new: bool, value: CompressedValue) -> Result<()> {
        let user_key = key::user_key(internal_key);
        self.write_pending(Some((user_key, is_new)))?;
        self.value_bytes_max = self.value_bytes_max.max(value.plain_len());
        self.pending = Some(Pending {
            value,
            has_newer: !is_new,
        });
        self.last_key.clear();
        self.last_key.extend_from_slice(internal_key);
        Ok(())
    }

    /// What it has of the file, whatever its kind.
    pub fn draft_mut(&mut self) -> &mut SstDraft {
        &mut self.draft
    }

    /// Bytes of the file if it were finished now, roughly.
    pub fn size_estimate(&self) -> u64 {
        let pending = self.pending.as_ref();
        let pending = pending.map_or(0, |pending| pending.value.stored_len());
        self.draft.out.offset() + (pending + self.keys.size_estimate()) as u64
    }

    /// Internal key of the point entry added last; empty when there is none.
    pub fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// Writes what is left and makes the file durable.
    ///
    /// Errors: those of the file, which is then useless; `Invalid` when nothing was added: such
    /// a file has no place in any order of keys.
    pub fn finish(mut self) -> Result<FinishedSst> {
        self.draft.check_begun()?;
        self.write_pending(None)?;
        let before_keys = self.draft.out.offset();
        self.draft.tally.props.data_block_count = self.keys.finish();
        let index = self.keys.write(&mut self.draft.out)?;
        self.draft.tally.props.index_bytes = self.draft.out.offset() - before_keys;
        let used = self
            .compressor
            .dictionary()
            .filter(|_| self.phrases.is_used)
            .map(|dictionary| self.draft.out.write_plain(&dictionary.to_bytes()));
        let dictionary = used.transpose()?;
        let range_deletes = self.draft.write_range_deletes()?;
        let number = self.draft.settings.number;
        let value_bytes_max = u32::try_from(self.value_bytes_max).expect("checked when compressed");
        let (size_bytes, props) = self.draft.finish(&self.last_key, |props, offset| {
            let footer = Footer {
                index,
                dictionary,
                props,
                range_deletes,
                number,
                value_bytes_max,
            };
            footer.encode(offset)
        })?;
        Ok(FinishedSst {
            is_searchable: true,
            compressed: self.phrases.tally,
            size_bytes,
            props,
        })
    }

    // Writes the record of the pending entry. `next` is the user key that follows, and whether
    // it is another one.
    fn write_pending(&mut self, next: Option<(&[u8], bool)>) -> Result<()> {
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let (user_key, trailer) = key::split(&self.last_key);
        let has_older = next.is_some_and(|(_, is_new)| !is_new);
        let is_whole =
            pending.has_newer || has_older || !self.draft.settings.comparator.is_bytewise();
        let len = match is_whole {
            true => user_key.len(),
            false => prefix_len(
                self.key_before.as_deref(),
                user_key,
                next.map(|(next_key, _)| next_key),
            ),
        };
        let (prefix, tail) = user_key.split_at(len);
        let sealed = Sealed {
            number: self.draft.settings.number,
            prefix,
            trailer,
        };
        self.record.clear();
        pending.value.put_record(&sealed, tail, &mut self.record);
        let key = KeyOfRecord {
            prefix,
            hash: hash64(user_key),
            trailer,
            record_offset: self.draft.out.offset(),
            record_len: u32::try_from(self.record.len()).expect("records are below 4 GiB"),
        };
        self.keys.add(&self.draft.settings, &self.last_key, &key);
        self.draft.out.write_bare(&self.record)?;
        if !has_older {
            let before = self.key_before.get_or_insert_default();
            before.clear();
            before.extend_from_slice(user_key);
        }
        self.compressor.take_back(pending.value);
        Ok(())
    }
}

impl PhraseUse {
    fn count(&mut self, kind: Kind, compressed: &CompressedValue) {
        self.is_used |= compressed.method() == Method::Phrases;
        if let Some(tally) = &mut self.tally
            && !kind.is_separated()
            && compressed.plain_len() <= PHRASE_VALUE_BYTES_MAX
        {
            tally.plain_bytes += compressed.plain_len() as u64;
            tally.compressed_bytes += compressed.compressed_len() as u64;
        }
    }
}

impl KeyPages {
    fn new(page_bytes: usize) -> KeyPages {
        KeyPages {
            page_bytes,
            page: PageBuilder::new(GROUP_ENTRIES),
            finished: Vec::new(),
            finished_bytes: 0,
            last_key: Vec::new(),
        }
    }

    fn add(&mut self, settings: &BuildSettings, internal_key: &[u8], key: &KeyOfRecord<'_>) {
        if !self.page.is_empty() && self.page.size_estimate() >= self.page_bytes {
            let separator = separator(&settings.comparator, &self.last_key, internal_key);
            self.close_page(separator);
        }
        self.page.add(key);
        self.last_key.clear();
        self.last_key.extend_from_slice(internal_key);
    }

    fn size_estimate(&self) -> usize {
        self.finished_bytes + self.page.size_estimate()
    }

    fn close_page(&mut self, separator: (Vec<u8>, u64)) {
        if self.page.is_empty() {
            return;
        }
        let plain = self.page.finish();
        self.finished_bytes += plain.len() + separator.0.len();
        self.finished.push(FinishedPage { plain, separator });
    }

    // Closes the last page; how many there are.
    fn finish(&mut self) -> u64 {
        if !self.page.is_empty() {
            let last = last_separator(&self.last_key);
            self.close_page(last);
        }
        self.finished.len() as u64
    }

    // Writes the pages and the index over them; where the index lies. Pages are not compressed:
    // what is in them hardly repeats, and every read of the file goes through one.
    fn write(&self, out: &mut BlockWriter) -> Result<BlockHandle> {
        let mut index = IndexBuilder::default();
        for page in &self.finished {
            let handle = out.write_plain(&page.plain)?;
            let (user_key, trailer) = &page.separator;
            index.add(user_key, *trailer, handle);
        }
        out.write_compressed(&index.encode(0..index.len()))
    }
}

#[cfg(test)]
mod tests;
