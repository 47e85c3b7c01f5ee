//! Calls of many connections from one thread, each with one call under way at a time.
//!
//! Where the servers share the processors with whoever measures them, threads that wake one another
//! for each call cost as much as the servers do.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use crate::fail::{Failure, Outcome};
use crate::make::random::{Random, scramble};
use crate::measure::latency::Latencies;
use crate::measure::process::Usage;

/// So many calls of one connection that fail end it: that is no passing trouble.
const FAILURES_MAX: u64 = 1000;

/// One connection.
pub trait Calls: 'static {
    /// Makes the call of a number, and says of how many bytes it was.
    fn call(&mut self, number: u64) -> impl Future<Output = Outcome<usize>>;
}

/// Which calls are made.
#[derive(Clone, Copy, Debug)]
pub enum Span {
    /// Those of all numbers below, each once.
    Each(u64),
    /// Those of numbers below the first, each as likely, for so long.
    Random(u64, Duration),
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Called {
    /// Calls that were answered.
    pub ops: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
    /// Calls that failed.
    pub failed: u64,
    /// The first failure, in words.
    pub failure: String,
    /// From the first call to the last answer.
    pub wall: Duration,
    /// How long each took that was answered.
    pub latencies: Latencies,
    /// Connections.
    pub connections: usize,
    /// What this process used.
    pub usage: Usage,
}

#[derive(Default)]
struct Shared {
    next: Cell<u64>,
    ops: Cell<u64>,
    bytes: Cell<u64>,
    failed: Cell<u64>,
    failure: RefCell<String>,
    latencies: RefCell<Latencies>,
}

/// Makes the calls of `span` on `connections`, and gives them back with what came of it.
///
/// Errors: where a connection failed again and again.
pub fn call_all<C: Calls>(
    runtime: &Runtime,
    connections: Vec<C>,
    span: Span,
) -> Outcome<(Called, Vec<C>)> {
    let shared = Rc::<Shared>::default();
    let before = Usage::begin();
    let begun = Instant::now();
    let count = connections.len();
    let connections = LocalSet::new().block_on(runtime, async {
        let tasks = connections.into_iter().zip(0..).map(|(connection, place)| {
            let shared = Rc::clone(&shared);
            tokio::task::spawn_local(go(connection, place, span, begun, shared))
        });
        let tasks: Vec<_> = tasks.collect();
        let mut back = Vec::new();
        for task in tasks {
            let ended = task.await;
            back.push(ended.map_err(|_| Failure::failed("a connection panicked"))??);
        }
        Outcome::Ok(back)
    })?;
    let shared = Rc::into_inner(shared).expect("every task has ended");
    let called = Called {
        ops: shared.ops.get(),
        bytes: shared.bytes.get(),
        failed: shared.failed.get(),
        failure: shared.failure.into_inner(),
        wall: begun.elapsed(),
        latencies: shared.latencies.into_inner(),
        connections: count,
        usage: Usage::now().since(&before),
    };
    Ok((called, connections))
}

/// One connection until the end of the span.
async fn go<C: Calls>(
    mut connection: C,
    place: u64,
    span: Span,
    begun: Instant,
    shared: Rc<Shared>,
) -> Outcome<C> {
    let mut random = Random::new(scramble(place));
    let mut failed = 0;
    loop {
        let number = match span {
            Span::Each(count) => {
                let next = shared.next.get();
                shared.next.set(next + 1);
                (next < count).then_some(next)
            }
            Span::Random(count, time) => (begun.elapsed() < time).then(|| random.below(count)),
        };
        let Some(number) = number else {
            return Ok(connection);
        };
        let called = Instant::now();
        match connection.call(number).await {
            Ok(bytes) => {
                shared.latencies.borrow_mut().add(called.elapsed());
                shared.ops.set(shared.ops.get() + 1);
                shared.bytes.set(shared.bytes.get() + bytes as u64);
            }
            Err(failure) => {
                failed += 1;
                shared.failed.set(shared.failed.get() + 1);
                let mut first = shared.failure.borrow_mut();
                if first.is_empty() {
                    first.clone_from(&failure.message);
                }
                if failed >= FAILURES_MAX {
                    return Err(failure);
                }
            }
        }
    }
}

impl Called {
    /// Calls a second.
    pub fn rate(&self) -> f64 {
        self.ops as f64 / self.wall.as_secs_f64().max(1e-9)
    }
}

#[cfg(test)]
mod tests;
