//! Threads that take jobs from one queue.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to real threads"
)]

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::base::types::user_code::panic_text;
use crate::env::pool::Job;

/// Threads, started when there is work for them.
///
/// Shape: up to `thread_count` threads, one queue; each free thread takes the oldest job. A free
/// thread blocks on a condition variable and uses no processor. A job that panics ends alone: its
/// thread goes on, and the first such panic is kept for [`Team::first_trouble`]. Where not a single
/// thread can be had, [`Team::run_in_place`] lets those who wait for jobs run them. Any thread may
/// call anything.
///
/// Dropping the team drops the jobs that have not started and waits for those that have. (The
/// thread of a job that itself drops the team is not waited for; it ends by itself.)
pub struct Team {
    name: &'static str,
    shared: Arc<Shared>,
    thread_count: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    start: Start,
}

/// How a thread is started, as [`thread::Builder::spawn`] does.
pub type Start = fn(thread::Builder, Job) -> io::Result<JoinHandle<()>>;

struct Shared {
    // Held for moments only: never while a job runs or is dropped.
    queue: Mutex<Queue>,
    work_came: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<NamedJob>,
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
    job: NamedJob,
}

impl Team {
    /// A team of at most `thread_count` threads, whose names begin with `name`; none is started
    /// yet.
    ///
    /// # Panics
    /// When `thread_count` is 0: nothing would ever run.
    pub fn new(name: &'static str, thread_count: usize) -> Team {
        Team::with_start(name, thread_count, |thread, life| thread.spawn(life))
    }

    /// As [`Team::new`], of threads that are started so.
    pub fn with_start(name: &'static str, thread_count: usize, start: Start) -> Team {
        assert!(thread_count > 0);
        Team {
            name,
            shared: Arc::new(Shared {
                queue: Mutex::default(),
                work_came: Condvar::new(),
            }),
            thread_count,
            threads: Mutex::default(),
            start,
        }
    }

    /// The first panic of a job, or the first refusal to start a thread; `None` if all is well.
    pub fn first_trouble(&self) -> Option<String> {
        self.shared.lock().first_trouble.clone()
    }

    /// How often a free thread woke: for each job once, or, as a thread about to wait may be woken
    /// with another, and one takes over the watch of the time from another, at most once for each
    /// thread; never while nothing happens.
    pub fn wakeup_count(&self) -> u64 {
        self.shared.lock().wakeup_count
    }

    /// Starts one thread if there are more jobs waiting than free threads.
    pub fn start_thread_if_short(&self) {
        let index = {
            let mut queue = self.shared.lock();
            let started_count = queue.running.len();
            // Each job for later needs a thread that is free at its time, whatever comes meanwhile:
            // one that waits takes nothing but its stack.
            let is_enough = queue.waiting.len() + queue.later.len() <= queue.idle_count;
            if is_enough || started_count == self.thread_count {
                return;
            }
            queue.running.push(None);
            // It counts as free from now on, so that nobody starts another for the same job.
            queue.idle_count += 1;
            started_count
        };
        let shared = Arc::clone(&self.shared);
        let builder = thread::Builder::new().name(format!("{}-{index}", self.name));
        let life = Box::new(move || shared.run_jobs(index));
        match (self.start)(builder, life) {
            Ok(thread) => lock_any(&self.threads).push(thread),
            // The job stays queued: for a thread that is there, for the next call of `spawn` or
            // `wait`, which tries again, or for who waits.
            Err(cause) => {
                let mut queue = self.shared.lock();
                queue.running.pop();
                queue.idle_count -= 1;
                queue.keep_trouble(format!("cannot start a background thread: {cause}"));
            }
        }
    }

    /// Runs the oldest job that waits on the calling thread, if the team has no thread at all; says
    /// whether there was one. For who waits for a job, and would wait for ever where the system
    /// refuses every thread.
    pub fn run_in_place(&self) -> bool {
        let job = {
            let mut queue = self.shared.lock();
            if !queue.running.is_empty() {
                return false;
            }
            queue.take_due();
            queue.waiting.pop_front()
        };
        let is_there = job.is_some();
        if let Some(job) = job {
            self.shared.run(job);
        }
        is_there
    }

    /// Has `job` run as soon as a thread is free.
    pub fn spawn(&self, name: &'static str, job: Job) {
        self.shared.lock().waiting.push_back(NamedJob { name, job });
        self.shared.work_came.notify_one();
        self.start_thread_if_short();
    }

    /// Has `job` run when `delay` is over and a thread is free.
    pub fn spawn_after(&self, delay: Duration, name: &'static str, job: Job) {
        let job = NamedJob { name, job };
        let due = Instant::now() + delay;
        self.shared.lock().later.push(LaterJob { due, job });
        // The thread that is woken waits again, but not longer than to that time.
        self.shared.work_came.notify_one();
        self.start_thread_if_short();
    }

    /// How many jobs can run at the same time.
    pub fn thread_count(&self) -> usize {
        self.thread_count
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        let unstarted = {
            let mut queue = self.shared.lock();
            queue.is_closed = true;
            (
                std::mem::take(&mut queue.waiting),
                std::mem::take(&mut queue.later),
            )
        };
        self.shared.work_came.notify_all();
        drop(unstarted);
        let own_id = thread::current().id();
        for thread in lock_any(&self.threads).drain(..) {
            if thread.thread().id() != own_id {
                let joined = thread.join();
                assert!(joined.is_ok(), "a thread catches the panics of its jobs");
            }
        }
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.shared.lock();
        f.debug_struct("Team")
            .field("name", &self.name)
            .field("thread_count", &self.thread_count)
            .field("running", &queue.running)
            .field("waiting_count", &queue.waiting.len())
            .field("first_trouble", &queue.first_trouble)
            .finish()
    }
}

impl Shared {
    // The life of one thread.
    fn run_jobs(&self, index: usize) {
        self.lock().idle_count -= 1;
        while let Some(job) = self.next_job(index) {
            self.run(job);
        }
    }

    fn run(&self, NamedJob { name, job }: NamedJob) {
        // The job's own state may be broken by a panic, but it dies with the job; what it
        // shares with others is guarded by its author.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
            let text = format!("the job \"{name}\" panicked: {}", panic_text(panic));
            self.lock().keep_trouble(text);
        }
    }

    // Blocks until there is a job; `None` when the pool is closed.
    fn next_job(&self, index: usize) -> Option<NamedJob> {
        let mut queue = self.lock();
        set_running(&mut queue, index, None);
        loop {
            if queue.is_closed {
                return None;
            }
            let next_due = queue.take_due();
            if let Some(job) = queue.waiting.pop_front() {
                set_running(&mut queue, index, Some(job.name));
                // Several may have come due at once, and this may be the only thread that was to
                // wake at the time of the next: another one takes over.
                if !queue.waiting.is_empty() || !queue.later.is_empty() {
                    self.work_came.notify_one();
                }
                return Some(job);
            }
            queue.idle_count += 1;
            queue = match next_due {
                None => self
                    .work_came
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(delay) => {
                    let waited = self.work_came.wait_timeout(queue, delay);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            queue.idle_count -= 1;
            queue.wakeup_count += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock_any(&self.queue)
    }
}

impl Queue {
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
        self.waiting.extend(due.into_iter().map(|later| later.job));
        let next = self.later.iter().map(|later| later.due).min()?;
        Some(next.saturating_duration_since(now))
    }

    fn keep_trouble(&mut self, text: String) {
        self.first_trouble.get_or_insert(text);
    }
}

// A slot can be missing for a moment when a later thread could not be started.
fn set_running(queue: &mut Queue, index: usize, name: Option<&'static str>) {
    if let Some(slot) = queue.running.get_mut(index) {
        *slot = name;
    }
}

// No lock here is held while foreign code runs, so a poisoned one guards whole state.
fn lock_any<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
