//! Where events wait for those who listen, and who tells them.
//!
//! Events are noted in the middle of the engine's work, often under its locks; telling them there
//! would have a user's code run under these. So noting only puts the event into a queue, and one
//! job at a time, on a thread for this alone, takes events out and calls the listeners: in the
//! order in which they were noted, under no lock. Without listeners there is no queue, and no event
//! is ever made.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::hooks::events::{Event, EventListener};
use crate::base::types::error::{Error, Result};
use crate::base::types::limits::EVENTS_WAITING_MAX;
use crate::base::types::user_code;
use crate::env::pool::{Pool, Priority};
use crate::env::signal::Signal;

/// How long who closes waits for a listener before it looks again by itself; the signal wakes it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The way of events to the listeners of one database. Copies share it. Any thread may call
/// anything, and [`EventQueue::note`] under any lock.
#[derive(Clone, Default)]
pub struct EventQueue(Option<Arc<Shared>>);

struct Shared {
    pool: Arc<dyn Pool>,
    last_job_id: AtomicU64,
    state: Mutex<State>,
    /// Raised whenever everything was told.
    told: Signal,
}

#[derive(Default)]
struct State {
    listeners: Arc<[Arc<dyn EventListener>]>,
    waiting: VecDeque<Event>,
    lost_count: u64,
    teller: Teller,
    has_fault: bool,
    is_ended: bool,
    panic_count: u64,
    last_panic: String,
}

/// Who tells what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Teller {
    /// Nobody: nothing waits.
    #[default]
    Nobody,
    /// A job that has not begun; whoever comes before it may do it.
    Booked,
    /// A thread that is at it.
    Running,
}

impl EventQueue {
    /// The way to these listeners; without any, a queue that takes nothing.
    pub fn new(listeners: Vec<Arc<dyn EventListener>>, pool: Arc<dyn Pool>) -> EventQueue {
        if listeners.is_empty() {
            return EventQueue(None);
        }
        let state = State {
            listeners: listeners.into(),
            ..State::default()
        };
        EventQueue(Some(Arc::new(Shared {
            pool,
            last_job_id: AtomicU64::new(0),
            state: Mutex::new(state),
            told: Signal::default(),
        })))
    }

    /// Whether anybody listens.
    #[inline]
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// A number for a job, from 1 on; 0 where nobody listens.
    pub fn next_job_id(&self) -> u64 {
        let Some(shared) = &self.0 else {
            return 0;
        };
        // Relaxed: only that no number comes twice matters.
        shared.last_job_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Has an event told, soon and elsewhere; it is made only where somebody listens.
    #[inline]
    pub fn note(&self, make: impl FnOnce() -> Event) {
        if let Some(shared) = &self.0 {
            Shared::note(shared, make());
        }
    }

    /// Whether this is the first failure since the engine is faulted, or it is not.
    pub fn is_news(&self, is_faulted: bool) -> bool {
        let Some(shared) = &self.0 else {
            return false;
        };
        !is_faulted || !std::mem::replace(&mut shared.state().has_fault, true)
    }

    /// Returns when everything was told that was noted before, having told it itself where nobody
    /// had begun to. Not for a listener, which would wait for itself.
    pub fn finish(&self) {
        let Some(shared) = &self.0 else {
            return;
        };
        assert!(!self.is_telling_here());
        loop {
            let seen = shared.told.raised_count();
            if shared.begin() {
                shared.tell();
            }
            if shared.state().teller == Teller::Nobody {
                return;
            }
            shared.pool.wait(&shared.told, seen, LOOK_AGAIN);
        }
    }

    /// Whether this thread is in a listener to this database.
    pub fn is_telling_here(&self) -> bool {
        let shared = self.0.as_ref();
        shared.is_some_and(|shared| user_code::listening_to() == shared.address())
    }

    /// `Invalid` in a listener to this database: for what waits until every event was told.
    pub fn refuse_listener(&self) -> Result<()> {
        match self.is_telling_here() {
            true => Err(Error::invalid(
                "an event listener closed the database, which would wait for that listener; have \
                 another thread close it",
            )),
            false => Ok(()),
        }
    }

    /// Lets go of the listeners; what is noted from now on is told to nobody.
    pub fn end(&self) {
        let Some(shared) = &self.0 else {
            return;
        };
        let (listeners, waiting) = {
            let mut state = shared.state();
            state.is_ended = true;
            (
                std::mem::take(&mut state.listeners),
                std::mem::take(&mut state.waiting),
            )
        };
        drop(waiting);
        // Theirs is what happens when they go, a panic too.
        let gone = user_code::listen(shared.address(), move || drop(listeners));
        if let Err(text) = gone {
            shared.state().note_panic(text);
        }
    }

    /// What panics of listeners came to, for people; `None` without any.
    pub fn trouble(&self) -> Option<String> {
        let state = self.0.as_ref()?.state();
        let (count, last) = (state.panic_count, &state.last_panic);
        (count > 0).then(|| format!("tell events: a listener panicked ({count} in all): {last}"))
    }
}

impl Shared {
    fn note(shared: &Arc<Shared>, event: Event) {
        let is_due = {
            let mut state = shared.state();
            if state.is_ended {
                return;
            }
            match state.waiting.len() < EVENTS_WAITING_MAX {
                true => state.waiting.push_back(event),
                false => state.lost_count += 1,
            }
            let is_due = state.teller == Teller::Nobody;
            if is_due {
                state.teller = Teller::Booked;
            }
            is_due
        };
        if is_due {
            let own = Arc::clone(shared);
            let job = move || {
                if own.begin() {
                    own.tell();
                }
            };
            let pool = &shared.pool;
            pool.spawn(Priority::Events, "esker-events", Box::new(job));
        }
    }

    /// Whether the caller is the one to tell what waits.
    fn begin(&self) -> bool {
        let mut state = self.state();
        let is_free = state.teller == Teller::Booked;
        if is_free {
            state.teller = Teller::Running;
        }
        is_free
    }

    fn tell(&self) {
        loop {
            let (events, lost_count, listeners) = {
                let mut state = self.state();
                if state.waiting.is_empty() && state.lost_count == 0 {
                    state.teller = Teller::Nobody;
                    break;
                }
                (
                    std::mem::take(&mut state.waiting),
                    std::mem::take(&mut state.lost_count),
                    Arc::clone(&state.listeners),
                )
            };
            let lost = (lost_count > 0).then_some(Event::EventsLost(lost_count));
            for event in events.into_iter().chain(lost) {
                for listener in &*listeners {
                    let heard = user_code::listen(self.address(), || listener.on_event(&event));
                    if let Err(text) = heard {
                        self.state().note_panic(text);
                    }
                }
            }
        }
        self.told.raise();
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

impl State {
    fn note_panic(&mut self, text: String) {
        self.panic_count += 1;
        self.last_panic = text;
    }
}

impl fmt::Debug for EventQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.0.as_ref();
        let count = shared.map_or(0, |shared| shared.state().listeners.len());
        write!(f, "EventQueue({count} listeners)")
    }
}

#[cfg(test)]
mod tests;
