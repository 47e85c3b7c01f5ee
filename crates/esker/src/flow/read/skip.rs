//! How a reader passes over entries of no interest: by steps, and by a seek where there are many.

use crate::base::types::cursor::{Cursor, Way};
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::seqno::Visibility;
use crate::flow::read::merging::MergingCursor;
use crate::flow::read::seek_target::{first_trailer, set_seek_target};
use crate::flow::read::tombstone_aggregator::TombstoneAggregator;

/// Entries of no interest that are stepped over before a seek replaces the stepping: a step
/// inside a block costs 20 to 50 ns, a seek of one source a few hundred to a thousand.
pub const STEPS_BEFORE_SEEK: u64 = 16;

/// Whether, after so many steps over entries of one sort, a seek is to be tried.
#[inline]
pub fn is_pile(steps: u64) -> bool {
    steps.is_multiple_of(STEPS_BEFORE_SEEK)
}

/// Passes over entries of a merge, and counts them.
#[derive(Debug, Default)]
pub struct Skip {
    passed_count: u64,
    target: Vec<u8>,
}

impl Skip {
    /// Entries passed over so far.
    pub fn passed_count(&self) -> u64 {
        self.passed_count
    }

    /// Leaves the current entry behind: one step, or its source sent to `trailer` of its key.
    pub fn pass<C: Cursor>(
        &mut self,
        inner: &mut MergingCursor<C>,
        way: Way,
        trailer: Option<Trailer>,
    ) -> Result<()> {
        self.passed_count += 1;
        match (trailer, way) {
            (None, Way::Forward) => inner.next()?,
            (None, Way::Back) => inner.prev()?,
            (Some(trailer), _) => {
                set_seek_target(&mut self.target, inner.user_key(), trailer);
                inner.skip_to(&self.target)?
            }
        };
        Ok(())
    }

    /// The same for the entry of that number in a row: mostly it is one step.
    pub fn pass_pile<C: Cursor>(
        &mut self,
        inner: &mut MergingCursor<C>,
        way: Way,
        steps: u64,
        trailer: Trailer,
    ) -> Result<()> {
        self.pass(inner, way, is_pile(steps).then_some(trailer))
    }

    /// Leaves an entry behind, forward, that is too new for a reader, the one of that number in a
    /// row: one step, or its source sent to what the reader sees of its key.
    pub fn pass_newer<C: Cursor>(
        &mut self,
        inner: &mut MergingCursor<C>,
        at: Visibility,
        steps: u64,
    ) -> Result<()> {
        let (_, trailer) = key::split(inner.key());
        let target = Trailer::seek(at.newest_beside(trailer.seqno()));
        self.pass_pile(inner, Way::Forward, steps, target)
    }

    /// Leaves a hidden entry behind: one step, or its source sent behind what is hidden.
    pub fn pass_hidden<C: Cursor>(
        &mut self,
        inner: &mut MergingCursor<C>,
        tombstones: &TombstoneAggregator,
        way: Way,
        is_stretch: bool,
    ) -> Result<()> {
        let (user_key, source) = (inner.user_key(), inner.source_index());
        let skip = is_stretch.then(|| match way {
            Way::Forward => tombstones.skip_forward(user_key, source),
            Way::Back => tombstones.skip_backward(user_key, source),
        });
        let Some(bound) = skip.flatten() else {
            return self.pass(inner, way, None);
        };
        self.passed_count += 1;
        set_seek_target(&mut self.target, &bound, first_trailer());
        inner.skip_to(&self.target).map(drop)
    }
}
