//! Tells when writers begin to wait for something, and when none of them waits any more.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::hooks::event_reasons::StallCause;
use crate::base::hooks::events::{Event, WriteStallBegin, WriteStallEnd};
use crate::env::bundle::Env;
use crate::flow::event_queue::EventQueue;

/// Who waits for one thing. Any thread may call anything; nothing is touched where nobody listens.
#[derive(Debug)]
pub struct StallWatch {
    cause: StallCause,
    /// Held while an event is noted, so that begin and end take turns.
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    count: usize,
    since: Duration,
}

/// One writer that waits, until it is dropped.
pub struct Stalled<'a> {
    watch: &'a StallWatch,
    events: &'a EventQueue,
    env: &'a Env,
}

impl StallWatch {
    /// Nobody waits.
    pub fn new(cause: StallCause) -> StallWatch {
        StallWatch {
            cause,
            waiting: Mutex::default(),
        }
    }

    /// A writer begins to wait; `None` where nobody listens.
    pub fn enter<'a>(&'a self, events: &'a EventQueue, env: &'a Env) -> Option<Stalled<'a>> {
        if !events.is_heard() {
            return None;
        }
        let mut waiting = self.waiting();
        if waiting.count == 0 {
            waiting.since = env.clock.monotonic();
            events.note(|| {
                Event::WriteStallBegin(WriteStallBegin {
                    cause: self.cause,
                    keyspace: None,
                    rate_bytes_s: None,
                })
            });
        }
        waiting.count += 1;
        Some(Stalled {
            watch: self,
            events,
            env,
        })
    }

    // A count and a time, each of which is whole.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        let mut waiting = self.watch.waiting();
        waiting.count -= 1;
        if waiting.count == 0 {
            let now = self.env.clock.monotonic();
            self.events.note(|| {
                Event::WriteStallEnd(WriteStallEnd {
                    cause: self.watch.cause,
                    keyspace: None,
                    elapsed: now.saturating_sub(waiting.since),
                })
            });
        }
    }
}
