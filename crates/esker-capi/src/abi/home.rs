//! Which database a handle belongs to, and where that may be used.

use std::sync::atomic::{AtomicU64, Ordering};

use esker::{Db, Process, Result};

/// A database as its handles know it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// Tells it from all others of the process.
    number: u64,
    /// That opened it.
    process: Process,
}

/// The number that the next database gets.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Home {
    /// That of a database that was just opened.
    pub fn new(db: &Db) -> Home {
        Home {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            process: db.process(),
        }
    }

    /// Whether calls may be made here and now, in this process and outside of callbacks.
    #[inline]
    pub fn check_call(self) -> Result<()> {
        self.process.check_call()
    }

    /// Whether this is the process.
    #[inline]
    pub fn check_process(self) -> Result<()> {
        self.process.check()
    }
}
