//! Cursor over many cursors.
//!
//! A loser tree (Knuth, volume 3, 5.4.1) holds the sources as its leaves; every inner node
//! remembers the source that lost there, and the winner of all is the current entry. Moving the
//! winner replays one path: `log2(n)` comparisons, half of what a binary heap needs. While one
//! source wins again and again, it is compared with the second best only. Most comparisons are
//! decided by the first sixteen bytes of the keys, kept side by side as numbers: eight, the first
//! choice, are the same in all keys of a small number written in decimal.
//!
//! One source costs no comparison at all.

use std::cmp::Ordering;

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::cursor::{Cursor, Encoded, Fill, Way};
use crate::base::types::entry_chunk::{EntryChunk, Terms};
use crate::base::types::error::Result;
use crate::base::types::key::{self};
use crate::base::types::seqno::Visibility;
use crate::flow::read::merge_head::Head;
use crate::flow::read::sources::{Lead, Pivot, Sources};

/// What the tree knows of a source without touching it, and the inner node of the same number:
/// side by side, so that a cursor that is opened for one seek allocates once for both.
#[derive(Clone, Copy, Debug)]
struct Node {
    head: Head,
    /// The source that lost at this inner node.
    loser: usize,
}

/// A node at which nobody has played yet.
const NOBODY: usize = usize::MAX;

const _: () = assert!(size_of::<Node>() == 64);

/// The entries of all sources in one order.
///
/// Generic over the kind of source, because this is the innermost loop of scans and compactions
/// and a call through a table costs as much there as a comparison. Equal internal keys, which
/// sources of one keyspace never hold, come in the sequence of the sources.
pub struct MergingCursor<C> {
    comparator: Comparator,
    sources: Sources<C>,
    /// One for each source, and for each inner node: node `n` has the children `2n` and `2n + 1`;
    /// source `i` is node `i + sources.len()`.
    nodes: Vec<Node>,
    winner: usize,
    /// The second best, known once the winner has won twice in a row.
    runner_up: Option<usize>,
    /// Which way the sources were last placed. Forward, each source but the current one stands on
    /// an entry behind the current one, or ran off its end: on the first there that can matter.
    /// What was skipped lies between, and what a live memtable got since, which no reader of this
    /// cursor sees. Back, likewise before the current one.
    way: Way,
    is_valid: bool,
    /// Whether the entry is of the same user key as the one before the last movement, if known.
    is_again: Option<bool>,
}

impl<C: Cursor> MergingCursor<C> {
    /// A cursor over `sources`, whose entries are all in that order. It stands nowhere.
    #[inline]
    pub fn new(comparator: Comparator, sources: Vec<C>) -> MergingCursor<C> {
        MergingCursor {
            comparator,
            nodes: vec![Node::new(); sources.len()],
            sources: Sources::new(sources),
            winner: 0,
            runner_up: None,
            way: Way::Forward,
            is_valid: false,
            is_again: None,
        }
    }

    /// What it was made of.
    pub fn sources_mut(&mut self) -> &mut [C] {
        self.sources.cursors_mut()
    }

    /// The place, among the sources given to [`MergingCursor::new`], of the current entry's.
    #[inline]
    pub fn source_index(&self) -> usize {
        self.winner
    }

    /// The current entry's user key.
    // Always: see `key`.
    #[inline(always)]
    pub fn user_key(&self) -> &[u8] {
        key::user_key(self.key())
    }

    /// Whether a newer entry of the same user key surely comes that a reader `at` sees and that is
    /// no operand: then this one is of no interest to him. Known while moving backwards, of short
    /// keys, where another source has that entry next.
    #[inline]
    pub fn is_surely_covered(&self, at: Visibility) -> bool {
        assert!(self.is_valid);
        if self.sources.count() < 2 || self.way == Way::Forward {
            return false;
        }
        let runner_up = self.runner_up.unwrap_or_else(|| self.second_best());
        let (head, next) = (&self.nodes[self.winner].head, &self.nodes[runner_up].head);
        next.is_valid
            && next.key.is_same(&head.key) == Some(true)
            && at.sees(next.trailer.seqno())
            && !next.trailer.kind().is_merge()
    }

    /// Moves ahead in the direction of the last movement, leaving out what lies in the current
    /// entry's source before the internal key `target`; other sources leave out nothing.
    ///
    /// For readers who know that the one source holds nothing of interest up to there.
    ///
    /// # Panics
    /// When `target` is not ahead.
    pub fn skip_to(&mut self, target: &[u8]) -> Result<bool> {
        let ahead = key::compare(&self.comparator, target, self.key());
        let is_forward = self.way == Way::Forward;
        assert!(if is_forward {
            ahead.is_gt()
        } else {
            ahead.is_lt()
        });
        self.is_valid = false;
        let winner = self.winner;
        let is_on = self.sources.place(winner, |source| match is_forward {
            true => source.seek(target),
            false => source.seek_for_prev(target),
        })?;
        Ok(self.replay(is_on))
    }

    /// Places every source and lets them play from scratch.
    fn place_all(
        &mut self,
        way: Way,
        mut place: impl FnMut(&mut C) -> Result<bool>,
    ) -> Result<bool> {
        self.is_valid = false;
        self.sources.begin();
        for index in 0..self.sources.count() {
            self.sources.place(index, &mut place)?;
        }
        self.way = way;
        Ok(self.play())
    }

    /// Places all sources but the current one for the other way, then moves that one.
    #[cold]
    fn turn(&mut self, way: Way) -> Result<bool> {
        self.is_valid = false;
        let winner = self.winner;
        let key = self.sources.key(winner).to_vec();
        let pivot = Pivot {
            comparator: &self.comparator,
            key: &key,
            source: winner,
        };
        for index in (0..self.sources.count()).filter(|&index| index != winner) {
            self.sources.turn(index, way, &pivot)?;
        }
        match way {
            Way::Forward => self.sources.next(winner)?,
            Way::Back => self.sources.prev(winner)?,
        };
        self.way = way;
        Ok(self.play())
    }

    /// The whole tournament: each source plays its way up, to the first node where nobody has
    /// played yet, and waits there for an opponent.
    fn play(&mut self) -> bool {
        let count = self.sources.count();
        self.runner_up = None;
        self.is_again = None;
        self.winner = 0;
        if count > 1 {
            for index in 0..count {
                self.look_at(index, self.sources.is_valid(index));
                self.nodes[index].loser = NOBODY;
            }
            for index in 0..count {
                self.enter(index);
            }
        }
        self.is_valid = count > 0 && self.sources.is_valid(self.winner);
        self.is_valid
    }

    fn enter(&mut self, source: usize) {
        let mut best = source;
        let mut node = (best + self.sources.count()) / 2;
        while node > 0 {
            let other = self.nodes[node].loser;
            if other == NOBODY {
                self.nodes[node].loser = best;
                return;
            }
            if self.beats(other, best) {
                self.nodes[node].loser = best;
                best = other;
            }
            node /= 2;
        }
        self.winner = best;
    }

    /// The winner's source has moved, and stands on an entry or not: finds the new winner.
    #[inline]
    fn replay(&mut self, is_on: bool) -> bool {
        if self.sources.count() == 1 {
            self.is_valid = is_on;
            return is_on;
        }
        let before = self.nodes[self.winner].head.key;
        self.look_at(self.winner, is_on);
        let runner_up = self.runner_up;
        if !runner_up.is_some_and(|runner_up| self.beats(self.winner, runner_up)) {
            self.replay_path();
        }
        self.is_again = before.is_same(&self.nodes[self.winner].head.key);
        self.is_valid = is_on || self.nodes[self.winner].head.is_valid;
        self.is_valid
    }

    fn replay_path(&mut self) {
        let mut best = self.winner;
        let mut node = (best + self.sources.count()) / 2;
        while node > 0 {
            let other = self.nodes[node].loser;
            if self.beats(other, best) {
                self.nodes[node].loser = best;
                best = other;
            }
            node /= 2;
        }
        let has_won_again = best == self.winner;
        self.winner = best;
        self.runner_up = has_won_again.then(|| self.second_best());
    }

    /// The best of those that lost to the winner itself: they lie on its path.
    fn second_best(&self) -> usize {
        let mut node = (self.winner + self.sources.count()) / 2;
        let mut best = self.nodes[node].loser;
        while node > 1 {
            node /= 2;
            let other = self.nodes[node].loser;
            if self.beats(other, best) {
                best = other;
            }
        }
        best
    }

    #[inline]
    fn look_at(&mut self, index: usize, is_valid: bool) {
        self.nodes[index].head = match is_valid {
            true => Head::of(self.sources.key(index), &self.comparator),
            false => Head::of_none(self.way),
        };
    }

    /// Whether the entry of one source comes before that of the other in the direction of
    /// movement. Sources without an entry come last.
    #[inline(always)]
    fn beats(&self, left: usize, right: usize) -> bool {
        let (left_head, right_head) = (&self.nodes[left].head, &self.nodes[right].head);
        if left_head.key.prefix == right_head.key.prefix {
            return self.beats_closely(left, right);
        }
        (left_head.key.prefix < right_head.key.prefix) == (self.way == Way::Forward)
    }

    /// As that, of two whose keys begin alike, or of which one has none. Apart, so that the usual
    /// comparison is a few instructions where it is made.
    #[inline(never)]
    fn beats_closely(&self, left: usize, right: usize) -> bool {
        let (left_head, right_head) = (&self.nodes[left].head, &self.nodes[right].head);
        if !left_head.is_valid || !right_head.is_valid {
            return left_head.is_valid;
        }
        let ordering = match left_head.key.is_whole() && right_head.key.is_whole() {
            // A larger trailer is a newer entry, and comes first.
            true => {
                let by_len = left_head.key.len.cmp(&right_head.key.len);
                by_len.then_with(|| right_head.trailer.cmp(&left_head.trailer))
            }
            false => {
                let (left_key, right_key) = (self.sources.key(left), self.sources.key(right));
                key::compare(&self.comparator, left_key, right_key)
            }
        };
        match self.way {
            Way::Forward => ordering.then(left.cmp(&right)) == Ordering::Less,
            Way::Back => ordering.then(left.cmp(&right)) == Ordering::Greater,
        }
    }
}

impl<C: Cursor> MergingCursor<C> {
    /// Whether the entry is of the same user key as the one that the cursor stood on before its
    /// last movement, if that was a `next` and it is known without comparing keys.
    #[inline]
    pub fn is_again(&self) -> Option<bool> {
        self.is_again
    }

    /// Makes `key` the user key of the entry, to know further entries of it by; or leaves it, where
    /// `is_again` will say which those are.
    #[inline]
    pub fn keep_key(&self, key: &mut Vec<u8>) {
        if !self.tells_keys_apart() {
            key::user_key(self.key()).clone_into(key);
        }
    }

    /// Whether `is_again` will be known after a `next`: of several sources, where all of the key is
    /// in its prefix.
    #[inline]
    fn tells_keys_apart(&self) -> bool {
        assert!(self.is_valid);
        let is_forward = self.way == Way::Forward;
        self.sources.count() > 1 && is_forward && self.nodes[self.winner].head.key.is_whole()
    }

    /// [`Fill::Seen`], of the winner's source alone, as far as it stays the winner.
    pub fn gather(&mut self, way: Way, terms: &Terms<'_>, chunk: &mut EntryChunk) -> bool {
        assert!(self.is_valid);
        let is_forward = self.way == Way::Forward;
        if is_forward != (way == Way::Forward) {
            return false;
        }
        let mut lead = Lead {
            source: self.winner,
            rival: None,
        };
        if self.sources.count() == 1 {
            return self.sources.gather(lead, way, terms, chunk);
        }
        let runner_up = self.runner_up.unwrap_or_else(|| self.second_best());
        self.runner_up = Some(runner_up);
        lead.rival = Some(runner_up).filter(|rival| self.nodes[*rival].head.is_valid);
        let is_gathered = self.sources.gather(lead, way, terms, chunk);
        self.look_at(self.winner, true);
        is_gathered
    }
}

impl<C: Cursor> Cursor for MergingCursor<C> {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.place_all(Way::Forward, C::seek_to_first)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        self.place_all(Way::Back, C::seek_to_last)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.place_all(Way::Forward, |source| source.seek(target))
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.place_all(Way::Back, |source| source.seek_for_prev(target))
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        if self.way != Way::Forward {
            return self.turn(Way::Forward);
        }
        self.is_valid = false;
        let is_on = self.sources.next(self.winner)?;
        Ok(self.replay(is_on))
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        if self.way != Way::Back {
            return self.turn(Way::Back);
        }
        self.is_valid = false;
        let is_on = self.sources.prev(self.winner)?;
        Ok(self.replay(is_on))
    }

    #[inline]
    fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Known while moving backwards, where the runner-up is what all other sources have next.
    #[inline]
    fn is_surely_newest(&self) -> bool {
        assert!(self.is_valid);
        let is_alone = self.sources.count() == 1 || {
            self.way == Way::Back && {
                let runner_up = self.runner_up.unwrap_or_else(|| self.second_best());
                let winner = &self.nodes[self.winner].head;
                let next = &self.nodes[runner_up].head;
                !next.is_valid || next.key.prefix != winner.key.prefix
            }
        };
        is_alone && self.sources.is_surely_newest(self.winner)
    }

    // Always: a call is a third of what it takes, and each step asks two or three times.
    #[inline(always)]
    fn key(&self) -> &[u8] {
        assert!(self.is_valid);
        self.sources.key(self.winner)
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        assert!(self.is_valid);
        self.sources.value(self.winner)
    }

    fn value_bytes(&self) -> Result<Bytes> {
        assert!(self.is_valid);
        self.sources.value_bytes(self.winner)
    }

    fn fill(&mut self, way: Way, fill: Fill<'_>, chunk: &mut EntryChunk) -> bool {
        match fill {
            Fill::Seen(terms) => self.gather(way, terms, chunk),
            // Nothing looks ahead over what is merged already.
            Fill::Next(_) => false,
        }
    }

    fn encoded(&self) -> Option<Encoded<'_>> {
        assert!(self.is_valid);
        self.sources.encoded(self.winner)
    }
}

impl Node {
    fn new() -> Node {
        Node {
            head: Head::of_none(Way::Forward),
            loser: NOBODY,
        }
    }
}

#[cfg(test)]
mod tests;
