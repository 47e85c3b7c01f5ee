//! Processes that fork from one another, told apart.
//!
//! A forked child is born with the handles of its parent, but not with its threads, and the files
//! and locks that it has are its parent's too. Whatever must not be done with them there asks here.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::types::error::{Error, Result};
use crate::base::types::user_code;

// How many forks lie between this process and the one that started the program; counted by
// `env/real/fork.rs`.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A process, told apart from those that fork from it.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// let db = esker::Db::open(dir.path())?;
/// db.process().check_call()?; // Neither in a child nor in a merge operator.
/// let snapshot = db.snapshot();
/// # drop(snapshot);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    forks: u32,
}

impl Process {
    /// This process.
    #[inline]
    pub fn current() -> Process {
        // Relaxed: it changes only while a child is born, which has one thread then.
        let forks = FORKS.load(Ordering::Relaxed);
        Process { forks }
    }

    /// Whether it is this one; if not, this one forked from it.
    #[inline]
    pub fn is_current(self) -> bool {
        self == Process::current()
    }

    /// `Ok` where this is the process; `Invalid` in one that forked from it, which must touch
    /// nothing: files and locks are its parent's, and the threads are not here.
    #[inline]
    pub fn check(self) -> Result<()> {
        match self.is_current() {
            true => Ok(()),
            false => Err(forked()),
        }
    }

    /// Whether this thread may call a database that this process has opened: `Invalid` in a child
    /// that forked from it, and in what an engine calls (a merge operator, an order, a retain
    /// rule), which might wait for itself. Calls that can fail say so themselves; this is to be
    /// asked before those that cannot, such as [`Db::begin`](crate::Db::begin) and
    /// [`Db::snapshot`](crate::Db::snapshot), which panic there or wait for ever.
    #[inline]
    pub fn check_call(self) -> Result<()> {
        user_code::refuse()?;
        self.check()
    }
}

impl Default for Process {
    fn default() -> Process {
        Process::current()
    }
}

#[cold]
fn forked() -> Error {
    Error::invalid(
        "the database was opened by the process from which this one was forked, and only that one \
         can use the handle; open the database here once it is closed there, or read-only",
    )
}

/// Notes that this process has just forked from another. Touches one number and nothing else, as a
/// child must whose parent had other threads.
pub(crate) fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
