//! One owner that waits for one lock, however that ends.

use std::sync::Arc;
use std::time::Duration;

use crate::db::txn::locks::lock::Attempt;
use crate::db::txn::locks::lock_id::{LockId, LockName, TxnId};
use crate::db::txn::locks::lock_mode::Mode;
use crate::db::txn::locks::lock_table::LockTable;
use crate::db::txn::locks::refused::Refused;
use crate::db::txn::locks::waits::Wait;
use crate::env::bundle::Env;
use crate::env::signal::Signal;

/// Longest single wait of a thread: it looks again after it. What a clock adds to the present stays
/// far below what a number holds, however long somebody is ready to wait.
const SINGLE_WAIT_MAX: Duration = Duration::from_secs(3600);

/// How long somebody waits for a lock, and in which world.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// Whose clock and threads.
    pub env: &'a Env,
    /// The longest wait; zero is not to wait.
    pub wait_max: Duration,
}

/// A lock that somebody wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The lock.
    pub id: LockId,
    /// How it is wanted; what the owner holds already is joined to it.
    pub mode: Mode,
    /// Its key, for messages; a lock of a keyspace has none.
    pub key: Option<&'a [u8]>,
}

/// How an owner goes on that found a lock taken.
#[derive(Debug)]
pub enum Begun<'a> {
    /// It was free after all.
    Over(Attempt),
    /// It waits.
    Waiting(Waiting<'a>),
}

/// An owner that waits. When this goes without having been ended, as when a background job panics
/// on the thread that waits, the owner is left with what it had before, and others go on.
#[derive(Debug)]
pub struct Waiting<'a> {
    table: &'a LockTable,
    owner: TxnId,
    id: LockId,
    /// How the owner holds the lock while it waits.
    before: Option<Mode>,
    signal: Arc<Signal>,
    since: Duration,
    is_over: bool,
}

/// Takes a lock, waiting for it if need be; what was waited is taken off `patience`. Tells what
/// changed, and is never `Blocked`.
#[inline]
pub fn acquire(
    table: &LockTable,
    owner: TxnId,
    wanted: Wanted<'_>,
    patience: &mut Patience<'_>,
) -> Result<Attempt, Refused> {
    match table.attempt(owner, wanted.id, wanted.mode) {
        Attempt::Blocked { by } if patience.wait_max.is_zero() => Err(Refused::Timeout {
            holder: by,
            name: wanted.name(),
        }),
        Attempt::Blocked { .. } => {
            let now = patience.env.clock.monotonic();
            match Waiting::begin(table, owner, wanted, now)? {
                Begun::Over(attempt) => Ok(attempt),
                Begun::Waiting(waiting) => waiting.wait(patience),
            }
        }
        attempt => Ok(attempt),
    }
}

impl<'a> Waiting<'a> {
    /// Begins to wait at `now`; `Deadlock` or `Closed` if that cannot be.
    pub fn begin(
        table: &'a LockTable,
        owner: TxnId,
        wanted: Wanted<'_>,
        now: Duration,
    ) -> Result<Begun<'a>, Refused> {
        let before = table.mode_of(owner, wanted.id);
        let signal = Arc::new(Signal::default());
        let wait = Wait {
            id: wanted.id,
            name: wanted.name(),
            mode: wanted.mode,
            since: now,
            signal: Arc::clone(&signal),
            gives_way: false,
        };
        let attempt = table.begin_wait(owner, wait)?;
        if !matches!(attempt, Attempt::Blocked { .. }) {
            return Ok(Begun::Over(attempt));
        }
        Ok(Begun::Waiting(Waiting {
            table,
            owner,
            id: wanted.id,
            before,
            signal,
            since: now,
            is_over: false,
        }))
    }

    /// Whether something has come that ends the wait: the lock, somebody to give way to, or the end
    /// of the table.
    pub fn is_called(&self) -> bool {
        self.signal.raised_count() > 0
    }

    /// Waits until the lock is granted, or for as long as `patience` has it, of which the time that
    /// was waited is taken.
    pub fn wait(self, patience: &mut Patience<'_>) -> Result<Attempt, Refused> {
        let Patience { env, wait_max } = *patience;
        let mut now = self.since;
        while !self.is_called() && !patience.wait_max.is_zero() {
            let single = patience.wait_max.min(SINGLE_WAIT_MAX);
            // Whether it was raised is asked above.
            let _is_raised = env.pool.wait(&self.signal, 0, single);
            now = env.clock.monotonic();
            patience.wait_max = wait_max.saturating_sub(now.saturating_sub(self.since));
        }
        self.end(now)
    }

    /// Ends the wait at `now`: tells how the owner has the lock, or `Timeout` or `Closed`, or
    /// `Deadlock` where it gives way.
    pub fn end(mut self, now: Duration) -> Result<Attempt, Refused> {
        self.is_over = true;
        self.table.end_wait(self.owner, now)?;
        let before = self.before;
        Ok(Attempt::Taken { before })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let Waiting { owner, id, .. } = *self;
            self.table.abandon_wait(owner, id, self.before, self.since);
        }
    }
}

impl Wanted<'_> {
    fn name(&self) -> LockName {
        LockName {
            keyspace: self.id.keyspace(),
            key: self.key.map(Box::from),
        }
    }
}

#[cfg(test)]
mod tests;
