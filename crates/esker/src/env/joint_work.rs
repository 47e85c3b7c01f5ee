//! Work that its caller shares with a thread of the pool that has nothing else to do.
//!
//! Nobody waits for a thread that has not begun: where all of them have other work, or there is
//! none, the caller does everything.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::env::pool::{Pool, Priority};
use crate::env::signal::Signal;

/// How long is waited for the other thread before it is looked at again: it says when it is done,
/// so this only bounds what a mistake would cost.
const WAIT: Duration = Duration::from_secs(1);

/// What both do: each takes pieces of the work until there are none.
pub type Share = dyn Fn() -> Result<()> + Send + Sync;

/// Has the caller do `share`, and beside it a thread of the pool, if one is free before the caller
/// is done. When this returns, or unwinds, nobody is in `share`.
///
/// Errors: the caller's, else the other thread's. Panics where either does; of an order of the
/// user's on the other thread it is told as [`user_code::told`] tells it.
pub fn do_jointly(pool: &dyn Pool, name: &'static str, share: Arc<Share>) -> Result<()> {
    let desk = Arc::new(Desk {
        offer: Mutex::new(Offer::Open(Arc::clone(&share))),
        ended: Signal::default(),
    });
    let other = Arc::clone(&desk);
    pool.spawn(Priority::Low, name, Box::new(move || other.help()));
    let other = Other { pool, desk };
    let own = share();
    match other.end() {
        Offer::Done(Err(panic)) => resume_unwind(panic),
        Offer::Done(Ok(helped)) => own.and(helped),
        Offer::Open(_) | Offer::Begun | Offer::Over => own,
    }
}

/// Where the other thread finds what to do, and leaves how it ended.
struct Desk {
    offer: Mutex<Offer>,
    ended: Signal,
}

enum Offer {
    /// Nobody has come for it yet.
    Open(Arc<Share>),
    /// A thread is at it.
    Begun,
    /// A thread was; the outer `Err` is its panic.
    Done(Result<Result<()>, Box<dyn Any + Send>>),
    /// Whoever comes now finds nothing.
    Over,
}

impl Desk {
    fn help(&self) {
        let share = {
            let mut offer = self.offer();
            match std::mem::replace(&mut *offer, Offer::Begun) {
                Offer::Open(share) => share,
                other => {
                    *offer = other;
                    return;
                }
            }
        };
        // What it leaves half done is its author's, who unwinds as well.
        let done = catch_unwind(AssertUnwindSafe(|| user_code::told(|| share())));
        drop(share);
        *self.offer() = Offer::Done(done);
        self.ended.raise();
    }

    // Never held while anything is done.
    fn offer(&self) -> MutexGuard<'_, Offer> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The other thread, which is waited for when this is dropped.
struct Other<'a> {
    pool: &'a dyn Pool,
    desk: Arc<Desk>,
}

impl Other<'_> {
    // Takes the offer back, or waits until who took it is done.
    fn end(&self) -> Offer {
        loop {
            // Before the offer is looked at, so that no end is missed.
            let seen = self.desk.ended.raised_count();
            {
                let mut offer = self.desk.offer();
                if !matches!(*offer, Offer::Begun) {
                    return std::mem::replace(&mut *offer, Offer::Over);
                }
            }
            self.pool.wait(&self.desk.ended, seen, WAIT);
        }
    }
}

impl Drop for Other<'_> {
    fn drop(&mut self) {
        drop(self.end());
    }
}

#[cfg(test)]
mod tests;
