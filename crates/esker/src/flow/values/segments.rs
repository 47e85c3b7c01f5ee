//! The segments of the value log: which there are, what was written to them, and who names them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::FileNumber;
use crate::env::fs::{ExtentFile, LogSync};
use crate::store::mem::memtable::Memtable;
use crate::store::vlog::format::SEGMENT_HEAD_BYTES;
use crate::store::vlog::writer::VlogWriter;

/// Every segment of a value log, and who names them. Behind one lock, which `flow/values/value_log`
/// holds.
#[derive(Default)]
pub(in crate::flow) struct Segments {
    pub(in crate::flow) live: Option<FileNumber>,
    /// Every segment in the directory.
    pub(in crate::flow) segments: BTreeMap<FileNumber, Segment>,
    /// Memtables that name segments.
    pub(in crate::flow) memtables: Vec<Weak<Memtable>>,
    pub(in crate::flow) unsynced_bytes: u64,
    /// Segments that ended, and their sizes, whose unused ends are still to be given back: that
    /// takes milliseconds, for which no writer should wait.
    pub(in crate::flow) ended: Vec<(Arc<dyn ExtentFile>, u64)>,
    /// How often a segment was held, of all segments together.
    pub(in crate::flow) hold_count: u64,
}

/// One segment.
pub(in crate::flow) struct Segment {
    /// Bytes of the file; of the live one those that are set aside.
    pub(in crate::flow) size_bytes: u64,
    /// While it is live.
    pub(in crate::flow) writer: Option<VlogWriter>,
    /// While it may have bytes that are not durable.
    pub(in crate::flow) syncer: Option<Arc<dyn LogSync>>,
    pub(in crate::flow) is_dirty: bool,
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
    pub(in crate::flow) fn set_aside(&mut self, bytes: u64) -> Option<(VlogWriter, u64)> {
        let segment = self.segments.get_mut(&self.live?)?;
        let writer = segment.writer.as_ref()?;
        if segment.size_bytes + bytes > writer.capacity_bytes() {
            return None;
        }
        let offset = segment.size_bytes;
        segment.size_bytes += bytes;
        segment.pending += 1;
        Some((writer.clone(), offset))
    }

    pub(in crate::flow) fn add_live(&mut self, writer: VlogWriter) {
        self.seal_live();
        let number = writer.number();
        self.segments.insert(number, Segment::fresh(writer));
        self.live = Some(number);
    }

    pub(in crate::flow) fn add_own(&mut self, writer: VlogWriter, bytes: u64) -> (VlogWriter, u64) {
        let mut segment = Segment::fresh(writer.clone());
        let offset = segment.size_bytes;
        segment.size_bytes += bytes;
        segment.pending = 1;
        segment.writer = None;
        self.segments.insert(writer.number(), segment);
        (writer, offset)
    }

    pub(in crate::flow) fn seal_live(&mut self) {
        let live = self.live.take();
        let segment = live.and_then(|live| self.segments.get_mut(&live));
        if let Some(segment) = segment
            && let Some(writer) = segment.writer.take()
        {
            self.ended
                .push((Arc::clone(writer.file()), segment.size_bytes));
        }
    }

    pub(in crate::flow) fn written(&mut self, number: FileNumber, bytes: u64) {
        self.unsynced_bytes += bytes;
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.is_dirty = true;
        }
    }

    pub(in crate::flow) fn take_dirty(&mut self) -> Vec<(FileNumber, Arc<dyn LogSync>, bool)> {
        self.unsynced_bytes = 0;
        let mut dirty = Vec::new();
        for (number, segment) in &mut self.segments {
            match &segment.syncer {
                Some(syncer) if std::mem::take(&mut segment.is_dirty) => {
                    dirty.push((*number, Arc::clone(syncer), segment.is_named));
                }
                _ if segment.writer.is_none() && segment.pending == 0 => segment.syncer = None,
                _ => {}
            }
        }
        dirty
    }

    pub(in crate::flow) fn synced(&mut self, number: FileNumber) {
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.is_named = true;
        }
    }

    /// The segments that nobody writes to, and those that memtables name: in this order, because
    /// a pointer is in a memtable before its write is no longer under way.
    pub(in crate::flow) fn idle(&mut self) -> (Vec<FileNumber>, BTreeSet<FileNumber>) {
        let is_idle = |segment: &Segment| segment.writer.is_none() && segment.pending == 0;
        let segments = self.segments.iter();
        let idle = segments
            .filter(|(_, segment)| is_idle(segment))
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
    pub(in crate::flow) fn fresh(writer: VlogWriter) -> Segment {
        let syncer: Arc<dyn LogSync> = Arc::<dyn ExtentFile>::clone(writer.file());
        Segment {
            size_bytes: SEGMENT_HEAD_BYTES,
            writer: Some(writer),
            syncer: Some(syncer),
            is_dirty: true,
            is_named: false,
            pending: 0,
            held_at: 0,
        }
    }

    /// One that its one writer fills alone, and syncs before anybody can point into it.
    pub(in crate::flow) fn separated(writer: VlogWriter, capacity_bytes: u64) -> Segment {
        Segment {
            size_bytes: capacity_bytes,
            pending: 1,
            writer: None,
            syncer: None,
            ..Segment::fresh(writer)
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
