//! The log back into memtables, after a crash or a close.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::env::fs::Fs;
use crate::store::batch::reader::BatchReader;
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::names::FileName;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::reader::{Tail, WalReader};

/// Where replayed entries of one keyspace go.
pub struct ReplayTarget {
    /// Entries up to this number lie in sorted files already.
    pub flushed: SeqNo,
    /// Bytes after which a memtable is full and the next is begun.
    pub limit_bytes: usize,
    /// Makes the next memtable.
    pub fresh: Box<dyn Fn() -> MemtableWriter + Send>,
    /// Memtables filled so far, oldest first; never empty ones.
    pub filled: Vec<Replayed>,
}

/// A memtable made from the log.
pub struct Replayed {
    /// Its entries.
    pub writer: MemtableWriter,
    /// Oldest segment that holds any of them.
    pub first_log: FileNumber,
    /// The last write to the keyspace that lies in it.
    pub last_seqno: SeqNo,
}

impl Replayed {
    /// The entries.
    pub fn table(&self) -> &Arc<Memtable> {
        self.writer.table()
    }
}

/// What replay found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReplayReport {
    /// Segments read.
    pub segment_count: usize,
    /// Batches put back.
    pub batch_count: u64,
    /// Bytes of batches put back.
    pub batch_bytes: u64,
    /// Bytes behind the last whole batch that were dropped, as a crash leaves them.
    pub torn_bytes: u64,
    /// Where the last dropped bytes began.
    pub torn_at: Option<(FileNumber, u64)>,
    /// Segments behind a lost part, dropped whole; a writer removes them before it goes on.
    pub dropped_segments: Vec<FileNumber>,
    /// The last sequence number seen anywhere.
    pub last_seqno: SeqNo,
    /// Where the log ends: the last segment with anything in it, and the end of its last record.
    pub end: Option<(FileNumber, u64)>,
    newest_batch: SeqNo,
}

/// Reads `segments`, oldest first, into the targets; entries of keyspaces that have none were
/// dropped with their keyspace. Returns the last sequence number seen (at least `last_seqno`).
///
/// What survives is a prefix of the log: behind a segment whose end is lost nothing is read. If
/// a later segment proves that the lost bytes were once durable, that is `Corruption`; so is a
/// segment from `first_log` on that is not there.
pub fn replay(
    fs: &dyn Fs,
    dir: &Path,
    segments: &[FileNumber],
    first_log: FileNumber,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
    last_seqno: SeqNo,
) -> Result<ReplayReport> {
    let mut report = ReplayReport {
        last_seqno,
        ..ReplayReport::default()
    };
    for (index, &number) in segments.iter().enumerate() {
        let name = FileName::Wal(number).to_string();
        let mut reader = WalReader::new(fs.open_read(&dir.join(&name))?, number);
        let Some(head) = read_head(&mut reader).map_err(|error| error.in_file(&name))? else {
            note_torn(&reader, number, &mut report);
            continue;
        };
        check_present(head, segments, first_log)?;
        if let Some(lost) = lost_before(head, report.end, first_log) {
            return stop_behind_loss(fs, dir, lost, &segments[index..], report);
        }
        read_segment(&mut reader, number, targets, &mut report)
            .map_err(|error| error.in_file(&name))?;
        report.segment_count += 1;
        report.end = Some((number, reader.record_end()));
        note_torn(&reader, number, &mut report);
    }
    Ok(report)
}

// A segment without a head was prepared and never used, or lost everything in a power cut.
fn read_head(reader: &mut WalReader) -> Result<Option<SegmentHead>> {
    let Some(record) = reader.next()? else {
        return Ok(None);
    };
    SegmentHead::decode(record).map(Some)
}

fn read_segment(
    reader: &mut WalReader,
    number: FileNumber,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
    report: &mut ReplayReport,
) -> Result<()> {
    while let Some(record) = reader.next()? {
        if record.is_empty() {
            // Written after a sync, for its durable mark alone.
            continue;
        }
        let batch = BatchReader::new(record)?;
        // Whole before any of it is applied: a batch is all or nothing.
        batch.check()?;
        if batch.first_seqno() <= report.newest_batch {
            let message = "a batch repeats sequence numbers of an earlier one";
            return Err(Error::corruption(message));
        }
        report.newest_batch = put_back(&batch, number, targets)?;
        report.last_seqno = report.last_seqno.max(report.newest_batch);
        report.batch_count += 1;
        report.batch_bytes += record.len() as u64;
    }
    Ok(())
}

/// Puts the entries of a batch that are in no sorted file into memtables; returns the number of
/// its last entry.
fn put_back(
    batch: &BatchReader<'_>,
    number: FileNumber,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
) -> Result<SeqNo> {
    let mut last = batch.first_seqno();
    for entry in batch.entries() {
        let entry = entry?;
        last = entry.trailer.seqno();
        let Some(target) = targets.get_mut(&entry.keyspace) else {
            continue;
        };
        if last <= target.flushed {
            continue;
        }
        let is_full = target
            .filled
            .last()
            .is_none_or(|replayed| replayed.table().used_bytes() >= target.limit_bytes);
        if is_full {
            let writer = (target.fresh)();
            target.filled.push(Replayed {
                writer,
                first_log: number,
                last_seqno: last,
            });
        }
        let replayed = target
            .filled
            .last_mut()
            .expect("one was pushed when there was none");
        replayed
            .writer
            .insert(entry.trailer, entry.key, entry.value);
        replayed.last_seqno = last;
    }
    Ok(last)
}

// A segment's directory entry is durable before its successor is begun, so no crash takes one
// out of the middle.
fn check_present(head: SegmentHead, segments: &[FileNumber], first_log: FileNumber) -> Result<()> {
    match head.previous {
        Some((previous, _)) if previous >= first_log && !segments.contains(&previous) => {
            let message = "a segment of the log is missing; `esker repair --dry-run` tells what \
                           would be lost";
            Err(Error::corruption(message).in_file(FileName::Wal(previous)))
        }
        _ => Ok(()),
    }
}

/// Where the log was lost, if the segment before the one with this head does not reach as far
/// as the head says.
fn lost_before(
    head: SegmentHead,
    end: Option<(FileNumber, u64)>,
    first_log: FileNumber,
) -> Option<(FileNumber, u64)> {
    let (previous, previous_end) = head.previous?;
    match end {
        // The segments before the first needed one hold only entries that are in sorted files.
        None if previous < first_log => None,
        // Not even its head is left of the segment before.
        None => Some((previous, 0)),
        Some((number, end)) if number == previous && end >= previous_end => None,
        Some(lost) => Some(lost),
    }
}

/// Drops `rest`, the segments behind a loss, unless one of them proves that what was lost had
/// been durable.
fn stop_behind_loss(
    fs: &dyn Fs,
    dir: &Path,
    lost: (FileNumber, u64),
    rest: &[FileNumber],
    mut report: ReplayReport,
) -> Result<ReplayReport> {
    for &number in rest {
        let name = FileName::Wal(number).to_string();
        let mut reader = WalReader::new(fs.open_read(&dir.join(&name))?, number);
        while let Some(record) = reader.next().map_err(|error| error.in_file(&name))? {
            report.torn_bytes += record.len() as u64;
        }
        if reader.durable_mark() > 0 {
            let message = format!(
                "records of the log are damaged or missing, and {name} proves that they were \
                 durable; `esker repair --dry-run` tells what would be lost"
            );
            let file = FileName::Wal(lost.0).to_string();
            return Err(Error::corruption(message).in_file(file).at_offset(lost.1));
        }
        report.dropped_segments.push(number);
    }
    report.torn_at.get_or_insert(lost);
    Ok(report)
}

fn note_torn(reader: &WalReader, number: FileNumber, report: &mut ReplayReport) {
    if let Tail::Torn {
        offset,
        dropped_bytes,
    } = reader.tail()
    {
        report.torn_bytes += dropped_bytes;
        report.torn_at = Some((number, offset));
    }
}

#[cfg(test)]
mod tests;
