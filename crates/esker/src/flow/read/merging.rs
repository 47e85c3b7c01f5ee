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
use crate::base::types::cursor::{Cursor, Phrased, Way};
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::base::types::order::KeyOrder;
use crate::base::types::prefix::prefix_number_16;
use crate::base::types::sheaf::{Sheaf, Terms};

/// Which way the sources were last placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// Each source but the current one stands on its first entry behind the current one.
    Forward,
    /// Each source but the current one stands on its last entry before the current one.
    Backward,
}

/// What the tree knows of a source without touching it, and the inner node of the same number:
/// side by side, so that a cursor that is opened for one seek allocates once for both.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// First sixteen bytes of the user key as a number, 0 where the order is not bytewise.
    prefix: u128,
    /// The source that lost at this inner node.
    loser: usize,
    is_valid: bool,
}

/// A node at which nobody has played yet.
const NOBODY: usize = usize::MAX;

const _: () = assert!(size_of::<Node>() == 32);

/// The entries of all sources in one order.
///
/// Generic over the kind of source, because this is the innermost loop of scans and compactions
/// and a call through a table costs as much there as a comparison. Equal internal keys, which
/// sources of one keyspace never hold, come in the sequence of the sources.
pub struct MergingCursor<C> {
    order: KeyOrder,
    sources: Vec<C>,
    /// One for each source, and for each inner node: node `n` has the children `2n` and `2n + 1`;
    /// source `i` is node `i + sources.len()`.
    nodes: Vec<Node>,
    winner: usize,
    /// The second best, known once the winner has won twice in a row.
    runner_up: Option<usize>,
    direction: Direction,
    is_valid: bool,
    /// Whether a source was sent ahead of the place that `direction` says.
    has_skipped: bool,
}

impl<C: Cursor> MergingCursor<C> {
    /// A cursor over `sources`, whose entries are all in that order. It stands nowhere.
    pub fn new(order: KeyOrder, sources: Vec<C>) -> MergingCursor<C> {
        MergingCursor {
            order,
            nodes: vec![Node::new(); sources.len()],
            sources,
            winner: 0,
            runner_up: None,
            direction: Direction::Forward,
            is_valid: false,
            has_skipped: false,
        }
    }

    /// What it was made of.
    pub fn sources(&self) -> &[C] {
        &self.sources
    }

    /// The place, among the sources given to [`MergingCursor::new`], of the current entry's.
    #[inline]
    pub fn source_index(&self) -> usize {
        self.winner
    }

    /// Moves ahead in the direction of the last movement, leaving out what lies in the current
    /// entry's source before the internal key `target`; other sources leave out nothing.
    ///
    /// For readers who know that the one source holds nothing of interest up to there.
    ///
    /// # Panics
    /// When `target` is not ahead.
    pub fn skip_to(&mut self, target: &[u8]) -> Result<bool> {
        let ahead = key::compare(&self.order, target, self.key());
        let is_forward = self.direction == Direction::Forward;
        assert!(if is_forward {
            ahead.is_gt()
        } else {
            ahead.is_lt()
        });
        self.has_skipped = true;
        self.is_valid = false;
        let winner = self.winner;
        let is_on = if is_forward {
            self.sources[winner].seek(target)?
        } else {
            self.sources[winner].seek_for_prev(target)?
        };
        Ok(self.replay(is_on))
    }

    /// Places every source and lets them play from scratch.
    fn place_all(
        &mut self,
        direction: Direction,
        mut place: impl FnMut(&mut C) -> Result<bool>,
    ) -> Result<bool> {
        self.is_valid = false;
        for source in &mut self.sources {
            place(source)?;
        }
        self.direction = direction;
        self.has_skipped = false;
        Ok(self.play())
    }

    /// Places all sources but the current one for the other direction, then moves that one.
    #[cold]
    fn turn(&mut self, direction: Direction) -> Result<bool> {
        self.is_valid = false;
        let winner = self.winner;
        let current = self
            .has_skipped
            .then(|| self.sources[winner].key().to_vec());
        for index in (0..self.sources.len()).filter(|&index| index != winner) {
            let source = &mut self.sources[index];
            match (&current, direction) {
                (Some(key), Direction::Forward) => {
                    if source.seek(key)? && source.key() == key && index < winner {
                        source.next()?;
                    }
                }
                (Some(key), Direction::Backward) => {
                    if source.seek_for_prev(key)? && source.key() == key && index > winner {
                        source.prev()?;
                    }
                }
                (None, Direction::Forward) if source.is_valid() => drop(source.next()?),
                (None, Direction::Forward) => drop(source.seek_to_first()?),
                (None, Direction::Backward) if source.is_valid() => drop(source.prev()?),
                (None, Direction::Backward) => drop(source.seek_to_last()?),
            }
        }
        match direction {
            Direction::Forward => self.sources[winner].next()?,
            Direction::Backward => self.sources[winner].prev()?,
        };
        self.direction = direction;
        self.has_skipped = false;
        Ok(self.play())
    }

    /// The whole tournament: each source plays its way up, to the first node where nobody has
    /// played yet, and waits there for an opponent.
    fn play(&mut self) -> bool {
        let count = self.sources.len();
        self.runner_up = None;
        self.winner = 0;
        if count > 1 {
            for index in 0..count {
                self.look_at(index, self.sources[index].is_valid());
                self.nodes[index].loser = NOBODY;
            }
            for index in 0..count {
                self.enter(index);
            }
        }
        self.is_valid = self.sources.get(self.winner).is_some_and(C::is_valid);
        self.is_valid
    }

    fn enter(&mut self, source: usize) {
        let mut best = source;
        let mut node = (best + self.sources.len()) / 2;
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
        if self.sources.len() == 1 {
            self.is_valid = is_on;
            return is_on;
        }
        self.look_at(self.winner, is_on);
        let runner_up = self.runner_up;
        if !runner_up.is_some_and(|runner_up| self.beats(self.winner, runner_up)) {
            self.replay_path();
        }
        self.is_valid = self.nodes[self.winner].is_valid;
        self.is_valid
    }

    fn replay_path(&mut self) {
        let mut best = self.winner;
        let mut node = (best + self.sources.len()) / 2;
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
        let mut node = (self.winner + self.sources.len()) / 2;
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
        let prefix = if is_valid && self.order.is_bytewise() {
            prefix_number_16(key::user_key(self.sources[index].key()))
        } else {
            0
        };
        let node = &mut self.nodes[index];
        (node.prefix, node.is_valid) = (prefix, is_valid);
    }

    /// Whether the entry of one source comes before that of the other in the direction of
    /// movement. Sources without an entry come last.
    #[inline]
    fn beats(&self, left: usize, right: usize) -> bool {
        let (left_head, right_head) = (&self.nodes[left], &self.nodes[right]);
        if !left_head.is_valid || !right_head.is_valid {
            return left_head.is_valid;
        }
        let ordering = left_head.prefix.cmp(&right_head.prefix).then_with(|| {
            let (left_key, right_key) = (self.sources[left].key(), self.sources[right].key());
            key::compare(&self.order, left_key, right_key).then(left.cmp(&right))
        });
        match self.direction {
            Direction::Forward => ordering == Ordering::Less,
            Direction::Backward => ordering == Ordering::Greater,
        }
    }
}

impl<C: Cursor> Cursor for MergingCursor<C> {
    fn seek_to_first(&mut self) -> Result<bool> {
        self.place_all(Direction::Forward, C::seek_to_first)
    }

    fn seek_to_last(&mut self) -> Result<bool> {
        self.place_all(Direction::Backward, C::seek_to_last)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.place_all(Direction::Forward, |source| source.seek(target))
    }

    fn seek_for_prev(&mut self, target: &[u8]) -> Result<bool> {
        self.place_all(Direction::Backward, |source| source.seek_for_prev(target))
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        if self.direction != Direction::Forward {
            return self.turn(Direction::Forward);
        }
        self.is_valid = false;
        let is_on = self.sources[self.winner].next()?;
        Ok(self.replay(is_on))
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        assert!(self.is_valid);
        if self.direction != Direction::Backward {
            return self.turn(Direction::Backward);
        }
        self.is_valid = false;
        let is_on = self.sources[self.winner].prev()?;
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
        let is_alone = self.sources.len() == 1 || {
            self.direction == Direction::Backward && {
                let runner_up = self.runner_up.unwrap_or_else(|| self.second_best());
                let (winner, next) = (&self.nodes[self.winner], &self.nodes[runner_up]);
                !next.is_valid || next.prefix != winner.prefix
            }
        };
        is_alone && self.sources[self.winner].is_surely_newest()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        assert!(self.is_valid);
        self.sources[self.winner].key()
    }

    #[inline]
    fn value(&self) -> Result<&[u8]> {
        assert!(self.is_valid);
        self.sources[self.winner].value()
    }

    fn value_bytes(&self) -> Result<Bytes> {
        assert!(self.is_valid);
        self.sources[self.winner].value_bytes()
    }

    /// Of the winner's source alone, as far as it stays the winner.
    fn gather(&mut self, way: Way, terms: &Terms<'_>, sheaf: &mut Sheaf) -> bool {
        assert!(self.is_valid);
        let is_forward = self.direction == Direction::Forward;
        if is_forward != (way == Way::Forward) {
            return false;
        }
        let winner = self.winner;
        if self.sources.len() == 1 {
            return self.sources[winner].gather(way, terms, sheaf);
        }
        let runner_up = self.runner_up.unwrap_or_else(|| self.second_best());
        self.runner_up = Some(runner_up);
        let pair = self.sources.get_disjoint_mut([winner, runner_up]);
        let [source, second] = pair.expect("a source is not its own runner-up");
        let mut terms = *terms;
        if self.nodes[runner_up].is_valid {
            let next = key::user_key(second.key());
            let is_nearer = |limit: &[u8]| {
                let ahead = self.order.compare(next, limit);
                if is_forward {
                    ahead.is_lt()
                } else {
                    ahead.is_gt()
                }
            };
            if terms.limit.is_none_or(is_nearer) {
                terms.limit = Some(next);
            }
        }
        let is_gathered = source.gather(way, &terms, sheaf);
        self.look_at(winner, true);
        is_gathered
    }

    fn phrased(&self) -> Option<Phrased<'_>> {
        assert!(self.is_valid);
        self.sources[self.winner].phrased()
    }
}

impl Node {
    fn new() -> Node {
        Node {
            prefix: 0,
            loser: NOBODY,
            is_valid: false,
        }
    }
}

#[cfg(test)]
mod tests;
