//! Moves inside a block.

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::types::bytes::Bytes;
use crate::base::types::chunk_writer::{ChunkWriter, Put};
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::Way;
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::Result;
use crate::base::types::key::{self, TRAILER_BYTES, Trailer};
use crate::store::sst::block::checked::{Checked, damaged_entry};
use crate::store::sst::block::format::head_at;
use crate::store::sst::block::gather::{
    Landing, gather_ahead, gather_back, lookahead_ahead, lookahead_back,
};
use crate::store::sst::block::search::first_not_before;

/// Bytes of keys that a walk backwards remembers at most: some thousand usual keys, and a bound
/// for blocks with few restarts and long keys, where the rest is decoded again when needed.
const TRAIL_BYTES_MAX: usize = 1 << 18;

/// Bytes of a block that are decoded, at least, for each entry that is wanted backwards: as long as
/// entries are that hold a name or a few numbers.
const BYTES_BACK_PER_ENTRY: usize = 64;

/// Bytes of an entry with a key that shares most of its bytes, and a number: as short as entries
/// usually are.
const BYTES_OF_SHORT_ENTRY: usize = 16;

/// A place among the entries of one block. Its buffers stay when it enters another block.
///
/// Movements say whether it stands on an entry afterwards, as those of `Cursor` do.
#[derive(Debug, Default)]
pub struct BlockCursor {
    /// `None` until it enters one: an empty block would be an allocation for each new cursor.
    block: Option<Checked>,
    /// Internal key of the entry; while standing nowhere, what the next entry may share.
    key: Vec<u8>,
    value: Range<usize>,
    /// Offset of the entry.
    at: usize,
    /// Offset of the entry behind.
    next: usize,
    is_valid: bool,
    trail: Trail,
}

/// Entries right before a place, remembered while its restart interval was decoded.
#[derive(Debug, Default)]
struct Trail {
    /// The place: offset of the entry behind the last remembered one.
    ends_at: usize,
    keys: Vec<u8>,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    at: usize,
    key_start: usize,
    value: Range<usize>,
}

impl BlockCursor {
    /// Goes to another block, and stands nowhere in it; returns the block it was in.
    pub fn enter(&mut self, block: Checked) -> Option<Checked> {
        self.leave();
        self.trail.forget();
        self.block.replace(block)
    }

    /// Stands nowhere.
    pub fn leave(&mut self) {
        self.is_valid = false;
        self.key.clear();
        self.value = 0..0;
    }

    /// Whether it stands on an entry.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Whether the entry before is surely of another user key; known while walking backwards.
    #[inline]
    pub fn is_surely_newest(&self) -> bool {
        let before = self.trail.last_key_before(self.at);
        before.is_some_and(|before| key::user_key(before) != key::user_key(self.key()))
    }

    /// Internal key of the entry.
    #[inline]
    pub fn key(&self) -> &[u8] {
        assert!(self.is_valid);
        &self.key
    }

    /// Raw value of the entry.
    #[inline]
    pub fn value(&self) -> &[u8] {
        assert!(self.is_valid);
        &self.entries()[self.value.clone()]
    }

    /// Raw value of the entry as a handle onto the block.
    pub fn value_bytes(&self) -> Bytes {
        assert!(self.is_valid);
        let block = self.block.as_ref().expect("an entry lies in a block");
        block.slice(self.value.clone())
    }

    /// Where the raw value of the entry lies in the block.
    pub fn value_range(&self) -> Range<usize> {
        assert!(self.is_valid);
        self.value.clone()
    }

    /// Moves to the entry at the offset of a restart.
    pub fn seek_from(&mut self, restart: usize) -> Result<bool> {
        self.begin_at(restart);
        self.step()
    }

    /// Moves to the first entry.
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.begin_at(0);
        self.step()
    }

    /// Moves to the last entry.
    pub fn seek_to_last(&mut self) -> Result<bool> {
        let block = self.block.as_ref();
        let last = block.and_then(|block| Some((block, block.restart_count().checked_sub(1)?)));
        let Some((block, last)) = last else {
            self.leave();
            return Ok(false);
        };
        self.begin_at(block.restart(last)?);
        // Whoever comes to the end of a block goes back from there.
        self.trail.forget();
        while self.step()? && self.next < self.entries().len() {
            self.trail.push(self.at, &self.key, &self.value);
        }
        self.trail.ends_at = self.at;
        Ok(self.is_valid)
    }

    /// Moves to the first entry that is not before the internal key `target`.
    pub fn seek(&mut self, comparator: &Comparator, target: &[u8]) -> Result<bool> {
        let block = self.block.as_ref();
        let Some(block) = block.filter(|block| block.restart_count() > 0) else {
            self.leave();
            return Ok(false);
        };
        let (user_key, trailer) = key::split(target);
        let restart = block.search_restart(comparator, user_key, trailer.raw())?;
        let start = block.approach(restart)?;
        if comparator.is_bytewise() {
            return self.seek_bytewise(start, user_key, trailer);
        }
        self.begin_at(start);
        while self.step()? {
            if key::compare(comparator, &self.key, target) != Ordering::Less {
                return Ok(true);
            }
        }
        Ok(false)
    }

    // Of the entries passed over no key is put together; that of the entry reached begins like the
    // wanted one.
    fn seek_bytewise(&mut self, start: usize, user_key: &[u8], newest: Trailer) -> Result<bool> {
        self.leave();
        let entries = self.block.as_ref().map_or(&[][..], Checked::entries);
        let Some(reached) = first_not_before(entries, start, user_key, newest)? else {
            self.next = entries.len();
            return Ok(false);
        };
        let head = reached.head;
        let suffix = &entries[head.suffix_start..head.value_start];
        self.key.reserve(head.shared + suffix.len());
        self.key.extend_from_slice(&user_key[..head.shared]);
        self.key.extend_from_slice(suffix);
        self.at = reached.at;
        self.next = head.value_end;
        self.value = head.value_start..head.value_end;
        self.is_valid = true;
        Ok(true)
    }

    /// Moves to the next entry. Only while standing on one. Named as in `Cursor`: an iterator
    /// could not lend what it stands on.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        self.step()
    }

    /// Moves to the previous entry. Only while standing on one.
    pub fn prev(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        if self.trail.ends_at != self.at || self.trail.steps.is_empty() {
            self.lay_trail()?;
        }
        match self.trail.pop(&mut self.key) {
            None => {
                self.leave();
                Ok(false)
            }
            Some(step) => {
                self.at = step.at;
                self.next = step.value.end;
                self.value = step.value;
                self.is_valid = true;
                Ok(true)
            }
        }
    }

    /// Moves over as many entries as `Fill::Seen` says, and makes `chunk` of them.
    pub fn gather(&mut self, way: Way, terms: &Terms<'_>, chunk: &mut EntryChunk) -> bool {
        assert!(self.is_valid);
        let landing = match way {
            Way::Forward => self.gather_ahead(terms, chunk),
            Way::Back => self.gather_back(terms, chunk),
        };
        self.land(landing.filter(|_| chunk.len() > 1), way, chunk)
    }

    /// Moves over as many entries as `Fill::Next` says, and makes `chunk` of them.
    pub fn lookahead(&mut self, way: Way, count_max: usize, chunk: &mut EntryChunk) -> bool {
        assert!(self.is_valid);
        let landing = match way {
            Way::Forward => self.lookahead_ahead(count_max, chunk),
            Way::Back => self.lookahead_back(count_max, chunk),
        };
        self.land(landing, way, chunk)
    }

    // Stands where the chunk ends, if it has come to be.
    fn land(&mut self, landing: Option<Landing>, way: Way, chunk: &mut EntryChunk) -> bool {
        let block = self.block.as_ref().expect("an entry lies in a block");
        let key = match way {
            Way::Forward => chunk.last_key(),
            Way::Back => chunk.first_key(),
        };
        let (Some(Landing { at, value }), Some(key)) = (landing, key) else {
            return false;
        };
        key.clone_into(&mut self.key);
        chunk.bind(block.memory(), way == Way::Back);
        self.at = at;
        self.next = value.end;
        self.value = value;
        true
    }

    fn gather_ahead(&self, terms: &Terms<'_>, chunk: &mut EntryChunk) -> Option<Landing> {
        let mut chunk = self.begin_ahead(terms.count_max, chunk)?;
        chunk.keep(self.value.clone());
        gather_ahead(self.entries(), self.next, terms, chunk)
    }

    fn gather_back(&self, terms: &Terms<'_>, chunk: &mut EntryChunk) -> Option<Landing> {
        let (start, chunk) = self.begin_back(terms.count_max, chunk)?;
        gather_back(self.entries(), start, self.at, terms, chunk)
    }

    fn lookahead_ahead(&self, count_max: usize, chunk: &mut EntryChunk) -> Option<Landing> {
        let chunk = self.begin_ahead(count_max, chunk)?;
        lookahead_ahead(self.entries(), self.next, count_max, chunk)
    }

    fn lookahead_back(&self, count_max: usize, chunk: &mut EntryChunk) -> Option<Landing> {
        let (start, chunk) = self.begin_back(count_max, chunk)?;
        lookahead_back(self.entries(), start, self.at, chunk)
    }

    // A writer whose last key is that of the entry; `None` where none is behind it.
    fn begin_ahead<'s>(
        &self,
        count_max: usize,
        chunk: &'s mut EntryChunk,
    ) -> Option<ChunkWriter<'s>> {
        if self.next >= self.entries().len() {
            return None;
        }
        let mut chunk = chunk.begin(count_max, self.key.len());
        let put = chunk.put_key(0, &self.key, self.key.len());
        (put != Put::Refused).then_some(chunk)
    }

    // The restart from which about so many are decoded up to the entry, and a writer.
    fn begin_back<'s>(
        &self,
        count_max: usize,
        chunk: &'s mut EntryChunk,
    ) -> Option<(usize, ChunkWriter<'s>)> {
        let block = self.block.as_ref()?;
        let span = count_max.saturating_mul(BYTES_BACK_PER_ENTRY);
        // Damaged restarts were found when the block was brought.
        let from = block
            .restart_before(self.at.saturating_sub(span).max(1))
            .ok()??;
        let start = block.restart(from).ok()?;
        // From the restart on there may be more than are wanted, most of them short.
        let chunk = chunk.begin(span / BYTES_OF_SHORT_ENTRY, self.key.len());
        Some((start, chunk))
    }

    // Decodes the restart interval in front of the entry once, and remembers every entry of it.
    fn lay_trail(&mut self) -> Result<()> {
        let target = self.at;
        self.trail.forget();
        self.trail.ends_at = target;
        let block = self.block.as_ref().expect("an entry lies in a block");
        let Some(restart) = block.restart_before(target)? else {
            return Ok(());
        };
        self.begin_at(block.restart(restart)?);
        while self.next < target {
            if !self.step()? {
                break;
            }
            self.trail.push(self.at, &self.key, &self.value);
        }
        if self.next != target {
            self.leave();
            return Err(damaged_entry());
        }
        Ok(())
    }

    #[inline(always)]
    fn entries(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], Checked::entries)
    }

    // The next step decodes the entry at `offset`, which shares nothing.
    fn begin_at(&mut self, offset: usize) {
        self.key.clear();
        self.next = offset;
    }

    // Decodes the entry at `next`: the loop inside every scan.
    #[inline(always)]
    fn step(&mut self) -> Result<bool> {
        let entries = self.block.as_ref().map_or(&[][..], Checked::entries);
        if self.next >= entries.len() {
            self.is_valid = false;
            return Ok(false);
        }
        let shared_max = self.key.len().saturating_sub(TRAILER_BYTES);
        match head_at(entries, self.next) {
            Some(head) if head.shared <= shared_max => {
                self.key.truncate(head.shared);
                self.key
                    .extend_from_slice(&entries[head.suffix_start..head.value_start]);
                self.at = self.next;
                self.next = head.value_end;
                self.value = head.value_start..head.value_end;
                self.is_valid = true;
                Ok(true)
            }
            _ => {
                self.is_valid = false;
                Err(damaged_entry())
            }
        }
    }
}

impl Trail {
    fn forget(&mut self) {
        self.keys.clear();
        self.steps.clear();
    }

    // When it grows too long the far end is forgotten, and decoded again when it is needed.
    fn push(&mut self, at: usize, key: &[u8], value: &Range<usize>) {
        if self.keys.len() + key.len() > TRAIL_BYTES_MAX {
            self.forget();
        }
        self.steps.push(Step {
            at,
            key_start: self.keys.len(),
            value: value.clone(),
        });
        self.keys.extend_from_slice(key);
    }

    // Of the entry right before the one at `at`, if it is remembered.
    #[inline]
    fn last_key_before(&self, at: usize) -> Option<&[u8]> {
        let step = self.steps.last().filter(|_| self.ends_at == at)?;
        self.keys.get(step.key_start..)
    }

    fn pop(&mut self, key: &mut Vec<u8>) -> Option<Step> {
        let step = self.steps.pop()?;
        key.clear();
        key.extend_from_slice(&self.keys[step.key_start..]);
        self.keys.truncate(step.key_start);
        self.ends_at = step.at;
        Some(step)
    }
}

#[cfg(test)]
mod tests;
