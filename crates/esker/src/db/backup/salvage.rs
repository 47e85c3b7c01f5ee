//! What is intact of a damaged log, put into sorted files.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::fit_prepares::fit_prepares;
use crate::db::backup::lost_values::{LostValue, LostValueList};
use crate::db::backup::report::{KeptPrepared, LogGap, LogState, LostValues};
use crate::db::backup::runs::{output_settings, write_run};
use crate::db::backup::segments::Segments;
use crate::env::bundle::Env;
use crate::env::fs::Fs;
use crate::flow::own_operands::OwnOperands;
use crate::flow::write::chain::{Link, chain};
use crate::flow::write::replay::ReplayReport;
use crate::store::batch::prepared_log::{Effect, LoggedPrepare, Place, PreparedLog};
use crate::store::batch::reader::BatchReader;
use crate::store::batch::record::Record;
use crate::store::mem::memtable::{Memtable, MemtableWriter};
use crate::store::names::FileName;
use crate::store::sst::saving::only_damage;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::{KeyspaceState, Version};
use crate::store::wal::format::EARLIER_DURABLE;
use crate::store::wal::head::SegmentHead;
use crate::store::wal::{Salvaged, WalSalvage};

/// Bytes of entries, of all keyspaces, that are gathered before the most of them become a run: few
/// enough to fit anywhere, and many enough that a log of some gigabytes makes no hundred runs.
const GATHERED_BYTES_MAX: usize = 64 << 20;

/// Puts what is intact of some segments into sorted files.
pub struct Salvage<'a, 'b> {
    env: &'a Env,
    dir: &'a Path,
    version: &'a Version,
    segments: &'a mut Segments<'b>,
    lost_values: LostValueList,
    /// `None` in a dry run: then entries are counted and forgotten.
    numbers: Option<&'a Arc<FileNumbers>>,
    /// Entries up to this number lie in sorted files.
    flushed: BTreeMap<KeyspaceId, SeqNo>,
    tables: BTreeMap<KeyspaceId, MemtableWriter>,
    /// Bytes of all tables, and how many they may be.
    gathered_bytes: usize,
    gathered_bytes_max: usize,
    last_seqno: SeqNo,
    /// What lies before this place was durable once.
    proven: (FileNumber, u64),
    /// Where an open would end the log; `None` where it would refuse it.
    accepted: Option<&'a ReplayReport>,
    state: LogState,
    /// Where each gap of the state begins.
    gap_places: Vec<Place>,
    prepared: PreparedLog,
    edit: Edit,
}

/// What became of a log.
pub struct SalvagedLog {
    /// What was found.
    pub state: LogState,
    /// Large values that it names and that are lost.
    pub lost_values: Vec<LostValues>,
    /// The changes that make the new files count.
    pub edit: Edit,
    /// The transactions that are prepared.
    pub prepared: Vec<LoggedPrepare>,
}

impl<'a, 'b> Salvage<'a, 'b> {
    /// A salvage of the log of `version`; writes nothing without `numbers`.
    pub fn new(
        env: &'a Env,
        dir: &'a Path,
        version: &'a Version,
        numbers: Option<&'a Arc<FileNumbers>>,
        segments: &'a mut Segments<'b>,
    ) -> Salvage<'a, 'b> {
        let states = version.keyspaces.values();
        Salvage {
            env,
            dir,
            version,
            segments,
            lost_values: LostValueList::default(),
            numbers,
            flushed: states.map(|state| (state.id, state.flushed)).collect(),
            tables: BTreeMap::new(),
            gathered_bytes: 0,
            gathered_bytes_max: GATHERED_BYTES_MAX,
            last_seqno: SeqNo::ZERO,
            proven: (FileNumber(0), 0),
            accepted: None,
            state: LogState {
                is_salvaged: true,
                ..LogState::default()
            },
            gap_places: Vec::new(),
            prepared: PreparedLog::default(),
            edit: Edit::new(),
        }
    }

    /// The same of a log that an open would read as far as that says: it ends there. Whatever lies
    /// behind was never durable, and to keep it would be to keep a later write without an earlier.
    pub fn ending(self, accepted: Option<&'a ReplayReport>) -> Salvage<'a, 'b> {
        Salvage { accepted, ..self }
    }

    /// Reads `segments`, oldest first.
    pub fn run(mut self, segments: &[FileNumber]) -> Result<SalvagedLog> {
        self.state.segment_count = segments.len();
        let first_needed = self.version.first_log;
        if first_needed.0 > 0 && !segments.contains(&first_needed) {
            self.missing(first_needed);
        }
        self.proven = proven_end(&*self.env.fs, self.dir, segments)?;
        let mut end = None;
        // What an earlier recovery cut off is no part of the log.
        let links = chain(&*self.env.fs, self.dir, segments)?;
        let ends_at = self.ends_at();
        let is_part = |link: &&Link| link.is_part && link.number <= ends_at.0;
        for link in links.iter().filter(is_part) {
            let limit = link.end.unwrap_or(u64::MAX);
            let limit = match link.number == ends_at.0 {
                true => limit.min(ends_at.1),
                false => limit,
            };
            end = self.segment((link.number, limit), segments, end)?.or(end);
        }
        self.note_torn();
        let ids: Vec<KeyspaceId> = self.tables.keys().copied().collect();
        ids.into_iter().try_for_each(|id| self.write(id))?;
        if self.last_seqno > SeqNo::ZERO {
            let seqno = self.last_seqno;
            self.edit.push(Change::SetLastSeqno { seqno });
        }
        let prepared = std::mem::take(&mut self.prepared).into_live();
        let (prepared, left_out) = fit_prepares(prepared, self.version, self.segments)?;
        for one in &prepared {
            let first_log = self.version.first_log;
            let kept = KeptPrepared::of(one, first_log, &self.gap_places)?;
            self.state.prepared.push(kept);
        }
        for (one, cause) in left_out {
            self.lost(one.place.0, one.place.1, one.record.len() as u64, cause);
        }
        Ok(SalvagedLog {
            state: self.state,
            lost_values: self.lost_values.finish(),
            edit: self.edit,
            prepared,
        })
    }

    fn ends_at(&self) -> (FileNumber, u64) {
        match self.accepted {
            Some(accepted) => accepted.end.unwrap_or((FileNumber(0), 0)),
            None => (FileNumber(u64::MAX), u64::MAX),
        }
    }

    fn note_torn(&mut self) {
        let Some(accepted) = self.accepted.filter(|accepted| accepted.torn_records > 0) else {
            return;
        };
        if let Some((number, offset)) = accepted.torn_at {
            let cause = format!(
                "the log ends here, as a power cut or damage leaves it: nothing behind was proven \
                 to be durable; intact records there, which are moved into lost and not kept: {}",
                accepted.torn_records
            );
            self.lost(number, offset, accepted.torn_bytes, cause);
        }
    }

    fn missing(&mut self, number: FileNumber) {
        self.note_gap(number, 0, None, "the segment is missing".into());
    }

    fn lost(&mut self, number: FileNumber, offset: u64, len_bytes: u64, cause: String) {
        self.state.lost_bytes += len_bytes;
        self.note_gap(number, offset, Some(len_bytes), cause);
    }

    fn note_gap(&mut self, number: FileNumber, offset: u64, len_bytes: Option<u64>, cause: String) {
        self.gap_places.push((number, offset));
        self.state.gaps.push(LogGap {
            name: FileName::Wal(number).to_string(),
            offset,
            len_bytes,
            cause,
            batches_behind: 0,
            entries_behind: 0,
        });
    }

    // Of the segment with that number, as far as that offset. Gives the end of the last record, if
    // it has any.
    fn segment(
        &mut self,
        (number, limit): (FileNumber, u64),
        segments: &[FileNumber],
        before: Option<(FileNumber, u64)>,
    ) -> Result<Option<(FileNumber, u64)>> {
        let name = FileName::Wal(number);
        let file = self.env.fs.open_read(&self.dir.join(name.to_string()))?;
        let size_bytes = file.size_bytes();
        let mut walk = WalSalvage::new(file, name);
        let mut is_first = true;
        let mut end = None;
        loop {
            let at = walk.end_offset();
            if at >= limit {
                break;
            }
            let found = match only_damage(walk.next())? {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error) => {
                    self.lost(number, at, size_bytes.saturating_sub(at), error.to_string());
                    break;
                }
            };
            match found {
                Salvaged::Gap(gap) => {
                    let cause = format!("damaged at offset {}", gap.damaged_at);
                    let gap_end = gap.end.min(limit).max(gap.offset);
                    self.lost(number, gap.offset, gap_end - gap.offset, cause);
                    // What was lost may have been the head.
                    is_first = false;
                    continue;
                }
                Salvaged::Record { offset, .. } if offset >= limit => break,
                Salvaged::Record { offset, payload } => {
                    let head = match is_first {
                        true => SegmentHead::decode(payload).ok(),
                        false => None,
                    };
                    is_first = false;
                    match head {
                        Some(head) => self.follow(head, segments, before),
                        None => self.record(number, offset, payload)?,
                    }
                }
            }
            end = Some((number, walk.end_offset()));
        }
        Ok(end)
    }

    // Says what is lost between the segment before and the one with this head.
    fn follow(
        &mut self,
        head: SegmentHead,
        segments: &[FileNumber],
        before: Option<(FileNumber, u64)>,
    ) {
        let Some((previous, previous_end)) = head.previous else {
            return;
        };
        // Before the first one only what is not needed is missing; but for writes that are in no
        // sorted file.
        let is_needed = previous >= self.version.first_log || self.state.entry_count > 0;
        if is_needed && !segments.contains(&previous) {
            let is_told = |gap: &LogGap| gap.name == FileName::Wal(previous).to_string();
            if before.is_some() && !self.state.gaps.iter().any(is_told) {
                self.missing(previous);
            }
        } else if let Some((number, end)) = before
            && number == previous
            && end < previous_end
        {
            let cause = "the next segment says that the log went on".into();
            self.lost(number, end, previous_end - end, cause);
        }
    }

    fn record(&mut self, number: FileNumber, offset: u64, payload: &[u8]) -> Result<()> {
        if payload.is_empty() {
            return Ok(());
        }
        let mut prepared = std::mem::take(&mut self.prepared);
        let followed = prepared.follow((number, offset), payload);
        let done = self.take_effect((number, offset), payload.len(), followed);
        self.prepared = prepared;
        done
    }

    fn take_effect(
        &mut self,
        (number, offset): Place,
        len: usize,
        followed: Result<Effect<'_>>,
    ) -> Result<()> {
        let effect = match only_damage(followed)? {
            Ok(effect) => effect,
            Err(error) => {
                self.lost(number, offset, len as u64, error.to_string());
                return Ok(());
            }
        };
        let Some(batch) = effect.written() else {
            return Ok(());
        };
        if batch.first_seqno() <= self.last_seqno {
            let cause = "it repeats sequence numbers of an earlier batch".into();
            self.lost(number, offset, len as u64, cause);
            return Ok(());
        }
        if matches!(effect, Effect::Written(_))
            && (number, offset) >= self.proven
            && let Some(cause) = self.lost_value(&batch)?
        {
            // It may never have been told of; so what was there before counts.
            self.lost(number, offset, len as u64, cause);
            return Ok(());
        }
        self.state.batch_count += 1;
        if let Some(gap) = self.state.gaps.last_mut() {
            gap.batches_behind += 1;
        }
        for entry in batch.entries() {
            let entry = entry?;
            let seqno = entry.trailer.seqno();
            self.last_seqno = self.last_seqno.max(seqno);
            let is_new = |flushed: &SeqNo| seqno > *flushed;
            if !self.flushed.get(&entry.keyspace).is_some_and(is_new) {
                // In a sorted file already, or of a keyspace that was dropped.
                continue;
            }
            self.state.entry_count += 1;
            if let Some(gap) = self.state.gaps.last_mut() {
                gap.entries_behind += 1;
            }
            let state = self.keyspace(entry.keyspace)?;
            let (mut trailer, mut value) = (entry.trailer, entry.value);
            match self.segments.lost_value(&entry.in_keyspace())? {
                None => self.lost_values.pass(state.id),
                Some((segment, error)) => {
                    // It was durable, so what is older must not pass for the newest.
                    (trailer, value) = (Trailer::new(seqno, Kind::Delete), &[]);
                    self.lost_values.add(&LostValue {
                        keyspace: state.id,
                        name: &state.name,
                        comparator: &state.comparator,
                        key: entry.key,
                        segment,
                        error: &error,
                    });
                }
            }
            self.gather(&state, (trailer, entry.key, value))?;
        }
        Ok(())
    }

    fn gather(
        &mut self,
        state: &KeyspaceState,
        (trailer, key, value): (Trailer, &[u8], &[u8]),
    ) -> Result<()> {
        // No rule: operands are kept as they were written.
        let fresh = || Memtable::create(state.comparator.clone(), None);
        let (table, before) = match self.tables.entry(state.id) {
            Entry::Occupied(table) => {
                let table = table.into_mut();
                let before = table.table().used_bytes();
                (table, before)
            }
            Entry::Vacant(place) => (place.insert(fresh()), 0),
        };
        table.insert(trailer, key, value);
        self.gathered_bytes += table.table().used_bytes() - before;
        if self.gathered_bytes < self.gathered_bytes_max {
            return Ok(());
        }
        let size_bytes = |(_, table): &(&KeyspaceId, &MemtableWriter)| table.table().used_bytes();
        let largest = self.tables.iter().max_by_key(size_bytes);
        let largest = largest.map(|(id, _)| *id);
        largest.map_or(Ok(()), |id| self.write(id))
    }

    /// Why a large value of the batch cannot be had, if one that still counts cannot.
    fn lost_value(&mut self, batch: &BatchReader<'_>) -> Result<Option<String>> {
        for entry in batch.entries() {
            let entry = entry?;
            let is_new = |flushed: &SeqNo| entry.trailer.seqno() > *flushed;
            if self.flushed.get(&entry.keyspace).is_some_and(is_new)
                && let Some((_, error)) = self.segments.lost_value(&entry.in_keyspace())?
            {
                return Ok(Some(format!("a large value of it is lost: {error}")));
            }
        }
        Ok(None)
    }

    fn keyspace(&self, id: KeyspaceId) -> Result<Arc<KeyspaceState>> {
        let state = self.version.keyspace(id).cloned();
        state.ok_or_else(|| Error::corruption(format!("keyspace {id} is not there")))
    }

    // Makes a run of level 0 of what was gathered for a keyspace.
    fn write(&mut self, id: KeyspaceId) -> Result<()> {
        let Some(table) = self.tables.remove(&id) else {
            return Ok(());
        };
        self.gathered_bytes -= table.table().used_bytes();
        let Some(numbers) = self.numbers else {
            return Ok(());
        };
        if table.table().is_empty() {
            return Ok(());
        }
        let state = self.keyspace(id)?;
        let settings = output_settings(
            self.env,
            self.dir,
            numbers,
            (self.version.identity.database_id, &state),
        )?;
        let mut cursor = OwnOperands::new(table.table().cursor());
        let range_deletes = table.table().range_deletes().iter().cloned().collect();
        let files = write_run(&mut cursor, range_deletes, settings)?;
        let run = files.first().map_or(0, |file| file.number.0);
        let last = files.iter().map(|file| file.largest_seqno).max();
        self.edit
            .extend(files.into_iter().map(|record| Change::AddFile {
                keyspace: id,
                level: Level::ZERO,
                run,
                record: Arc::new(record),
            }));
        if let Some(seqno) = last {
            self.edit.push(Change::SetFlushed {
                keyspace: id,
                seqno,
            });
        }
        Ok(())
    }
}

/// How far marks in the log prove it to have been durable.
fn proven_end(fs: &dyn Fs, dir: &Path, segments: &[FileNumber]) -> Result<(FileNumber, u64)> {
    for &number in segments.iter().rev() {
        let name = FileName::Wal(number);
        let mut walk = WalSalvage::new(fs.open_read(&dir.join(name.to_string()))?, name);
        while let Ok(Some(_)) = only_damage(walk.next())? {}
        match walk.durable_mark() {
            0 => {}
            // Of its own segment this mark says nothing.
            EARLIER_DURABLE => return Ok((number, 0)),
            mark => return Ok((number, mark)),
        }
    }
    Ok((FileNumber(0), 0))
}

/// Every keyspace of which an intact batch in `segments` has entries.
///
/// Errors: those of reading that are no damage.
pub fn keyspaces_in(
    fs: &dyn Fs,
    dir: &Path,
    segments: &[FileNumber],
) -> Result<BTreeSet<KeyspaceId>> {
    let mut found = BTreeSet::new();
    for &number in segments {
        let name = FileName::Wal(number);
        let file = fs.open_read(&dir.join(name.to_string()))?;
        let mut walk = WalSalvage::new(file, name);
        // What cannot be read is told by the salvage itself.
        while let Ok(Some(step)) = only_damage(walk.next())? {
            let Salvaged::Record { payload, .. } = step else {
                continue;
            };
            if let Ok(record) = only_damage(Record::read_whole(payload))?
                && let Some(batch) = record.entries()
            {
                let ids = batch.entries().flatten().map(|entry| entry.keyspace);
                found.extend(ids);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
