//! Builds a batch.

use std::ops::{Deref, Range};

use crate::base::codec::varint::{put_varint, varint_len};
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::kind::Kind;
use crate::base::types::limits::{BATCH_BYTES_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX, check_len};
use crate::base::types::seqno::SeqNo;
use crate::store::batch::format::{COUNT_OFFSET, HEADER_BYTES};
use crate::store::batch::touched::Touched;
use crate::store::vlog::pointer::{POINTER_BYTES, ValuePointer};

/// Writes that happen together: all of them or none.
///
/// Shape: one string of bytes as in `batch/format`, always whole, so [`Batch::bytes`] costs
/// nothing. A call that fails with `TooLarge` leaves the batch as it was.
///
/// Large values do not stand in these bytes: a pointer into the value log does, which is filled in
/// when the value was written there. Until then the batch lends or holds them, as they were given.
#[derive(Clone, Debug)]
pub struct Batch<'v> {
    bytes: Vec<u8>,
    count: u32,
    keyspaces: Touched,
    large: Vec<LargeValue<'v>>,
    /// Whether it may have pointers to values that lie in the value log already.
    has_pointers: bool,
    /// Whether it may have expiries that are no whole seconds.
    has_millis: bool,
}

/// A value of a batch that goes to the value log.
#[derive(Clone, Debug)]
pub struct LargeValue<'v> {
    /// Whose it is.
    pub keyspace: KeyspaceId,
    /// The value.
    pub value: LargeBytes<'v>,
    /// Where its key stands in the batch's bytes, and then its pointer.
    key: Range<usize>,
    pointer_at: usize,
    /// The place of its entry among all of the batch.
    index: u32,
}

/// The bytes of a large value on their way.
#[derive(Clone, Debug)]
pub enum LargeBytes<'v> {
    /// The caller's, who waits.
    Lent(&'v [u8]),
    /// Everybody's.
    Shared(Bytes),
}

impl LargeBytes<'_> {
    /// The bytes as a handle that may be kept: a copy of lent ones.
    pub fn shared(&self) -> Bytes {
        match self {
            LargeBytes::Lent(bytes) => Bytes::copy_of(bytes),
            LargeBytes::Shared(bytes) => bytes.clone(),
        }
    }
}

impl Deref for LargeBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            LargeBytes::Lent(bytes) => bytes,
            LargeBytes::Shared(bytes) => bytes,
        }
    }
}

/// A place in a batch to come back to: behind all that was in it then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMark {
    bytes: usize,
    count: u32,
    keyspace_count: usize,
    large_count: usize,
}

impl BatchMark {
    /// Before the first entry.
    pub const START: BatchMark = BatchMark {
        bytes: HEADER_BYTES,
        count: 0,
        keyspace_count: 0,
        large_count: 0,
    };

    /// Entries before it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Large values before it.
    pub fn large_count(&self) -> usize {
        self.large_count
    }

    /// Bytes before it, those of the header among them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<'v> Batch<'v> {
    /// An empty batch with the first sequence number 0.
    pub fn new() -> Batch<'v> {
        Batch::with_capacity(0)
    }

    /// An empty batch with room for `capacity_bytes` of entries.
    pub fn with_capacity(capacity_bytes: usize) -> Batch<'v> {
        Batch::within(Vec::with_capacity(HEADER_BYTES + capacity_bytes))
    }

    /// An empty batch in the memory of `buffer`, whose bytes are forgotten.
    pub fn within(mut buffer: Vec<u8>) -> Batch<'v> {
        buffer.clear();
        buffer.resize(HEADER_BYTES, 0);
        Batch {
            bytes: buffer,
            count: 0,
            keyspaces: Touched::None,
            large: Vec::new(),
            has_pointers: false,
            has_millis: false,
        }
    }

    /// Gives `key` the value.
    pub fn put(&mut self, keyspace: KeyspaceId, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(Kind::Put, keyspace, key, Some(&[value]))
    }

    /// Gives `key` the value until `expiry`.
    pub fn put_expiring(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        expiry: Expiry,
        value: &[u8],
    ) -> Result<()> {
        // The value's own limit is checked here, because `add` sees the expiry in front of it.
        check_len("value", value.len(), VALUE_BYTES_MAX)?;
        let pieces: [&[u8]; 2] = [&expiry.encode(), value];
        self.has_millis |= expiry.put_kind().has_millis();
        self.add(expiry.put_kind(), keyspace, key, Some(&pieces))
    }

    /// Gives `key` a value that is to lie in the value log, until `expiry` if it is given.
    pub fn put_separated(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        expiry: Option<Expiry>,
        value: LargeBytes<'v>,
    ) -> Result<()> {
        check_len("value", value.len(), VALUE_BYTES_MAX)?;
        let unknown = [0; POINTER_BYTES];
        self.add_pointer(keyspace, key, expiry, &unknown)?;
        let end = self.bytes.len();
        let expiry_bytes = expiry.map_or(0, |expiry| expiry.put_kind().expiry_bytes());
        let value_len = POINTER_BYTES + expiry_bytes;
        let key_end = end - value_len - varint_len(value_len as u64);
        self.large.push(LargeValue {
            keyspace,
            value,
            key: key_end - key.len()..key_end,
            pointer_at: end - POINTER_BYTES,
            index: self.count - 1,
        });
        Ok(())
    }

    /// Gives `key` the value at a place in the value log, until `expiry` if it is given. It
    /// is the caller's to keep what lies there until the batch is written.
    pub fn put_pointer(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        expiry: Option<Expiry>,
        pointer: &ValuePointer,
    ) -> Result<()> {
        assert!(!pointer.is_to_no_place());
        self.has_pointers = true;
        self.add_pointer(keyspace, key, expiry, &pointer.encode())
    }

    fn add_pointer(
        &mut self,
        keyspace: KeyspaceId,
        key: &[u8],
        expiry: Option<Expiry>,
        pointer: &[u8; POINTER_BYTES],
    ) -> Result<()> {
        match expiry {
            None => self.add(Kind::PutSeparated, keyspace, key, Some(&[pointer])),
            Some(expiry) => {
                let pieces: [&[u8]; 2] = [&expiry.encode(), pointer];
                self.has_millis |= expiry.put_kind().has_millis();
                self.add(expiry.put_kind().separated(), keyspace, key, Some(&pieces))
            }
        }
    }

    /// Whether it may have pointers to values that lie in the value log already.
    pub fn has_pointers(&self) -> bool {
        self.has_pointers
    }

    /// Whether it may have expiries that are no whole seconds, which only some formats have.
    pub fn has_millis(&self) -> bool {
        self.has_millis
    }

    /// The values that go to the value log, in the order in which they were put.
    pub fn large_values(&self) -> &[LargeValue<'v>] {
        &self.large
    }

    /// The value that goes to the value log with the entry at `entry`, of which all large values
    /// before the one at `large` belong to earlier entries; `None` where that is of a later one.
    pub fn large_value_of(&self, entry: u32, large: usize) -> Option<&LargeValue<'v>> {
        self.large.get(large).filter(|large| large.index == entry)
    }

    /// The user's key of one of the large values.
    pub fn key_of(&self, large: &LargeValue<'_>) -> &[u8] {
        &self.bytes[large.key.clone()]
    }

    /// Says where the large value at `index` lies.
    pub fn set_pointer(&mut self, index: usize, pointer: &ValuePointer) {
        let at = self.large[index].pointer_at;
        self.bytes[at..at + POINTER_BYTES].copy_from_slice(&pointer.encode());
    }

    /// Bytes of all large values.
    pub fn large_bytes(&self) -> u64 {
        let values = self.large.iter();
        values.map(|large| large.value.len() as u64).sum()
    }

    /// Takes the value of `key` away.
    pub fn delete(&mut self, keyspace: KeyspaceId, key: &[u8]) -> Result<()> {
        self.add(Kind::Delete, keyspace, key, None)
    }

    /// Takes the values of all keys from `start` up to `end`, exclusive, away.
    pub fn delete_range(&mut self, keyspace: KeyspaceId, start: &[u8], end: &[u8]) -> Result<()> {
        check_len("key", end.len(), KEY_BYTES_MAX)?;
        self.add(Kind::RangeDelete, keyspace, start, Some(&[end]))
    }

    /// Folds `operand` into the value of `key`.
    pub fn merge(&mut self, keyspace: KeyspaceId, key: &[u8], operand: &[u8]) -> Result<()> {
        self.add(Kind::Merge, keyspace, key, Some(&[operand]))
    }

    /// Adds all entries of `other` behind those that are here.
    pub fn append(&mut self, other: &Batch<'v>) -> Result<()> {
        self.append_part(other, &BatchMark::START..&other.mark())
    }

    /// Adds the entries of `other` between two marks of it behind those that are here, and counts
    /// all keyspaces that it has up to the second one among those that are written to.
    pub fn append_part(&mut self, other: &Batch<'v>, part: Range<&BatchMark>) -> Result<()> {
        let (start, end) = (part.start, part.end);
        let body = &other.bytes[start.bytes..end.bytes];
        check_batch_len(self.bytes.len(), body.len())?;
        let at = self.bytes.len();
        self.bytes.extend_from_slice(body);
        self.has_pointers |= other.has_pointers;
        self.has_millis |= other.has_millis;
        let keyspaces = &other.keyspaces()[..end.keyspace_count];
        keyspaces.iter().for_each(|id| self.keyspaces.add(*id));
        let moved = |offset: usize| offset - start.bytes + at;
        let large = other.large[start.large_count..end.large_count].iter();
        let before = self.count;
        self.large.extend(large.cloned().map(|large| LargeValue {
            key: moved(large.key.start)..moved(large.key.end),
            pointer_at: moved(large.pointer_at),
            index: large.index - start.count + before,
            ..large
        }));
        // Cannot overflow: see the proof in `batch/format`.
        self.set_count(before + (end.count - start.count));
        Ok(())
    }

    /// Counts a keyspace among those that are written to, though nothing may be.
    pub fn touch(&mut self, keyspace: KeyspaceId) {
        self.keyspaces.add(keyspace);
    }

    /// Entries in the batch.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The keyspaces that the batch writes to, each once.
    pub fn keyspaces(&self) -> &[KeyspaceId] {
        self.keyspaces.list()
    }

    /// Whether the batch does nothing.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place behind all entries so far.
    pub fn mark(&self) -> BatchMark {
        BatchMark {
            bytes: self.bytes.len(),
            count: self.count,
            keyspace_count: self.keyspaces().len(),
            large_count: self.large.len(),
        }
    }

    /// Takes out all entries behind a mark of this batch, before which none was taken out since.
    pub fn rewind(&mut self, mark: &BatchMark) {
        assert!(mark.bytes <= self.bytes.len() && mark.count <= self.count);
        self.bytes.truncate(mark.bytes);
        self.keyspaces.truncate(mark.keyspace_count);
        self.large.truncate(mark.large_count);
        self.set_count(mark.count);
    }

    /// Takes all entries out; keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.bytes.truncate(HEADER_BYTES);
        self.bytes.fill(0);
        self.count = 0;
        self.keyspaces = Touched::None;
        self.large.clear();
        self.has_pointers = false;
        self.has_millis = false;
    }

    /// The memory of the bytes, for another batch.
    pub fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes of the encoding, large values not among them.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Says which sequence number the first entry has; the others count on from there.
    ///
    /// # Panics
    /// When the last entry's number would need more than 56 bits.
    pub fn set_first_seqno(&mut self, first: SeqNo) {
        let _last = first.plus(u64::from(self.count.saturating_sub(1)));
        self.bytes[..COUNT_OFFSET].copy_from_slice(&first.get().to_le_bytes());
    }

    /// The encoding: what goes into the log and into the memtable.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    // The value comes in pieces, so that an expiry needs no copy of the value behind it.
    #[inline]
    fn add(
        &mut self,
        kind: Kind,
        keyspace: KeyspaceId,
        key: &[u8],
        value: Option<&[&[u8]]>,
    ) -> Result<()> {
        let keyspace_id = u64::from(keyspace.0);
        let key_len = key.len() as u64;
        check_len("key", key.len(), KEY_BYTES_MAX)?;
        let mut added = 1 + varint_len(keyspace_id) + varint_len(key_len) + key.len();
        let mut value_len = 0;
        if let Some(pieces) = value {
            value_len = pieces.iter().map(|piece| piece.len()).sum::<usize>();
            check_len("value", value_len, VALUE_BYTES_MAX + kind.expiry_bytes())?;
            added += varint_len(value_len as u64) + value_len;
        }
        check_batch_len(self.bytes.len(), added)?;

        let end = self.bytes.len() + added;
        self.bytes.reserve(added);
        self.bytes.push(kind.byte());
        put_varint(&mut self.bytes, keyspace_id);
        put_varint(&mut self.bytes, key_len);
        self.bytes.extend_from_slice(key);
        if let Some(pieces) = value {
            put_varint(&mut self.bytes, value_len as u64);
            for piece in pieces {
                self.bytes.extend_from_slice(piece);
            }
        }
        assert!(self.bytes.len() == end);
        self.keyspaces.add(keyspace);
        self.set_count(self.count + 1);
        Ok(())
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.bytes[COUNT_OFFSET..HEADER_BYTES].copy_from_slice(&count.to_le_bytes());
    }
}

impl Default for Batch<'_> {
    fn default() -> Self {
        Batch::new()
    }
}

fn check_batch_len(len: usize, added: usize) -> Result<()> {
    if added <= BATCH_BYTES_MAX - len {
        return Ok(());
    }
    let message = format!(
        "a batch of {len} bytes cannot take {added} more; the limit is {BATCH_BYTES_MAX}: \
         write it in parts"
    );
    Err(Error::new(ErrorKind::TooLarge, message))
}

#[cfg(test)]
mod tests;
