//! One piece of background work: on the books from its booking until it ends, however it ends.
//!
//! A job may panic: the engine may have a fault, or an order of the user's. Then nobody knows what
//! it left half done, so the gate fails with what the panic said, and everything that the job had
//! on the books is taken off: whoever waits for it is woken, and told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::base::hooks::event_reasons::BackgroundJob;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::user_code::panic_text;
use crate::db::core::Core;
use crate::db::job_events::note_error;
use crate::db::work::WorkState;
use crate::env::pool::Priority;

/// One piece of background work that is to be booked.
pub struct Job<B, R> {
    /// How urgent it is.
    pub priority: Priority,
    /// For people and debuggers.
    pub name: &'static str,
    /// Whether it is to run, and what else is to be noted of it. Asked under the lock of the
    /// books: `close` waits for what is on them when the gate shuts.
    pub book: B,
    /// Takes off the books what `book` noted.
    pub release: R,
}

/// What one job has on the books, until it is dropped: at the end of the job, after a panic of it,
/// or with a job that never ran.
pub struct Booking {
    core: Arc<Core>,
    release: Option<Release>,
}

type Release = Box<dyn FnOnce(&mut WorkState) + Send>;

impl Booking {
    /// Of a job that is counted already, and has noted nothing else.
    pub fn of_counted(core: &Arc<Core>) -> Booking {
        Booking {
            core: Arc::clone(core),
            release: None,
        }
    }

    /// Takes off the books what was noted beside the job itself: for who looks, before it ends,
    /// whether there is more of the same to do.
    pub fn release(&mut self) {
        if let Some(release) = self.release.take() {
            release(&mut self.core.work.state());
        }
    }
}

impl Drop for Booking {
    fn drop(&mut self) {
        self.release();
        self.core.work.state().job_count -= 1;
        self.core.work.ended.raise();
    }
}

/// Runs `work` on a background thread, if the job may be booked; says whether.
pub fn spawn<B, R>(
    core: &Arc<Core>,
    job: Job<B, R>,
    work: impl FnOnce(&Arc<Core>, &mut Booking) + Send + 'static,
) -> bool
where
    B: FnOnce(&mut WorkState) -> bool,
    R: FnOnce(&mut WorkState) + Send + 'static,
{
    {
        let mut state = core.work.state();
        if !(job.book)(&mut state) {
            return false;
        }
        state.job_count += 1;
    }
    let mut booking = Booking {
        core: Arc::clone(core),
        release: Some(Box::new(job.release)),
    };
    let run = move || {
        let core = Arc::clone(&booking.core);
        // What it returns was told already, and the booking goes in either case.
        run_guarded(&core, job.name, || work(&core, &mut booking)).ok();
    };
    core.env.pool.spawn(job.priority, job.name, Box::new(run));
    true
}

/// Runs a part of a job. Errors: `Faulted` when it panicked; the gate has failed then, and it is
/// among the failures.
pub fn run_guarded<T>(core: &Core, name: &str, work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic_text(panic);
        let message = format!(
            "the background work `{name}` panicked: {text}; reopen the database, and unless it was \
             code of yours, please report it"
        );
        let error = Error::new(ErrorKind::Faulted, message);
        core.gate.fail(&error);
        core.work.note_failure(name, &error);
        note_error(core, BackgroundJob::Panicked, &error);
        error
    })
}
