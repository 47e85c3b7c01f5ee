//! What listeners hear of a job in the background: that it begins, how it ended, and why it failed.

use std::sync::Arc;
use std::time::Duration;

use crate::base::hooks::event_reasons::BackgroundJob;
use crate::base::hooks::events::{
    BackgroundError, CompactionBegin, CompactionEnd, CompactionInput, DatabaseClosed, Event,
    FlushBegin, FlushEnd, ValueFlushBegin, ValueFlushEnd,
};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::env::clock::Clock;
use crate::flow::compact::plan::{Input, Plan};
use crate::flow::current::Sealed;
use crate::flow::event_queue::EventQueue;
use crate::flow::file_events;
use crate::store::names::FileName;
use crate::store::version::file::FileRecord;

/// A job whose begin was told; its end is told by [`JobEvents::end`], or, after a panic, when this
/// is dropped.
pub struct JobEvents {
    events: EventQueue,
    clock: Arc<dyn Clock>,
    began: Duration,
    /// What is to be told at the end; `None` where nobody listens.
    end: Option<Event>,
}

impl JobEvents {
    /// A flush of these memtables begins.
    pub fn flush(core: &Core, parts: &KeyspaceParts, sealed: &[Sealed]) -> JobEvents {
        let Some(first) = sealed.first().filter(|_| core.events.is_heard()) else {
            return JobEvents::begin(core, None);
        };
        let (job_id, reason) = (core.events.next_job_id(), first.reason);
        let tables = || sealed.iter().map(|sealed| &sealed.table);
        let begin = FlushBegin {
            job_id,
            keyspace: parts.name.clone(),
            reason,
            memtable_count: sealed.len(),
            entry_count: tables().map(|table| table.entry_count() as u64).sum(),
            memtable_bytes: tables().map(|table| table.used_bytes() as u64).sum(),
        };
        let end = FlushEnd {
            job_id,
            keyspace: parts.name.clone(),
            reason,
            file_count: 0,
            bytes: 0,
            elapsed: Duration::ZERO,
            outcome: Ok(()),
        };
        JobEvents::begin(core, Some((Event::FlushBegin(begin), Event::FlushEnd(end))))
    }

    /// A compaction begins, in so many parts.
    pub fn compaction(
        core: &Core,
        parts: &KeyspaceParts,
        plan: &Plan,
        part_count: usize,
    ) -> JobEvents {
        if !core.events.is_heard() {
            return JobEvents::begin(core, None);
        }
        let job_id = core.events.next_job_id();
        let begin = CompactionBegin {
            job_id,
            keyspace: parts.name.clone(),
            kind: plan.kind,
            reason: plan.reason,
            inputs: plan.inputs.iter().map(told_input).collect(),
            output_level: plan.output.index(),
            subcompaction_count: part_count,
        };
        let end = CompactionEnd {
            job_id,
            keyspace: parts.name.clone(),
            kind: plan.kind,
            reason: plan.reason,
            output_level: plan.output.index(),
            input_file_count: plan.files().count(),
            read_bytes: plan.read_bytes(),
            output_file_count: 0,
            written_bytes: 0,
            elapsed: Duration::ZERO,
            outcome: Ok(()),
        };
        let told = (Event::CompactionBegin(begin), Event::CompactionEnd(end));
        JobEvents::begin(core, Some(told))
    }

    /// A flush of large values begins.
    pub fn value_flush(core: &Core) -> JobEvents {
        if !core.events.is_heard() {
            return JobEvents::begin(core, None);
        }
        let job_id = core.events.next_job_id();
        let begin = ValueFlushBegin {
            job_id,
            bytes: core.values.unflushed_bytes(),
        };
        let end = ValueFlushEnd {
            job_id,
            left_bytes: 0,
            elapsed: Duration::ZERO,
            outcome: Ok(()),
        };
        let told = (Event::ValueFlushBegin(begin), Event::ValueFlushEnd(end));
        JobEvents::begin(core, Some(told))
    }

    fn begin(core: &Core, told: Option<(Event, Event)>) -> JobEvents {
        let end = told.map(|(begin, end)| {
            core.events.note(|| begin);
            end
        });
        JobEvents {
            events: core.events.clone(),
            clock: Arc::clone(&core.env.clock),
            began: core.env.clock.monotonic(),
            end,
        }
    }

    /// Says what it put into the tree.
    pub fn set_made(&mut self, made_count: usize, made_bytes: u64) {
        match &mut self.end {
            Some(Event::FlushEnd(end)) => (end.file_count, end.bytes) = (made_count, made_bytes),
            Some(Event::CompactionEnd(end)) => {
                (end.output_file_count, end.written_bytes) = (made_count, made_bytes);
            }
            _ => {}
        }
    }

    /// Says how much was left over of what it was to flush.
    pub fn set_left(&mut self, bytes: u64) {
        if let Some(Event::ValueFlushEnd(end)) = &mut self.end {
            end.left_bytes = bytes;
        }
    }

    /// It ended so.
    pub fn end(&mut self, outcome: &Result<()>) {
        let Some(mut event) = self.end.take() else {
            return;
        };
        let took = self.clock.monotonic().saturating_sub(self.began);
        let result = again(outcome);
        match &mut event {
            Event::FlushEnd(end) => (end.elapsed, end.outcome) = (took, result),
            Event::CompactionEnd(end) => (end.elapsed, end.outcome) = (took, result),
            Event::ValueFlushEnd(end) => (end.elapsed, end.outcome) = (took, result),
            _ => {}
        }
        self.events.note(|| event);
    }
}

impl Drop for JobEvents {
    fn drop(&mut self) {
        if self.end.is_some() {
            let message = "the work panicked, or was given up before it began";
            self.end(&Err(Error::new(ErrorKind::Faulted, message)));
        }
    }
}

fn told_input(input: &Input) -> CompactionInput {
    let files = || input.runs.iter().flatten();
    CompactionInput {
        level: input.level.index(),
        file_count: files().count(),
        bytes: files().map(|file| file.size_bytes).sum(),
    }
}

fn again(outcome: &Result<()>) -> Result<()> {
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => Err(error.again()),
    }
}

/// The database was closed, and how.
pub fn note_closed(core: &Core, outcome: &Result<()>) {
    core.events.note(|| {
        Event::DatabaseClosed(DatabaseClosed {
            path: core.dir.clone(),
            outcome: again(outcome),
        })
    });
}

/// Sorted files that a job has finished.
pub fn note_made<'a>(core: &Core, files: impl IntoIterator<Item = &'a FileRecord>) {
    for file in files {
        let name = FileName::Sst(file.number);
        file_events::note_created(&core.events, &core.dir, (name, file.size_bytes), None);
    }
}

/// A job failed: remembered for the statistics, and told. Called when the gate knows of it.
pub fn note_failure(core: &Core, job: BackgroundJob, error: &Error) {
    core.work.note_failure(doing(job), error);
    note_error(core, job, error);
}

/// As [`note_failure`], of a failure that the statistics have already.
pub fn note_error(core: &Core, job: BackgroundJob, error: &Error) {
    if !core.events.is_news(core.gate.fault().is_some()) {
        return;
    }
    core.events.note(|| {
        Event::BackgroundError(BackgroundError {
            job,
            error: error.again(),
            is_read_only: core.gate.fault().is_some() || core.gate.full().is_some(),
        })
    });
}

/// What stands before the error in the statistics.
pub fn doing(job: BackgroundJob) -> &'static str {
    match job {
        BackgroundJob::Flush => "flush",
        BackgroundJob::ValueFlush => "flush large values",
        BackgroundJob::Compaction => "compact",
        BackgroundJob::Training => "train a dictionary",
        BackgroundJob::PrepareWal => "prepare a log segment",
        BackgroundJob::SyncWal => "sync a finished log segment",
        BackgroundJob::Space => "look at the free space",
        BackgroundJob::Panicked => "run in the background",
    }
}
