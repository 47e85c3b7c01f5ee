//! Processes that fork from one another, told apart.
//!
//! A forked child is born with the handles of its parent, but not with its threads, and the files
//! and locks that it has are its parent's too. Whatever must not be done with them there asks here.

use std::sync::atomic::{AtomicU32, Ordering};

// How many forks lie between this process and the one that started the program; counted by
// `env/real/fork.rs`.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process in which this was made.
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
}

impl Default for Process {
    fn default() -> Process {
        Process::current()
    }
}

/// Notes that this process has just forked from another. Touches one number and nothing else, as a
/// child must whose parent had other threads.
pub(crate) fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
