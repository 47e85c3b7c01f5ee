//! The sources of a merge, each with a lookahead of the entries that it has next.
//!
//! Entries of several sources take turns, so a step of a source is asked for one by one; but what
//! makes it dear, the way down through run, file and block, is gone once for many entries where a
//! block decodes those behind the current one together. Then a step is a step from one entry in
//! lookahead to the next, and its key is at hand.

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::{Error, Result};
use crate::base::types::key;

/// Steps of all sources behind a seek before any gets a lookahead: many readers take ten entries,
/// and with lookaheads from the first step on that was a sixth more instructions.
const STEPS_BEFORE_LOOKAHEADS: u32 = 16;

/// Entries of the first lookahead behind a seek: who takes some more should not pay for a hundred.
const LOOKAHEAD_ENTRIES_MIN: usize = 8;

/// Entries of the largest, each twice as large as the one before: more than most blocks have.
const LOOKAHEAD_ENTRIES_MAX: usize = 64;

/// The cursors of a merge, by their places in it.
///
/// As with every cursor, each stands nowhere when new, after running off an end and after an
/// error. One alone has no lookahead: who walks over that gathers for itself.
#[derive(Debug)]
pub struct Sources<C> {
    cursors: Vec<C>,
    /// One for each cursor, once there is to be any.
    lookaheads: Vec<Lookahead>,
    steps_left: u32,
}

/// Bytes of the largest lookahead: 16 KiB of keys, and the places of 256 short entries, which is
/// what may be decoded backwards for 64 usual ones.
pub const LOOKAHEAD_BYTES_MAX: usize = 24 << 10;

/// A source whose entry comes before those of all others.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// Its place.
    pub source: usize,
    /// The place of the one whose entry comes next, if any has one.
    pub rival: Option<usize>,
}

/// The entry at which a merge turns.
#[derive(Clone, Copy, Debug)]
pub struct Pivot<'a> {
    /// How keys compare.
    pub comparator: &'a Comparator,
    /// Its internal key.
    pub key: &'a [u8],
    /// The place of the source that stands on it: of equal keys those of earlier sources come
    /// first.
    pub source: usize,
}

/// Entries ahead of a cursor.
#[derive(Debug)]
struct Lookahead {
    /// Where the source stands while this is not empty.
    entries: EntryChunk,
    /// Which way they were decoded: the cursor stands on the last one that way.
    way: Way,
    count_max: usize,
    /// Whether the next step is the cursor's, because the source leads for long.
    is_cursor_next: bool,
    /// Whether the last step was the cursor's for that reason, or there was no lookahead yet: then
    /// the entries behind may be gathered from their block at once.
    is_lead_open: bool,
}

impl<C: Cursor> Sources<C> {
    /// Those sources, which stand nowhere.
    pub fn new(cursors: Vec<C>) -> Sources<C> {
        Sources {
            cursors,
            lookaheads: Vec::new(),
            steps_left: STEPS_BEFORE_LOOKAHEADS,
        }
    }

    /// The cursors, which may stand ahead of their sources.
    pub fn cursors_mut(&mut self) -> &mut [C] {
        &mut self.cursors
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.cursors.len()
    }

    /// All are placed anew, each by [`Sources::place`]: what was learned of how far the reader goes
    /// is forgotten.
    pub fn begin(&mut self) {
        self.steps_left = STEPS_BEFORE_LOOKAHEADS;
    }

    /// Places a source by its cursor.
    pub fn place(
        &mut self,
        index: usize,
        place: impl FnOnce(&mut C) -> Result<bool>,
    ) -> Result<bool> {
        if let Some(lookahead) = self.lookaheads.get_mut(index) {
            *lookahead = lookahead.emptied();
        }
        place(&mut self.cursors[index])
    }

    /// Moves a source to its next entry. Only while it stands on one.
    #[inline]
    pub fn next(&mut self, index: usize) -> Result<bool> {
        let lookahead = self.lookaheads.get_mut(index);
        match lookahead.is_some_and(|lookahead| lookahead.entries.step()) {
            true => Ok(true),
            false => self.go_on(index, Way::Forward),
        }
    }

    /// Moves a source to its previous entry. Only while it stands on one.
    #[inline]
    pub fn prev(&mut self, index: usize) -> Result<bool> {
        let lookahead = self.lookaheads.get_mut(index);
        match lookahead.is_some_and(|lookahead| lookahead.entries.step_back()) {
            true => Ok(true),
            false => self.go_on(index, Way::Back),
        }
    }

    /// Places a source that stands on one side of `pivot`, or ran off the end there, on its nearest
    /// entry on the other side, that way.
    ///
    /// Mostly that is one step. But between the two may lie what the source skipped, and what a
    /// live memtable got since it came to its place: then the step ends on the same side still.
    pub fn turn(&mut self, index: usize, way: Way, pivot: &Pivot<'_>) -> Result<()> {
        let is_across = |key: &[u8]| {
            let ordering = key::compare(pivot.comparator, key, pivot.key);
            match way {
                Way::Forward => ordering.then(index.cmp(&pivot.source)).is_gt(),
                Way::Back => ordering.then(index.cmp(&pivot.source)).is_lt(),
            }
        };
        let is_on = match (way, self.is_valid(index)) {
            (Way::Forward, true) => self.next(index)?,
            (Way::Forward, false) => self.place(index, C::seek_to_first)?,
            (Way::Back, true) => self.prev(index)?,
            (Way::Back, false) => self.place(index, C::seek_to_last)?,
        };
        if !is_on || is_across(self.key(index)) {
            return Ok(());
        }
        let is_on = self.place(index, |source| match way {
            Way::Forward => source.seek(pivot.key),
            Way::Back => source.seek_for_prev(pivot.key),
        })?;
        if is_on && !is_across(self.key(index)) {
            match way {
                Way::Forward => self.next(index)?,
                Way::Back => self.prev(index)?,
            };
        }
        Ok(())
    }

    /// Whether a source stands on an entry.
    #[inline]
    pub fn is_valid(&self, index: usize) -> bool {
        self.lookahead(index).is_some() || self.cursors[index].is_valid()
    }

    /// As `Cursor::is_surely_newest`, of a source.
    #[inline]
    pub fn is_surely_newest(&self, index: usize) -> bool {
        let cursor = &self.cursors[index];
        let Some(lookahead) = self.lookahead(index) else {
            return cursor.is_surely_newest();
        };
        match lookahead.entries.key_before() {
            Some(before) => key::user_key(before) != lookahead.entries.user_key(),
            None => lookahead.way == Way::Back && cursor.is_surely_newest(),
        }
    }

    /// The internal key of a source's entry.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        match self.lookahead(index) {
            Some(lookahead) => lookahead.entries.key(),
            None => self.cursors[index].key(),
        }
    }

    /// The raw value of a source's entry.
    #[inline]
    pub fn value(&self, index: usize) -> Result<&[u8]> {
        match self.lookahead(index) {
            Some(lookahead) => Ok(lookahead.entries.value()),
            None => self.cursors[index].value(),
        }
    }

    /// The raw value of a source's entry, as a handle that may be kept.
    pub fn value_bytes(&self, index: usize) -> Result<Bytes> {
        match self.lookahead(index) {
            Some(lookahead) => Ok(lookahead.entries.value_bytes()),
            None => self.cursors[index].value_bytes(),
        }
    }

    /// The value of a source's entry as phrases: what is in the lookahead has none.
    pub fn encoded(&self, index: usize) -> Option<Encoded<'_>> {
        match self.lookahead(index) {
            Some(_) => None,
            None => self.cursors[index].encoded(),
        }
    }

    /// As [`Fill::Seen`], of a source as far as its entries come before that of its rival.
    pub fn gather(
        &mut self,
        lead: Lead,
        way: Way,
        terms: &Terms<'_>,
        chunk: &mut EntryChunk,
    ) -> bool {
        let Some(rival) = lead.rival else {
            let lookahead = self.lookaheads.get_mut(lead.source);
            return gather(
                &mut self.cursors[lead.source],
                lookahead,
                (way, terms),
                chunk,
            );
        };
        let pair = [lead.source, rival];
        let cursors = self.cursors.get_disjoint_mut(pair);
        let [cursor, rival_cursor] = cursors.expect("a source is not its own rival");
        let (lookahead, rival_lookahead) = match self.lookaheads.get_disjoint_mut(pair) {
            Ok([lookahead, rival_lookahead]) => (Some(lookahead), Some(rival_lookahead)),
            Err(_) => (None, None),
        };
        let next = match rival_lookahead {
            Some(rival_lookahead) if !rival_lookahead.entries.is_empty() => {
                rival_lookahead.entries.key()
            }
            _ => rival_cursor.key(),
        };
        let next = key::user_key(next);
        let is_nearer = |limit: &[u8]| match way {
            Way::Forward => terms.comparator.compare(next, limit).is_lt(),
            Way::Back => terms.comparator.compare(next, limit).is_gt(),
        };
        let mut terms = *terms;
        if terms.limit.is_none_or(is_nearer) {
            terms.limit = Some(next);
        }
        gather(cursor, lookahead, (way, &terms), chunk)
    }

    /// What a source has in the lookahead, if it stands there.
    #[inline(always)]
    fn lookahead(&self, index: usize) -> Option<&Lookahead> {
        let lookahead = self.lookaheads.get(index);
        lookahead.filter(|lookahead| !lookahead.entries.is_empty())
    }

    /// Moves by the cursor, off the end of the lookahead if there is one, and takes in the next.
    #[inline(never)]
    fn go_on(&mut self, index: usize, way: Way) -> Result<bool> {
        if self.steps_left > 0 {
            self.steps_left -= 1;
        } else if self.cursors.len() > 1 {
            if self.lookaheads.is_empty() {
                self.lookaheads
                    .resize_with(self.cursors.len(), Lookahead::new);
            }
            let lookahead = &mut self.lookaheads[index];
            if lookahead.take_in(&mut self.cursors[index], way)? {
                return Ok(true);
            }
        }
        match way {
            Way::Forward => self.cursors[index].next(),
            Way::Back => self.cursors[index].prev(),
        }
    }
}

// From the lookahead, or past it where there is none.
fn gather<C: Cursor>(
    cursor: &mut C,
    lookahead: Option<&mut Lookahead>,
    (way, terms): (Way, &Terms<'_>),
    chunk: &mut EntryChunk,
) -> bool {
    let Some(lookahead) = lookahead else {
        return cursor.fill(way, Fill::Seen(terms), chunk);
    };
    let is_gathered = match lookahead.entries.is_empty() {
        true => lookahead.is_lead_open && cursor.fill(way, Fill::Seen(terms), chunk),
        false => chunk.take_from(&mut lookahead.entries, way == Way::Back, terms),
    };
    // A source that leads for long needs no lookahead: what is in it would be looked at twice.
    lookahead.is_cursor_next = is_gathered && chunk.len() > lookahead.count_max / 2;
    is_gathered
}

impl Lookahead {
    fn new() -> Lookahead {
        Lookahead {
            entries: EntryChunk::default(),
            way: Way::Forward,
            count_max: LOOKAHEAD_ENTRIES_MIN,
            is_cursor_next: false,
            is_lead_open: true,
        }
    }

    /// As new, with the memory it has.
    fn emptied(&mut self) -> Lookahead {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        Lookahead {
            entries,
            ..Lookahead::new()
        }
    }

    /// Lets go of what is left, with the cursor where the source stands, and takes in what lies
    /// behind that; `false` where the cursor has to move by itself.
    fn take_in<C: Cursor>(&mut self, cursor: &mut C, way: Way) -> Result<bool> {
        if !self.entries.is_empty() && self.way != way {
            self.bring(cursor)?;
        }
        // Before the cursor moves: the buffer of the block may become that of the next one.
        self.entries.clear();
        self.is_lead_open = std::mem::take(&mut self.is_cursor_next);
        if self.is_lead_open {
            return Ok(false);
        }
        self.way = way;
        let is_taken = cursor.fill(way, Fill::Next(self.count_max), &mut self.entries);
        match is_taken {
            true => self.count_max = (self.count_max * 2).min(LOOKAHEAD_ENTRIES_MAX),
            false => self.entries.clear(),
        }
        Ok(is_taken)
    }

    /// Has the cursor stand where the source does, from the other end of the lookahead.
    #[cold]
    fn bring<C: Cursor>(&mut self, cursor: &mut C) -> Result<()> {
        let is_found = cursor.seek(self.entries.key());
        if matches!(is_found, Ok(true)) && cursor.key() == self.entries.key() {
            return Ok(());
        }
        self.entries.clear();
        is_found?;
        // Only an index that leads past entries, with a right checksum, can hide what was read.
        Err(Error::corruption(
            "an entry that a merge came to is not found by its key",
        ))
    }
}
