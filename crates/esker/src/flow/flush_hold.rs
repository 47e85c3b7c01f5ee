//! Whether sealed memtables of an unlogged keyspace may be flushed, as its user's own log says.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::types::bytes::Bytes;
use crate::flow::current::Sealed;

/// An answer that takes longer is as good as a no, for who must not wait for it.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// What the user's own log has said of the marks of one keyspace. Any thread may call anything; its
/// lock is held over nothing.
#[derive(Debug, Default)]
pub struct FlushHold {
    /// Whether a mark is being asked for, or was answered with no.
    is_open: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The mark that was last answered with yes.
    cleared: Option<Bytes>,
    /// The newest mark that was answered with no.
    refused: Option<Bytes>,
    /// The newest mark that is being asked for.
    asked: Option<Bytes>,
    /// Since when an answer is waited for, be it that the question waits for those about others.
    since: Option<Duration>,
    /// How often it was told that the log is durable further.
    told_count: u64,
    /// The mark of files that is to be told.
    flushed: Option<Bytes>,
    /// Whether somebody is to look after it.
    is_queued: bool,
}

/// A question that is under way.
#[derive(Debug)]
pub struct Question {
    told_count: u64,
}

impl FlushHold {
    /// How many of these memtables, the oldest sealed ones, may be flushed.
    pub fn cleared_count(&self, sealed: &[Sealed]) -> usize {
        // Before the first mark there is nothing to ask for.
        let unmarked = sealed.iter().take_while(|one| one.mark.is_none()).count();
        let state = self.state();
        let is_cleared = |one: &Sealed| one.mark.is_some() && one.mark == state.cleared;
        let cleared = sealed.iter().rposition(is_cleared);
        cleared.map_or(unmarked, |place| place + 1)
    }

    /// Whether somebody is to ask for the mark of the newest memtable: then it counts as queued.
    pub fn wants_asking(&self, newest: &Sealed, now: Duration) -> bool {
        let mut state = self.state();
        let is_known = newest.mark == state.cleared
            || newest.mark == state.refused
            || newest.mark == state.asked;
        let is_wanted = !is_known && newest.mark.is_some();
        if !is_wanted {
            return false;
        }
        state.since.get_or_insert(now);
        self.is_open.store(true, Ordering::Relaxed);
        !std::mem::replace(&mut state.is_queued, true)
    }

    /// The newest mark that had a no, which it has still.
    pub fn refused(&self) -> Option<Bytes> {
        self.state().refused.clone()
    }

    /// Nothing is to be asked for.
    pub fn has_nothing_to_ask(&self) {
        let mut state = self.state();
        state.since = None;
        if state.refused.is_none() {
            self.is_open.store(false, Ordering::Relaxed);
        }
    }

    /// Notes that files up to that mark are durable; says whether it is to be queued.
    pub fn note_flushed(&self, mark: Bytes) -> bool {
        let mut state = self.state();
        state.flushed = Some(mark);
        !std::mem::replace(&mut state.is_queued, true)
    }

    /// Begins to look after it: what is to be told of files.
    pub fn take_flushed(&self) -> Option<Bytes> {
        let mut state = self.state();
        state.is_queued = false;
        state.flushed.take()
    }

    /// Begins to ask, for marks up to `newest`.
    pub fn ask(&self, newest: Bytes, now: Duration) -> Question {
        let question = {
            let mut state = self.state();
            state.asked = Some(newest);
            state.since.get_or_insert(now);
            Question {
                told_count: state.told_count,
            }
        };
        // Relaxed, and the fence: who asks sets this and then looks at the log, and who is told of
        // has made the log durable and then looks at this. One of the two sees the other.
        self.is_open.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        question
    }

    /// Ends a question: `cleared` is the newest mark with a yes, if there was one, and `refused`
    /// the newest one, if that had a no. Says whether it is to be asked once more, since it was
    /// told meanwhile that the log is durable further: then it counts as queued.
    pub fn answer(
        &self,
        question: &Question,
        cleared: Option<Bytes>,
        refused: Option<Bytes>,
    ) -> bool {
        let mut state = self.state();
        state.asked = None;
        if cleared.is_some() {
            state.cleared = cleared;
        }
        let is_late = refused.is_some() && state.told_count != question.told_count;
        state.refused = refused.filter(|_| !is_late);
        if !is_late {
            state.since = None;
        }
        if state.refused.is_none() && !is_late {
            self.is_open.store(false, Ordering::Relaxed);
        }
        is_late && !std::mem::replace(&mut state.is_queued, true)
    }

    /// The log is durable further; says whether it is to be queued for that.
    pub fn told(&self, now: Duration) -> bool {
        // As in `ask`. Costs nothing else where nothing waits, which is nearly always.
        fence(Ordering::SeqCst);
        if !self.is_open.load(Ordering::Relaxed) {
            return false;
        }
        let mut state = self.state();
        state.told_count += 1;
        let was_refused = state.refused.take().is_some();
        if was_refused {
            state.since.get_or_insert(now);
        }
        was_refused && !std::mem::replace(&mut state.is_queued, true)
    }

    /// Whether what is sealed and not cleared waits for the user, or for a call that takes long.
    pub fn is_parked(&self, now: Duration) -> bool {
        if !self.is_open.load(Ordering::Relaxed) {
            return false;
        }
        let state = self.state();
        let is_slow = state
            .since
            .is_some_and(|since| now.saturating_sub(since) >= ANSWER_MAX);
        state.refused.is_some() || is_slow
    }

    /// Whether the last answer was no: for who only prefers others.
    pub fn is_refused(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && self.state().refused.is_some()
    }

    // Each change is whole before anything in it could panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
