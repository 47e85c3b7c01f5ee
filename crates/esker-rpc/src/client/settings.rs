//! What a client may be told otherwise.
#![allow(
    clippy::disallowed_methods,
    reason = "a client turns how long a value lives into when it ends, by the machine's clock"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Longest time that a call takes, whatever its settings say: beyond that clocks overflow.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 86_400);

/// Settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings {
    /// How every call is made, unless a table is told otherwise.
    pub call: CallSettings,
    /// How long one attempt to connect takes.
    pub connect_timeout: Duration,
    /// How long one meta server is given before the next one is asked.
    pub meta_attempt: Duration,
    /// A connection on which no reply comes for so long, with a call unanswered, is given up: the
    /// other end may be gone without a word. Where a call waits that may take longer, so may the
    /// silence.
    pub silence_max: Duration,
    /// Least time between two questions for the route of one table, and between two attempts to
    /// connect to one server that failed.
    pub refresh_interval: Duration,
    /// Longest reply that is read, in bytes; a call with a longer one fails. A `MULTI_GET` returns
    /// up to 30 MiB of values.
    pub reply_len_max: usize,
    /// Bytes of requests that wait or are unanswered on one connection; a short one counts as 16
    /// KiB, so that calls are bounded as well: 4 096 of them. Further calls wait.
    pub in_flight_bytes_max: usize,
    /// The time, in unix seconds.
    pub unix_s: fn() -> u64,
}

impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings {
            call: CallSettings::default(),
            connect_timeout: Duration::from_secs(1),
            meta_attempt: Duration::from_secs(1),
            silence_max: Duration::from_secs(10),
            refresh_interval: Duration::from_millis(100),
            reply_len_max: 64 << 20,
            in_flight_bytes_max: 64 << 20,
            unix_s: unix_s_of_the_machine,
        }
    }
}

/// How calls are made.
#[derive(Clone, Copy, Debug)]
pub struct CallSettings {
    /// When a call ends at the latest, after its start.
    pub timeout: Duration,
    /// Send a put or a remove again when nobody knows what became of it. Twice is as once for
    /// these, unless somebody else wrote in between, whose write the second one undoes.
    pub resends_writes: bool,
}

impl CallSettings {
    /// When a call that starts now ends at the latest.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout.min(TIMEOUT_MAX)
    }

    /// The same, with what is left of the time until `deadline`.
    pub(crate) fn until(self, deadline: Instant) -> CallSettings {
        CallSettings {
            timeout: deadline.saturating_duration_since(Instant::now()),
            ..self
        }
    }
}

impl Default for CallSettings {
    fn default() -> CallSettings {
        CallSettings {
            timeout: Duration::from_secs(2),
            resends_writes: false,
        }
    }
}

// A clock before 1970 is as good as one at 1970: expiry begins with 2016.
fn unix_s_of_the_machine() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
