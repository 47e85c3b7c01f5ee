//! Who is to be called once the log is durable, and who calls them.
//!
//! As with events: one job at a time, on the thread of those who listen, syncs for all who ask by
//! then and calls them, under no lock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::user_code;
use crate::env::pool::Pool;
use crate::env::signal::Signal;

/// How long who closes waits for a callback before it looks again by itself; the signal wakes it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What is called once, with how the sync went.
pub type DurableCall = Box<dyn FnOnce(Result<()>) + Send>;

/// The calls of one database that wait. Any thread may call anything.
#[derive(Default)]
pub struct DurableCalls {
    state: Mutex<State>,
    /// Raised whenever those that were taken were called.
    called: Signal,
}

#[derive(Default)]
struct State {
    waiting: Vec<DurableCall>,
    caller: Caller,
    is_ended: bool,
    panic_count: u64,
    last_panic: String,
}

/// Who calls those that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Caller {
    /// Nobody: none waits.
    #[default]
    Nobody,
    /// A job that has not begun; whoever comes before it may do it.
    Booked,
    /// A thread that is at it.
    Running,
}

/// Calls that were taken to be called. Those that are left when a sync panics wait again, for who
/// closes the database.
struct Taken<'a> {
    calls: Vec<DurableCall>,
    of: &'a DurableCalls,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.of.state();
        self.calls.append(&mut state.waiting);
        state.waiting = std::mem::take(&mut self.calls);
        state.caller = match state.waiting.is_empty() {
            true => Caller::Nobody,
            false => Caller::Booked,
        };
        drop(state);
        self.of.called.raise();
    }
}

impl DurableCalls {
    /// Adds a call. Says whether the caller is to have a job run [`DurableCalls::run`]. Errors:
    /// `Closed` after [`DurableCalls::end`].
    pub fn add(&self, call: DurableCall) -> Result<bool> {
        let mut state = self.state();
        if state.is_ended {
            return Err(Error::new(ErrorKind::Closed, "the database was closed"));
        }
        state.waiting.push(call);
        let is_due = state.caller == Caller::Nobody;
        if is_due {
            state.caller = Caller::Booked;
        }
        Ok(is_due)
    }

    /// Calls those that wait, after `sync`; nothing where another has begun to. Says whether the
    /// caller is to have another job run it, for those that came meanwhile: others have their turn
    /// on that thread before them, so that one that asks again each time keeps nobody away.
    pub fn run(&self, sync: impl Fn() -> Result<()>) -> bool {
        let mut taken = {
            let mut state = self.state();
            if state.caller != Caller::Booked {
                return false;
            }
            state.caller = Caller::Running;
            Taken {
                calls: std::mem::take(&mut state.waiting),
                of: self,
            }
        };
        let synced = sync();
        for call in std::mem::take(&mut taken.calls) {
            let told = match &synced {
                Ok(()) => Ok(()),
                Err(error) => Err(error.again()),
            };
            if let Err(text) = user_code::listen(self.address(), || call(told)) {
                let mut state = self.state();
                state.panic_count += 1;
                state.last_panic = text;
            }
        }
        drop(taken);
        self.state().caller == Caller::Booked
    }

    /// Takes no more, and returns when all that wait were called, by this thread where nobody had
    /// begun to. Not for one that is called, which would wait for itself.
    pub fn end(&self, pool: &dyn Pool, sync: impl Fn() -> Result<()>) {
        assert!(!self.is_calling_here());
        self.state().is_ended = true;
        loop {
            let seen = self.called.raised_count();
            self.run(&sync);
            if self.state().caller == Caller::Nobody {
                return;
            }
            pool.wait(&self.called, seen, LOOK_AGAIN);
        }
    }

    /// Whether this thread is in a call of this database.
    pub fn is_calling_here(&self) -> bool {
        user_code::listening_to() == self.address()
    }

    /// `Invalid` in a call of this database: for what waits until all were called.
    pub fn refuse_call(&self) -> Result<()> {
        match self.is_calling_here() {
            true => Err(Error::invalid(
                "a callback of `notify_when_durable` closed the database, which would wait for \
                 that callback; have another thread close it",
            )),
            false => Ok(()),
        }
    }

    /// What panics of calls came to, for people; `None` without any.
    pub fn trouble(&self) -> Option<String> {
        let state = self.state();
        let (count, last) = (state.panic_count, &state.last_panic);
        (count > 0)
            .then(|| format!("notify when durable: a callback panicked ({count} in all): {last}"))
    }

    /// Another one for each database that is open.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    // Each change is whole before anything in it could panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
