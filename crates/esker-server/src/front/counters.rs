//! What a door has taken and refused.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::log_lines::{Level, LogLines, Seldom};

/// Why a door closed a connection, or turned a request away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// As many connections as the door takes were there.
    TooMany,
    /// The first bytes are of another protocol.
    Protocol,
    /// What came is no request.
    Malformed,
    /// Nothing came for long.
    Idle,
    /// A request began and did not go on.
    HalfRequest,
    /// Nobody read what was written.
    SlowReader,
    /// More replies waited than one connection may leave unread.
    Unread,
    /// The door had more calls under way than it takes.
    Busy,
    /// A body was longer than the door takes.
    TooLong,
    /// The door has no call of that name.
    NoSuchCall,
    /// The arguments of a call are not those that it has.
    Arguments,
    /// The machine gave no connection.
    Accept,
    /// The service panicked over a call.
    Panicked,
}

impl Cause {
    /// Every cause with its name in metrics and the sentence that is logged for it.
    const ALL: [(Cause, &str, &str); 13] = [
        (
            Cause::TooMany,
            "too_many",
            "closed a connection at once: as many as may be were open",
        ),
        (
            Cause::Protocol,
            "protocol",
            "closed a connection that speaks another protocol",
        ),
        (
            Cause::Malformed,
            "malformed",
            "closed a connection whose request cannot be read",
        ),
        (Cause::Idle, "idle", "closed a connection that said nothing"),
        (
            Cause::HalfRequest,
            "half_request",
            "closed a connection whose request did not go on",
        ),
        (
            Cause::SlowReader,
            "slow_reader",
            "closed a connection that does not read its replies",
        ),
        (
            Cause::Unread,
            "unread",
            "closed a connection that asks for more than it reads",
        ),
        (
            Cause::Busy,
            "busy",
            "refused a call: as many as may be were under way",
        ),
        (
            Cause::TooLong,
            "too_long",
            "refused a request that is too long",
        ),
        (
            Cause::NoSuchCall,
            "no_such_call",
            "refused a call that is not offered at this port",
        ),
        (
            Cause::Arguments,
            "arguments",
            "refused a call whose arguments cannot be read",
        ),
        (Cause::Accept, "accept", "could not accept a connection"),
        (
            Cause::Panicked,
            "panicked",
            "a fault of this program closed a connection",
        ),
    ];

    /// Every cause.
    pub fn all() -> impl Iterator<Item = Cause> {
        Cause::ALL.iter().map(|row| row.0)
    }

    /// Its name in metrics.
    pub fn label(self) -> &'static str {
        Cause::ALL[self.index()].1
    }

    fn index(self) -> usize {
        let found = Cause::ALL.iter().position(|row| row.0 == self);
        found.expect("every cause is in the list")
    }
}

/// Counts of one door. Any thread may count.
#[derive(Debug, Default)]
pub struct Counters {
    accepted: AtomicU64,
    requests: AtomicU64,
    pages: AtomicU64,
    refused: [Seldom; Cause::ALL.len()],
}

impl Counters {
    /// How many connections there have been.
    pub fn accepted(&self) -> u64 {
        // Here and below: nothing hangs on the order of a count among other writes.
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many requests there have been.
    pub fn requests(&self) -> u64 {
        // As above.
        self.requests.load(Ordering::Relaxed)
    }

    /// How many pages of HTTP were asked for.
    pub fn pages(&self) -> u64 {
        // As above.
        self.pages.load(Ordering::Relaxed)
    }

    /// How often that happened.
    pub fn of(&self, cause: Cause) -> u64 {
        self.refused[cause.index()].total()
    }

    pub(crate) fn accept(&self) {
        // As above.
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn request(&self) {
        // As above.
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn page(&self) {
        // As above.
        self.pages.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refusal, and logs it if a line is due; `detail` is added to the sentence.
    pub(crate) fn refuse(&self, log: &LogLines, cause: Cause, detail: &str) {
        if let Some(count) = self.refused[cause.index()].count() {
            let (_, _, sentence) = Cause::ALL[cause.index()];
            let line = match detail {
                "" => format!("{sentence} ({count} so far)"),
                detail => format!("{sentence}: {detail} ({count} so far)"),
            };
            log.write(Level::Warning, &line);
        }
    }
}
