//! Real background threads.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to real threads"
)]

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::env::pool::{Job, Pool, Priority};
use crate::env::signal::Signal;

/// Background threads, started when there is work for them.
///
/// Shape: up to `thread_count` threads, two queues; each free thread takes the oldest job of
/// the `High` queue, else of the `Low` one. A free thread blocks on a condition variable and
/// uses no processor. A job that panics ends alone: its thread goes on, and the first such
/// panic is kept for [`RealPool::first_trouble`]. Any thread may call anything.
///
/// Dropping the pool drops the jobs that have not started and waits for those that have. (The
/// thread of a job that itself drops the pool is not waited for; it ends by itself.)
pub struct RealPool {
    shared: Arc<Shared>,
    thread_count: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    // Held for moments only: never while a job runs or is dropped.
    queues: Mutex<Queues>,
    work_came: Condvar,
}

#[derive(Default)]
struct Queues {
    high: VecDeque<NamedJob>,
    low: VecDeque<NamedJob>,
    // Few at any time: one for each database that has something to be looked after.
    later: Vec<LaterJob>,
    // What each started thread is running.
    running: Vec<Option<&'static str>>,
    idle_count: usize,
    wakeup_count: u64,
    is_closed: bool,
    first_trouble: Option<String>,
}

struct NamedJob {
    name: &'static str,
    job: Job,
}

struct LaterJob {
    due: Instant,
    priority: Priority,
    job: NamedJob,
}

impl RealPool {
    /// How many threads the machine runs at the same time; 1 where it does not say.
    pub fn core_count() -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }

    /// A pool of at most `thread_count` threads; none is started yet.
    ///
    /// # Panics
    /// When `thread_count` is 0: nothing would ever run.
    pub fn new(thread_count: usize) -> RealPool {
        assert!(thread_count > 0);
        RealPool {
            shared: Arc::new(Shared {
                queues: Mutex::default(),
                work_came: Condvar::new(),
            }),
            thread_count,
            threads: Mutex::default(),
        }
    }

    /// The first panic of a job, or the first refusal to start a thread; `None` if all is well.
    pub fn first_trouble(&self) -> Option<String> {
        self.shared.lock().first_trouble.clone()
    }

    /// How often a free thread woke: for each job once, or, as a thread about to wait may be woken
    /// with another, at most once for each thread; never while nothing happens.
    pub fn wakeup_count(&self) -> u64 {
        self.shared.lock().wakeup_count
    }

    // Starts one thread if there are more jobs waiting than free threads.
    fn start_thread_if_short(&self) {
        let index = {
            let mut queues = self.shared.lock();
            let started_count = queues.running.len();
            // A job for later needs one thread that waits for its time.
            let is_enough = queues.waiting_count() <= queues.idle_count
                && (queues.later.is_empty() || started_count > 0);
            if is_enough || started_count == self.thread_count {
                return;
            }
            queues.running.push(None);
            // It counts as free from now on, so that nobody starts another for the same job.
            queues.idle_count += 1;
            started_count
        };
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new()
            .name(format!("esker-{index}"))
            .spawn(move || shared.run_jobs(index));
        match started {
            Ok(thread) => lock_any(&self.threads).push(thread),
            // The job stays queued: for a thread that is there, or for the next call of `spawn`
            // or `wait`, which tries again.
            Err(cause) => {
                let mut queues = self.shared.lock();
                queues.running.pop();
                queues.idle_count -= 1;
                queues.keep_trouble(format!("cannot start a background thread: {cause}"));
            }
        }
    }
}

impl Pool for RealPool {
    fn spawn(&self, priority: Priority, name: &'static str, job: Job) {
        let job = NamedJob { name, job };
        self.shared.lock().push(priority, job);
        self.shared.work_came.notify_one();
        self.start_thread_if_short();
    }

    fn spawn_after(&self, delay: Duration, priority: Priority, name: &'static str, job: Job) {
        let job = NamedJob { name, job };
        let due = Instant::now() + delay;
        let later = LaterJob { due, priority, job };
        self.shared.lock().later.push(later);
        // The thread that is woken waits again, but not longer than to that time.
        self.shared.work_came.notify_one();
        self.start_thread_if_short();
    }

    fn wait(&self, signal: &Signal, seen: u64, timeout: Duration) -> bool {
        self.start_thread_if_short();
        signal.block(seen, timeout)
    }

    fn thread_count(&self) -> usize {
        self.thread_count
    }
}

impl Drop for RealPool {
    fn drop(&mut self) {
        let unstarted = {
            let mut queues = self.shared.lock();
            queues.is_closed = true;
            (
                std::mem::take(&mut queues.high),
                std::mem::take(&mut queues.low),
                std::mem::take(&mut queues.later),
            )
        };
        self.shared.work_came.notify_all();
        drop(unstarted);
        let own_id = thread::current().id();
        for thread in lock_any(&self.threads).drain(..) {
            if thread.thread().id() != own_id {
                let joined = thread.join();
                assert!(
                    joined.is_ok(),
                    "a pool thread catches the panics of its jobs"
                );
            }
        }
    }
}

impl fmt::Debug for RealPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queues = self.shared.lock();
        f.debug_struct("RealPool")
            .field("thread_count", &self.thread_count)
            .field("running", &queues.running)
            .field("waiting_count", &queues.waiting_count())
            .field("first_trouble", &queues.first_trouble)
            .finish()
    }
}

impl Shared {
    // The life of one thread.
    fn run_jobs(&self, index: usize) {
        self.lock().idle_count -= 1;
        while let Some(NamedJob { name, job }) = self.next_job(index) {
            // The job's own state may be broken by a panic, but it dies with the job; what it
            // shares with others is guarded by its author.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
                let text = format!("the job \"{name}\" panicked: {}", panic_text(&*panic));
                self.lock().keep_trouble(text);
            }
        }
    }

    // Blocks until there is a job; `None` when the pool is closed.
    fn next_job(&self, index: usize) -> Option<NamedJob> {
        let mut queues = self.lock();
        set_running(&mut queues, index, None);
        loop {
            if queues.is_closed {
                return None;
            }
            let next_due = queues.take_due();
            let job = queues.high.pop_front().or_else(|| queues.low.pop_front());
            if let Some(job) = job {
                set_running(&mut queues, index, Some(job.name));
                return Some(job);
            }
            queues.idle_count += 1;
            queues = match next_due {
                None => self
                    .work_came
                    .wait(queues)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(delay) => {
                    let waited = self.work_came.wait_timeout(queues, delay);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            queues.idle_count -= 1;
            queues.wakeup_count += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        lock_any(&self.queues)
    }
}

impl Queues {
    fn waiting_count(&self) -> usize {
        self.high.len() + self.low.len()
    }

    fn push(&mut self, priority: Priority, job: NamedJob) {
        match priority {
            Priority::High => self.high.push_back(job),
            Priority::Low => self.low.push_back(job),
        }
    }

    // Queues the jobs whose time has come; says how long it is until that of the next one.
    fn take_due(&mut self) -> Option<Duration> {
        if self.later.is_empty() {
            return None;
        }
        let now = Instant::now();
        let due: Vec<_> = self
            .later
            .extract_if(.., |later| later.due <= now)
            .collect();
        for LaterJob { priority, job, .. } in due {
            self.push(priority, job);
        }
        let next = self.later.iter().map(|later| later.due).min()?;
        Some(next.saturating_duration_since(now))
    }

    fn keep_trouble(&mut self, text: String) {
        self.first_trouble.get_or_insert(text);
    }
}

// A slot can be missing for a moment when a later thread could not be started.
fn set_running(queues: &mut Queues, index: usize, name: Option<&'static str>) {
    if let Some(slot) = queues.running.get_mut(index) {
        *slot = name;
    }
}

// No lock here is held while foreign code runs, so a poisoned one guards whole state.
fn lock_any<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}

#[cfg(test)]
mod tests;
