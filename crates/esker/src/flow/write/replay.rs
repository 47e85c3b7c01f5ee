//! The log back into memtables, after a crash or a close.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::env::fs::Fs;
use crate::flow::write::chain::{Front, Link, chain, check_present, lost_before};
use crate::flow::write::strays::{never_created, of_unlogged};
use crate::store::batch::prepared_log::{Effect, LoggedPrepare, PreparedLog};
use crate::store::batch::reader::BatchReader;
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::names::FileName;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;
use crate::store::wal::format::EARLIER_DURABLE;
use crate::store::wal::reader::{Tail, WalReader};

/// Where replayed entries of one keyspace go.
pub struct ReplayTarget {
    /// Entries up to this number lie in sorted files already.
    pub flushed: SeqNo,
    /// Whether the keyspace is unlogged: no record may have an entry of it.
    pub is_unlogged: bool,
    /// Bytes after which a memtable is full and the next is begun.
    pub limit_bytes: usize,
    /// Bytes of large values that it may name before.
    pub values_limit_bytes: u64,
    /// Makes the next memtable; `None` where entries are only looked at.
    pub fresh: Option<Box<dyn Fn() -> MemtableWriter + Send>>,
    /// Memtables filled so far, oldest first; never empty ones.
    pub filled: Vec<Replayed>,
}

impl ReplayTarget {
    /// Entries behind `flushed` are looked at, and kept nowhere.
    pub fn nowhere(flushed: SeqNo) -> ReplayTarget {
        ReplayTarget {
            flushed,
            is_unlogged: false,
            limit_bytes: 0,
            values_limit_bytes: 0,
            fresh: None,
            filled: Vec::new(),
        }
    }

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

/// Whether the newest value that sorted files have of a key is the one at a pointer.
pub type IsInFiles<'a> = dyn Fn(KeyspaceId, &[u8], &ValuePointer) -> Result<bool> + 'a;

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
    /// Keyspaces with smaller ids were created, and whichever has no target was dropped since.
    pub next_keyspace: KeyspaceId,
    /// Where large values are read.
    pub values: &'a OpenValues,
    /// Asked where a value is damaged: it may be older than the log.
    pub is_in_files: &'a IsInFiles<'a>,
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
    /// Records read of transactions that are prepared, committed or rolled back.
    pub two_phase_count: u64,
    /// The transactions that are prepared and have not ended.
    pub prepared: Vec<LoggedPrepare>,
    /// Bytes behind the last whole batch that were dropped, as a crash leaves them.
    pub torn_bytes: u64,
    /// Intact records among them. A power cut leaves such where it let later pages through and
    /// earlier ones not, and so does damage: nothing tells the two apart.
    pub torn_records: u64,
    /// The segments with such records, and where what belongs to the log ends in each.
    pub torn_segments: Vec<(FileNumber, u64)>,
    /// Where the first dropped bytes began; `None` when nothing was cut off.
    pub torn_at: Option<(FileNumber, u64)>,
    /// Segments that are no part of the log: without a head, passed over by a later one, or behind
    /// a lost part. A writer removes them before it goes on.
    pub dropped_segments: Vec<FileNumber>,
    /// The last sequence number seen anywhere.
    pub last_seqno: SeqNo,
    /// Where the log ends: the last segment with anything in it, and the end of its last record.
    pub end: Option<(FileNumber, u64)>,
    newest_batch: SeqNo,
}

impl ReplayReport {
    fn check_newer(&self, batch: &BatchReader<'_>) -> Result<()> {
        if batch.first_seqno() > self.newest_batch {
            return Ok(());
        }
        let message = "a batch repeats sequence numbers of an earlier one";
        Err(Error::corruption(message))
    }

    fn note_intact(&mut self, number: FileNumber, end: u64, intact_count: u64) {
        if intact_count == 0 {
            return;
        }
        self.torn_records += intact_count;
        match self.torn_segments.last_mut() {
            Some((last, known)) if *last == number => *known = end.max(*known),
            _ => self.torn_segments.push((number, end)),
        }
    }
}

/// Reads a log, oldest segment first, into the targets; entries of keyspaces that have none were
/// dropped with their keyspace. Returns the last sequence number seen (at least `last_seqno`).
///
/// What survives is a prefix of the log: behind a segment whose end is lost nothing is read, and
/// what an earlier recovery has cut off is no part of it (`flow/write/chain`). If
/// a later segment proves that the lost bytes were once durable, that is `Corruption`; so is a
/// segment from `first_log` on that is not there, and an entry of a keyspace that was never
/// created: the manifest says so durably before anything is written to one.
///
/// Transactions that are prepared come with the report. One that names a keyspace which was dropped
/// is `Corruption`: that is refused while it is prepared.
///
/// Large values are not read: each was durable before any record that points to it. Only where
/// nothing proves that a record was durable, its values are held against their checksums; the
/// first that is not there is where the log is torn. A record that gives an older value another end
/// brings none: where that is damaged, nothing else is lost over it.
pub fn replay(
    source: &ReplaySource<'_>,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
    last_seqno: SeqNo,
) -> Result<ReplayReport> {
    let mut report = ReplayReport {
        last_seqno,
        ..ReplayReport::default()
    };
    let mut prepared = PreparedLog::default();
    let links = chain(source.fs, source.dir, source.segments)?;
    let mut proof = Proof::of(&links);
    for (index, link) in links.iter().enumerate() {
        if !link.is_part {
            source.drop_unneeded(link, &mut report);
            continue;
        }
        let head = match &link.front {
            Front::Head(head) => *head,
            Front::Nothing(tail) => {
                note_tail(*tail, link.number, &mut report);
                source.drop_unneeded(link, &mut report);
                continue;
            }
            Front::Damaged(error) => return Err(error.again()),
        };
        check_present(head, source.segments, source.first_log)?;
        if let Some(lost) = lost_before(head, report.end, source.first_log) {
            stop_behind_loss(source, lost, &links[index..], &mut report)?;
            break;
        }
        let mut reader = link.reader(source.fs, source.dir)?;
        // The head.
        reader.next()?;
        let mut segment = SegmentReplay {
            source,
            number: link.number,
            proof: &mut proof,
            prepared: &mut prepared,
            end: reader.record_end(),
        };
        segment
            .read(&mut reader, targets, &mut report)
            .map_err(|error| error.in_file(FileName::Wal(link.number)))?;
        report.segment_count += 1;
        report.end = Some((link.number, segment.end));
    }
    report.prepared = prepared.into_live();
    for prepared in &report.prepared {
        check_kept(prepared, targets)?;
    }
    Ok(report)
}

impl ReplaySource<'_> {
    fn check_created(&self, batch: &BatchReader<'_>) -> Result<()> {
        for entry in batch.entries() {
            let id = entry?.keyspace;
            if id >= self.next_keyspace {
                return Err(never_created(id));
            }
        }
        Ok(())
    }

    /// Whether a value that is damaged was there before the log, which only points to it once more.
    /// Of files that are damaged too nobody can tell.
    fn had_value(&self, keyspace: KeyspaceId, key: &[u8], pointer: &ValuePointer) -> Result<bool> {
        match (self.is_in_files)(keyspace, key, pointer) {
            Err(error) if error.kind() == ErrorKind::Corruption => Ok(false),
            known => known,
        }
    }

    /// A segment without a head, or one that is passed over, is not needed: but that which the
    /// manifest names has to be there, whatever it holds.
    fn drop_unneeded(&self, link: &Link, report: &mut ReplayReport) {
        if link.number != self.first_log {
            report.dropped_segments.push(link.number);
        }
    }

    /// How far records prove the log to have been durable.
    fn proven_end(&self, links: &[Link]) -> Result<(FileNumber, u64)> {
        for link in links.iter().rev().filter(|link| link.is_part) {
            let number = link.number;
            let mut reader = link.reader(self.fs, self.dir)?;
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
struct Proof<'a> {
    links: &'a [Link],
    end: Option<(FileNumber, u64)>,
}

impl<'a> Proof<'a> {
    fn of(links: &'a [Link]) -> Proof<'a> {
        Proof { links, end: None }
    }

    fn covers(&mut self, source: &ReplaySource<'_>, end: (FileNumber, u64)) -> Result<bool> {
        let proven = match self.end {
            Some(proven) => proven,
            None => *self.end.insert(source.proven_end(self.links)?),
        };
        Ok(end <= proven)
    }

    /// Whether every large value of a batch that ends there is there: known of a batch that was
    /// durable, and looked at otherwise.
    fn has_values(
        &mut self,
        source: &ReplaySource<'_>,
        end: (FileNumber, u64),
        (batch, targets): (&BatchReader<'_>, &BTreeMap<KeyspaceId, ReplayTarget>),
    ) -> Result<bool> {
        for entry in batch.entries() {
            let entry = entry?;
            let Some(pointer) = ValuePointer::of(&entry.in_keyspace())? else {
                continue;
            };
            // Values of flushed entries may have been moved or removed since.
            let is_wanted = |target: &ReplayTarget| entry.trailer.seqno() > target.flushed;
            if !targets.get(&entry.keyspace).is_some_and(is_wanted) {
                continue;
            }
            if self.covers(source, end)? {
                return Ok(true);
            }
            match source.values.value(&pointer) {
                Ok(_) => {}
                Err(error) if error.kind() != ErrorKind::Corruption => return Err(error),
                Err(_) if source.had_value(entry.keyspace, entry.key, &pointer)? => {}
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// One segment on its way into the targets.
struct SegmentReplay<'a, 'links> {
    source: &'a ReplaySource<'a>,
    number: FileNumber,
    proof: &'a mut Proof<'links>,
    prepared: &'a mut PreparedLog,
    /// Behind the last record that counts.
    end: u64,
}

impl SegmentReplay<'_, '_> {
    fn read(
        &mut self,
        reader: &mut WalReader,
        targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
        report: &mut ReplayReport,
    ) -> Result<()> {
        while let Some(record) = reader.next_placed()? {
            let (offset, end) = (record.offset, record.end);
            // An empty one was written after a sync, for its durable mark alone. A batch is read
            // whole before any of it is applied: it is all or nothing.
            if !record.payload.is_empty() {
                let place = (self.number, offset);
                let effect = self.prepared.follow(place, record.payload)?;
                report.two_phase_count += u64::from(effect.is_of_two_phases());
                if let Some(entries) = effect.entries() {
                    self.source.check_created(&entries)?;
                }
                if let Some(batch) = effect.written() {
                    report.check_newer(&batch)?;
                    // Those of a prepared transaction were durable before it was.
                    let end = (self.number, end);
                    if matches!(effect, Effect::Written(_))
                        && !self.proof.has_values(self.source, end, (&batch, targets))?
                    {
                        return drop_rest(reader, place, report);
                    }
                    put_back(&batch, self.number, targets, report)?;
                }
            }
            self.end = end;
        }
        note_tail(reader.tail(), self.number, report);
        Ok(())
    }
}

/// Counts what lies from `place` on as torn off: the record there, which was read last, and all
/// behind it.
fn drop_rest(
    reader: &mut WalReader,
    place: (FileNumber, u64),
    report: &mut ReplayReport,
) -> Result<()> {
    let mut intact_count = 1;
    while reader.next()?.is_some() {
        intact_count += 1;
    }
    report.torn_bytes += reader.record_end() - place.1;
    report.note_intact(place.0, reader.record_end(), intact_count);
    report.torn_at.get_or_insert(place);
    note_tail(reader.tail(), place.0, report);
    Ok(())
}

/// Puts the entries of a batch that are in no sorted file into memtables.
fn put_back(
    batch: &BatchReader<'_>,
    number: FileNumber,
    targets: &mut BTreeMap<KeyspaceId, ReplayTarget>,
    report: &mut ReplayReport,
) -> Result<()> {
    let mut last = batch.first_seqno();
    for entry in batch.entries() {
        let entry = entry?;
        last = entry.trailer.seqno();
        let Some(target) = targets.get_mut(&entry.keyspace) else {
            continue;
        };
        if target.is_unlogged {
            return Err(of_unlogged(entry.keyspace));
        }
        let Some(fresh) = target.fresh.as_ref().filter(|_| last > target.flushed) else {
            continue;
        };
        let is_full = target
            .filled
            .last()
            .is_none_or(|replayed| target.is_full(replayed.table()));
        if is_full {
            let writer = fresh();
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
    report.newest_batch = last;
    report.last_seqno = report.last_seqno.max(last);
    report.batch_count += 1;
    report.batch_bytes += batch.size_bytes() as u64;
    Ok(())
}

fn check_kept(
    prepared: &LoggedPrepare,
    targets: &BTreeMap<KeyspaceId, ReplayTarget>,
) -> Result<()> {
    let (number, offset) = prepared.place;
    for entry in prepared.read()?.entries.entries() {
        let id = entry?.keyspace;
        if !targets.contains_key(&id) {
            let message =
                format!("a prepared transaction writes to keyspace {id}, which was dropped");
            let error = Error::corruption(message).in_file(FileName::Wal(number));
            return Err(error.at_offset(offset));
        }
    }
    Ok(())
}

/// Drops `rest`, the segments behind a loss, unless one of them proves that what was lost had
/// been durable.
fn stop_behind_loss(
    source: &ReplaySource<'_>,
    lost: (FileNumber, u64),
    rest: &[Link],
    report: &mut ReplayReport,
) -> Result<()> {
    report.torn_at.get_or_insert(lost);
    for link in rest {
        report.dropped_segments.push(link.number);
        if !link.is_part {
            continue;
        }
        let name = FileName::Wal(link.number);
        let mut reader = link.reader(source.fs, source.dir)?;
        // Its head counts for nothing.
        let mut is_head = true;
        let mut intact_count = 0;
        while let Some(record) = reader.next().map_err(|error| error.in_file(name))? {
            report.torn_bytes += record.len() as u64;
            intact_count += u64::from(!is_head && !record.is_empty());
            is_head = false;
        }
        if reader.durable_mark() > 0 {
            let message = format!(
                "records of the log are damaged or missing, and {name} proves that they were \
                 durable; `esker repair --dry-run` tells what would be lost"
            );
            let file = FileName::Wal(lost.0).to_string();
            return Err(Error::corruption(message).in_file(file).at_offset(lost.1));
        }
        report.note_intact(link.number, reader.record_end(), intact_count);
        note_tail(reader.tail(), link.number, report);
    }
    Ok(())
}

fn note_tail(tail: Tail, number: FileNumber, report: &mut ReplayReport) {
    if let Tail::Torn {
        offset,
        dropped_bytes,
        intact_count,
    } = tail
    {
        report.torn_bytes += dropped_bytes;
        report.note_intact(number, offset + dropped_bytes, intact_count);
        report.torn_at.get_or_insert((number, offset));
    }
}

#[cfg(test)]
mod tests;
