//! Who has a log of his own, and which keyspaces he is to be asked and told of.
//!
//! As with events: one job at a time, on a thread for this alone, takes keyspaces out of a queue
//! and calls the user, under no lock.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::hooks::own_log::OwnLog;
use crate::base::types::error::{Error, Result};
use crate::base::types::user_code;
use crate::db::keyspace::KeyspaceParts;
use crate::env::signal::Signal;

/// The way to the user's own log. Any thread may call anything.
#[derive(Default)]
pub struct OwnLogCalls {
    is_there: bool,
    state: Mutex<State>,
    /// Raised whenever a keyspace was looked after.
    pub answered: Signal,
}

#[derive(Default)]
struct State {
    log: Option<Arc<dyn OwnLog>>,
    waiting: VecDeque<Arc<KeyspaceParts>>,
    caller: Caller,
    /// Whether some were answered with yes that nobody has looked for since.
    has_gathered: bool,
    panic_count: u64,
    last_panic: String,
}

/// Who looks after the keyspaces that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Caller {
    /// Nobody: none waits.
    #[default]
    Nobody,
    /// A job.
    Running,
}

impl OwnLogCalls {
    /// The way to that log, if there is one.
    pub fn new(log: Option<Arc<dyn OwnLog>>) -> OwnLogCalls {
        let state = State {
            log,
            ..State::default()
        };
        OwnLogCalls {
            is_there: state.log.is_some(),
            state: Mutex::new(state),
            answered: Signal::default(),
        }
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Has a keyspace looked after; says whether the caller is to have a job do it.
    pub fn add(&self, parts: Arc<KeyspaceParts>) -> bool {
        let mut state = self.state();
        if state.log.is_none() {
            return false;
        }
        state.waiting.push_back(parts);
        std::mem::replace(&mut state.caller, Caller::Running) == Caller::Nobody
    }

    /// The next keyspace to look after, and the log; `None` ends the job.
    pub fn next(&self) -> Option<(Arc<KeyspaceParts>, Arc<dyn OwnLog>)> {
        let mut state = self.state();
        let next = state.log.clone().zip(state.waiting.pop_front());
        if next.is_none() {
            state.caller = Caller::Nobody;
        }
        next.map(|(log, parts)| (parts, log))
    }

    /// Whether others wait to be looked after.
    pub fn has_waiting(&self) -> bool {
        !self.state().waiting.is_empty()
    }

    /// Notes that one was answered with yes; says whether it is the first since flushes were last
    /// looked for.
    pub fn gather(&self) -> bool {
        !std::mem::replace(&mut self.state().has_gathered, true)
    }

    /// Whether there are such: who is told so looks for flushes.
    pub fn take_gathered(&self) -> bool {
        std::mem::take(&mut self.state().has_gathered)
    }

    /// Whoever looked after them panicked, which ended all flushes: nobody waits for him.
    pub fn give_up(&self) {
        let mut state = self.state();
        state.waiting.clear();
        state.caller = Caller::Nobody;
        state.has_gathered = false;
        drop(state);
        self.answered.raise();
    }

    /// Whether nobody is called, or will be.
    pub fn is_idle(&self) -> bool {
        self.state().caller == Caller::Nobody
    }

    /// Calls the user, who may call the database; `None` where he panics.
    pub fn call<T>(&self, code: impl FnOnce() -> T) -> Option<T> {
        let mut answer = None;
        let called = user_code::answer(self.address(), || answer = Some(code()));
        if let Err(text) = called {
            let mut state = self.state();
            state.panic_count += 1;
            state.last_panic = text;
        }
        answer
    }

    /// Lets go of the log: nobody is called from now on.
    pub fn end(&self) {
        let (log, waiting) = {
            let mut state = self.state();
            (state.log.take(), std::mem::take(&mut state.waiting))
        };
        drop(waiting);
        // His is what happens when it goes, a panic too.
        self.call(move || drop(log));
    }

    /// Whether this thread is in a call of this database.
    pub fn is_calling_here(&self) -> bool {
        user_code::listening_to() == self.address()
    }

    /// `Invalid` in a call of this database: for what waits until others were called.
    pub fn refuse_call(&self) -> Result<()> {
        match self.is_there && self.is_calling_here() {
            true => Err(Error::invalid(
                "the user's own log, asked or told of a flush, called for what waits for that: \
                 have another thread do it, or use `flush_soon`",
            )),
            false => Ok(()),
        }
    }

    /// What panics of calls came to, for people; `None` without any.
    pub fn trouble(&self) -> Option<String> {
        let state = self.state();
        let (count, last) = (state.panic_count, &state.last_panic);
        (count > 0).then(|| format!("ask the own log: it panicked ({count} in all): {last}"))
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
