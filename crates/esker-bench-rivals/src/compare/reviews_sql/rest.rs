//! Waits until a server is at rest: nothing is left to be written or merged, and it does nothing.

use std::time::{Duration, Instant};

use esker_bench::console::Remarks;
use esker_bench::fail::{Failure, Outcome};
use esker_bench::measure::neighbour::Used;
use esker_bench::scenario::suite::sql::contender::Contender;
use mysql::prelude::Queryable;

use crate::compare::reviews_sql::server::Server;
use crate::compare::reviews_sql::session::{connect_bare, run, told};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(500);

/// Looks in a row that must find nothing: work that waits for a timer begins between two of them.
const QUIET_LOOKS: u32 = 4;

/// Processor time of a server that only answers the question, in thousandths.
const IDLE_PER_MILLE: u64 = 100;

/// Longer than the largest size takes; a server that still works then is measured at no time.
const REST_MAX: Duration = Duration::from_secs(1800);

/// The time between two remarks.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Waits, and says how it stands meanwhile. How long it took, without the looks that found nothing.
///
/// Errors: `Failed` where it comes to no rest.
pub fn wait_for_rest(
    server: &Server,
    contender: Contender,
    remarks: &Remarks<'_>,
) -> Outcome<Duration> {
    let mut connection = connect_bare(&server.socket).map_err(told)?;
    if let Some(statement) = contender.flushing() {
        run(&mut connection, statement)?;
    }
    let began = Instant::now();
    let (mut quiet_looks, mut rest_at, mut said) = (0, began, began);
    let mut before = server.used();
    while quiet_looks < QUIET_LOOKS {
        std::thread::park_timeout(LOOK);
        let pending: Option<Option<f64>> = connection
            .query_first(contender.pending())
            .map_err(|error| server.explain(told(error)))?;
        let pending = pending.flatten().unwrap_or(0.0);
        let after = server.used();
        match pending > 0.0 || is_busy(before, after, LOOK) {
            true => (quiet_looks, rest_at) = (0, Instant::now()),
            false => quiet_looks += 1,
        }
        before = after;
        if said.elapsed() >= SAY_EVERY {
            said = Instant::now();
            remarks.line(&format!(
                "note: {} is not at rest after {} s, {pending} pending",
                contender.name(),
                began.elapsed().as_secs()
            ))?;
        }
        if began.elapsed() > REST_MAX {
            return Err(Failure::failed(format!(
                "{} is not at rest after {} s",
                contender.name(),
                REST_MAX.as_secs()
            )));
        }
    }
    Ok(rest_at - began)
}

/// Whether a server worked during that time, and not only answered.
fn is_busy(before: Used, after: Used, during: Duration) -> bool {
    let allowed_ms = during.as_millis() as u64 * IDLE_PER_MILLE / 1000;
    after.cpu_ms.saturating_sub(before.cpu_ms) > allowed_ms
}

#[cfg(test)]
mod tests;
