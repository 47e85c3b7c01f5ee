//! Rows of a range, one by one, within what one call may look at.

use std::ops::Bound;
use std::time::Duration;

use esker::internals::env::clock::Clock;
use esker::{DbCursor, Keyspace, Result};
use esker_rpc::rules::limits::READ_MS_MAX;
use esker_rpc::rules::range::KeyRange;
use esker_rpc::time::WireSecond;
use esker_rpc::value::StoredValue;

use crate::partition::overlay::read_stored;

/// When a read is made.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// What has ended by now is not there.
    pub now: WireSecond,
    /// Says how long a read takes.
    pub clock: &'a dyn Clock,
}

/// A walk over the rows of a range. Each row is looked at once, whether it lives or not.
pub struct Walk<'a> {
    cursor: DbCursor,
    is_begun: bool,
    is_reverse: bool,
    moment: Moment<'a>,
    until: Duration,
    rows_left: usize,
}

impl<'a> Walk<'a> {
    /// Before the first row of the range, or behind the last one; looks at `rows_max` at the most.
    pub fn new(
        keyspace: &Keyspace,
        range: &KeyRange,
        is_reverse: bool,
        rows_max: usize,
        moment: Moment<'a>,
    ) -> Result<Walk<'a>> {
        let lower = Bound::Included(&range.start[..]);
        let end = range.end.as_deref();
        let upper = end.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(Walk {
            cursor: keyspace.cursor_in::<&[u8]>((lower, upper))?,
            is_begun: false,
            is_reverse,
            moment,
            until: moment.clock.monotonic() + Duration::from_millis(READ_MS_MAX),
            rows_left: rows_max,
        })
    }

    /// Goes to the next row; says whether there is one.
    pub fn advance(&mut self) -> Result<bool> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        match (is_first, self.is_reverse) {
            (true, false) => self.cursor.seek_to_first(),
            (true, true) => self.cursor.seek_to_last(),
            (false, false) => self.cursor.next(),
            (false, true) => self.cursor.prev(),
        }
    }

    /// Whether the row that it stands at is one too many.
    pub fn is_spent(&self) -> bool {
        self.rows_left == 0
    }

    /// Whether it has gone on for too long.
    pub fn is_late(&self) -> bool {
        self.moment.clock.monotonic() >= self.until
    }

    /// The row that it stands at: its raw key, and what is stored if that lives. One more is looked
    /// at.
    ///
    /// Errors: those of reading; `Corruption` for a value without the header of a stored one.
    pub fn look(&mut self) -> Result<(&[u8], Option<StoredValue<'_>>)> {
        self.rows_left = self.rows_left.saturating_sub(1);
        let key = self.cursor.key().unwrap_or_default();
        let stored = self.cursor.value()?.map(read_stored).transpose()?;
        let living = stored.filter(|stored| !stored.expiry.is_expired(self.moment.now));
        Ok((key, living))
    }
}
