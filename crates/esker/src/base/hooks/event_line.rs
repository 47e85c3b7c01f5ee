//! An event as one line of text.

use std::fmt::{self, Debug, Display, Formatter};
use std::path::Path;
use std::time::Duration;

use crate::base::hooks::events::Event;
use crate::base::types::error::{Error, Result};

/// The event's name, then `key=value` pairs with a space between them; texts that a user chose, and
/// messages, are in quotes, as Rust writes them. Times are in microseconds.
impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut line = Line(f);
        line.0.write_str(self.name())?;
        match self {
            Event::DatabaseOpened(opened) => {
                line.path(&opened.path)?;
                line.pair("read_only", opened.is_read_only)?;
                line.pair("replayed_batches", opened.replayed_batches)?;
                line.elapsed(opened.elapsed)
            }
            Event::DatabaseClosed(closed) => {
                line.path(&closed.path)?;
                line.outcome(&closed.outcome)
            }
            Event::FlushBegin(begin) => {
                line.job(begin.job_id, &begin.keyspace)?;
                line.pair("reason", begin.reason)?;
                line.pair("memtables", begin.memtable_count)?;
                line.pair("entries", begin.entry_count)?;
                line.pair("bytes", begin.memtable_bytes)
            }
            Event::FlushEnd(end) => {
                line.job(end.job_id, &end.keyspace)?;
                line.pair("reason", end.reason)?;
                line.pair("files", end.file_count)?;
                line.pair("bytes", end.bytes)?;
                line.elapsed(end.elapsed)?;
                line.outcome(&end.outcome)
            }
            Event::ValueFlushBegin(begin) => {
                line.pair("job", begin.job_id)?;
                line.pair("bytes", begin.bytes)
            }
            Event::ValueFlushEnd(end) => {
                line.pair("job", end.job_id)?;
                line.pair("left_bytes", end.left_bytes)?;
                line.elapsed(end.elapsed)?;
                line.outcome(&end.outcome)
            }
            Event::CompactionBegin(_) | Event::CompactionEnd(_) => line.compaction(self),
            Event::WriteStallBegin(_) | Event::WriteStallEnd(_) => line.stall(self),
            Event::BackgroundError(failed) => {
                line.pair("job", failed.job)?;
                line.pair("read_only", failed.is_read_only)?;
                line.error(&failed.error)
            }
            Event::WritesRefused(refused) => {
                line.pair("final", refused.is_final)?;
                line.error(&refused.error)
            }
            Event::FileCreated(_) | Event::FileDeleted(_) => line.file(self),
            Event::EventsLost(count) => line.pair("count", count),
            Event::WritesResumed => Ok(()),
        }
    }
}

struct Line<'a, 'b>(&'a mut Formatter<'b>);

impl Line<'_, '_> {
    fn pair(&mut self, key: &str, value: impl Display) -> fmt::Result {
        write!(self.0, " {key}={value}")
    }

    fn text(&mut self, key: &str, value: impl Debug) -> fmt::Result {
        write!(self.0, " {key}={value:?}")
    }

    fn path(&mut self, path: &Path) -> fmt::Result {
        self.text("path", path)
    }

    fn job(&mut self, id: u64, keyspace: &str) -> fmt::Result {
        self.pair("job", id)?;
        self.text("keyspace", keyspace)
    }

    fn elapsed(&mut self, elapsed: Duration) -> fmt::Result {
        self.pair("elapsed_us", elapsed.as_micros())
    }

    fn error(&mut self, error: &Error) -> fmt::Result {
        self.text("kind", error.kind().word())?;
        self.text("error", error.to_string())
    }

    fn outcome(&mut self, outcome: &Result<()>) -> fmt::Result {
        match outcome {
            Ok(()) => self.pair("ok", true),
            Err(error) => {
                self.pair("ok", false)?;
                self.error(error)
            }
        }
    }

    fn compaction(&mut self, event: &Event) -> fmt::Result {
        match event {
            Event::CompactionBegin(begin) => {
                self.job(begin.job_id, &begin.keyspace)?;
                self.pair("kind", begin.kind)?;
                self.pair("reason", begin.reason)?;
                for input in &begin.inputs {
                    let key = format!("from_l{}", input.level);
                    let (files, bytes) = (input.file_count, input.bytes);
                    self.pair(&key, format_args!("{files}:{bytes}"))?;
                }
                self.pair("to_level", begin.output_level)?;
                self.pair("parts", begin.subcompaction_count)
            }
            Event::CompactionEnd(end) => {
                self.job(end.job_id, &end.keyspace)?;
                self.pair("kind", end.kind)?;
                self.pair("reason", end.reason)?;
                self.pair("to_level", end.output_level)?;
                self.pair("files_in", end.input_file_count)?;
                self.pair("read_bytes", end.read_bytes)?;
                self.pair("files_out", end.output_file_count)?;
                self.pair("written_bytes", end.written_bytes)?;
                self.elapsed(end.elapsed)?;
                self.outcome(&end.outcome)
            }
            _ => Ok(()),
        }
    }

    fn stall(&mut self, event: &Event) -> fmt::Result {
        let (cause, keyspace) = match event {
            Event::WriteStallBegin(begin) => (begin.cause, &begin.keyspace),
            Event::WriteStallEnd(end) => (end.cause, &end.keyspace),
            _ => return Ok(()),
        };
        self.pair("cause", cause)?;
        if let Some(keyspace) = keyspace {
            self.text("keyspace", keyspace)?;
        }
        match event {
            Event::WriteStallBegin(begin) => match begin.rate_bytes_s {
                Some(rate) => self.pair("rate_bytes_s", rate),
                None => Ok(()),
            },
            Event::WriteStallEnd(end) => self.elapsed(end.elapsed),
            _ => Ok(()),
        }
    }

    fn file(&mut self, event: &Event) -> fmt::Result {
        let (kind, number, path, bytes) = match event {
            Event::FileCreated(file) => (file.kind, file.number, &file.path, Some(file.bytes)),
            Event::FileDeleted(file) => (file.kind, file.number, &file.path, file.bytes),
            _ => return Ok(()),
        };
        self.pair("kind", kind)?;
        self.pair("number", number)?;
        if let Some(bytes) = bytes {
            self.pair("bytes", bytes)?;
        }
        if let Event::FileCreated(file) = event
            && let Some(recycled) = file.recycled
        {
            self.pair("recycled", recycled)?;
        }
        self.path(path)
    }
}

#[cfg(test)]
mod tests;
