//! What a database tells who listens: flushes, compactions, stalls, errors and files.
//!
//! One listener has one method, and an event is a value: so a new kind of event breaks no listener,
//! and whoever only writes them down needs no code for each (decision 0016).

use std::path::PathBuf;
use std::time::Duration;

use crate::base::hooks::event_reasons::{
    BackgroundJob, CompactionKind, CompactionReason, FileKind, FlushReason, StallCause,
};
use crate::base::types::error::{Error, Result};

/// Hears what happens in a database; given to it by `Builder::event_listener`.
///
/// It is called on a thread that exists for listeners alone: one event after the other, in the
/// order in which they happened, under no lock of the engine, and never by a thread that writes,
/// reads, flushes or compacts. So it may take its time, and may call the database, from which it
/// can also wait for a flush or a compaction; what it may not do is close it (`Invalid`), since
/// closing waits until everything was told. While it is busy, up to 16 384 events wait; of what
/// comes beyond that it hears how many it missed ([`Event::EventsLost`]).
///
/// A panic in it ends that one call: the database goes on, its statistics tell, and the next event
/// comes as if nothing had been. The database lets go of its listeners when it is closed; until
/// then a listener that holds a handle keeps the database open.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use esker::{Db, Event, EventListener};
///
/// #[derive(Default)]
/// struct FlushedBytes(Mutex<u64>);
///
/// impl EventListener for FlushedBytes {
///     fn on_event(&self, event: &Event) {
///         if let Event::FlushEnd(flush) = event {
///             *self.0.lock().expect("nobody panics") += flush.bytes;
///         }
///     }
/// }
///
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// let flushed = Arc::new(FlushedBytes::default());
/// let db = Db::builder(dir.path()).event_listener(flushed.clone()).open()?;
/// db.put("ship:anna", "in port")?;
/// db.close()?; // everything was told when this returns
/// assert!(*flushed.0.lock().expect("nobody panics") > 0);
/// # Ok(())
/// # }
/// ```
pub trait EventListener: Send + Sync {
    /// Hears of one event.
    fn on_event(&self, event: &Event);
}

/// Something that happened in a database.
///
/// Its `Display` is one line of `key=value` pairs after the event's name, for logs and scripts.
/// `Begin` and `End` of one job have the same `job_id`, and each begin has an end, whatever
/// happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The database was opened; comes before everything that its background does.
    DatabaseOpened(DatabaseOpened),
    /// The database was closed; nothing comes after it. Of an opening that failed neither is told.
    DatabaseClosed(DatabaseClosed),
    /// A flush of memtables begins.
    FlushBegin(FlushBegin),
    /// A flush ended.
    FlushEnd(FlushEnd),
    /// A compaction begins.
    CompactionBegin(CompactionBegin),
    /// A compaction ended.
    CompactionEnd(CompactionEnd),
    /// Large values are about to be written and made durable.
    ValueFlushBegin(ValueFlushBegin),
    /// Large values were made durable, or not.
    ValueFlushEnd(ValueFlushEnd),
    /// Writers begin to be held back by a limit; told once, however many writers wait.
    WriteStallBegin(WriteStallBegin),
    /// No writer is held back by that limit any more.
    WriteStallEnd(WriteStallEnd),
    /// Work in the background failed.
    BackgroundError(BackgroundError),
    /// Writes are refused from now on.
    WritesRefused(WritesRefused),
    /// Writes pass again, after they were refused for lack of space.
    WritesResumed,
    /// A file came into being.
    FileCreated(FileCreated),
    /// A file was removed.
    FileDeleted(FileDeleted),
    /// The listener was too slow: so many events before this one were never told.
    EventsLost(u64),
}

/// The database was opened.
#[derive(Debug)]
#[non_exhaustive]
pub struct DatabaseOpened {
    /// Its directory.
    pub path: PathBuf,
    /// Whether it was opened for reading only.
    pub is_read_only: bool,
    /// Batches that were replayed from the log.
    pub replayed_batches: u64,
    /// Time that opening took.
    pub elapsed: Duration,
}

/// The database was closed.
#[derive(Debug)]
#[non_exhaustive]
pub struct DatabaseClosed {
    /// Its directory.
    pub path: PathBuf,
    /// What `close` returns.
    pub outcome: Result<()>,
}

/// A flush of memtables begins.
#[derive(Debug)]
#[non_exhaustive]
pub struct FlushBegin {
    /// Number of the job, of its own in this opening.
    pub job_id: u64,
    /// Name of the keyspace.
    pub keyspace: String,
    /// Why the oldest of the memtables was sealed.
    pub reason: FlushReason,
    /// Memtables that are flushed together.
    pub memtable_count: usize,
    /// Entries in them.
    pub entry_count: u64,
    /// Bytes of memory that they take.
    pub memtable_bytes: u64,
}

/// A flush ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct FlushEnd {
    /// Number of the job.
    pub job_id: u64,
    /// Name of the keyspace.
    pub keyspace: String,
    /// Why the oldest of the memtables was sealed.
    pub reason: FlushReason,
    /// Files that it put into level 0; none where nothing lived on, or where it failed.
    pub file_count: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// Time since it began.
    pub elapsed: Duration,
    /// How it ended. What could not be flushed stays in memory, and in the log.
    pub outcome: Result<()>,
}

/// Files of one level that take part in a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionInput {
    /// The level, from 0.
    pub level: usize,
    /// Files of it.
    pub file_count: usize,
    /// Bytes of these files.
    pub bytes: u64,
}

/// A compaction begins.
#[derive(Debug)]
#[non_exhaustive]
pub struct CompactionBegin {
    /// Number of the job, of its own in this opening.
    pub job_id: u64,
    /// Name of the keyspace.
    pub keyspace: String,
    /// What is done.
    pub kind: CompactionKind,
    /// Why; [`CompactionReason::Manual`] where somebody asked, and
    /// [`CompactionReason::IntraL0`] where runs of level 0 are merged with one another.
    pub reason: CompactionReason,
    /// What takes part, upper levels first.
    pub inputs: Vec<CompactionInput>,
    /// Where the result goes.
    pub output_level: usize,
    /// Parts that run side by side.
    pub subcompaction_count: usize,
}

/// A compaction ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct CompactionEnd {
    /// Number of the job.
    pub job_id: u64,
    /// Name of the keyspace.
    pub keyspace: String,
    /// What was done.
    pub kind: CompactionKind,
    /// Why.
    pub reason: CompactionReason,
    /// Where the result went.
    pub output_level: usize,
    /// Files that took part.
    pub input_file_count: usize,
    /// Bytes of files that were read; none by a move or a drop.
    pub read_bytes: u64,
    /// Files that were written and came into use; none by a move or a drop, or where it failed.
    pub output_file_count: usize,
    /// Bytes of these files.
    pub written_bytes: u64,
    /// Time since it began.
    pub elapsed: Duration,
    /// How it ended: a compaction that failed changed nothing. `Closed` and `Busy` are no failures;
    /// it gave way, to closing or to what cannot wait.
    pub outcome: Result<()>,
}

/// Large values are about to be made durable.
#[derive(Debug)]
#[non_exhaustive]
pub struct ValueFlushBegin {
    /// Number of the job, of its own in this opening.
    pub job_id: u64,
    /// Bytes that wait to be written, or were written and not synced.
    pub bytes: u64,
}

/// Large values were made durable, or not.
#[derive(Debug)]
#[non_exhaustive]
pub struct ValueFlushEnd {
    /// Number of the job.
    pub job_id: u64,
    /// Bytes that wait now: what came meanwhile, and what was passed over, as it may never be
    /// needed.
    pub left_bytes: u64,
    /// Time since it began.
    pub elapsed: Duration,
    /// How it ended.
    pub outcome: Result<()>,
}

/// Writers begin to be held back.
#[derive(Debug)]
#[non_exhaustive]
pub struct WriteStallBegin {
    /// By which limit.
    pub cause: StallCause,
    /// The keyspace that is slowed down; `None` where all are held back.
    pub keyspace: Option<String>,
    /// Bytes per second at which it may be written to; `None` where writers stand still.
    pub rate_bytes_s: Option<u64>,
}

/// Writers are not held back any more.
#[derive(Debug)]
#[non_exhaustive]
pub struct WriteStallEnd {
    /// By which limit.
    pub cause: StallCause,
    /// The keyspace that was slowed down; `None` where all were held back.
    pub keyspace: Option<String>,
    /// Time since it began.
    pub elapsed: Duration,
}

/// Work in the background failed.
///
/// After a fault, which is final, only the first failure is told: what follows has no other cause.
/// A flush that waits for file descriptors is tried five times a second, and told once until it
/// succeeds.
#[derive(Debug)]
#[non_exhaustive]
pub struct BackgroundError {
    /// Which work.
    pub job: BackgroundJob,
    /// Why.
    pub error: Error,
    /// Whether writes are refused now, because of this or of something before it.
    pub is_read_only: bool,
}

/// Writes are refused.
#[derive(Debug)]
#[non_exhaustive]
pub struct WritesRefused {
    /// Why: the cause, which may have been met by a write as well as in the background.
    pub error: Error,
    /// Whether only reopening the database helps; else [`Event::WritesResumed`] comes when there is
    /// space.
    pub is_final: bool,
}

/// A file came into being. Told once it is whole: a sorted file when its job has finished all of
/// its files, a segment when it was begun.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileCreated {
    /// What it holds.
    pub kind: FileKind,
    /// Its number; of a kind, none comes twice.
    pub number: u64,
    /// Where it lies.
    pub path: PathBuf,
    /// Its bytes; of a segment those that it may grow to.
    pub bytes: u64,
    /// The segment of the log whose place on the disk it took, and which is no more.
    pub recycled: Option<u64>,
}

/// A file was removed, or became another segment of the log.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileDeleted {
    /// What it held.
    pub kind: FileKind,
    /// Its number.
    pub number: u64,
    /// Where it lay.
    pub path: PathBuf,
    /// The bytes that it had, where the system told.
    pub bytes: Option<u64>,
}

impl Event {
    /// The event's name, as it begins its line.
    ///
    /// ```
    /// assert_eq!(esker::Event::WritesResumed.name(), "writes_resumed");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Event::DatabaseOpened(_) => "database_opened",
            Event::DatabaseClosed(_) => "database_closed",
            Event::FlushBegin(_) => "flush_begin",
            Event::FlushEnd(_) => "flush_end",
            Event::CompactionBegin(_) => "compaction_begin",
            Event::CompactionEnd(_) => "compaction_end",
            Event::ValueFlushBegin(_) => "value_flush_begin",
            Event::ValueFlushEnd(_) => "value_flush_end",
            Event::WriteStallBegin(_) => "write_stall_begin",
            Event::WriteStallEnd(_) => "write_stall_end",
            Event::BackgroundError(_) => "background_error",
            Event::WritesRefused(_) => "writes_refused",
            Event::WritesResumed => "writes_resumed",
            Event::FileCreated(_) => "file_created",
            Event::FileDeleted(_) => "file_deleted",
            Event::EventsLost(_) => "events_lost",
        }
    }
}
