//! The segments of the value log: which there are, what was written to them, and who names them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::env::fs::{ExtentFile, LogSync};
use crate::flow::values::own_sizes::OwnSizes;
use crate::flow::values::owners::Owners;
use crate::store::mem::memtable::Memtable;
use crate::store::vlog::format::SEGMENT_HEAD_BYTES;
use crate::store::vlog::live_bytes::ValueLiveBytes;
use crate::store::vlog::writer::VlogWriter;

/// Segments of values that the memtable of one keyspace may name before it is sealed. Its pointers
/// take next to no memory, so without this a memtable could keep terabytes of overwritten values.
/// Fewer would flush runs of a few kilobytes.
const SEGMENTS_PER_TABLE: u64 = 4;

/// Bytes of values that a memtable may name before it is sealed, with segments of that size.
pub fn table_bytes_max(segment_bytes: u64) -> u64 {
    segment_bytes.saturating_mul(SEGMENTS_PER_TABLE)
}

/// Every segment of a value log, and who names them. Behind one lock, which `flow/values/value_log`
/// holds.
#[derive(Default)]
pub(in crate::flow) struct Segments {
    /// Where values go whose keyspace has no segments of its own.
    live: Option<FileNumber>,
    /// Keyspaces whose values lie apart from those of all others.
    own: Owners,
    /// Own segments that have ended since somebody asked for all that did: files that stay open
    /// until they are synced.
    pub(in crate::flow) ended_own_count: usize,
    /// Every segment in the directory.
    pub(in crate::flow) segments: BTreeMap<FileNumber, Segment>,
    /// Memtables that name segments.
    pub(in crate::flow) memtables: Vec<Weak<Memtable>>,
    /// Without those in own segments, which wait for their keyspace's flush.
    pub(in crate::flow) unsynced_bytes: u64,
    /// Segments that ended, and their sizes, whose unused ends are still to be given back: that
    /// takes milliseconds, for which no writer should wait.
    pub(in crate::flow) ended: Vec<(Arc<dyn ExtentFile>, u64)>,
    /// How often a segment was held, of all segments together.
    pub(in crate::flow) hold_count: u64,
}

/// Where the next segment belongs, and how large it is.
pub(in crate::flow) struct NextSegment {
    /// The keyspace whose own it is.
    pub(in crate::flow) owner: Option<KeyspaceId>,
    pub(in crate::flow) capacity_bytes: u64,
}

/// One segment.
pub(in crate::flow) struct Segment {
    /// Bytes of the file; of the live one those that are set aside.
    pub(in crate::flow) size_bytes: u64,
    /// The keyspace whose own it is. Of one that was found at the opening, or that a rewrite fills
    /// and syncs, nobody asks.
    pub(in crate::flow) owner: Option<KeyspaceId>,
    /// While it is live.
    pub(in crate::flow) writer: Option<VlogWriter>,
    /// While it may have bytes that are not durable.
    pub(in crate::flow) syncer: Option<Arc<dyn LogSync>>,
    pub(in crate::flow) is_dirty: bool,
    /// Bytes of records that were written since it was synced last.
    pub(in crate::flow) dirty_bytes: u64,
    /// Whether its directory entry is durable.
    pub(in crate::flow) is_named: bool,
    /// Writes under way whose pointers are in no memtable and in no version yet.
    pub(in crate::flow) pending: usize,
    /// What `hold_count` was when somebody held it last; 0 while nobody has.
    pub(in crate::flow) held_at: u64,
}

/// One segment, for statistics and for choosing what to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSize {
    /// Its number.
    pub number: FileNumber,
    /// Bytes of its file; of the live one those that are written.
    pub size_bytes: u64,
    /// Whether nothing is written to it any more.
    pub is_sealed: bool,
}

impl Segments {
    /// Has values of `keyspace` lie in segments of its own from now on, beside `held_bytes` that
    /// its files point to.
    pub(in crate::flow) fn keep_apart(&mut self, keyspace: KeyspaceId, held_bytes: u64) {
        self.own.add(keyspace, held_bytes);
    }

    /// The files of `keyspace` point to `live` now, and its memtables to `named_bytes` at the most.
    /// Its live segment ends if more of that is dead or not used than a new one would have: nothing
    /// is given back of it before.
    pub(in crate::flow) fn set_held(
        &mut self,
        keyspace: KeyspaceId,
        live: &ValueLiveBytes,
        named_bytes: u64,
        sizes: &OwnSizes,
    ) {
        let filed_bytes = live.total_bytes();
        self.own.set_held(keyspace, filed_bytes, named_bytes);
        let Some(number) = self.own.live_of(keyspace) else {
            return;
        };
        let segment = self.segments.get(&number);
        let capacity_bytes = segment.map_or(0, Segment::capacity_bytes);
        let needed_bytes = SEGMENT_HEAD_BYTES + live.of(number) + named_bytes;
        let lost_bytes = capacity_bytes.saturating_sub(needed_bytes);
        if lost_bytes > sizes.next_bytes(filed_bytes + named_bytes, self.own.count()) {
            self.seal_own(keyspace);
        }
    }

    /// Ends what [`Segments::keep_apart`] began.
    pub(in crate::flow) fn forget(&mut self, keyspace: KeyspaceId) {
        self.seal_own(keyspace);
        self.own.remove(keyspace);
    }

    pub(in crate::flow) fn set_aside(
        &mut self,
        keyspace: KeyspaceId,
        bytes: u64,
    ) -> Option<(VlogWriter, u64)> {
        let owner = self.owner_of(keyspace);
        let live = match owner {
            Some(owner) => self.own.live_of(owner),
            None => self.live,
        };
        let segment = self.segments.get_mut(&live?)?;
        let writer = segment.writer.as_ref()?;
        if segment.size_bytes + bytes > writer.capacity_bytes() {
            return None;
        }
        let place = (writer.clone(), segment.size_bytes);
        segment.size_bytes += bytes;
        segment.pending += 1;
        self.own.note_write(keyspace, bytes);
        Some(place)
    }

    /// What the next segment for a record of `bytes` is.
    pub(in crate::flow) fn next_segment(
        &self,
        keyspace: KeyspaceId,
        bytes: u64,
        sizes: &OwnSizes,
    ) -> NextSegment {
        let owner = self.owner_of(keyspace);
        let wished_bytes = owner.map_or(sizes.segment_bytes, |owner| {
            sizes.next_bytes(self.own.held_bytes(owner), self.own.count())
        });
        NextSegment {
            owner,
            capacity_bytes: wished_bytes.max(SEGMENT_HEAD_BYTES + bytes),
        }
    }

    /// Makes it the live segment of `owner`, or the shared one. Where `own_max` own ones are live
    /// that one ends which was written to longest ago: each keeps a file open.
    pub(in crate::flow) fn add_live(
        &mut self,
        writer: VlogWriter,
        owner: Option<KeyspaceId>,
        own_max: usize,
    ) {
        let number = writer.number();
        self.segments.insert(number, Segment::fresh(writer, owner));
        let Some(owner) = owner else {
            let before = self.live.replace(number);
            return self.end(before);
        };
        if !self.own.contains(owner) {
            // It was dropped while the file was made.
            return self.end(Some(number));
        }
        self.seal_own(owner);
        while self.own.live_count() >= own_max.max(1) {
            let oldest = self.own.take_oldest();
            self.end(oldest);
        }
        self.own.begin(owner, number);
    }

    /// A segment for one record that is larger than others may be.
    pub(in crate::flow) fn add_giant(
        &mut self,
        writer: VlogWriter,
        bytes: u64,
        owner: Option<KeyspaceId>,
    ) -> (VlogWriter, u64) {
        let mut segment = Segment::fresh(writer.clone(), owner);
        let offset = segment.size_bytes;
        segment.size_bytes += bytes;
        segment.pending = 1;
        segment.writer = None;
        self.segments.insert(writer.number(), segment);
        if let Some(owner) = owner {
            self.own.note_write(owner, bytes);
            self.ended_own_count += 1;
        }
        (writer, offset)
    }

    /// Ends every live segment.
    pub(in crate::flow) fn seal_live(&mut self) {
        self.seal_shared();
        self.seal_all_own();
    }

    /// Ends the live segment that keyspaces share.
    pub(in crate::flow) fn seal_shared(&mut self) {
        let live = self.live.take();
        self.end(live);
    }

    /// Ends every live segment that is some keyspace's own.
    pub(in crate::flow) fn seal_all_own(&mut self) {
        while let Some(oldest) = self.own.take_oldest() {
            self.end(Some(oldest));
        }
    }

    /// Ends the live segment that is this keyspace's own.
    pub(in crate::flow) fn seal_own(&mut self, keyspace: KeyspaceId) {
        let live = self.own.take_live(keyspace);
        self.end(live);
    }

    // The keyspace, if its values go to segments of its own.
    fn owner_of(&self, keyspace: KeyspaceId) -> Option<KeyspaceId> {
        self.own.contains(keyspace).then_some(keyspace)
    }

    fn end(&mut self, live: Option<FileNumber>) {
        let segment = live.and_then(|live| self.segments.get_mut(&live));
        if let Some(segment) = segment
            && let Some(writer) = segment.writer.take()
        {
            self.ended_own_count += usize::from(segment.owner.is_some());
            self.ended
                .push((Arc::clone(writer.file()), segment.size_bytes));
        }
    }

    pub(in crate::flow) fn written(&mut self, number: FileNumber, bytes: u64) {
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.is_dirty = true;
            segment.dirty_bytes += bytes;
            self.unsynced_bytes += match segment.owner {
                Some(_) => 0,
                None => bytes,
            };
        }
    }

    /// The segments that nobody writes to, and those that memtables name: in this order, because
    /// a pointer is in a memtable before its write is no longer under way.
    pub(in crate::flow) fn idle(&mut self) -> (Vec<FileNumber>, BTreeSet<FileNumber>) {
        let segments = self.segments.iter();
        let idle = segments
            .filter(|(_, segment)| segment.is_finished())
            .map(|(number, _)| *number)
            .collect();
        let mut named = BTreeSet::new();
        self.memtables.retain(|table| match table.upgrade() {
            Some(table) => {
                named.extend(table.values().named_segments());
                true
            }
            None => false,
        });
        (idle, named)
    }
}

impl Segments {
    /// Bytes of live own segments that are allocated and that nothing was written to, beyond
    /// `free_bytes` of each.
    pub(in crate::flow) fn unused_bytes(&self, free_bytes: u64) -> u64 {
        let unused = self.own_live().map(Segment::unused_bytes);
        unused.map(|unused| unused.saturating_sub(free_bytes)).sum()
    }

    /// Bytes that are allocated of live own segments.
    pub(in crate::flow) fn own_live_bytes(&self) -> u64 {
        self.own_live().map(Segment::capacity_bytes).sum()
    }

    fn own_live(&self) -> impl Iterator<Item = &Segment> {
        let live = self.own.live();
        live.filter_map(|live| self.segments.get(&live))
    }

    /// Every segment.
    pub(in crate::flow) fn sizes(&self) -> Vec<SegmentSize> {
        let segments = self.segments.iter();
        segments
            .map(|(number, segment)| SegmentSize {
                number: *number,
                size_bytes: segment.size_bytes,
                is_sealed: segment.is_finished(),
            })
            .collect()
    }

    /// The segments that nobody writes to and that no memtable names.
    pub(in crate::flow) fn settled(&mut self) -> Vec<SegmentSize> {
        let (idle, named) = self.idle();
        let settled = idle.into_iter().filter(|number| !named.contains(number));
        settled
            .map(|number| SegmentSize {
                number,
                size_bytes: self.segments[&number].size_bytes,
                is_sealed: true,
            })
            .collect()
    }

    /// Counts somebody as under way who is about to point into that segment once more.
    pub(in crate::flow) fn hold(&mut self, number: FileNumber) -> Option<FileNumber> {
        let segment = self.segments.get_mut(&number)?;
        self.hold_count += 1;
        segment.pending += 1;
        segment.held_at = self.hold_count;
        Some(number)
    }

    /// Counts who was under way in these segments as there no more.
    pub(in crate::flow) fn let_go(&mut self, numbers: &[FileNumber]) {
        for number in numbers {
            if let Some(segment) = self.segments.get_mut(number) {
                segment.pending -= 1;
            }
        }
    }

    /// Takes out those of `dead` that nobody has held since `hold_count` was `since`. Who did may
    /// have pointed there once more, and where his pointer is by now nobody here can tell: his
    /// memtable may be flushed and gone.
    pub(in crate::flow) fn take_dead(
        &mut self,
        mut dead: Vec<FileNumber>,
        since: u64,
    ) -> Vec<FileNumber> {
        let is_held = |segment: &Segment| segment.held_at > since;
        dead.retain(|number| !self.segments.get(number).is_some_and(is_held));
        // Of two who look at the same time one takes it.
        dead.retain(|number| self.segments.remove(number).is_some());
        dead
    }
}

impl Segment {
    pub(in crate::flow) fn fresh(writer: VlogWriter, owner: Option<KeyspaceId>) -> Segment {
        let syncer: Arc<dyn LogSync> = Arc::<dyn ExtentFile>::clone(writer.file());
        Segment {
            size_bytes: SEGMENT_HEAD_BYTES,
            owner,
            writer: Some(writer),
            syncer: Some(syncer),
            is_dirty: true,
            dirty_bytes: 0,
            is_named: false,
            pending: 0,
            held_at: 0,
        }
    }

    /// Whether nothing is written to it any more.
    pub(in crate::flow) fn is_finished(&self) -> bool {
        self.writer.is_none() && self.pending == 0
    }

    /// Whether it is some keyspace's own, and no longer live.
    pub(in crate::flow) fn is_ended_own(&self) -> bool {
        self.owner.is_some() && self.writer.is_none()
    }

    /// Closes it for writing if it is finished and durable.
    pub(in crate::flow) fn close_finished(&mut self) {
        if self.is_finished() && !self.is_dirty {
            self.syncer = None;
        }
    }

    /// Bytes that are allocated of it while it is live.
    fn capacity_bytes(&self) -> u64 {
        let writer = self.writer.as_ref();
        writer.map_or(0, VlogWriter::capacity_bytes)
    }

    fn unused_bytes(&self) -> u64 {
        self.capacity_bytes().saturating_sub(self.size_bytes)
    }

    /// One that its one writer fills alone, and syncs before anybody can point into it.
    pub(in crate::flow) fn separated(writer: VlogWriter, capacity_bytes: u64) -> Segment {
        Segment {
            size_bytes: capacity_bytes,
            pending: 1,
            writer: None,
            syncer: None,
            ..Segment::fresh(writer, None)
        }
    }
}

/// Gives back the unused ends of segments that nothing more is written to.
pub(in crate::flow) fn trim(ended: Vec<(Arc<dyn ExtentFile>, u64)>) {
    for (file, size_bytes) in ended {
        // A file that keeps its end costs space until it is collected, and nothing else.
        let _ = file.trim(size_bytes);
    }
}

/// Says what it means that there is no space for a segment, which takes its whole room at once: a
/// small disk may not have that though it is not full. Any other error stays as it is.
pub(in crate::flow) fn too_large_for_disk(capacity_bytes: u64, cause: Error) -> Error {
    if cause.kind() != ErrorKind::OutOfSpace {
        return cause;
    }
    let message = format!(
        "a segment of the value log takes {capacity_bytes} bytes at once, and the disk has not as \
         many; free some, or set `value_log.segment_size` smaller"
    );
    Error::new(ErrorKind::OutOfSpace, message).caused_by(cause)
}
