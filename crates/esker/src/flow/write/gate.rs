//! Whether writes may pass: open, out of space, faulted or closed; set from above, read here.

use std::sync::PoisonError;

use crate::base::hooks::events::{Event, WritesRefused};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::primitives::atomic::{AtomicBool, Ordering};
use crate::env::primitives::{Mutex, MutexGuard};
use crate::env::process::Process;
use crate::env::signal::Signal;
use crate::flow::event_queue::EventQueue;

/// The one cell that says whether writes of a database may pass.
///
/// Any thread may call anything. A fault is final: the first one is kept, and only reopening the
/// database clears it. Lack of space is not: it is set and cleared as the disk fills and drains.
#[derive(Debug, Default)]
pub struct Gate {
    // Asked before everything else: in a forked child even the lock below may be held, by a thread
    // that is not there.
    process: Process,
    // Read by every write without the lock; set under the lock, and only as a hint to take it.
    is_barred: AtomicBool,
    // Read by every read and every step of a cursor; set once, under the lock.
    is_closed: AtomicBool,
    bars: Mutex<Bars>,
    /// Raised by every change here, so that whoever waits to write hears of a refusal; and by
    /// the write controller, on which the same writers wait.
    pub changed: Signal,
    /// Who hears when writes are refused, and when they pass again; those who wait at the gate tell
    /// there, too.
    pub events: EventQueue,
}

#[derive(Debug, Default)]
struct Bars {
    is_closed: bool,
    is_read_only: bool,
    fault: Option<Error>,
    full: Option<Error>,
}

impl Bars {
    fn check_upkeep(&self) -> Result<()> {
        if self.is_closed {
            return Err(closed());
        }
        if self.is_read_only {
            return Err(Error::invalid(
                "the database was opened read-only; open it for writing",
            ));
        }
        match &self.fault {
            Some(fault) => Err(faulted(fault)),
            None => Ok(()),
        }
    }
}

impl Gate {
    /// An open gate that tells of itself there.
    pub fn telling(events: EventQueue) -> Gate {
        Gate {
            events,
            ..Gate::default()
        }
    }

    /// The process that opened the database.
    pub fn process(&self) -> Process {
        self.process
    }

    /// `Ok` in the process that opened the database; `Invalid` in one that forked from it, which
    /// must touch nothing: files and locks are its parent's, and the threads are not here.
    #[inline]
    pub fn check_process(&self) -> Result<()> {
        self.process.check()
    }

    /// `Ok` when writes may pass, else why not: `Closed`, `Invalid` (opened read-only, or in
    /// another process), `Faulted` or `OutOfSpace`.
    #[inline]
    pub fn check_write(&self) -> Result<()> {
        self.check_process()?;
        // Acquire pairs with the Release in `tell`: who sees the hint also sees the bars.
        match self.is_barred.load(Ordering::Acquire) {
            false => Ok(()),
            true => self.check_bars(),
        }
    }

    #[cold]
    fn check_bars(&self) -> Result<()> {
        let bars = self.bars();
        bars.check_upkeep()?;
        match &bars.full {
            Some(full) => Err(full.again()),
            None => Ok(()),
        }
    }

    /// As [`Gate::check_write`] for what may give space back, and so must not be refused for
    /// the lack of it: flushes, compactions, drops of keyspaces.
    pub fn check_upkeep(&self) -> Result<()> {
        self.check_process()?;
        if !self.is_barred.load(Ordering::Acquire) {
            return Ok(());
        }
        self.bars().check_upkeep()
    }

    /// `Ok` when reads may begin; they may until the database is closed, in the process that
    /// opened it.
    #[inline]
    pub fn check_read(&self) -> Result<()> {
        self.check_process()?;
        match self.is_closed() {
            true => Err(closed()),
            false => Ok(()),
        }
    }

    /// Refuses every later write with `cause`, until the database is reopened. The first cause
    /// is kept. After a failed write or sync nobody knows what the page cache still holds, so
    /// nothing more may be acknowledged.
    pub fn fail(&self, cause: &Error) {
        let mut bars = self.bars();
        if bars.fault.is_none() {
            bars.fault = Some(cause.again());
            self.note_refused(cause, true);
        }
        self.tell(bars);
    }

    /// Refuses writes for lack of space, or lets them pass again with `None`.
    pub fn set_full(&self, full: Option<Error>) {
        let mut bars = self.bars();
        // After a fault nothing of this changes anything for writers.
        let is_told = bars.fault.is_none() && full.is_some() != bars.full.is_some();
        match &full {
            Some(cause) if is_told => self.note_refused(cause, false),
            None if is_told => self.events.note(|| Event::WritesResumed),
            _ => {}
        }
        bars.full = full;
        self.tell(bars);
    }

    /// Refuses every write because the database was opened for reading only.
    pub fn set_read_only(&self) {
        let mut bars = self.bars();
        bars.is_read_only = true;
        self.tell(bars);
    }

    /// Refuses everything from now on. Says whether this call was the one that closed.
    pub fn close(&self) -> bool {
        let mut bars = self.bars();
        let was_open = !bars.is_closed;
        bars.is_closed = true;
        self.is_closed.store(true, Ordering::Release);
        self.tell(bars);
        was_open
    }

    /// `Faulted` with the first cause if there is a fault, also once the database was closed.
    pub fn check_fault(&self) -> Result<()> {
        if !self.is_barred.load(Ordering::Acquire) {
            return Ok(());
        }
        match &self.bars().fault {
            Some(fault) => Err(faulted(fault)),
            None => Ok(()),
        }
    }

    /// The fault that refuses writes, if there is one.
    pub fn fault(&self) -> Option<Error> {
        self.bars().fault.as_ref().map(Error::again)
    }

    /// The lack of space that refuses writes, if there is one.
    pub fn full(&self) -> Option<Error> {
        self.bars().full.as_ref().map(Error::again)
    }

    /// Whether the database was closed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        // Acquire pairs with the Release in `close`: who sees it sees all that came before.
        self.is_closed.load(Ordering::Acquire)
    }

    // Under the lock, so that refusals are told in their order.
    fn note_refused(&self, cause: &Error, is_final: bool) {
        self.events.note(|| {
            Event::WritesRefused(WritesRefused {
                error: cause.again(),
                is_final,
            })
        });
    }

    fn tell(&self, bars: MutexGuard<'_, Bars>) {
        let barred =
            bars.is_closed || bars.is_read_only || bars.fault.is_some() || bars.full.is_some();
        self.is_barred.store(barred, Ordering::Release);
        drop(bars);
        self.changed.raise();
    }

    // Every change is one assignment, so a poisoned lock holds a whole value all the same.
    fn bars(&self) -> MutexGuard<'_, Bars> {
        self.bars.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the database was closed")
}

fn faulted(cause: &Error) -> Error {
    let message = "writes are refused since an earlier write failed; reopen the database";
    Error::new(ErrorKind::Faulted, message).caused_by(cause.again())
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;
