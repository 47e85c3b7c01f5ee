//! A checked block in memory.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use crate::base::codec::fixed::{u16_at, u32_at};
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::base::types::key;
use crate::store::sst::block::format::{
    BUCKET_COLLISION, BUCKET_EMPTY, HASH_INDEX_FLAG, bucket_of, head_at,
};

/// A block whose checksum was right and whose restarts and hash index make sense.
///
/// Entries are looked at when somebody comes by, and held against the block's end then: to look
/// at all of them beforehand would cost as much as reading the block.
///
/// Shape: a handle of four words onto shared bytes. Cloning it copies no bytes; it is kept by
/// value, because one more pointer on the way is one more cache miss for a point read, and it is
/// small, because so many of them lie in the cache.
#[derive(Debug)]
pub struct Checked {
    /// Entries, restarts, buckets, what tells how many there are of both, and perhaps some bytes
    /// that mean nothing. The count of holders lies right before them: one allocation, which a
    /// reader finds without a pointer on the way.
    bytes: Arc<[u8]>,
    entries_len: u32,
    restart_count: u32,
    /// Of the hash index, if it has one.
    bucket_count: Option<u16>,
}

const _: () = assert!(size_of::<Checked>() == 32);

/// Bytes that a processor fetches at once, of nearly every kind.
const CACHE_LINE_BYTES: usize = 64;

/// Bytes behind a restart that are brought at once for who walks there: eight entries of a hundred
/// bytes, as many as a search passes on average. Of longer entries it reads the heads only.
const INTERVAL_BYTES_MAX: usize = 1 << 10;

/// Restarts whose keys are brought at once for a search among them.
const RESTARTS_MAX: usize = 8;

/// What the hash index knows of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// The block has no entry of the key.
    Absent,
    /// All entries of the key, if there are any, lie behind this restart.
    Restart(usize),
    /// Only a search can tell.
    Unknown,
}

impl Clone for Checked {
    /// The count of holders, which changes, and the restarts, which who comes next looks at, lie
    /// on two lines that are seldom at hand. Both are looked at first, so that they come together:
    /// changing the count waits for its line, and all that is behind waits for the change.
    #[inline]
    fn clone(&self) -> Checked {
        let restarts = self.bytes.get(self.entries_len as usize).copied();
        std::hint::black_box((restarts, Arc::strong_count(&self.bytes)));
        Checked {
            bytes: Arc::clone(&self.bytes),
            ..*self
        }
    }
}

impl Checked {
    /// Checks the plain bytes of a block.
    pub fn new(bytes: Vec<u8>) -> Result<Checked> {
        let len = bytes.len();
        Checked::in_memory(bytes.into(), len)
    }

    /// Checks the plain bytes of a block, the first `len` of `memory`.
    pub fn in_memory(memory: Arc<[u8]>, len: usize) -> Result<Checked> {
        let parts = Checked::parts(memory, len);
        let block = parts.ok_or_else(|| bad("its parts do not fit together"))?;
        block.check_restarts()?;
        // Without a branch for each bucket: the loop takes sixteen of them at a time.
        let restart_end = u8::try_from(block.restart_count).unwrap_or(u8::MAX);
        let are_sound = block.buckets().iter().fold(true, |are_sound, &bucket| {
            let is_special = (bucket == BUCKET_EMPTY) | (bucket == BUCKET_COLLISION);
            are_sound & ((bucket < restart_end) | is_special)
        });
        if !are_sound {
            return Err(bad("its hash index names a restart that is not there"));
        }
        Ok(block)
    }

    /// The block's memory, to be used for another one, if nobody else has it.
    pub fn into_memory(self) -> Option<Arc<[u8]>> {
        let mut memory = self.bytes;
        let is_alone = Arc::get_mut(&mut memory).is_some();
        is_alone.then_some(memory)
    }

    fn parts(bytes: Arc<[u8]>, len: usize) -> Option<Checked> {
        let plain = bytes.get(..len)?;
        let mut end = len.checked_sub(4)?;
        let tail = u32_at(plain, end)?;
        let restart_count = tail & !HASH_INDEX_FLAG;
        let mut bucket_count = None;
        if tail & HASH_INDEX_FLAG != 0 {
            end = end.checked_sub(2)?;
            let count = u16_at(plain, end).filter(|count| *count > 0)?;
            end = end.checked_sub(usize::from(count))?;
            bucket_count = Some(count);
        }
        let entries_len = end.checked_sub((restart_count as usize).checked_mul(4)?)?;
        Some(Checked {
            bytes,
            entries_len: u32::try_from(entries_len).ok()?,
            restart_count,
            bucket_count,
        })
    }

    fn check_restarts(&self) -> Result<()> {
        if (self.restart_count == 0) != (self.entries_len == 0) {
            return Err(bad("entries and restarts do not match"));
        }
        let mut last = None;
        for index in 0..self.restart_count() {
            let restart = self.restart(index)?;
            let is_sound = match last {
                None => restart == 0,
                Some(last) => restart > last,
            };
            if !is_sound || restart >= self.entries_len as usize {
                return Err(bad("its restarts are out of order"));
            }
            last = Some(restart);
        }
        Ok(())
    }

    /// The entries, one behind the other.
    #[inline(always)]
    pub fn entries(&self) -> &[u8] {
        &self.bytes[..self.entries_len as usize]
    }

    /// Number of restarts; 0 only when there are no entries.
    #[inline]
    pub fn restart_count(&self) -> usize {
        self.restart_count as usize
    }

    #[inline]
    fn buckets(&self) -> &[u8] {
        let start = self.entries_len as usize + self.restart_count() * 4;
        let end = start + usize::from(self.bucket_count.unwrap_or(0));
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Offset of restart number `index`.
    #[inline]
    pub fn restart(&self, index: usize) -> Result<usize> {
        let offset = u32_at(&self.bytes, self.entries_len as usize + index * 4);
        Ok(offset.ok_or_else(|| bad("a restart is missing"))? as usize)
    }

    /// Brings all of the block into the processor's cache, for who will read all of it.
    ///
    /// Where an entry begins is known when the one before was read, so a walk waits for each line
    /// that is not there; here nothing waits for anything, and the lines come together.
    pub fn touch(&self) {
        touch(&self.bytes);
    }

    /// Offset of restart number `index`, with what lies from there up to the next one brought into
    /// the processor's cache, for who walks there.
    #[inline]
    pub fn approach(&self, index: usize) -> Result<usize> {
        let start = self.restart(index)?;
        let end = match index + 1 < self.restart_count() {
            true => self.restart(index + 1)?,
            false => self.entries_len as usize,
        };
        touch(&self.bytes[start..end.min(start + INTERVAL_BYTES_MAX)]);
        Ok(start)
    }

    /// Brings the keys of all restarts but the first, where they are few.
    fn touch_restarts(&self) -> Result<()> {
        if self.restart_count() > RESTARTS_MAX {
            return Ok(());
        }
        let mut all = 0;
        for index in 1..self.restart_count() {
            all ^= self.bytes[self.restart(index)?];
        }
        std::hint::black_box(all);
        Ok(())
    }

    /// The block's memory, to be kept.
    #[inline]
    pub fn memory(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// A part of the block as a handle that keeps the block's bytes alive, or has a copy of a small
    /// part.
    pub fn slice(&self, range: Range<usize>) -> Bytes {
        Bytes::of_shared(&self.bytes, range)
    }

    /// As [`Checked::slice`], without copying. A copy of a hundred bytes is a twentieth of a point
    /// read.
    #[inline]
    pub fn share(&self, range: Range<usize>) -> Bytes {
        Bytes::pinning(&self.bytes, range)
    }

    /// Bytes of memory it takes, with its bytes and their reference counts.
    pub fn size_bytes(&self) -> usize {
        let counts = 2 * size_of::<usize>();
        self.bytes.len() + size_of::<Checked>() + counts
    }

    /// What the hash index knows of the user key with that hash.
    #[inline]
    pub fn bucket(&self, hash: u64) -> Bucket {
        let buckets = self.buckets();
        match buckets.get(bucket_of(hash, buckets.len())) {
            Some(&BUCKET_EMPTY) => Bucket::Absent,
            None | Some(&BUCKET_COLLISION) => Bucket::Unknown,
            Some(&restart) => Bucket::Restart(usize::from(restart)),
        }
    }

    /// Number of the last restart whose entry is before the internal key of `user_key` and the
    /// raw `trailer`, or 0: where a search of it begins. Only in a block with entries.
    pub fn search_restart(
        &self,
        comparator: &Comparator,
        user_key: &[u8],
        trailer: u64,
    ) -> Result<usize> {
        self.touch_restarts()?;
        let (mut lower, mut upper) = (0, self.restart_count().saturating_sub(1));
        while lower < upper {
            let middle = (lower + upper).div_ceil(2);
            let key = self.restart_key(middle)?;
            let (middle_key, middle_trailer) = key::split(key);
            let by_key = comparator.compare(middle_key, user_key);
            // A larger trailer is an earlier entry of the same key.
            if by_key.then_with(|| trailer.cmp(&middle_trailer.raw())) == Ordering::Less {
                lower = middle;
            } else {
                upper = middle - 1;
            }
        }
        Ok(lower)
    }

    /// Number of the last restart before the offset `at`; `None` when there is none.
    pub fn restart_before(&self, at: usize) -> Result<Option<usize>> {
        let (mut lower, mut upper) = (0, self.restart_count());
        while lower < upper {
            let middle = (lower + upper) / 2;
            if self.restart(middle)? < at {
                lower = middle + 1;
            } else {
                upper = middle;
            }
        }
        Ok(lower.checked_sub(1))
    }

    // Internal key of the entry at a restart, which stands there whole.
    fn restart_key(&self, index: usize) -> Result<&[u8]> {
        let entries = self.entries();
        match head_at(entries, self.restart(index)?) {
            Some(head) if head.shared == 0 => Ok(&entries[head.suffix_start..head.value_start]),
            _ => Err(damaged_entry()),
        }
    }
}

/// Reads a byte of each line: no load waits for another, so the lines come together.
#[inline]
fn touch(bytes: &[u8]) {
    let lines = bytes.iter().step_by(CACHE_LINE_BYTES);
    std::hint::black_box(lines.fold(0, |all, byte| all ^ byte));
}

/// The error for an entry that is not whole.
#[cold]
pub fn damaged_entry() -> Error {
    bad("an entry is not whole")
}

fn bad(why: &str) -> Error {
    Error::corruption(format!("block is damaged: {why}"))
}

#[cfg(test)]
mod tests;
