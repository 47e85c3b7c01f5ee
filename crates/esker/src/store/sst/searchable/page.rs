//! A key page in memory: groups of prefixes, and what a page keeps of each entry beside them.

use std::ops::Range;
use std::sync::Arc;

use crate::base::codec::fixed::{u32_at, u64_at};
use crate::base::codec::reader::ByteReader;
use crate::base::types::error::{Error, Result};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::limits::KEY_BYTES_MAX;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::block::format::is_point_kind;
use crate::store::sst::searchable::compressed::Compressed;
use crate::store::sst::searchable::format::KINDS_DIFFER;

/// Bytes behind the groups' offsets: an ordinal and a count.
const TAIL_BYTES: usize = 12;

/// The plain bytes of a key page whose checksum was right.
///
/// Shape: a handle onto shared bytes. Groups are looked at when somebody comes by, and held
/// against the page's end then.
#[derive(Clone, Debug)]
pub struct Page {
    bytes: Arc<Vec<u8>>,
    groups_end: usize,
    group_count: usize,
    first_ordinal: u64,
}

/// One group of a page.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    count: usize,
    prefixes: &'a [u8],
    fingerprints: &'a [u8],
    /// What follows the fingerprints: only those who found an entry look at it.
    rest: &'a [u8],
}

/// What a group keeps of its entries beside prefixes and fingerprints.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'a> {
    record_offset: u64,
    record_len_least: u32,
    record_lens: Compressed<'a>,
    kind: Kind,
    kinds: Option<&'a [u8]>,
    seqno_least: u64,
    seqnos: Compressed<'a>,
}

/// Where a record lies in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes.
    pub len: u32,
}

impl RecordPlace {
    /// Offset of the first byte behind it; `None` beyond 64 bits.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(u64::from(self.len))
    }
}

/// The front of a prefix, taken from the one before, and its own bytes.
#[derive(Clone, Copy, Debug)]
pub struct Front<'a> {
    /// Bytes taken from the prefix before.
    pub shared: usize,
    /// The bytes behind them.
    pub new: &'a [u8],
}

/// The prefixes of a group, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Fronts<'a> {
    reader: ByteReader<'a>,
}

impl Page {
    /// The page in `bytes`. `Corruption` when its parts do not fit.
    pub fn new(bytes: Arc<Vec<u8>>) -> Result<Page> {
        Page::parts(bytes).ok_or_else(|| bad("its parts do not fit together"))
    }

    fn parts(bytes: Arc<Vec<u8>>) -> Option<Page> {
        let tail = bytes.len().checked_sub(TAIL_BYTES)?;
        let first_ordinal = u64_at(&bytes, tail)?;
        let group_count = u32_at(&bytes, tail + 8)? as usize;
        let groups_end = tail.checked_sub(group_count.checked_mul(4)?)?;
        (group_count > 0).then_some(Page {
            bytes,
            groups_end,
            group_count,
            first_ordinal,
        })
    }

    /// Groups of the page; at least one.
    pub fn group_count(&self) -> usize {
        self.group_count
    }

    /// Ordinal of its first entry in the file.
    pub fn first_ordinal(&self) -> u64 {
        self.first_ordinal
    }

    /// Group number `index`, which must be there.
    #[inline]
    pub fn group(&self, index: usize) -> Result<Group<'_>> {
        assert!(index < self.group_count);
        self.group_in(index)
            .ok_or_else(|| bad("a group is not whole"))
    }

    fn group_in(&self, index: usize) -> Option<Group<'_>> {
        let offset = |index| u32_at(&self.bytes, self.groups_end + index * 4);
        let start = offset(index)? as usize;
        let end = match index + 1 < self.group_count {
            true => offset(index + 1)? as usize,
            false => self.groups_end,
        };
        let range: Range<usize> = start..end.min(self.groups_end);
        let mut reader = ByteReader::new(self.bytes.get(range)?);
        let count = usize::from(reader.byte()?);
        let group = Group {
            count,
            prefixes: reader.prefixed()?,
            fingerprints: reader.bytes(count)?,
            rest: reader.rest(),
        };
        (count > 0).then_some(group)
    }
}

impl<'a> Group<'a> {
    /// Entries of the group; at least one.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never: a group has entries.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first prefix, which stands whole.
    pub fn first_prefix(&self) -> Result<&'a [u8]> {
        match self.fronts().step()? {
            Front { shared: 0, new } => Ok(new),
            _ => Err(bad("a group begins with a prefix that shares bytes")),
        }
    }

    /// Its prefixes, one after the other.
    pub fn fronts(&self) -> Fronts<'a> {
        Fronts {
            reader: ByteReader::new(self.prefixes),
        }
    }

    /// The fingerprint of entry number `index`.
    pub fn fingerprint(&self, index: usize) -> Option<u8> {
        self.fingerprints.get(index).copied()
    }

    /// What it keeps of its entries beside prefixes and fingerprints.
    pub fn marks(&self) -> Result<Marks<'a>> {
        Marks::read(self.rest, self.count).ok_or_else(|| bad("a group is not whole"))
    }
}

impl<'a> Fronts<'a> {
    /// The next prefix; there must be one.
    #[inline]
    pub fn step(&mut self) -> Result<Front<'a>> {
        self.take().ok_or_else(|| bad("a prefix is not whole"))
    }

    #[inline]
    fn take(&mut self) -> Option<Front<'a>> {
        let halves = self.reader.byte()?;
        let (mut shared, mut new) = (usize::from(halves >> 4), usize::from(halves & 15));
        for len in [&mut shared, &mut new] {
            if *len == 15 {
                *len = self.reader.varint_usize()?.checked_add(15)?;
            }
        }
        let new = self.reader.bytes(new)?;
        let len = shared.checked_add(new.len())?;
        (len <= KEY_BYTES_MAX).then_some(Front { shared, new })
    }
}

impl<'a> Marks<'a> {
    fn read(bytes: &'a [u8], count: usize) -> Option<Marks<'a>> {
        let mut reader = ByteReader::new(bytes);
        let record_offset = reader.varint()?;
        let record_len_least = reader.varint_u32()?;
        let record_lens = Compressed::take(&mut reader, count)?;
        let common = reader.byte()?;
        let kinds = match common {
            KINDS_DIFFER => Some(reader.bytes(count)?),
            _ => None,
        };
        let are_known = match kinds {
            None => is_point_kind(common),
            Some(kinds) => kinds.iter().all(|kind| is_point_kind(*kind)),
        };
        if !are_known {
            return None;
        }
        let marks = Marks {
            record_offset,
            record_len_least,
            record_lens,
            kind: Kind::from_byte(common).unwrap_or(Kind::Put),
            kinds,
            seqno_least: reader.varint()?,
            seqnos: Compressed::take(&mut reader, count)?,
        };
        reader.is_empty().then_some(marks)
    }

    /// Sequence number and kind of entry number `index`.
    pub fn trailer(&self, index: usize) -> Result<Trailer> {
        let seqno = self.seqno_least.checked_add(self.seqnos.get(index));
        let seqno = seqno
            .and_then(SeqNo::checked)
            .ok_or_else(|| bad("a sequence number is too large"))?;
        let own = self.kinds.and_then(|kinds| kinds.get(index));
        let kind = own.and_then(|kind| Kind::from_byte(*kind));
        Ok(Trailer::new(seqno, kind.unwrap_or(self.kind)))
    }

    /// Where the record of entry number `index` lies.
    pub fn record(&self, index: usize) -> Result<RecordPlace> {
        let before = (0..index).map(|index| self.record_lens.get(index));
        // At most 255 numbers of 56 bits, and 255 times one of 32: no overflow.
        let before: u64 = before.sum::<u64>() + index as u64 * u64::from(self.record_len_least);
        let offset = self.record_offset.checked_add(before);
        Ok(RecordPlace {
            offset: offset.ok_or_else(no_place)?,
            len: self.record_len(index)?,
        })
    }

    /// Bytes of the record of entry number `index`.
    pub fn record_len(&self, index: usize) -> Result<u32> {
        let len = self.record_lens.get(index) + u64::from(self.record_len_least);
        u32::try_from(len).map_err(|_| no_place())
    }
}

/// The error for a record that lies nowhere.
#[cold]
pub fn no_place() -> Error {
    bad("a record's place is none")
}

/// The error for a key page whose checksum was right and which makes no sense all the same.
#[cold]
pub fn bad(why: &str) -> Error {
    Error::corruption(format!("key page is damaged: {why}"))
}

#[cfg(test)]
mod tests;
