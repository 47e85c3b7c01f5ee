//! Internal entries to user entries at a sequence number.
//!
//! Each user key appears at most once, with the value that its newest visible entries make:
//! deletions, range deletions and expiries hide, merge operands are folded. What is passed over
//! is passed over by seeking where stepping would be slow: the stretches that a range deletion
//! in a newer source hides, and the piles of versions of one key.

use std::ops::Bound;

use crate::base::types::bytes::Bytes;
use crate::base::types::cursor::{Cursor, Way};
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::key;
use crate::flow::read::cursor_state::CursorState;
use crate::flow::read::lazy_value::LazyValue;
use crate::flow::read::lookup_outcome::{LookupOutcome, Part, outcome};
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::reader::Reader;
use crate::flow::read::seek_target::{first_trailer, last_trailer, set_seek_target};
use crate::flow::read::skip::{STEPS_BEFORE_SEEK, Skip, is_pile};

/// Movement over the keys and values that one reader sees, both ways.
///
/// As with every cursor, it stands nowhere when new, after running off an end and after an
/// error; `next`, `prev`, `key` and `value` may be called only while it stands on an entry.
pub struct VisibleCursor<C> {
    inner: MergingCursor<C>,
    reader: Reader,
    state: CursorState,
    /// The current key where `state` says so; otherwise the key that is being passed over, where
    /// the inner cursor does not tell keys apart.
    key: Vec<u8>,
    value: LazyValue,
    operands: Vec<Bytes>,
    target: Vec<u8>,
    skip: Skip,
}

impl<C: Cursor> VisibleCursor<C> {
    /// A cursor over what `reader` sees of `inner`, whose sources are by age, newest first, and
    /// whose memtables hide what their folded operands hold.
    #[inline]
    pub fn new(inner: MergingCursor<C>, reader: Reader) -> VisibleCursor<C> {
        VisibleCursor {
            inner,
            reader,
            state: CursorState::Nowhere,
            key: Vec::new(),
            value: LazyValue::default(),
            operands: Vec::new(),
            target: Vec::new(),
            skip: Skip::default(),
        }
    }

    /// Moves to the first key of the range.
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.state = CursorState::Nowhere;
        match self.reader.set_first_target(&mut self.target) {
            false => self.inner.seek_to_first()?,
            true => self.inner.seek(&self.target)?,
        };
        // Only behind an excluded bound are there entries of its key.
        if let Bound::Excluded(lower) = &self.reader.range.lower {
            lower.clone_into(&mut self.key);
            return self.find_forward(true);
        }
        self.find_forward(false)
    }

    /// Moves to the last key of the range.
    pub fn seek_to_last(&mut self) -> Result<bool> {
        self.state = CursorState::Nowhere;
        match self.reader.set_last_target(&mut self.target) {
            false => self.inner.seek_to_last()?,
            true => self.inner.seek_for_prev(&self.target)?,
        };
        self.find_backward(false)
    }

    /// Moves to the first key of the range that is not before `target`.
    pub fn seek(&mut self, target: &[u8]) -> Result<bool> {
        if self.reader.is_below(target) {
            return self.seek_to_first();
        }
        self.state = CursorState::Nowhere;
        if self.reader.is_above(target) {
            return Ok(false);
        }
        set_seek_target(&mut self.target, target, self.reader.newest_trailer());
        self.inner.seek(&self.target)?;
        self.find_forward(false)
    }

    /// Moves to the last key of the range that is not after `target`.
    pub fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        if self.reader.is_above(target) {
            return self.seek_to_last();
        }
        self.state = CursorState::Nowhere;
        if self.reader.is_below(target) {
            return Ok(false);
        }
        set_seek_target(&mut self.target, target, last_trailer());
        self.inner.seek_for_prev(&self.target)?;
        self.find_backward(false)
    }

    /// Moves to the next key. Only while standing on one.
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor lends; an iterator cannot"
    )]
    pub fn next(&mut self) -> Result<bool> {
        match std::mem::take(&mut self.state) {
            CursorState::Nowhere => panic!("next needs a cursor that stands on an entry"),
            CursorState::Here { .. } | CursorState::Separated => {
                self.inner.keep_key(&mut self.key);
                self.inner.next()?;
            }
            CursorState::BeforeInner => {}
            CursorState::AfterInner => {
                set_seek_target(&mut self.target, &self.key, last_trailer());
                self.inner.seek(&self.target)?;
            }
        }
        self.find_forward(true)
    }

    /// Moves to the previous key. Only while standing on one.
    pub fn prev(&mut self) -> Result<bool> {
        match std::mem::take(&mut self.state) {
            CursorState::Nowhere => panic!("prev needs a cursor that stands on an entry"),
            CursorState::Here {
                is_newest: true, ..
            } => {
                self.inner.prev()?;
            }
            CursorState::Here { .. } | CursorState::Separated => {
                key::user_key(self.inner.key()).clone_into(&mut self.key);
                self.inner.prev()?;
                return self.find_backward(true);
            }
            CursorState::BeforeInner => {
                set_seek_target(&mut self.target, &self.key, first_trailer());
                self.inner.seek_for_prev(&self.target)?;
            }
            CursorState::AfterInner => {}
        }
        self.find_backward(false)
    }

    /// Stands nowhere from now on, for a reader at that time.
    pub fn leave(&mut self, now_unix_ms: u64) {
        self.state = CursorState::Nowhere;
        self.reader.now_unix_ms = now_unix_ms;
    }

    /// What it moves over, for whom, and where it stands: for who moves it several keys at once.
    pub fn parts(&mut self) -> (&mut MergingCursor<C>, &Reader, &mut CursorState) {
        (&mut self.inner, &self.reader, &mut self.state)
    }

    /// Whether the cursor stands on a key.
    pub fn is_valid(&self) -> bool {
        self.state != CursorState::Nowhere
    }

    /// The user's key.
    pub fn key(&self) -> &[u8] {
        match self.state {
            CursorState::Nowhere => panic!("key needs a cursor that stands on an entry"),
            CursorState::Here { .. } | CursorState::Separated => key::user_key(self.inner.key()),
            CursorState::BeforeInner | CursorState::AfterInner => &self.key,
        }
    }

    /// The user's value. A separated one is read when this is called first.
    pub fn value(&self) -> Result<&[u8]> {
        match self.state {
            CursorState::Nowhere => panic!("value needs a cursor that stands on an entry"),
            CursorState::Here { value_start, .. } => Ok(&self.inner.value()?[value_start..]),
            _ => Ok(self.value.get(&self.reader.values)?),
        }
    }

    /// The user's value as a handle that outlives the cursor; shares memory where it can.
    pub fn value_bytes(&self) -> Result<Bytes> {
        match self.state {
            CursorState::Nowhere => panic!("value needs a cursor that stands on an entry"),
            CursorState::Here { value_start, .. } => self.part_from(value_start),
            _ => self.value.get(&self.reader.values).cloned(),
        }
    }

    /// The unix second from which the key is gone; `None` when it stays. Operands make a value
    /// that stays, whatever they are folded into.
    pub fn expiry(&self) -> Result<Option<Expiry>> {
        match self.state {
            CursorState::Nowhere => panic!("an expiry needs a cursor that stands on an entry"),
            CursorState::Here { .. } | CursorState::Separated => Ok(self.outcome()?.expiry()),
            CursorState::BeforeInner | CursorState::AfterInner => Ok(self.value.expiry()),
        }
    }

    /// The cursors it looks through.
    pub fn sources_mut(&mut self) -> &mut [C] {
        self.inner.sources_mut()
    }

    /// Entries so far that were looked at and not handed out: deleted, hidden, expired, too old
    /// or too new. Many of them for few keys say that a compaction would help.
    pub fn passed_count(&self) -> u64 {
        self.skip.passed_count()
    }

    /// From the inner cursor's entry on, finds the first key with a value. With `is_passing`,
    /// entries of the key that it came from, or of `self.key`, are not looked at any more.
    fn find_forward(&mut self, mut is_passing: bool) -> Result<bool> {
        let mut steps = 0_u64;
        let mut hidden_steps = 0_u64;
        while self.inner.is_valid() {
            let (user_key, trailer) = key::split(self.inner.key());
            let seqno = trailer.seqno();
            if is_passing
                && self
                    .inner
                    .is_again()
                    .unwrap_or_else(|| user_key == self.key)
            {
                steps += 1;
                let is_pile = is_pile(steps) && trailer > last_trailer();
                self.skip
                    .pass(&mut self.inner, Way::Forward, is_pile.then(last_trailer))?;
                continue;
            }
            is_passing = false;
            if self.reader.is_above(user_key) {
                return Ok(false);
            }
            if !self.reader.at.sees(seqno) {
                steps += 1;
                self.skip
                    .pass_newer(&mut self.inner, self.reader.at, steps)?;
                continue;
            }
            if self.reader.tombstones.hides(user_key, seqno) {
                user_key.clone_into(&mut self.key);
                is_passing = true;
                hidden_steps += 1;
                let is_stretch = is_pile(hidden_steps);
                self.skip.pass_hidden(
                    &mut self.inner,
                    &self.reader.tombstones,
                    Way::Forward,
                    is_stretch,
                )?;
                continue;
            }
            let now = self.reader.now_unix_ms;
            match outcome(user_key, trailer, || self.inner.value(), || now)? {
                LookupOutcome::Value(part) => {
                    if part.is_separated {
                        self.value = self.lazy(part)?;
                        self.state = CursorState::Separated;
                    } else {
                        self.state = CursorState::here(part.start, false);
                    }
                    return Ok(true);
                }
                LookupOutcome::Operand => {
                    user_key.clone_into(&mut self.key);
                    self.value = LazyValue::here(self.fold_forward()?);
                    self.state = CursorState::BeforeInner;
                    return Ok(true);
                }
                LookupOutcome::Gone => {
                    self.inner.keep_key(&mut self.key);
                    is_passing = true;
                    steps = 0;
                    self.skip.pass(&mut self.inner, Way::Forward, None)?;
                }
            }
        }
        Ok(false)
    }

    /// The value of `self.key`, on whose newest visible entry, an operand, the inner cursor
    /// stands. Leaves the inner cursor on the entry that ended the chain.
    fn fold_forward(&mut self) -> Result<Bytes> {
        self.operands.clear();
        self.operands.push(self.inner.value_bytes()?);
        let mut base = None;
        let mut newer_steps = 0;
        self.inner.next()?;
        while self.inner.is_valid() {
            let (user_key, trailer) = key::split(self.inner.key());
            if user_key != self.key {
                break;
            }
            // Between an own operand and what is folded under it.
            if !self.reader.at.sees(trailer.seqno()) {
                newer_steps += 1;
                self.skip
                    .pass_newer(&mut self.inner, self.reader.at, newer_steps)?;
                continue;
            }
            if self.reader.tombstones.hides(user_key, trailer.seqno()) {
                break;
            }
            match self.outcome()? {
                LookupOutcome::Operand => self.operands.push(self.inner.value_bytes()?),
                LookupOutcome::Gone => break,
                LookupOutcome::Value(part) => {
                    base = Some(self.lazy(part)?);
                    break;
                }
            }
            self.inner.next()?;
        }
        self.fold(base.as_ref())
    }

    /// What the operands make of `base`.
    fn fold(&mut self, base: Option<&LazyValue>) -> Result<Bytes> {
        let base = base.map(|base| base.get(&self.reader.values)).transpose()?;
        let base = base.map(|base| &base[..]);
        let folded = self.reader.folder.fold(&self.key, base, &self.operands);
        self.operands.clear();
        folded.map(Bytes::from)
    }

    /// From the inner cursor's entry back, finds the first key with a value. With `is_passing`,
    /// entries of `self.key` are not looked at any more.
    fn find_backward(&mut self, is_passing: bool) -> Result<bool> {
        let mut steps = 0_u64;
        while is_passing && self.inner.is_valid() && self.inner.user_key() == self.key {
            steps += 1;
            self.skip
                .pass_pile(&mut self.inner, Way::Back, steps, first_trailer())?;
        }
        let (mut covered_steps, mut hidden_steps) = (0_u64, 0_u64);
        while self.inner.is_valid() {
            let user_key = self.inner.user_key();
            if self.reader.is_below(user_key) {
                return Ok(false);
            }
            if self.inner.is_surely_covered(self.reader.at) {
                covered_steps += 1;
                self.skip
                    .pass_pile(&mut self.inner, Way::Back, covered_steps, first_trailer())?;
                continue;
            }
            covered_steps = 0;
            if self.inner.is_surely_newest() && self.settle_here()? {
                return Ok(true);
            }
            let user_key = self.inner.user_key();
            user_key.clone_into(&mut self.key);
            if let Some(value) = self.settle_backward(&mut hidden_steps)? {
                self.value = value;
                self.state = CursorState::AfterInner;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// On the newest entry of a key: stays there if it is a plain value that the reader sees, as
    /// nearly all are. Then nothing is copied, and the block's bytes need no further holder.
    fn settle_here(&mut self) -> Result<bool> {
        let (user_key, trailer) = key::split(self.inner.key());
        let seqno = trailer.seqno();
        if !self.reader.at.sees(seqno) || self.reader.tombstones.hides(user_key, seqno) {
            return Ok(false);
        }
        let now = self.reader.now_unix_ms;
        match outcome(user_key, trailer, || self.inner.value(), || now)? {
            LookupOutcome::Value(part) if !part.is_separated => {
                self.state = CursorState::here(part.start, true)
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The value of `self.key`, if it has one, with the inner cursor on the key's oldest entry.
    /// Leaves the inner cursor before all entries of the key.
    fn settle_backward(&mut self, hidden_steps: &mut u64) -> Result<Option<LazyValue>> {
        // Entries come oldest first: each one settles the value so far.
        let mut base = None;
        let mut steps = 0_u64;
        self.operands.clear();
        while self.inner.is_valid() {
            let (user_key, trailer) = key::split(self.inner.key());
            if user_key != self.key {
                break;
            }
            steps += 1;
            let seqno = trailer.seqno();
            if !self.reader.at.sees(seqno) {
                // The rest of this source's entries are newer still.
                self.skip
                    .pass_pile(&mut self.inner, Way::Back, steps, first_trailer())?;
                continue;
            }
            if self.reader.tombstones.hides(user_key, seqno) {
                *hidden_steps += 1;
                base = None;
                self.operands.clear();
                let is_stretch = is_pile(*hidden_steps);
                self.skip.pass_hidden(
                    &mut self.inner,
                    &self.reader.tombstones,
                    Way::Back,
                    is_stretch,
                )?;
                continue;
            }
            match self.outcome()? {
                LookupOutcome::Value(part) => {
                    self.operands.clear();
                    base = Some(self.lazy(part)?);
                }
                LookupOutcome::Gone => {
                    base = None;
                    self.operands.clear();
                }
                LookupOutcome::Operand => self.operands.push(self.inner.value_bytes()?),
            }
            if steps >= STEPS_BEFORE_SEEK {
                return self.settle_from_newest();
            }
            self.inner.prev()?;
        }
        if self.operands.is_empty() {
            return Ok(base);
        }
        self.operands.reverse();
        let folded = self.fold(base.as_ref())?;
        Ok(Some(LazyValue::here(folded)))
    }

    /// As [`Self::settle_backward`] for a key with a pile of versions, of which only the newest
    /// visible ones matter: goes there, reads forward, and comes back.
    fn settle_from_newest(&mut self) -> Result<Option<LazyValue>> {
        set_seek_target(&mut self.target, &self.key, self.reader.newest_trailer());
        self.inner.seek(&self.target)?;
        let mut newer_steps = 0;
        while !self.reader.at.sees(key::split(self.inner.key()).1.seqno()) {
            newer_steps += 1;
            self.skip
                .pass_newer(&mut self.inner, self.reader.at, newer_steps)?;
        }
        let (user_key, trailer) = key::split(self.inner.key());
        assert!(user_key == self.key);
        let is_hidden = self.reader.tombstones.hides(user_key, trailer.seqno());
        let value = match self.outcome()? {
            _ if is_hidden => None,
            LookupOutcome::Gone => None,
            LookupOutcome::Operand => Some(LazyValue::here(self.fold_forward()?)),
            LookupOutcome::Value(part) => Some(self.lazy(part)?),
        };
        set_seek_target(&mut self.target, &self.key, first_trailer());
        self.inner.seek_for_prev(&self.target)?;
        Ok(value)
    }

    /// The inner cursor's value from `start` on: the user's, or where it lies.
    fn part_from(&self, start: usize) -> Result<Bytes> {
        match (self.inner.value_bytes()?, start) {
            (raw, 0) => Ok(raw),
            (raw, _) => Ok(raw.slice(start..raw.len())),
        }
    }

    /// The inner cursor's value, of which `part` is the user's.
    // Always: as an argument it would lie in memory, for those entries too that need none of this.
    #[inline(always)]
    fn lazy(&self, part: Part) -> Result<LazyValue> {
        let value = LazyValue::of(self.part_from(part.start)?, part.is_separated);
        Ok(value.until(part.expiry))
    }

    fn outcome(&self) -> Result<LookupOutcome> {
        let (user_key, trailer) = key::split(self.inner.key());
        let now = self.reader.now_unix_ms;
        outcome(user_key, trailer, || self.inner.value(), || now)
    }
}

#[cfg(test)]
mod tests;
