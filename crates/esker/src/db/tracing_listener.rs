//! A listener that hands each event on to `tracing`.

use std::sync::Arc;
use std::time::Duration;

use tracing::{debug, error, info, warn};

use crate::base::hooks::events::{CompactionBegin, CompactionEnd, Event, EventListener, FlushEnd};
use crate::base::types::error::{Error, Result};

/// A listener that writes each event as an event of `tracing`, for
/// [`Builder::event_listener`](crate::Builder::event_listener).
///
/// Shape: the target is `esker`, the message is the event's name ([`Event::name`]), and the fields
/// are named as in the event; times are in microseconds, outcomes `ok` and, of a failure, `error`.
/// Levels: `ERROR` where writes are refused until the database is reopened, `WARN` for other
/// failures, stalls that begin, lack of space and lost events, `INFO` for what ended well, `DEBUG`
/// for what begins, and for files.
///
/// Events are told on a thread of their own, so they are in no span of yours, and a subscriber must
/// be the global one to hear them.
///
/// ```
/// # fn main() -> esker::Result<()> {
/// # let dir = tempfile::tempdir().expect("a temporary directory");
/// let builder = esker::Db::builder(dir.path());
/// let db = builder.event_listener(esker::tracing_listener()).open()?;
/// # db.close()
/// # }
/// ```
pub fn tracing_listener() -> Arc<dyn EventListener> {
    Arc::new(TracingListener)
}

struct TracingListener;

const TARGET: &str = "esker";

impl EventListener for TracingListener {
    fn on_event(&self, event: &Event) {
        match event {
            Event::DatabaseOpened(_) | Event::DatabaseClosed(_) => write_session(event),
            Event::FlushBegin(begin) => debug!(
                target: TARGET,
                job_id = begin.job_id,
                keyspace = &*begin.keyspace,
                reason = begin.reason.word(),
                memtable_count = begin.memtable_count as u64,
                entry_count = begin.entry_count,
                memtable_bytes = begin.memtable_bytes,
                "{}", event.name()
            ),
            Event::FlushEnd(end) => write_flush_end(event, end),
            Event::CompactionBegin(begin) => write_compaction_begin(event, begin),
            Event::CompactionEnd(end) => write_compaction_end(event, end),
            Event::ValueFlushBegin(_) | Event::ValueFlushEnd(_) => write_value_flush(event),
            Event::WriteStallBegin(_) | Event::WriteStallEnd(_) => write_stall(event),
            Event::BackgroundError(_) | Event::WritesRefused(_) | Event::WritesResumed => {
                write_trouble(event);
            }
            Event::FileCreated(_) | Event::FileDeleted(_) => write_file(event),
            Event::EventsLost(count) => {
                warn!(target: TARGET, count = *count, "{}", event.name());
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn text_of(outcome: &Result<()>) -> Option<String> {
    outcome.as_ref().err().map(Error::to_string)
}

fn write_session(event: &Event) {
    match event {
        Event::DatabaseOpened(opened) => info!(
            target: TARGET,
            path = %opened.path.display(),
            is_read_only = opened.is_read_only,
            replayed_batches = opened.replayed_batches,
            elapsed_us = micros(opened.elapsed),
            "{}", event.name()
        ),
        Event::DatabaseClosed(closed) => match text_of(&closed.outcome) {
            None => info!(
                target: TARGET,
                path = %closed.path.display(),
                ok = true,
                "{}", event.name()
            ),
            Some(error) => warn!(
                target: TARGET,
                path = %closed.path.display(),
                ok = false,
                error,
                "{}", event.name()
            ),
        },
        _ => {}
    }
}

fn write_flush_end(event: &Event, end: &FlushEnd) {
    // Both levels have the same fields.
    macro_rules! write_at {
        ($level:ident, $error:expr) => {
            $level!(
                target: TARGET,
                job_id = end.job_id,
                keyspace = &*end.keyspace,
                reason = end.reason.word(),
                file_count = end.file_count as u64,
                bytes = end.bytes,
                elapsed_us = micros(end.elapsed),
                ok = end.outcome.is_ok(),
                error = $error,
                "{}", event.name()
            )
        };
    }
    match text_of(&end.outcome) {
        None => write_at!(info, tracing::field::Empty),
        Some(error) => write_at!(warn, error),
    }
}

fn write_compaction_begin(event: &Event, begin: &CompactionBegin) {
    let files: usize = begin.inputs.iter().map(|input| input.file_count).sum();
    let bytes: u64 = begin.inputs.iter().map(|input| input.bytes).sum();
    let levels: Vec<usize> = begin.inputs.iter().map(|input| input.level).collect();
    debug!(
        target: TARGET,
        job_id = begin.job_id,
        keyspace = &*begin.keyspace,
        kind = begin.kind.word(),
        reason = begin.reason.word(),
        input_levels = ?levels,
        input_file_count = files as u64,
        input_bytes = bytes,
        output_level = begin.output_level as u64,
        subcompaction_count = begin.subcompaction_count as u64,
        "{}", event.name()
    );
}

fn write_compaction_end(event: &Event, end: &CompactionEnd) {
    macro_rules! write_at {
        ($level:ident, $error:expr) => {
            $level!(
                target: TARGET,
                job_id = end.job_id,
                keyspace = &*end.keyspace,
                kind = end.kind.word(),
                reason = end.reason.word(),
                output_level = end.output_level as u64,
                input_file_count = end.input_file_count as u64,
                read_bytes = end.read_bytes,
                output_file_count = end.output_file_count as u64,
                written_bytes = end.written_bytes,
                elapsed_us = micros(end.elapsed),
                ok = end.outcome.is_ok(),
                error = $error,
                "{}", event.name()
            )
        };
    }
    match text_of(&end.outcome) {
        None => write_at!(info, tracing::field::Empty),
        Some(error) => write_at!(warn, error),
    }
}

fn write_value_flush(event: &Event) {
    match event {
        Event::ValueFlushBegin(begin) => debug!(
            target: TARGET,
            job_id = begin.job_id,
            bytes = begin.bytes,
            "{}", event.name()
        ),
        Event::ValueFlushEnd(end) => match text_of(&end.outcome) {
            None => info!(
                target: TARGET,
                job_id = end.job_id,
                left_bytes = end.left_bytes,
                elapsed_us = micros(end.elapsed),
                ok = true,
                "{}", event.name()
            ),
            Some(error) => warn!(
                target: TARGET,
                job_id = end.job_id,
                left_bytes = end.left_bytes,
                elapsed_us = micros(end.elapsed),
                ok = false,
                error,
                "{}", event.name()
            ),
        },
        _ => {}
    }
}

fn write_stall(event: &Event) {
    match event {
        Event::WriteStallBegin(begin) => warn!(
            target: TARGET,
            cause = begin.cause.word(),
            keyspace = begin.keyspace.as_deref(),
            rate_bytes_s = begin.rate_bytes_s,
            "{}", event.name()
        ),
        Event::WriteStallEnd(end) => info!(
            target: TARGET,
            cause = end.cause.word(),
            keyspace = end.keyspace.as_deref(),
            elapsed_us = micros(end.elapsed),
            "{}", event.name()
        ),
        _ => {}
    }
}

fn write_trouble(event: &Event) {
    match event {
        Event::BackgroundError(failed) => warn!(
            target: TARGET,
            job = failed.job.word(),
            is_read_only = failed.is_read_only,
            error = %failed.error,
            "{}", event.name()
        ),
        Event::WritesRefused(refused) if refused.is_final => error!(
            target: TARGET,
            is_final = true,
            error = %refused.error,
            "{}", event.name()
        ),
        Event::WritesRefused(refused) => warn!(
            target: TARGET,
            is_final = false,
            error = %refused.error,
            "{}", event.name()
        ),
        Event::WritesResumed => info!(target: TARGET, "{}", event.name()),
        _ => {}
    }
}

fn write_file(event: &Event) {
    match event {
        Event::FileCreated(file) => debug!(
            target: TARGET,
            kind = file.kind.word(),
            number = file.number,
            path = %file.path.display(),
            bytes = file.bytes,
            recycled = file.recycled,
            "{}", event.name()
        ),
        Event::FileDeleted(file) => debug!(
            target: TARGET,
            kind = file.kind.word(),
            number = file.number,
            path = %file.path.display(),
            bytes = file.bytes,
            "{}", event.name()
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
