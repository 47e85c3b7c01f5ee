//! The log back into memtables, after a crash or a close.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::env::fs::Fs;
use crate::store::batch::reader::BatchReader;
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::names::FileName;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::wal::format::EARLIER_DURABLE;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::reader::{Tail, WalReader};

/// Where replayed entries of one keyspace go.
pub struct ReplayTarget {
    /// Entries up to this number lie in sorted files already.
    pub flushed: SeqNo,
    /// Bytes after which a memtable is full and the next is begun.
    pub limit_bytes: usize,
    /// Bytes of large values that it may name before.
    pub values_limit_bytes: u64,
    /// Makes the next memtable.
    pub fresh: Box<dyn Fn() -> MemtableWriter + Send>,
    /// Memtables filled so far, oldest first; never empty ones.
    pub filled: Vec<Replayed>,
}

impl ReplayTarget {
    fn is_full(&self, table: &Memtable) -> bool {
        table.used_bytes() >= self.limit_bytes || table.values().bytes() >= self.values_limit_bytes
    }
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

/// Where a log is read from.
#[derive(Clone, Copy)]
pub struct ReplaySource<'a> {
    /// Where its files lie.
    pub fs: &'a dyn Fs,
    /// The directory.
    pub dir: &'a Path,
    /// Its segments, oldest first.
    pub segments: &'a [FileNumber],
    /// The first one that may hold something that is not in sorted files.
    pub first_log: FileNumber,
    /// Where large values are read.
    pub values: &'a OpenValues,
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

/// Reads a log, oldest segment first, into the targets; entries of keyspaces that have none were
/// dropped with their keyspace. Returns the last sequence number seen (at least `last_seqno`).
///
/// What survives is a prefix of the log: behind a segment whose end is lost nothing is read. If
/// a later segment proves that the lost bytes were once durable, that is `Corruption`; so is a
/// segment from `first_log` on that is not there.
///
/// Large values are not read: each was durable before any record that points to it. Only where
/// nothing proves that a record was durable, its values are held against their checksums; the
/// first that is not there is where the log is torn.
pub fn replay(
    source: &ReplaySource<'_>,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
    last_seqno: SeqNo,
) -> Result<ReplayReport> {
    let mut report = ReplayReport {
        last_seqno,
        ..ReplayReport::default()
    };
    let segments = source.segments;
    let mut proof = Proof::default();
    for (index, &number) in segments.iter().enumerate() {
        let name = FileName::Wal(number);
        let mut reader = source.reader(number)?;
        let Some(head) = read_head(&mut reader).map_err(|error| error.in_file(name))? else {
            note_torn(&reader, number, &mut report);
            continue;
        };
        check_present(head, segments, source.first_log)?;
        if let Some(lost) = lost_before(head, report.end, source.first_log) {
            return stop_behind_loss(source, lost, &segments[index..], report);
        }
        let next = segments.get(index + 1).copied();
        let mut segment = SegmentReplay {
            source,
            number,
            limit: source.end_by_next(number, next)?,
            proof: &mut proof,
            end: reader.record_end(),
        };
        segment
            .read(&mut reader, targets, &mut report)
            .map_err(|error| error.in_file(name))?;
        report.segment_count += 1;
        report.end = Some((number, segment.end));
    }
    Ok(report)
}

impl ReplaySource<'_> {
    fn reader(&self, number: FileNumber) -> Result<WalReader> {
        let name = FileName::Wal(number).to_string();
        let file = self.fs.open_read(&self.dir.join(name))?;
        Ok(WalReader::new(file, number))
    }

    /// Where segment `next` says that `number`, the one before, ended. What lies behind was
    /// dropped by the recovery that began `next`, and is no part of the log, however whole.
    fn end_by_next(&self, number: FileNumber, next: Option<FileNumber>) -> Result<Option<u64>> {
        let Some(next) = next else {
            return Ok(None);
        };
        let head = read_head(&mut self.reader(next)?);
        let head = head.map_err(|error| error.in_file(FileName::Wal(next)))?;
        let previous = head.and_then(|head| head.previous);
        let own = previous.filter(|(before, _)| *before == number);
        Ok(own.map(|(_, end)| end))
    }

    /// How far records prove the log to have been durable.
    fn proven_end(&self) -> Result<(FileNumber, u64)> {
        for &number in self.segments.iter().rev() {
            let mut reader = self.reader(number)?;
            let mut next = || reader.next().map(|record| record.is_some());
            while next().map_err(|error| error.in_file(FileName::Wal(number)))? {}
            match reader.durable_mark() {
                0 => {}
                // Of its own segment this mark says nothing.
                EARLIER_DURABLE => return Ok((number, 0)),
                mark => return Ok((number, mark)),
            }
        }
        Ok((FileNumber(0), 0))
    }
}

/// How far the log was proven to be durable; found out when first asked, because it takes
/// reading the newest segments once more.
#[derive(Default)]
struct Proof {
    end: Option<(FileNumber, u64)>,
}

impl Proof {
    fn covers(&mut self, source: &ReplaySource<'_>, end: (FileNumber, u64)) -> Result<bool> {
        let proven = match self.end {
            Some(proven) => proven,
            None => *self.end.insert(source.proven_end()?),
        };
        Ok(end <= proven)
    }
}

/// One segment on its way into the targets.
struct SegmentReplay<'a> {
    source: &'a ReplaySource<'a>,
    number: FileNumber,
    /// Where it ends, however much lies behind.
    limit: Option<u64>,
    proof: &'a mut Proof,
    /// Behind the last record that counts.
    end: u64,
}

impl SegmentReplay<'_> {
    fn read(
        &mut self,
        reader: &mut WalReader,
        targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
        report: &mut ReplayReport,
    ) -> Result<()> {
        while let Some(record) = reader.next_placed()? {
            if self.limit.is_some_and(|limit| record.end > limit) {
                return Ok(());
            }
            let (offset, end) = (record.offset, record.end);
            // An empty one was written after a sync, for its durable mark alone.
            if !record.payload.is_empty() {
                let batch = BatchReader::new(record.payload)?;
                // Whole before any of it is applied: a batch is all or nothing.
                batch.check()?;
                if batch.first_seqno() <= report.newest_batch {
                    let message = "a batch repeats sequence numbers of an earlier one";
                    return Err(Error::corruption(message));
                }
                if !self.has_its_values(&batch, end, targets)? {
                    return drop_rest(reader, (self.number, offset), report);
                }
                report.newest_batch = put_back(&batch, self.number, targets)?;
                report.last_seqno = report.last_seqno.max(report.newest_batch);
                report.batch_count += 1;
                report.batch_bytes += record.payload.len() as u64;
            }
            self.end = end;
        }
        note_torn(reader, self.number, report);
        Ok(())
    }

    /// Whether every large value that a batch brings is there: known of a batch that was durable,
    /// and looked at otherwise.
    fn has_its_values(
        &mut self,
        batch: &BatchReader<'_>,
        end: u64,
        targets: &BTreeMap<KeyspaceId, ReplayTarget>,
    ) -> Result<bool> {
        for entry in batch.entries() {
            let entry = entry?;
            let place = Entry {
                key: entry.key,
                trailer: entry.trailer,
                value: entry.value,
            };
            let Some(pointer) = ValuePointer::of(&place)? else {
                continue;
            };
            // Values of flushed entries may have been moved or removed since.
            let is_wanted = |target: &ReplayTarget| entry.trailer.seqno() > target.flushed;
            if !targets.get(&entry.keyspace).is_some_and(is_wanted) {
                continue;
            }
            if self.proof.covers(self.source, (self.number, end))? {
                return Ok(true);
            }
            match self.source.values.value(&pointer) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Corruption => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Counts what lies from `place` on as torn off.
fn drop_rest(
    reader: &mut WalReader,
    place: (FileNumber, u64),
    report: &mut ReplayReport,
) -> Result<()> {
    let end_before = reader.record_end();
    while reader.next()?.is_some() {}
    report.torn_bytes += reader.record_end().max(end_before) - place.1;
    note_torn(reader, place.0, report);
    report.torn_at = Some(place);
    Ok(())
}

// A segment without a head was prepared and never used, or lost everything in a power cut.
fn read_head(reader: &mut WalReader) -> Result<Option<SegmentHead>> {
    let Some(record) = reader.next()? else {
        return Ok(None);
    };
    SegmentHead::decode(record).map(Some)
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
            .is_none_or(|replayed| target.is_full(replayed.table()));
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
    source: &ReplaySource<'_>,
    lost: (FileNumber, u64),
    rest: &[FileNumber],
    mut report: ReplayReport,
) -> Result<ReplayReport> {
    for &number in rest {
        let name = FileName::Wal(number);
        let mut reader = source.reader(number)?;
        while let Some(record) = reader.next().map_err(|error| error.in_file(name))? {
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
