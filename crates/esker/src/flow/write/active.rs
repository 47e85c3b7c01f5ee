//! The live log and the live memtables; seals full ones.

use std::sync::Arc;

use crate::base::hooks::event_reasons::FlushReason;
use crate::base::hooks::merge::MergeRule;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::seqno::SeqNo;
use crate::env::fs::LogFile;
use crate::flow::current::{FlushedTables, Sealed};
use crate::flow::read::fold::Folder;
use crate::flow::write::follow_ups::{FollowUp, FollowUps};
use crate::flow::write::live_table::LiveTable;
use crate::flow::write::prepared::PreparedSet;
use crate::flow::write::recent::RecentWrites;
use crate::flow::write::segments::Segments;
use crate::flow::write::sync::{LogPosition, SyncGroup};
use crate::flow::write::used_segments::UsedSegments;
use crate::store::batch::reader::BatchReader;
use crate::store::wal::format::{EARLIER_DURABLE, next_header};
use crate::store::wal::head::{SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::wal::writer::WalWriter;

/// The live end of the log and the live memtable of every keyspace.
///
/// One thread at a time, under the lock of `commit`.
pub struct Active {
    log: Option<WalWriter>,
    segments: Arc<Segments>,
    tables: IdMap<KeyspaceId, LiveTable>,
    live_bytes: usize,
    last_seqno: SeqNo,
    recent: RecentWrites,
    prepared: PreparedSet,
    /// What every record leaves free in the live segment, for commits that must find room.
    room_bytes: u64,
    /// Whether writers wait until files from elsewhere are taken in.
    is_held: bool,
    /// Where the log ended when the database was opened.
    recovered_end: Option<(FileNumber, u64)>,
    used_segments: UsedSegments,
}

/// What one write did to the live pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// What is to be done because of it.
    pub follow_ups: FollowUps,
    /// Bytes that the log grew by, framing and heads of segments included.
    pub logged_bytes: u64,
}

impl Active {
    /// No keyspace, no log yet; the last write had `last_seqno`, and the log that recovery read
    /// ended at `recovered_end` and is made of `used_segments`, numbers and bytes.
    pub fn new(
        segments: Arc<Segments>,
        last_seqno: SeqNo,
        recovered_end: Option<(FileNumber, u64)>,
        used_segments: Vec<(FileNumber, u64)>,
    ) -> Active {
        let tables = IdMap::default();
        let live_bytes = 0;
        let log = None;
        Active {
            log,
            segments,
            tables,
            live_bytes,
            last_seqno,
            recent: RecentWrites::default(),
            prepared: PreparedSet::default(),
            room_bytes: 0,
            is_held: false,
            recovered_end,
            used_segments: UsedSegments::new(used_segments),
        }
    }

    /// Adds a keyspace with its live memtable.
    pub fn add_keyspace(&mut self, id: KeyspaceId, table: LiveTable) {
        self.live_bytes += table.writer.table().used_bytes();
        self.tables.insert(id, table);
    }

    /// Forgets a keyspace; later writes to it are refused.
    pub fn remove_keyspace(&mut self, id: KeyspaceId) {
        if let Some(table) = self.tables.remove(&id) {
            self.live_bytes -= table.writer.table().used_bytes();
        }
    }

    /// The live memtable of a keyspace; `Invalid` when it was dropped.
    pub fn table(&self, id: KeyspaceId) -> Result<&LiveTable> {
        self.tables
            .get(&id)
            .ok_or_else(|| Error::invalid("the keyspace was dropped"))
    }

    /// The same, to be changed.
    pub fn table_mut(&mut self, id: KeyspaceId) -> Result<&mut LiveTable> {
        self.tables
            .get_mut(&id)
            .ok_or_else(|| Error::invalid("the keyspace was dropped"))
    }

    /// Sets the size after which the memtable of a keyspace is sealed.
    pub fn set_limit(&mut self, id: KeyspaceId, limit_bytes: usize) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.limit_bytes = limit_bytes;
        }
    }

    /// Folds operands of a keyspace that had no merge operator by `rule`, for writers and readers.
    pub fn take_rule(&mut self, id: KeyspaceId, keyspace: &str, rule: &MergeRule) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.writer.take_rule(rule.clone());
            table
                .current
                .fold_by(Folder::new(keyspace, Some(rule.clone())));
        }
    }

    /// Bytes of all live memtables.
    pub fn live_bytes(&self) -> usize {
        self.live_bytes
    }

    /// The sequence number of the last write.
    pub fn last_seqno(&self) -> SeqNo {
        self.last_seqno
    }

    /// The last writes, while somebody asks about them.
    pub fn recent(&self) -> &RecentWrites {
        &self.recent
    }

    /// Keeps the writes that come from now on, until [`Active::unwatch`]; says which was the last.
    pub fn watch(&mut self) -> SeqNo {
        self.recent.watch(self.last_seqno);
        self.last_seqno
    }

    /// One who asked for writes to be kept has done.
    pub fn unwatch(&mut self) {
        self.recent.unwatch();
    }

    /// The transactions that are prepared.
    pub fn prepared(&self) -> &PreparedSet {
        &self.prepared
    }

    /// The same, to be changed.
    pub fn prepared_mut(&mut self) -> &mut PreparedSet {
        &mut self.prepared
    }

    /// Counts anew what the log keeps free, after what is prepared has changed.
    pub fn count_room(&mut self) {
        let live = self.log.as_ref().map(WalWriter::number);
        self.room_bytes = self.prepared.room_bytes(live);
    }

    /// Whether another commit of at most `commit_bytes` may have room kept.
    pub fn may_keep_room(&self, commit_bytes: u64) -> bool {
        let kept_bytes = self.prepared.room_bytes(None);
        kept_bytes + commit_bytes <= self.segments.room_bytes_max()
    }

    fn fits(&self, record_len: usize) -> bool {
        let log = self.log.as_ref();
        log.is_some_and(|log| log.fits_beside(record_len, self.room_bytes))
    }

    /// Whether a record of that length fits behind what lies in that segment: then it is the live
    /// one.
    pub fn fits_in(&self, segment: FileNumber, record_len: usize) -> bool {
        let live = self.log.as_ref().filter(|log| log.number() == segment);
        live.is_some_and(|log| log.fits_beside(record_len, self.room_bytes))
    }

    /// Whether writers wait until files from elsewhere are taken in.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Has writers wait, or go on.
    pub fn set_held(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Puts a fresh memtable in the place of the live one of a keyspace, which is empty. So who has
    /// the view from before, without the files that were taken in, sees nothing that is written
    /// behind them.
    pub fn renew(&mut self, id: KeyspaceId) {
        let Some(table) = self.tables.get_mut(&id) else {
            return;
        };
        assert!(table.writer.table().is_empty());
        let fresh = table.writer.successor();
        table.current.renew(Arc::clone(fresh.table()));
        self.live_bytes -= table.writer.table().used_bytes();
        self.live_bytes += fresh.table().used_bytes();
        table.writer = fresh;
    }

    /// Files were taken in whose entries have the numbers behind the last write's, up to `last`.
    /// Whoever asks which writes came lately is sent to the files.
    pub fn adopted(&mut self, last: SeqNo) {
        assert!(last >= self.last_seqno);
        self.last_seqno = last;
        self.recent.forget_up_to(last);
    }

    /// Where the log ends now, if there is one.
    pub fn log_position(&self) -> Option<LogPosition> {
        let log = self.log.as_ref()?;
        Some(LogPosition {
            segment: log.number(),
            offset: log.end_offset(),
        })
    }

    /// Oldest segment that holds entries which are in no sorted file, when the memtables that were
    /// `flushed` no longer count; or a prepared transaction. `None` before the first segment.
    pub fn oldest_needed_log(&self, flushed: Option<&FlushedTables>) -> Option<FileNumber> {
        let needed = self.oldest_needed_by_tables(flushed).into_iter();
        needed.chain(self.prepared.oldest_needed()).min()
    }

    /// The same, without regard to what is prepared.
    pub fn oldest_needed_by_tables(&self, flushed: Option<&FlushedTables>) -> Option<FileNumber> {
        // Looked at first: those of unlogged keyspaces, perhaps thousands, need none.
        let logged = || self.tables.iter().filter(|(_, table)| !table.is_unlogged());
        let live = logged()
            .map(|(_, table)| table)
            .filter(|table| !table.writer.table().is_empty());
        let sealed = logged().flat_map(|(id, table)| {
            let gone = flushed.and_then(|flushed| flushed.get(id));
            let gone = gone.copied().unwrap_or(0);
            table.current.sealed().into_iter().skip(gone)
        });
        live.filter_map(|table| table.first_log)
            .chain(sealed.filter_map(|sealed| sealed.first_log))
            .chain(self.used_segments.numbers().next_back())
            .min()
    }

    /// The segments that may hold needed entries.
    pub fn used_segments(&self) -> &UsedSegments {
        &self.used_segments
    }

    /// As [`UsedSegments::take_before`].
    pub fn take_segments_before(&mut self, first_needed: FileNumber) -> Vec<(FileNumber, u64)> {
        self.used_segments.take_before(first_needed)
    }

    /// Appends a record to the log, beginning a new segment when it does not fit. Returns the
    /// offset at which it begins, in what is the live segment then.
    ///
    /// Errors: `Faulted` when writing failed, and a part of the batch, or all of it, may stand in
    /// the log; any other when no segment could be had: nothing was written, and the live one is
    /// whole.
    pub fn log(&mut self, record: &[u8], sync: &SyncGroup, applied: &mut Applied) -> Result<u64> {
        if !self.fits(record.len()) {
            // Handles may have been dropped since, and what was kept for them is free.
            self.count_room();
        }
        let mut before = self.log.as_ref().map_or(0, WalWriter::end_offset);
        if !self.fits(record.len()) {
            self.rotate(WalWriter::framed_len(record.len()), sync)?;
            applied.follow_ups.add_if(true, FollowUp::PrepareSegment);
            before = 0;
        }
        let log = self.log.as_mut().expect("a rotation leaves a live log");
        if let Some(durable) = sync.durable_in(log.number()) {
            log.set_synced(durable.max(EARLIER_DURABLE));
        }
        let begins_at = next_header(log.end_offset());
        let offset = log.append(record).map_err(torn)?;
        applied.logged_bytes = offset - before;
        sync.wrote(LogPosition {
            segment: log.number(),
            offset,
        });
        Ok(begins_at)
    }

    /// Puts a durable mark behind the last record if that is on the medium and nothing says so yet:
    /// damage before it will not pass for a torn tail. The mark itself needs no sync, and nobody
    /// waits for one. Errors: `Faulted` when writing failed.
    pub fn mark_synced(&mut self, sync: &SyncGroup) -> Result<()> {
        let Some(log) = &mut self.log else {
            return Ok(());
        };
        let end = log.end_offset();
        // Behind a mark the log is longer than what was synced: there is never a second one.
        if sync.durable_in(log.number()) != Some(end) || !log.fits_beside(0, self.room_bytes) {
            return Ok(());
        }
        log.set_synced(end);
        log.append_mark().map_err(torn)
    }

    /// Ends the log with a segment that holds nothing, unless it is as short as that already: once
    /// everything is flushed, no other segment is needed. Call [`Segments::wind_down`] before.
    ///
    /// Errors: as [`Active::log`].
    pub fn end_log(&mut self, sync: &SyncGroup) -> Result<()> {
        if self.used_segments.size_bytes() <= WalWriter::framed_len(SEGMENT_HEAD_BYTES) {
            return Ok(());
        }
        // Nobody commits any more.
        self.prepared.give_up_all_room();
        self.rotate(0, sync)
    }

    /// Ends the log that recovery read with a small segment, whose head says where it ended; the
    /// caller has it synced before anything else is written. From then on nothing behind that end
    /// is part of the log, whatever becomes of the numbers that are free again: those of writes,
    /// which may go to memory only and so to sorted files first, and those of files.
    ///
    /// Errors: as [`Active::log`].
    pub fn end_recovered(&mut self, sync: &SyncGroup) -> Result<()> {
        // The head, and the mark of the sync.
        let bytes = WalWriter::framed_len(SEGMENT_HEAD_BYTES) + WalWriter::framed_len(0);
        let taken = self.segments.take_small(bytes)?;
        self.begin(taken, sync)
    }

    /// Begins another segment where the live one was made for one giant batch: so that it goes with
    /// the flush of that batch, however idle the database is. Errors: as [`Active::log`].
    pub fn leave_giant(&mut self, sync: &SyncGroup) -> Result<()> {
        match &self.log {
            Some(log) if self.segments.is_giant(log.capacity_bytes()) => self.rotate(0, sync),
            _ => Ok(()),
        }
    }

    fn rotate(&mut self, room_bytes: u64, sync: &SyncGroup) -> Result<()> {
        // No prepare lies in it, so each commit that is to have room takes all of its entries.
        let kept_bytes = self.prepared.room_bytes(None);
        let bytes = WalWriter::framed_len(SEGMENT_HEAD_BYTES) + room_bytes + kept_bytes;
        let taken = self.segments.take(bytes)?;
        self.begin(taken, sync)
    }

    fn begin(
        &mut self,
        (number, file): (FileNumber, Box<dyn LogFile>),
        sync: &SyncGroup,
    ) -> Result<()> {
        let ended = self
            .log
            .as_ref()
            .map(|log| (log.number(), log.end_offset()));
        let head = SegmentHead {
            previous: ended.or(self.recovered_end),
        };
        let mut log = WalWriter::new(file, number);
        log.append(&head.encode()).map_err(torn)?;
        sync.add_segment(log.number(), log.syncer());
        sync.wrote(LogPosition {
            segment: log.number(),
            offset: log.end_offset(),
        });
        self.used_segments.add(log.number(), log.capacity_bytes());
        self.log = Some(log);
        self.count_room();
        Ok(())
    }

    /// Puts every entry of a batch into its memtable. The batch is whole, and every keyspace of
    /// it is here: `commit` has looked. Says whether one of those memtables is full now.
    pub fn apply(&mut self, batch: &BatchReader<'_>) -> Result<bool> {
        self.recent.note(batch)?;
        let mut is_any_full = false;
        for entry in batch.entries() {
            let entry = entry?;
            let first_log = self.log.as_ref().map(WalWriter::number);
            let table = self
                .tables
                .get_mut(&entry.keyspace)
                .expect("checked before logging");
            let memtable = &mut table.writer;
            if memtable.table().is_empty() && first_log.is_some() && table.first_log.is_some() {
                table.first_log = first_log;
            }
            let before = memtable.table().used_bytes();
            memtable.insert(entry.trailer, entry.key, entry.value);
            self.live_bytes += memtable.table().used_bytes() - before;
            self.last_seqno = entry.trailer.seqno();
            is_any_full |= table.is_full();
        }
        Ok(is_any_full)
    }

    /// Seals those of `keyspaces` whose live memtable is full.
    pub fn seal_full(&mut self, keyspaces: &[KeyspaceId], applied: &mut Applied) {
        for &id in keyspaces {
            if self.tables.get(&id).is_some_and(LiveTable::is_full) {
                let is_sealed = self.seal(id, FlushReason::MemtableFull);
                applied.follow_ups.add_if(is_sealed, FollowUp::Flush);
            }
        }
    }

    /// Seals the live memtables that pin the oldest segment: it is needed until the last of them is
    /// flushed. Says whether there was one.
    pub fn seal_oldest(&mut self) -> bool {
        let pinned = |(id, table): (&KeyspaceId, &LiveTable)| {
            let is_filled = !table.writer.table().is_empty();
            let first_log = table.first_log.filter(|_| is_filled)?;
            Some((first_log, *id))
        };
        let pinned: Vec<_> = self.tables.iter().filter_map(pinned).collect();
        let Some(oldest) = pinned.iter().map(|(segment, _)| *segment).min() else {
            return false;
        };
        for (_, id) in pinned.iter().filter(|(segment, _)| *segment == oldest) {
            self.seal(*id, FlushReason::WalFull);
        }
        true
    }

    /// Seals the largest live memtables, until they have had an eighth of what all have together:
    /// mostly that is one. Of thousands of small ones each would make room for a few writes. Those
    /// come last whose flush waits for the user's own log. Says whether there was one.
    pub fn seal_largest(&mut self) -> bool {
        let sized = |(id, live): (&KeyspaceId, &LiveTable)| {
            let table = live.writer.table();
            (!table.is_empty()).then(|| (!live.is_parked(), table.used_bytes(), *id))
        };
        let mut by_size: Vec<_> = self.tables.iter().filter_map(sized).collect();
        by_size.sort_unstable_by(|left, right| right.cmp(left));
        let enough_bytes = self.live_bytes / 8;
        let mut sealed_bytes = 0;
        for (_, size_bytes, id) in &by_size {
            if sealed_bytes > enough_bytes {
                break;
            }
            self.seal(*id, FlushReason::MemoryFull);
            sealed_bytes += size_bytes;
        }
        !by_size.is_empty()
    }

    /// Seals the live memtable of a keyspace unless it is empty and has no new mark, for that
    /// reason; says whether it did.
    pub fn seal(&mut self, id: KeyspaceId, reason: FlushReason) -> bool {
        let Some(table) = self.tables.get_mut(&id) else {
            return false;
        };
        if !table.is_filled() {
            return false;
        }
        if std::mem::take(&mut table.is_mark_new) {
            // In no log, like entries: whoever waits until such are flushed waits for it.
            table.writer.table().note_unlogged();
        }
        let fresh = table.writer.successor();
        let live = Arc::clone(fresh.table());
        let full = std::mem::replace(&mut table.writer, fresh);
        let sealed = Sealed {
            table: Arc::clone(full.table()),
            first_log: table.first_log,
            last_seqno: self.last_seqno,
            mark: table.mark.clone(),
            clock_ms: table.clock.as_ref().map(|clock| clock.unix_ms()),
            reason,
        };
        self.live_bytes -= full.table().used_bytes();
        self.live_bytes += live.used_bytes();
        table.current.seal(live, sealed);
        true
    }

    /// Ids of all keyspaces.
    pub fn keyspaces(&self) -> Vec<KeyspaceId> {
        self.tables.keys().copied().collect()
    }
}

/// What a failed write to the log means: its end is not known, whatever the reason was.
fn torn(cause: Error) -> Error {
    let message = "writing to the log failed; reopen the database";
    Error::new(ErrorKind::Faulted, message).caused_by(cause)
}
