//! Whether a batch may be written: what must be as it was, and who has locked what.

use std::sync::Arc;

use crate::base::options::call::Durability;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::flow::write::active::Active;
use crate::flow::write::lock_holders::LockHolders;
use crate::flow::write::unlogged::NewMark;
use crate::flow::write::validation::{Look, Unchanged, Validation};

/// How one batch is written.
#[derive(Clone, Copy)]
pub struct CommitOptions<'a> {
    /// What the write must survive.
    pub durability: Durability,
    /// Answer `Busy` instead of waiting.
    pub no_wait: bool,
    /// Conditions that must hold at the moment of the write, so that read-check-write is atomic.
    pub unchanged: &'a [Unchanged<'a>],
    /// Up to when the write may happen: it has a value go on that ends then.
    pub alive_until: Option<Expiry>,
    /// Whether the writer holds locks of all that it writes.
    pub holds_locks: bool,
    /// The mark that the batch brings.
    pub mark: Option<&'a NewMark>,
}

/// Why a batch was not written, though nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The condition in that place does not hold, or it cannot be told whether all do because so
    /// much was written meanwhile (`None`).
    Conflict(Option<usize>),
    /// A value that was to go on has ended meanwhile.
    Expired,
    /// Somebody holds locks, perhaps of what is to be written, and the writer has none.
    Locked,
}

/// Who is asked before a batch is written. Any thread may call anything.
#[derive(Debug, Default)]
pub struct Admission {
    /// Who holds locks, for whoever gives them out.
    pub lock_holders: Arc<LockHolders>,
}

impl Admission {
    /// Whether a batch is refused for lack of locks, asked before anything is waited for or done
    /// for it that would be so twice.
    #[inline]
    pub fn refuses_early(&self, options: &CommitOptions<'_>) -> bool {
        !options.holds_locks && self.lock_holders.is_any()
    }

    /// Whether a batch is refused. Under the lock of all writers: what is said here is true when
    /// the batch is written, and whoever begins to hold locks after it finds the batch written.
    ///
    /// Errors: `Invalid` when a comparator panics.
    #[inline]
    pub fn refuse(
        &self,
        active: &Active,
        now_unix_ms: impl Fn() -> u64,
        options: &CommitOptions<'_>,
        validation: Option<&Validation<'_>>,
    ) -> Result<Option<Refusal>> {
        if self.refuses_early(options) {
            return Ok(Some(Refusal::Locked));
        }
        if let Some(end) = options.alive_until
            && end.is_past(now_unix_ms())
        {
            return Ok(Some(Refusal::Expired));
        }
        let Some(validation) = validation else {
            return Ok(None);
        };
        Ok(
            match validation.look_again(active.last_seqno(), active.recent())? {
                Look::Holds => None,
                Look::Broken(index) => Some(Refusal::Conflict(Some(index))),
                Look::Unclear => Some(Refusal::Conflict(None)),
            },
        )
    }
}
