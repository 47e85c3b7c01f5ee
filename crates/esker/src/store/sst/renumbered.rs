//! Readers and cursors that show entries with their sequence numbers shifted.

use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::Result;
use crate::base::types::key::{TRAILER_BYTES, Trailer, split};
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Renumbering;
use crate::store::sst::contract::Found;
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;

/// A cursor over entries whose sequence numbers are shown shifted: over an adopted file.
#[derive(Debug)]
pub struct RenumberedCursor<C> {
    inner: C,
    renumbering: Renumbering,
    /// The internal key of the entry as it is shown.
    key: Vec<u8>,
    target: Vec<u8>,
}

/// An open file that was written elsewhere, as it is to be seen here.
#[derive(Debug)]
pub struct RenumberedReader<R> {
    /// As it was written.
    pub inner: Arc<R>,
    /// What is shown instead of its sequence numbers.
    pub renumbering: Renumbering,
    /// Its range deletes, by ascending start.
    pub range_deletes: Arc<[RangeDelete]>,
    /// What it says about itself.
    pub props: Props,
}

impl<R> RenumberedReader<R> {
    /// Shows `inner` so, which says that of itself and has those range deletes.
    pub fn new(
        inner: R,
        (said, range_deletes): (Props, &[RangeDelete]),
        renumbering: Renumbering,
    ) -> RenumberedReader<R> {
        let shown = |stored| renumbering.shown_range_delete(stored);
        RenumberedReader {
            range_deletes: range_deletes.iter().map(shown).collect(),
            props: Props {
                smallest_seqno: renumbering.shown(said.smallest_seqno),
                largest_seqno: renumbering.shown(said.largest_seqno),
                // Snapshots of elsewhere hold nothing here.
                passing: None,
                ..said
            },
            inner: Arc::new(inner),
            renumbering,
        }
    }

    /// What `get` finds, which is asked for it with the number that the file has for `at`.
    pub fn get_at(
        &self,
        at: SeqNo,
        get: impl FnOnce(&R, SeqNo) -> Result<Option<Found>>,
    ) -> Result<Option<Found>> {
        let Some(at) = self.renumbering.stored(at) else {
            return Ok(None);
        };
        let found = get(&self.inner, at)?;
        Ok(found.map(|found| Found {
            trailer: Trailer::new(
                self.renumbering.shown(found.trailer.seqno()),
                found.trailer.kind(),
            ),
            ..found
        }))
    }

    /// Bytes of memory that it takes beside those of the inner one.
    pub fn pinned_bytes(&self) -> usize {
        size_of::<RenumberedReader<R>>() + range_deletes::size_bytes(&self.range_deletes)
    }
}

impl<C: Cursor> RenumberedCursor<C> {
    /// Shows the entries of `inner` so.
    pub fn new(inner: C, renumbering: Renumbering) -> RenumberedCursor<C> {
        RenumberedCursor {
            inner,
            renumbering,
            key: Vec::new(),
            target: Vec::new(),
        }
    }

    /// Moves the inner cursor otherwise than a cursor does.
    pub fn move_by(&mut self, step: impl FnOnce(&mut C) -> Result<bool>) -> Result<bool> {
        let is_on = step(&mut self.inner)?;
        self.show(is_on)
    }

    /// The inner cursor, for what moves nothing.
    pub fn inner_mut(&mut self) -> &mut C {
        &mut self.inner
    }

    fn show(&mut self, is_on: bool) -> Result<bool> {
        self.key.clear();
        if is_on {
            let (user_key, trailer) = split(self.inner.key());
            let shown = self.renumbering.shown_trailer(trailer.raw());
            self.key.reserve(user_key.len() + TRAILER_BYTES);
            self.key.extend_from_slice(user_key);
            self.key.extend_from_slice(&shown.to_le_bytes());
        }
        Ok(is_on)
    }

    fn aim(&mut self, target: &[u8]) {
        let (user_key, trailer) = split(target);
        let stored = self.renumbering.stored_trailer(trailer.raw());
        self.target.clear();
        self.target.extend_from_slice(user_key);
        self.target.extend_from_slice(&stored.to_le_bytes());
    }
}

impl<C: Cursor> Cursor for RenumberedCursor<C> {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.move_by(C::seek_to_first)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        self.move_by(C::seek_to_last)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.aim(target);
        let is_on = self.inner.seek(&self.target)?;
        self.show(is_on)
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.aim(target);
        let is_on = self.inner.seek_for_prev(&self.target)?;
        self.show(is_on)
    }

    fn next(&mut self) -> Result<bool> {
        self.move_by(C::next)
    }

    fn prev(&mut self) -> Result<bool> {
        self.move_by(C::prev)
    }

    fn is_valid(&self) -> bool {
        self.inner.is_valid()
    }

    fn is_surely_newest(&self) -> bool {
        self.inner.is_surely_newest()
    }

    fn key(&self) -> &[u8] {
        assert!(!self.key.is_empty(), "the cursor stands on an entry");
        &self.key
    }

    fn value(&self) -> Result<&[u8]> {
        self.inner.value()
    }

    fn value_bytes(&self) -> Result<Bytes> {
        self.inner.value_bytes()
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        let is_filled = match fill {
            Fill::Next(_) => self.inner.fill(way, fill, chunk),
            Fill::Seen(terms) => match self.renumbering.stored(terms.at) {
                None => false,
                Some(at) => {
                    let stored = Terms { at, ..*terms };
                    self.inner.fill(way, Fill::Seen(&stored), chunk)
                }
            },
        };
        if is_filled {
            chunk.change_trailers(|raw| self.renumbering.shown_trailer(raw));
            // It stands on the last that it came to.
            let is_on = self.inner.is_valid();
            return self.show(is_on).is_ok();
        }
        false
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        self.inner.encoded()
    }
}
