//! What lies in a searchable sorted file: key pages, records, dictionary.

use esker_phrase::DictionaryId;

use crate::base::options::call::ReadOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::store::sst::searchable::format::Method;
use crate::store::sst::searchable::keys::OpenGroup;
use crate::store::sst::searchable::page::no_place;
use crate::store::sst::searchable::reader::SearchableReader;
use crate::store::sst::searchable::window::Window;

/// Records that are told one by one: those that were compressed best, and as many that were worst.
const SHOWN_MAX: usize = 3;

/// Least bytes of a value to be among them: what is shorter says nothing about the compression.
const SHOWN_BYTES_MIN: usize = 32;

/// What the records of a searchable file are like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordsContents {
    /// By method of compression, in the order of their numbers.
    pub methods: Vec<MethodContents>,
    /// Bytes of all records.
    pub stored_bytes: u64,
    /// Bytes of them that belong to keys: tails and their lengths.
    pub tail_bytes: u64,
    /// Those whose values were compressed best, best first.
    pub best: Vec<RecordContents>,
    /// Those whose values were compressed worst, worst first.
    pub worst: Vec<RecordContents>,
    /// The dictionary, if values are phrases.
    pub dictionary: Option<DictionaryContents>,
}

/// The records of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodContents {
    /// The method.
    pub method: Method,
    /// Records.
    pub record_count: u64,
    /// Bytes of their values, uncompressed.
    pub plain_bytes: u64,
    /// Bytes of their values as stored, with length and method.
    pub compressed_bytes: u64,
}

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordContents {
    /// Its user key.
    pub key: Bytes,
    /// Bytes of its value, uncompressed.
    pub plain_len: usize,
    /// Bytes of its value as stored.
    pub compressed_len: usize,
}

impl RecordContents {
    /// How many bytes became one.
    pub fn ratio(&self) -> f64 {
        self.plain_len as f64 / self.compressed_len.max(1) as f64
    }
}

/// A phrase dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DictionaryContents {
    /// Its number.
    pub id: DictionaryId,
    /// Its phrases.
    pub phrase_count: usize,
    /// Classes of them, in whose context they have their codes.
    pub class_count: usize,
}

/// Looks at the records of a file, page by page.
pub struct RecordsWalk<'a> {
    reader: &'a SearchableReader,
    window: Window,
    found: RecordsContents,
}

impl<'a> RecordsWalk<'a> {
    /// Nothing looked at yet.
    pub fn new(reader: &'a SearchableReader) -> RecordsWalk<'a> {
        let none = |method| MethodContents {
            method,
            record_count: 0,
            plain_bytes: 0,
            compressed_bytes: 0,
        };
        let dictionary = reader.dictionary().map(|dictionary| DictionaryContents {
            id: dictionary.id(),
            phrase_count: dictionary.phrase_count(),
            class_count: dictionary.class_count(),
        });
        RecordsWalk {
            reader,
            window: Window::new(ReadOptions::READAHEAD_BYTES),
            found: RecordsContents {
                methods: [Method::Raw, Method::Phrases, Method::Zstd]
                    .map(none)
                    .to_vec(),
                dictionary,
                ..RecordsContents::default()
            },
        }
    }

    /// Looks at the records of key page number `slot`: tells each one's key to `seen`.
    ///
    /// Errors: the first thing that is wrong; what was told before is right.
    pub fn page(&mut self, slot: usize, mut seen: impl FnMut(Bytes)) -> Result<()> {
        let page = self.reader.page(slot, false)?;
        let mut group = OpenGroup::default();
        for index in 0..page.group_count() {
            group.open(&page, index)?;
            for place in 0..group.len() {
                let key = self.entry(&group, place)?;
                seen(key);
            }
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> RecordsContents {
        self.found
    }

    // Looks at one entry; its user key.
    fn entry(&mut self, group: &OpenGroup, index: usize) -> Result<Bytes> {
        let entry = group.entry(index).ok_or_else(no_place)?;
        let place = entry.record;
        let bytes = self.window.record(self.reader.sst().source(), place)?;
        let record = self
            .reader
            .record(bytes, entry.prefix, entry.trailer, place)?;
        let mut user_key = entry.prefix.to_vec();
        record.tail.put_into(&mut user_key);
        let contents = RecordContents {
            key: Bytes::from(user_key),
            plain_len: record.plain_len(),
            compressed_len: record.compressed_len(),
        };
        let found = &mut self.found;
        found.stored_bytes += u64::from(place.len);
        found.tail_bytes += record.tail.stored_len() as u64;
        let mut methods = found.methods.iter_mut();
        if let Some(of) = methods.find(|of| of.method == record.method()) {
            of.record_count += 1;
            of.plain_bytes += contents.plain_len as u64;
            of.compressed_bytes += contents.compressed_len as u64;
        }
        let key = contents.key.clone();
        let has_value = !entry.trailer.kind().is_separated();
        if has_value && contents.plain_len >= SHOWN_BYTES_MIN {
            keep(&mut found.best, &contents, |left, right| left > right);
            keep(&mut found.worst, &contents, |left, right| left < right);
        }
        Ok(key)
    }
}

// Puts a record among those shown, if its ratio is before one of theirs.
fn keep(shown: &mut Vec<RecordContents>, next: &RecordContents, before: fn(f64, f64) -> bool) {
    let ratio = next.ratio();
    let place = shown.iter().position(|other| before(ratio, other.ratio()));
    let place = place.unwrap_or(shown.len());
    if place < SHOWN_MAX {
        shown.insert(place, next.clone());
        shown.truncate(SHOWN_MAX);
    }
}
