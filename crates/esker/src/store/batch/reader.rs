//! Reads a batch back, checking it.

use crate::base::codec::reader::ByteReader;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::limits::{BATCH_BYTES_MAX, KEY_BYTES_MAX, SEQNO_MAX};
use crate::base::types::seqno::SeqNo;
use crate::store::batch::format::{ENTRY_BYTES_MIN, HEADER_BYTES, ValueRule, value_rule};
use crate::store::batch::writer::BatchMark;
use crate::store::vlog::pointer::ValuePointer;

/// An encoded batch whose header was checked. Borrows the bytes; allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct BatchReader<'a> {
    first_seqno: SeqNo,
    count: u32,
    body: &'a [u8],
}

/// One entry of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchEntry<'a> {
    /// The keyspace that the entry changes.
    pub keyspace: KeyspaceId,
    /// The entry's own sequence number, and its kind.
    pub trailer: Trailer,
    /// The user's key; of a range delete, the first key of the range.
    pub key: &'a [u8],
    /// The raw value: of an expiring put with the expiry in front, of a range delete the end
    /// key, of a delete empty.
    pub value: &'a [u8],
}

impl<'a> BatchEntry<'a> {
    /// The same, as it lies in its keyspace.
    #[inline]
    pub fn in_keyspace(&self) -> Entry<'a> {
        Entry {
            key: self.key,
            trailer: self.trailer,
            value: self.value,
        }
    }
}

impl<'a> BatchReader<'a> {
    /// Checks the header of an encoded batch.
    ///
    /// Errors: `Corruption`. Offsets in messages count from the batch's first byte; where the
    /// batch lies in its file is the caller's to add.
    pub fn new(bytes: &'a [u8]) -> Result<BatchReader<'a>> {
        let mut reader = ByteReader::new(bytes);
        let header = (reader.u64(), reader.u32());
        let (Some(first), Some(count)) = header else {
            let len = bytes.len();
            let message = format!("a batch of {len} bytes, shorter than its header");
            return Err(Error::corruption(message));
        };
        if bytes.len() > BATCH_BYTES_MAX {
            let message = format!("a batch of {} bytes, above the limit", bytes.len());
            return Err(Error::corruption(message));
        }
        BatchReader::of_entries(first, count, reader.rest())
    }

    /// The same of entries without a header, of which the first has that number. Errors:
    /// `Corruption`.
    pub fn of_entries(first: u64, count: u32, body: &'a [u8]) -> Result<BatchReader<'a>> {
        if u64::from(count) * ENTRY_BYTES_MIN as u64 > body.len() as u64 {
            let len = body.len();
            let message = format!("a batch of {count} entries in {len} bytes (offset 8)");
            return Err(Error::corruption(message));
        }
        let last = first.checked_add(u64::from(count.saturating_sub(1)));
        match (SeqNo::checked(first), last) {
            (Some(first_seqno), Some(last)) if last <= SEQNO_MAX => Ok(BatchReader {
                first_seqno,
                count,
                body,
            }),
            _ => {
                let message = format!("a batch with sequence numbers from {first} (offset 0)");
                Err(Error::corruption(message))
            }
        }
    }

    /// The same entries, of which the first has that number. Errors: `Corruption` when the last one
    /// would need more than 56 bits.
    pub fn numbered(&self, first: SeqNo) -> Result<BatchReader<'a>> {
        BatchReader::of_entries(first.get(), self.count, self.body)
    }

    /// Bytes of the batch, its header among them.
    pub fn size_bytes(&self) -> usize {
        HEADER_BYTES + self.body.len()
    }

    /// The entries, encoded.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The sequence number of the first entry.
    pub fn first_seqno(&self) -> SeqNo {
        self.first_seqno
    }

    /// Entries in the batch, as its header says.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The entries in order, each checked as it is reached. The first error ends the iteration.
    ///
    /// Whoever replays bytes from disk calls [`BatchReader::check`] first, so that no part of a
    /// damaged batch is applied.
    #[inline]
    pub fn entries(&self) -> BatchEntries<'a> {
        BatchEntries {
            reader: ByteReader::new(self.body),
            body_len: self.body.len(),
            seqno: self.first_seqno.get(),
            left_count: self.count,
            is_over: false,
            is_whole: true,
        }
    }

    /// The entries behind a mark, of a batch that is being made: pointers into the value log need
    /// not be there yet.
    pub fn entries_behind(&self, mark: &BatchMark) -> BatchEntries<'a> {
        BatchEntries {
            reader: ByteReader::new(&self.body[mark.bytes() - HEADER_BYTES..]),
            body_len: self.body.len(),
            seqno: self.first_seqno.get() + u64::from(mark.count()),
            left_count: self.count - mark.count(),
            is_over: false,
            is_whole: false,
        }
    }

    /// Reads all entries and says whether the batch is valid. `Corruption` if not.
    pub fn check(&self) -> Result<()> {
        self.entries().try_for_each(|entry| entry.map(drop))
    }
}

/// The entries of a batch, in order.
#[derive(Clone, Debug)]
pub struct BatchEntries<'a> {
    reader: ByteReader<'a>,
    body_len: usize,
    seqno: u64,
    left_count: u32,
    is_over: bool,
    /// Whether all pointers into the value log are there.
    is_whole: bool,
}

impl<'a> BatchEntries<'a> {
    // `Err` says what is wrong; where is the same for all: the entry that starts here.
    #[inline]
    fn take(&mut self) -> std::result::Result<BatchEntry<'a>, &'static str> {
        let byte = self
            .reader
            .byte()
            .ok_or("fewer entries than its header says")?;
        let kind = Kind::from_byte(byte).ok_or("an unknown kind")?;
        let keyspace = self.reader.varint_u32().ok_or("a bad keyspace")?;
        let key = self.reader.prefixed().ok_or("a bad key length")?;
        if key.len() > KEY_BYTES_MAX {
            return Err("a key above the limit");
        }
        let value = match value_rule(kind) {
            ValueRule::Absent => &[],
            ValueRule::Refused => return Err("a kind that only memtables hold"),
            ValueRule::Present(lengths) => {
                let value = self.reader.prefixed().ok_or("a bad value length")?;
                if value.len() < lengths.min || value.len() > lengths.max {
                    return Err("a value outside its limits");
                }
                value
            }
            ValueRule::BehindMillis(lengths) => {
                let value = self.reader.prefixed().ok_or("a bad value length")?;
                if value.len() < lengths.min || value.len() > lengths.max {
                    return Err("a value outside its limits");
                }
                if Expiry::split(kind, value).is_none() {
                    return Err("an expiry that is none");
                }
                value
            }
        };
        if kind.is_separated()
            && self.is_whole
            && ValuePointer::decode(&value[kind.expiry_bytes()..]).is_err()
        {
            return Err("a pointer into the value log that is none");
        }
        // The header's check keeps every number of the batch below 2^56.
        let trailer = Trailer::new(SeqNo::new(self.seqno), kind);
        Ok(BatchEntry {
            keyspace: KeyspaceId(keyspace),
            trailer,
            key,
            value,
        })
    }

    #[cold]
    fn damaged(&mut self, offset: usize, what: &str) -> Error {
        self.is_over = true;
        Error::corruption(format!(
            "a batch with {what} (offset {offset} in the batch)"
        ))
    }

    fn offset(&self) -> usize {
        HEADER_BYTES + self.body_len - self.reader.rest().len()
    }
}

impl<'a> Iterator for BatchEntries<'a> {
    type Item = Result<BatchEntry<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<BatchEntry<'a>>> {
        if self.is_over {
            return None;
        }
        let offset = self.offset();
        if self.left_count == 0 {
            if self.reader.is_empty() {
                return None;
            }
            return Some(Err(self.damaged(offset, "bytes behind its last entry")));
        }
        match self.take() {
            Ok(entry) => {
                self.left_count -= 1;
                self.seqno += 1;
                Some(Ok(entry))
            }
            Err(what) => Some(Err(self.damaged(offset, what))),
        }
    }
}

#[cfg(test)]
mod tests;
