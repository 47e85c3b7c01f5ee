//! What a benchmark is: who knows it, what it needs, what each thread does.

use crate::fail::Outcome;
use crate::flags::flag::{Dialect, Known};
use crate::run::lane::Lane;
use crate::scenario::db_bench::setup::Setup;
use crate::scenario::db_bench::work::{Bench, Numbers};

/// What a measured thread does.
pub type Method = fn(&Bench<'_>, &mut Lane<'_>) -> Outcome;

/// How often each thread does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Once for each write.
    Writes,
    /// Once for each read.
    Reads,
    /// Once for each delete.
    Deletes,
    /// Once for each update.
    Updates,
    /// Until the method has enough.
    Own,
}

/// What kind of benchmark it is.
#[derive(Clone, Copy)]
pub enum Does {
    /// Threads at work, timed.
    Work {
        /// What they do.
        method: Method,
        /// What one more thread does beside them, in front of them in order.
        beside: Option<Method>,
        /// How often.
        count: Count,
        /// Whether `--duration` bounds it instead.
        is_by_time: bool,
    },
    /// One call on the store, timed as an operation of none.
    Timed(fn(&Bench<'_>) -> Outcome),
    /// One call on the store, without a line.
    Untimed(fn(&Bench<'_>) -> Outcome),
    /// What the engine tells about itself.
    Stats,
}

/// A benchmark by name.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// Whose it is.
    pub known: Known,
    /// Whether it wants an empty database.
    pub is_fresh: bool,
    /// Whether it needs a merge operator.
    pub needs_merge: bool,
    /// Whether it puts something into the database.
    pub is_write: bool,
    /// Whether `--verify` holds every value that it reads against what was written; the others only
    /// count what they meet.
    pub is_checked: bool,
    /// Its own changes to what the flags say.
    pub adjust: fn(&mut Numbers, &Setup),
    /// What it does.
    pub does: Does,
}

impl Operation {
    /// Whether `dialect` has it.
    pub fn is_known_to(&self, dialect: Dialect) -> bool {
        self.known.to(dialect)
    }

    /// Whether it reads entries of the store and leaves it as it is.
    pub fn reads_store(&self) -> bool {
        let reads = matches!(
            self.does,
            Does::Work {
                count: Count::Reads,
                ..
            }
        );
        reads && !self.is_write
    }
}

/// No changes.
pub fn as_given(_: &mut Numbers, _: &Setup) {}
