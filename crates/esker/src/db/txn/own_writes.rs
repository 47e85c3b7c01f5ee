//! What a transaction wrote and nobody else sees: a batch that can be read.
//!
//! The batch is what is committed. To be read it is put into memtables, one for each keyspace, in
//! front of what is committed there: by the first read behind a write, and only what came since the
//! last one. So a transaction that only writes pays for a batch alone, and one that reads its own
//! writes takes about twice their bytes. Numbers of its entries lie above all others
//! ([`Visibility::own_seqno`]), so that the read path needs to know little of all this.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::base::types::spare::{SpareBuffer, SpareCell};
use crate::base::types::user_code;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::read::newest::Target;
use crate::flow::read::view::View;
use crate::flow::values::value_log::Pending;
use crate::store::batch::reader::{BatchEntry, BatchReader};
use crate::store::batch::writer::{Batch, BatchMark};
use crate::store::mem::memtable::{Memtable, MemtableWriter};

/// The writes of one transaction, in their order.
pub struct OwnWrites {
    batch: Batch<'static>,
    parts: IdMap<KeyspaceId, Arc<KeyspaceParts>>,
    tables: IdMap<KeyspaceId, OwnTable>,
    /// How much of the batch is in the tables.
    known: BatchMark,
    /// Values that go on with another end: the place of each among the writes, and when it ended.
    moved_ends: Vec<(u32, Expiry)>,
    /// Keeps the segments of those that were not written again.
    held: BTreeMap<FileNumber, Pending>,
}

thread_local! {
    static BATCH: SpareCell = const { Cell::new(Vec::new()) };
}

/// For small transactions: growing a batch from nothing takes as long as beginning one.
const BATCH_BUFFER: SpareBuffer = SpareBuffer::new(&BATCH, 16 << 10);

/// The writes to one keyspace, where they can be read.
struct OwnTable {
    writer: MemtableWriter,
    /// The view in front of which they were last, and both together.
    seen: Option<(Arc<View>, Arc<View>)>,
}

impl Default for OwnWrites {
    fn default() -> OwnWrites {
        OwnWrites {
            batch: Batch::within(BATCH_BUFFER.take()),
            parts: IdMap::default(),
            tables: IdMap::default(),
            known: BatchMark::START,
            moved_ends: Vec::new(),
            held: BTreeMap::new(),
        }
    }
}

impl Drop for OwnWrites {
    fn drop(&mut self) {
        BATCH_BUFFER.give_back(std::mem::take(&mut self.batch).into_buffer());
    }
}

impl OwnWrites {
    /// The batch, to add a write to that keyspace.
    pub fn batch_for(&mut self, parts: &Arc<KeyspaceParts>) -> &mut Batch<'static> {
        self.parts
            .entry(parts.id)
            .or_insert_with(|| Arc::clone(parts));
        &mut self.batch
    }

    /// The batch, to be written.
    pub fn batch(&mut self) -> &mut Batch<'static> {
        &mut self.batch
    }

    /// How many writes there are.
    pub fn count(&self) -> usize {
        self.batch.count() as usize
    }

    /// Bytes of keys and values.
    pub fn size_bytes(&self) -> u64 {
        self.batch.size_bytes() as u64 + self.batch.large_bytes()
    }

    /// The last write has a value go on that would be gone from then on.
    pub fn goes_on(&mut self, expiry: Expiry) {
        let index = self.batch.count() - 1;
        self.moved_ends.push((index, expiry));
    }

    /// Before when the writes must happen, so that no value goes on that was gone.
    pub fn alive_until(&self) -> Option<Expiry> {
        self.moved_ends.iter().map(|(_, expiry)| *expiry).min()
    }

    /// Keeps a segment of the value log, which a write points to, until the transaction ends; also
    /// when the write is taken back.
    pub fn hold(&mut self, segment: FileNumber, pending: Pending) {
        self.held.entry(segment).or_insert(pending);
    }

    /// Whether it keeps any.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// The place behind the last write.
    pub fn mark(&self) -> BatchMark {
        self.batch.mark()
    }

    /// Forgets what was written since a mark.
    pub fn rewind(&mut self, mark: &BatchMark) {
        self.batch.rewind(mark);
        self.moved_ends.retain(|(index, _)| *index < mark.count());
        if self.known.count() > mark.count() {
            // Made again by the next read; who still reads in them has them.
            self.forget_tables();
        }
    }

    /// What was written to. A merge is not among it: whatever others write to its key, it is folded
    /// into that.
    pub fn written(&self) -> Result<Vec<Written>> {
        let entries = BatchReader::new(self.batch.bytes())?;
        let mut written = Vec::with_capacity(self.count());
        for entry in entries.entries_behind(&BatchMark::START) {
            let entry = entry?;
            let kind = entry.trailer.kind();
            if kind == Kind::Merge {
                continue;
            }
            written.push(Written {
                keyspace: Arc::clone(&self.parts[&entry.keyspace]),
                what: match kind {
                    Kind::RangeDelete => What::Range(KeyRange::new(entry.key..entry.value)),
                    _ => What::Key(entry.key.to_vec()),
                },
            });
        }
        Ok(written)
    }

    /// `view` of the keyspace with its own writes to it in front, if there are any, for a reader
    /// who sees what is committed up to `committed`.
    ///
    /// Errors: `Invalid` when the keyspace's comparator panics.
    pub fn in_front_of(
        &mut self,
        parts: &KeyspaceParts,
        view: Arc<View>,
        committed: SeqNo,
    ) -> Result<(Arc<View>, Visibility)> {
        self.catch_up()?;
        let Some(table) = self.tables.get_mut(&parts.id) else {
            return Ok((view, Visibility::at(committed)));
        };
        let visibility = Visibility::with_own(committed, u64::from(self.known.count()));
        if let Some((before, with_own)) = &table.seen
            && Arc::ptr_eq(before, &view)
        {
            return Ok((Arc::clone(with_own), visibility));
        }
        let with_own = Arc::new(view.with_own(Arc::clone(table.writer.table())));
        table.seen = Some((view, Arc::clone(&with_own)));
        Ok((with_own, visibility))
    }

    /// Puts into the tables what came since.
    fn catch_up(&mut self) -> Result<()> {
        if self.known.count() == self.batch.count() {
            return Ok(());
        }
        let told = user_code::told(|| {
            let mut large = self.known.large_count();
            for entry in BatchReader::new(self.batch.bytes())?.entries_behind(&self.known) {
                let entry = entry?;
                let parts = &self.parts[&entry.keyspace];
                let table = self
                    .tables
                    .entry(entry.keyspace)
                    .or_insert_with(|| OwnTable::new(parts));
                let index = entry.trailer.seqno().get();
                let seqno = Visibility::own_seqno(index);
                let index = u32::try_from(index).expect("a batch counts its entries in 32 bits");
                if let Some(value) = self.batch.large_value_of(index, large) {
                    large += 1;
                    table.insert_separated(&entry, seqno, &value.value);
                } else {
                    // One that lies in the value log already is read from there.
                    let trailer = Trailer::new(seqno, entry.trailer.kind());
                    table.writer.insert(trailer, entry.key, entry.value);
                }
            }
            Ok(())
        });
        match told {
            Ok(()) => self.known = self.batch.mark(),
            // A part may be in them.
            Err(_) => self.forget_tables(),
        }
        told
    }

    fn forget_tables(&mut self) {
        self.tables = IdMap::default();
        self.known = BatchMark::START;
    }
}

/// What one write was to.
pub struct Written {
    /// The keyspace.
    pub keyspace: Arc<KeyspaceParts>,
    /// What of it.
    pub what: What,
}

/// A key, or a range of keys.
pub enum What {
    /// One key.
    Key(Vec<u8>),
    /// All keys of a range.
    Range(KeyRange),
}

impl What {
    /// The same, lent.
    pub fn target(&self) -> Target<'_> {
        match self {
            What::Key(key) => Target::Key(key),
            What::Range(range) => Target::Range(range),
        }
    }
}

impl OwnTable {
    // Without a merge operator: whoever reads folds, with what is committed below.
    fn new(parts: &KeyspaceParts) -> OwnTable {
        OwnTable {
            writer: Memtable::create(parts.options().comparator.clone(), None),
            seen: None,
        }
    }

    // In the batch there is a place for a pointer, and the value beside it.
    fn insert_separated(&mut self, entry: &BatchEntry<'_>, seqno: SeqNo, value: &[u8]) {
        let kind = entry.trailer.kind();
        let trailer = Trailer::new(seqno, kind.unseparated());
        if !kind.is_expiring() {
            return self.writer.insert(trailer, entry.key, value);
        }
        let expiry = &entry.value[..kind.expiry_bytes()];
        let raw = [expiry, value].concat();
        self.writer.insert(trailer, entry.key, &raw);
    }
}

#[cfg(test)]
mod tests;
