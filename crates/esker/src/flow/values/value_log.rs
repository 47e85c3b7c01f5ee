//! The live end of the value log: where new values go, and which segments somebody still needs.
//!
//! A value is written by its writer's own thread, outside of every lock, into a part of the live
//! segment that was set aside for it. Then the batch with its pointer goes down the write path. So
//! whoever finds a pointer finds the value in the page cache, and a log that is synced behind the
//! value log (`flow/write/sync`) never has a durable pointer to a value that is not.
//!
//! Values of an unlogged keyspace go to a live segment of its own, so that dropping the keyspace
//! frees what it took: `flow/values/segments`.
//!
//! A segment lives as long as somebody names it: a write under way, a memtable that anybody still
//! holds, or a file of a version in use. A pointer goes from the first to the second to the third,
//! so whoever looks for the segments without a name asks in that order. Only who holds a segment
//! ([`ValueLog::hold`]) takes one from the third to the first again: what was held while somebody
//! looked stays until he looks once more.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::base::codec::checksum::crc32c;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::env::fs::{Fs, LogSync};
use crate::flow::event_queue::EventQueue;
use crate::flow::file_events;
use crate::flow::values::segments::{
    Segment, SegmentSize, Segments, table_bytes_max, too_large_for_disk, trim,
};
use crate::flow::values::watch::ValueWatch;
use crate::store::batch::writer::{Batch, LargeBytes};
use crate::store::mem::memtable::Memtable;
use crate::store::names::FileName;
use crate::store::version::numbers::FileNumbers;
use crate::store::vlog::format::{SEGMENT_BYTES_MAX, SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::packet::{PACKET_BYTES, PackedValue, Packet};
use crate::store::vlog::pointer::ValuePointer;
use crate::store::vlog::value_pool::{NewWaiting, PoolRoom, ValuePool, WaitingValue};
use crate::store::vlog::writer::{NewValue, VlogWriter};

/// What a value log is made of.
#[derive(Clone)]
pub struct ValueLogParts {
    /// Where segments lie.
    pub fs: Arc<dyn Fs>,
    /// The directory of the database.
    pub dir: PathBuf,
    /// Where new file numbers come from.
    pub numbers: Arc<FileNumbers>,
    /// Bytes of a segment; a larger value gets one of its own.
    pub segment_bytes: u64,
    /// Bytes that the database may take; 0 for as many as there are.
    pub disk_limit: u64,
    /// By what the database is known.
    pub database_id: [u8; 16],
    /// Where values are read.
    pub values: Arc<OpenValues>,
    /// Where new segments are told.
    pub events: EventQueue,
}

/// The value log of an open database. Any thread may call anything.
pub struct ValueLog {
    pub(in crate::flow) parts: ValueLogParts,
    state: Mutex<Segments>,
    /// Held while a segment is begun, over the making of its file: one at a time.
    beginning: Mutex<()>,
    watch: ValueWatch,
    /// Whether a segment without live values waits for a reader: asked by every cursor that ends.
    has_dying: AtomicBool,
}

impl ValueLog {
    /// A value log without segments; somebody should write and sync when `flush_bytes` wait.
    pub fn new(parts: ValueLogParts, flush_bytes: u64) -> ValueLog {
        assert!(parts.segment_bytes <= SEGMENT_BYTES_MAX);
        ValueLog {
            parts,
            state: Mutex::default(),
            beginning: Mutex::default(),
            watch: ValueWatch::new(flush_bytes),
            has_dying: AtomicBool::new(false),
        }
    }

    /// When values are to be flushed.
    pub fn watch(&self) -> &ValueWatch {
        &self.watch
    }

    /// The values in memory.
    pub fn pool(&self) -> &Arc<ValuePool> {
        self.parts.values.pool()
    }

    /// By what the database is known.
    pub fn database_id(&self) -> [u8; 16] {
        self.parts.database_id
    }

    /// Where values are read.
    pub fn values(&self) -> &Arc<OpenValues> {
        &self.parts.values
    }

    /// Bytes of values that a memtable may name before it is sealed.
    pub fn table_bytes_max(&self) -> u64 {
        table_bytes_max(self.parts.segment_bytes)
    }

    /// The segments that memtables name.
    pub fn named(&self) -> BTreeSet<FileNumber> {
        self.state().idle().1
    }

    /// Tells of a segment that was there when the database was opened. It stays as it is.
    pub fn found(&self, number: FileNumber, size_bytes: u64) {
        let segment = Segment {
            size_bytes,
            owner: None,
            writer: None,
            syncer: None,
            is_dirty: false,
            dirty_bytes: 0,
            is_named: true,
            pending: 0,
            held_at: 0,
        };
        self.state().segments.insert(number, segment);
    }

    /// Has the next sync make a found segment durable too: a killed process may have left it in
    /// the page cache only.
    pub fn adopt(&self, number: FileNumber, syncer: Arc<dyn LogSync>) {
        if let Some(segment) = self.state().segments.get_mut(&number) {
            segment.syncer = Some(syncer);
            segment.is_dirty = true;
            segment.is_named = false;
        }
    }

    /// Writes the large values of a batch and fills in their pointers. They are in the page cache
    /// when this returns, and nobody removes them before the result is dropped: by then their
    /// pointers must be in a memtable that was given to [`ValueLog::name`], or given up.
    ///
    /// Errors: `Faulted` when writing failed; any other when no segment could be had.
    pub fn write_batch(self: &Arc<ValueLog>, batch: &mut Batch<'_>) -> Result<Pending> {
        let mut pending = self.pending();
        for index in 0..batch.large_values().len() {
            let large = &batch.large_values()[index];
            let new = NewValue {
                keyspace: large.keyspace,
                key: batch.key_of(large),
                value: &large.value,
            };
            let pointer = self.write(&new, &mut pending)?;
            let is_shared = matches!(large.value, LargeBytes::Shared(_));
            if is_shared || self.pool().is_copy_worth_it(u64::from(pointer.len)) {
                self.pool().keep_written(&pointer, large.value.shared());
            }
            batch.set_pointer(index, &pointer);
        }
        Ok(pending)
    }

    /// Whether the large values of a batch may wait in memory, rather than being written at once.
    pub fn may_wait(&self, batch: &Batch<'_>) -> bool {
        let count = batch.large_values().len();
        self.pool().may_wait(batch.large_bytes(), count)
    }

    /// Room in memory for the large values of a batch; `None` when too much waits there.
    pub fn room_for(&self, batch: &Batch<'_>) -> Option<PoolRoom> {
        let count = batch.large_values().len();
        self.pool().room_for(batch.large_bytes(), count)
    }

    /// Puts the large values of a batch where they wait, and fills in pointers that lead there.
    /// Given up when the result is dropped before a memtable keeps them.
    pub fn keep_batch(self: &Arc<ValueLog>, batch: &mut Batch<'_>, mut room: PoolRoom) -> Pending {
        let mut pending = self.pending();
        for index in 0..batch.large_values().len() {
            let large = &batch.large_values()[index];
            let waiting = room.keep(NewWaiting {
                keyspace: large.keyspace,
                key: batch.key_of(large),
                value: large.value.shared(),
                crc: crc32c(&large.value),
            });
            batch.set_pointer(index, waiting.pointer());
            pending.waiting.push(waiting);
        }
        pending
    }

    /// Writes values of one keyspace that waited, side by side and at once, and says where each
    /// lies. They count as under way.
    ///
    /// Errors: `OutOfSpace` or another when no segment could be had, or the write failed; nothing
    /// points to what was written then.
    pub fn write_packet(
        &self,
        values: Vec<PackedValue<'_>>,
        pending: &mut Pending,
    ) -> Result<Vec<ValuePointer>> {
        let keyspace = values.first().expect("a packet has values").keyspace;
        assert!(values.iter().all(|value| value.keyspace == keyspace));
        let bytes = values.iter().map(PackedValue::record_bytes).sum();
        let (writer, offset) = self.set_aside(keyspace, bytes, pending)?;
        let mut packet = Packet::at(offset);
        let values = values.into_iter();
        let pointers = values.map(|value| packet.add(&writer, value)).collect();
        packet.write(&writer)?;
        self.state().written(writer.number(), bytes);
        self.watch.count_packet();
        Ok(pointers)
    }

    /// Bytes of records that one packet may have.
    pub fn packet_bytes_max(&self) -> u64 {
        PACKET_BYTES.min(self.parts.segment_bytes - SEGMENT_HEAD_BYTES)
    }

    /// Whether values wait to be written or to be synced, and nobody will look after them later.
    pub fn is_watch_due(&self) -> bool {
        !self.watch.is_watched() && self.unflushed_bytes() > 0
    }

    /// Bytes that wait to be written, or were written and not synced.
    pub fn unflushed_bytes(&self) -> u64 {
        self.unsynced_bytes() + self.pool().waiting_bytes()
    }

    /// Nothing under way yet.
    pub fn pending(self: &Arc<ValueLog>) -> Pending {
        Pending {
            log: Arc::clone(self),
            segments: Vec::new(),
            waiting: Vec::new(),
            has_begun: false,
        }
    }

    /// Keeps a segment whose values somebody is about to point to once more; `None` if there is
    /// none of that number.
    pub fn hold(self: &Arc<ValueLog>, number: FileNumber) -> Option<Pending> {
        let mut pending = self.pending();
        pending.segments.extend(self.state().hold(number));
        (!pending.segments.is_empty()).then_some(pending)
    }

    /// Has a memtable keep the segments that it names for as long as anybody holds it.
    pub fn name(&self, table: &Arc<Memtable>) {
        let mut state = self.state();
        let is_known = |known: &Weak<Memtable>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(table));
        if !state.memtables.iter().any(is_known) {
            state.memtables.push(Arc::downgrade(table));
        }
    }

    /// Whether so much waits that the background should write and sync it; or so many files do
    /// that are to be synced and closed.
    pub fn is_flush_due(&self) -> bool {
        let (unsynced_bytes, has_many_ended) = {
            let state = self.state();
            let has_many_ended = state.has_many_ended(self.values().written_max());
            (state.unsynced_bytes, has_many_ended)
        };
        let unflushed_bytes = unsynced_bytes + self.pool().waiting_bytes();
        unflushed_bytes >= self.watch.flush_bytes() || has_many_ended
    }

    /// Bytes that were written and not synced.
    pub fn unsynced_bytes(&self) -> u64 {
        self.state().unsynced_bytes
    }

    /// Ends the live segments: nothing more is written to them than is under way.
    pub fn seal_live(&self) {
        self.seal(Segments::seal_live);
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.state().segments.is_empty()
    }

    /// Every segment.
    pub fn segments(&self) -> Vec<SegmentSize> {
        self.state().sizes()
    }

    /// Takes out the segments that nobody names; their files are the caller's to remove. In `used`
    /// are those that files of a version in use name; it is asked last.
    pub fn take_dead(&self, used: impl FnOnce() -> BTreeSet<FileNumber>) -> Vec<FileNumber> {
        let (since, (idle, named)) = {
            let mut state = self.state();
            (state.hold_count, state.idle())
        };
        if idle.is_empty() {
            return Vec::new();
        }
        let used = used();
        let is_dead = |number: &FileNumber| !named.contains(number) && !used.contains(number);
        let dead = idle.into_iter().filter(is_dead).collect();
        self.state().take_dead(dead, since)
    }

    /// A fresh segment with room for a record of `bytes`, for one writer who fills it alone, front
    /// to back, and tells [`ValueLog::end_separated`] where it ended. It counts as under way.
    pub fn begin_separated(&self, bytes: u64, pending: &mut Pending) -> Result<VlogWriter> {
        let capacity_bytes = (SEGMENT_HEAD_BYTES + bytes).max(self.parts.segment_bytes);
        let writer = self.begin(capacity_bytes)?;
        let segment = Segment::separated(writer.clone(), capacity_bytes);
        self.state().segments.insert(writer.number(), segment);
        pending.segments.push(writer.number());
        Ok(writer)
    }

    /// Gives back the end of a segment that was filled alone.
    pub fn end_separated(&self, writer: &VlogWriter, size_bytes: u64) {
        trim(vec![(Arc::clone(writer.file()), size_bytes)]);
        if let Some(segment) = self.state().segments.get_mut(&writer.number()) {
            segment.size_bytes = size_bytes;
        }
    }

    /// The segments that nobody writes to and that no memtable names: all that is live in them is
    /// pointed to by sorted files.
    pub fn settled(&self) -> Vec<SegmentSize> {
        self.state().settled()
    }

    /// Bytes of a segment.
    pub fn segment_bytes(&self) -> u64 {
        self.parts.segment_bytes
    }

    /// Tells whether segments without live values wait for a reader to go.
    pub fn set_dying(&self, has_dying: bool) {
        // Relaxed, here and below: a hint that somebody should look, and nothing is reached by it.
        self.has_dying.store(has_dying, Ordering::Relaxed);
    }

    /// Whether segments without live values wait for a reader to go, as last told.
    pub fn has_dying(&self) -> bool {
        self.has_dying.load(Ordering::Relaxed)
    }

    fn write(&self, new: &NewValue<'_>, pending: &mut Pending) -> Result<ValuePointer> {
        let (writer, offset) = self.set_aside(new.keyspace, new.record_bytes(), pending)?;
        let pointer = writer.write(offset, new).map_err(|cause| {
            let message = "writing to the value log failed; reopen the database";
            Error::new(ErrorKind::Faulted, message).caused_by(cause)
        })?;
        self.state().written(writer.number(), new.record_bytes());
        Ok(pointer)
    }

    /// A place for records of `bytes`, which count as under way from here on.
    fn set_aside(
        &self,
        keyspace: KeyspaceId,
        bytes: u64,
        pending: &mut Pending,
    ) -> Result<(VlogWriter, u64)> {
        let place = self.place_for(keyspace, bytes, pending)?;
        pending.segments.push(place.0.number());
        Ok(place)
    }

    fn place_for(
        &self,
        keyspace: KeyspaceId,
        bytes: u64,
        pending: &mut Pending,
    ) -> Result<(VlogWriter, u64)> {
        loop {
            if let Some(place) = self.state().set_aside(keyspace, bytes) {
                return Ok(place);
            }
            // Nothing is guarded but the turn itself.
            let _turn = self
                .beginning
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // Another writer may have begun a segment while this one waited.
            if let Some(place) = self.state().set_aside(keyspace, bytes) {
                return Ok(place);
            }
            let sizes = self.own_sizes();
            let next = self.state().next_segment(keyspace, bytes, &sizes);
            let smallest_bytes = SEGMENT_HEAD_BYTES + bytes;
            let begun = self.begin(next.capacity_bytes);
            let writer = begun.or_else(|error| match error.kind() {
                // As long as there is room for the values there is for their segment.
                ErrorKind::OutOfSpace if next.owner.is_some() => self.begin(smallest_bytes),
                _ => Err(error),
            })?;
            pending.has_begun = true;
            let mut state = self.state();
            if next.capacity_bytes > self.parts.segment_bytes {
                return Ok(state.add_giant(writer, bytes, next.owner));
            }
            state.add_live(writer, next.owner, self.values().written_max());
        }
    }

    /// Changes what lies where, and gives back the ends of segments that ended by it.
    pub(in crate::flow) fn seal(&self, change: impl FnOnce(&mut Segments)) {
        let ended = {
            let mut state = self.state();
            change(&mut state);
            std::mem::take(&mut state.ended)
        };
        trim(ended);
    }

    fn begin(&self, capacity_bytes: u64) -> Result<VlogWriter> {
        let head = SegmentHead {
            number: self.parts.numbers.take(),
            database_id: self.parts.database_id,
        };
        let made = VlogWriter::create(&*self.parts.fs, &self.parts.dir, head, capacity_bytes);
        let made = made.map_err(|error| too_large_for_disk(capacity_bytes, error))?;
        let file = (FileName::Vlog(made.number()), capacity_bytes);
        file_events::note_created(&self.parts.events, &self.parts.dir, file, None);
        Ok(made)
    }

    // Each change is whole before anything in it could panic.
    pub(in crate::flow) fn state(&self) -> MutexGuard<'_, Segments> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values on their way into the tree: keeps their segments. Goes when their pointers are in a
/// memtable, in a version, or given up.
pub struct Pending {
    log: Arc<ValueLog>,
    segments: Vec<FileNumber>,
    waiting: Vec<Arc<WaitingValue>>,
    has_begun: bool,
}

impl Pending {
    /// Whether a segment was begun for them, so that the value log takes more of the disk.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Keeps those of `segments` that are there, too.
    pub fn hold(&mut self, segments: impl IntoIterator<Item = FileNumber>) {
        let mut state = self.log.state();
        let held = segments.into_iter().filter_map(|number| state.hold(number));
        self.segments.extend(held);
    }

    /// The values that were not written, for the memtable that has their pointers by now.
    pub fn take_waiting(&mut self) -> Vec<Arc<WaitingValue>> {
        std::mem::take(&mut self.waiting)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.segments.is_empty() {
            self.log.state().let_go(&self.segments);
        }
    }
}

impl fmt::Debug for ValueLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.state().segments.len();
        write!(f, "ValueLog({count} segments)")
    }
}

#[cfg(test)]
mod tests;
