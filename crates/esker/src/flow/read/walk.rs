//! Walks over the keys and values that one reader sees, several at a time.
//!
//! A step of the cursor below goes through every layer of the read path. While entries of one block
//! lie one behind another and nothing else comes between, the block hands out a chunk of them, and
//! a step is a step from one to the next.

use std::ops::Bound;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Way};
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::{Error, Result};
use crate::base::types::expiry::Expiry;
use crate::flow::read::cursor_state::CursorState;
use crate::flow::read::reader::Reader;
use crate::flow::read::visible::VisibleCursor;

/// Entries of the first chunk behind a seek: who takes ten entries should not pay for forty.
const CHUNK_ENTRIES_MIN: usize = 8;

/// Entries of the largest, each twice as large as the one before: a block has some forty.
const CHUNK_ENTRIES_MAX: usize = 256;

/// Steps by the cursor, at most, between two attempts to gather that were in vain.
const STEPS_BETWEEN_MAX: u32 = 64;

/// Movement over the keys and values that one reader sees, both ways.
///
/// As with every cursor, it stands nowhere when new, after running off an end and after an error;
/// `key` and `value` may be called only while it stands on an entry.
pub struct Walk<C> {
    cursor: VisibleCursor<C>,
    /// Where it stands while this is not empty.
    chunk: EntryChunk,
    /// Which way the chunk was gathered: the cursor stands on its last entry that way.
    way: Way,
    count_max: usize,
    /// Steps until gathering is tried again, and how many they were at first.
    steps_left: u32,
    steps_between: u32,
}

impl<C: Cursor> Walk<C> {
    /// A walk by that cursor, which stands nowhere.
    #[inline]
    pub fn new(cursor: VisibleCursor<C>) -> Walk<C> {
        Walk {
            cursor,
            chunk: EntryChunk::default(),
            way: Way::Forward,
            count_max: CHUNK_ENTRIES_MIN,
            steps_left: 0,
            steps_between: 0,
        }
    }

    /// Moves to the first key of the range.
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.placed().seek_to_first()
    }

    /// Moves to the last key of the range.
    pub fn seek_to_last(&mut self) -> Result<bool> {
        self.placed().seek_to_last()
    }

    /// Moves to the first key of the range that is not before `target`.
    pub fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.placed().seek(target)
    }

    /// Moves to the last key of the range that is not after `target`.
    pub fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.placed().seek_for_prev(target)
    }

    /// Moves to the next key; from nowhere it stays nowhere.
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor lends; an iterator cannot"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<bool> {
        match self.next_at_hand() {
            true => Ok(true),
            false => self.go_on(Way::Forward),
        }
    }

    /// Moves to the previous key; from nowhere it stays nowhere.
    #[inline]
    pub fn prev(&mut self) -> Result<bool> {
        match self.prev_at_hand() {
            true => Ok(true),
            false => self.go_on(Way::Back),
        }
    }

    /// Moves to the next key that way; from nowhere it stays nowhere.
    #[inline]
    pub fn step(&mut self, way: Way) -> Result<bool> {
        match way {
            Way::Forward => self.next(),
            Way::Back => self.prev(),
        }
    }

    /// Moves to the next key if that is decoded already, as it mostly is.
    #[inline]
    pub fn next_at_hand(&mut self) -> bool {
        self.chunk.step()
    }

    /// Moves to the previous key if that is decoded already, as it mostly is.
    #[inline]
    pub fn prev_at_hand(&mut self) -> bool {
        self.chunk.step_back()
    }

    /// Whether it stands on a key.
    #[inline]
    pub fn is_valid(&self) -> bool {
        !self.chunk.is_empty() || self.cursor.is_valid()
    }

    /// The user's key.
    #[inline]
    pub fn key(&self) -> &[u8] {
        match self.chunk.is_empty() {
            false => self.chunk.user_key(),
            true => self.cursor.key(),
        }
    }

    /// The user's value. A separated one is read when this is called first.
    #[inline]
    pub fn value(&self) -> Result<&[u8]> {
        match self.chunk.is_empty() {
            false => Ok(self.chunk.value()),
            true => self.cursor.value(),
        }
    }

    /// The user's value as a handle that outlives the cursor; shares memory where it can.
    pub fn value_bytes(&self) -> Result<Bytes> {
        match self.chunk.is_empty() {
            false => Ok(self.chunk.value_bytes()),
            true => self.cursor.value_bytes(),
        }
    }

    /// The unix second from which the key is gone; `None` when it stays.
    pub fn expiry(&self) -> Result<Option<Expiry>> {
        match self.chunk.is_empty() {
            // Only plain values make a chunk.
            false => Ok(None),
            true => self.cursor.expiry(),
        }
    }

    /// What the reader is.
    pub fn reader(&mut self) -> &Reader {
        let (_, reader, _) = self.cursor.parts();
        reader
    }

    /// Stands nowhere from now on, for a reader at that time.
    pub fn leave(&mut self, now_unix_ms: u64) {
        self.placed().leave(now_unix_ms);
    }

    /// The cursors it looks through.
    pub fn sources_mut(&mut self) -> &mut [C] {
        self.cursor.sources_mut()
    }

    /// Entries so far that were looked at and not handed out.
    pub fn passed_count(&self) -> u64 {
        self.cursor.passed_count()
    }

    /// The cursor, to be placed anew.
    fn placed(&mut self) -> &mut VisibleCursor<C> {
        self.chunk.clear();
        self.count_max = CHUNK_ENTRIES_MIN;
        (self.steps_left, self.steps_between) = (0, 0);
        &mut self.cursor
    }

    /// Moves by the cursor, off the end of the chunk if there is one, and fills the next.
    #[inline(never)]
    fn go_on(&mut self, way: Way) -> Result<bool> {
        if !self.chunk.is_empty() {
            let is_here = match self.way == way {
                true => Ok(()),
                false => self.bring_cursor(),
            };
            // Before the cursor moves: the buffer of the block may become that of the next one.
            self.chunk.clear();
            is_here?;
        } else if !self.cursor.is_valid() {
            return Ok(false);
        }
        let is_on = match way {
            Way::Forward => self.cursor.next()?,
            Way::Back => self.cursor.prev()?,
        };
        if is_on {
            self.gather(way);
        }
        Ok(is_on)
    }

    /// Has the cursor stand where the chunk does, from the other end of it.
    #[cold]
    fn bring_cursor(&mut self) -> Result<()> {
        let key = self.chunk.user_key();
        if self.cursor.seek(key)? && self.cursor.key() == key {
            return Ok(());
        }
        let (_, _, state) = self.cursor.parts();
        *state = CursorState::Nowhere;
        // Only an index that leads past entries, with a right checksum, can hide what was read.
        Err(Error::corruption(
            "an entry that a walk came to is not found by its key",
        ))
    }

    /// Makes a chunk of the key that the cursor stands on and those that way, if that goes.
    fn gather(&mut self, way: Way) {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            return;
        }
        let (cursor, reader, state) = self.cursor.parts();
        if !matches!(state, CursorState::Here { value_start: 0, .. })
            || !reader.tombstones.is_empty()
        {
            return;
        }
        let bound = match way {
            Way::Forward => &reader.range.upper,
            Way::Back => &reader.range.lower,
        };
        let limit = match bound {
            Bound::Included(key) | Bound::Excluded(key) => Some(&key[..]),
            Bound::Unbounded => None,
        };
        let terms = Terms {
            comparator: &reader.comparator,
            at: reader.at.committed(),
            limit,
            count_max: self.count_max,
        };
        if cursor.gather(way, &terms, &mut self.chunk) {
            self.way = way;
            self.count_max = (self.count_max * 2).min(CHUNK_ENTRIES_MAX);
            self.steps_between = 0;
            return;
        }
        if self.chunk.is_begun() {
            self.steps_between = (self.steps_between * 2 + 1).min(STEPS_BETWEEN_MAX);
            self.steps_left = self.steps_between;
        }
        self.chunk.clear();
    }
}

#[cfg(test)]
mod tests;
