//! Fills key pages.

use crate::base::codec::fixed::{put_u32, put_u64};
use crate::base::codec::varint::put_varint;
use crate::base::types::key::Trailer;
use crate::base::types::prefix::common_len;
use crate::store::sst::searchable::compressed::put_compressed;
use crate::store::sst::searchable::format::{KINDS_DIFFER, fingerprint_of};

/// What a key page keeps of an entry.
#[derive(Clone, Copy, Debug)]
pub struct KeyOfRecord<'a> {
    /// The front of the user key, as long as `searchable/format` tells.
    pub prefix: &'a [u8],
    /// The `hash64` of the whole user key.
    pub hash: u64,
    /// Sequence number and kind.
    pub trailer: Trailer,
    /// Where the record begins; right behind that of the entry before.
    pub record_offset: u64,
    /// Bytes of the record.
    pub record_len: u32,
}

/// Fills one key page after the other, for a whole file.
#[derive(Debug)]
pub struct PageBuilder {
    group_entries: usize,
    /// Entries of the file so far, and those of the pages that are finished.
    ordinal: u64,
    first_ordinal: u64,
    groups: Vec<u8>,
    offsets: Vec<u32>,
    group: Group,
}

/// The group that is being filled.
#[derive(Debug, Default)]
struct Group {
    prefixes: Vec<u8>,
    last_prefix: Vec<u8>,
    fingerprints: Vec<u8>,
    record_offset: u64,
    record_end: u64,
    record_lens: Vec<u32>,
    trailers: Vec<Trailer>,
}

impl PageBuilder {
    /// An empty page, the file's first, whose groups have so many entries.
    ///
    /// # Panics
    /// When that is not 1 to 255: a byte counts them.
    pub fn new(group_entries: usize) -> PageBuilder {
        assert!((1..=usize::from(u8::MAX)).contains(&group_entries));
        PageBuilder {
            group_entries,
            ordinal: 0,
            first_ordinal: 0,
            groups: Vec::new(),
            offsets: Vec::new(),
            group: Group::default(),
        }
    }

    /// Adds an entry. The caller keeps the order.
    pub fn add(&mut self, key: &KeyOfRecord<'_>) {
        if self.group.trailers.len() == self.group_entries {
            self.close_group();
        }
        self.group.add(key);
        self.ordinal += 1;
    }

    /// Plain bytes of the page if it were finished now, roughly.
    pub fn size_estimate(&self) -> usize {
        // A record's length and a sequence number take two bytes or so each, once compressed.
        let group = &self.group;
        self.groups.len() + self.offsets.len() * 4 + group.prefixes.len() + group.trailers.len() * 5
    }

    /// Whether the page has no entries.
    pub fn is_empty(&self) -> bool {
        self.ordinal == self.first_ordinal
    }

    /// The plain bytes of the page; the next one is begun.
    pub fn finish(&mut self) -> Vec<u8> {
        if !self.group.trailers.is_empty() {
            self.close_group();
        }
        let mut page = std::mem::take(&mut self.groups);
        let count = u32::try_from(self.offsets.len()).expect("pages are below 4 GiB");
        assert!(count > 0);
        for offset in self.offsets.drain(..) {
            put_u32(&mut page, offset);
        }
        put_u64(&mut page, self.first_ordinal);
        put_u32(&mut page, count);
        self.first_ordinal = self.ordinal;
        page
    }

    fn close_group(&mut self) {
        let offset = u32::try_from(self.groups.len()).expect("pages are below 4 GiB");
        self.offsets.push(offset);
        self.group.put(&mut self.groups);
        self.group.clear();
    }
}

impl Group {
    fn add(&mut self, key: &KeyOfRecord<'_>) {
        if self.trailers.is_empty() {
            self.record_offset = key.record_offset;
        } else {
            assert_eq!(self.record_end, key.record_offset);
        }
        self.record_end = key.record_offset + u64::from(key.record_len);
        let shared = match self.trailers.is_empty() {
            true => 0,
            false => common_len(&self.last_prefix, key.prefix),
        };
        put_front(&mut self.prefixes, shared, &key.prefix[shared..]);
        self.last_prefix.clear();
        self.last_prefix.extend_from_slice(key.prefix);
        self.fingerprints.push(fingerprint_of(key.hash));
        self.record_lens.push(key.record_len);
        self.trailers.push(key.trailer);
    }

    fn put(&self, out: &mut Vec<u8>) {
        let count = u8::try_from(self.trailers.len()).expect("the builder closes it in time");
        out.push(count);
        put_varint(out, self.prefixes.len() as u64);
        out.extend_from_slice(&self.prefixes);
        out.extend_from_slice(&self.fingerprints);
        put_varint(out, self.record_offset);
        put_from_least(out, self.record_lens.iter().map(|len| u64::from(*len)));
        let kinds = self.trailers.iter().map(|trailer| trailer.kind().byte());
        let first = kinds.clone().next().unwrap_or_default();
        if kinds.clone().all(|kind| kind == first) {
            out.push(first);
        } else {
            out.push(KINDS_DIFFER);
            out.extend(kinds);
        }
        put_from_least(out, self.trailers.iter().map(|t| t.seqno().get()));
    }

    fn clear(&mut self) {
        self.prefixes.clear();
        self.last_prefix.clear();
        self.fingerprints.clear();
        self.record_lens.clear();
        self.trailers.clear();
    }
}

// The smallest of the numbers, and by how much each is larger.
fn put_from_least(out: &mut Vec<u8>, numbers: impl Iterator<Item = u64> + Clone) {
    let least = numbers.clone().min().unwrap_or_default();
    put_varint(out, least);
    put_compressed(out, numbers.map(|number| number - least));
}

fn put_front(out: &mut Vec<u8>, shared: usize, new: &[u8]) {
    let half = |len: usize| u8::try_from(len.min(15)).expect("at most 15");
    out.push(half(shared) << 4 | half(new.len()));
    for len in [shared, new.len()] {
        if let Some(rest) = len.checked_sub(15) {
            put_varint(out, rest as u64);
        }
    }
    out.extend_from_slice(new);
}

#[cfg(test)]
mod tests;
