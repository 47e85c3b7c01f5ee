//! Large values in memory: those that were not written yet, and the newest of those that were.
//!
//! A value that needs to survive nothing waits here until it is written, if it ever is: its entry
//! in the memtable has a pointer to *no place yet*, which is resolved here, and the memtable keeps
//! the value. Every other value is in the page cache by the time its pointer is known, and is here
//! so that reading it soon after takes neither a system call nor a copy: the oldest of these give
//! way to newer values, whichever kind they are.
//!
//! Who waits and how, and who writes, is not known here (`flow/write/commit`, `flow/values/flush`).

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use crate::base::types::bytes::Bytes;
use crate::base::types::id_map::IdMap;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::store::vlog::pointer::ValuePointer;

/// Parts of the table, each with a lock of its own: a read holds one for a look only, so several
/// times the cores of the machines we know is plenty.
const SHARD_COUNT: u64 = 16;

/// What a value costs beyond its bytes: the table's entry, the queue's, and the counted head.
const VALUE_OVERHEAD_BYTES: u64 = 128;

/// Of so many copied values one must have been read, for copying each new one to be worth it. A
/// copy of 100 KiB costs 20 us and spares a read as much; but somebody waits for the read.
const COPIES_PER_HIT: u64 = 32;

/// While copies are not worth it, one value of so many is copied all the same: to learn when they
/// are again.
const COPY_SAMPLE: u64 = 16;

/// The pool of one database. Any thread may call anything.
pub struct ValuePool {
    size_bytes: AtomicU64,
    /// Bytes waiting from which on somebody begins to write them.
    flush_bytes: AtomicU64,
    shards: Vec<RwLock<IdMap<Place, Kept>>>,
    books: Mutex<Books>,
    unwritten_bytes_total: AtomicU64,
    /// Reads that found a written value since copies were last judged.
    hit_count: AtomicU64,
}

/// Segment and offset, which tell a value from all others.
type Place = (FileNumber, u32);

#[derive(Clone)]
enum Kept {
    Written(Bytes),
    Waiting(Weak<WaitingValue>),
}

#[derive(Default)]
struct Books {
    /// The written values, oldest first.
    written: VecDeque<(Place, u64)>,
    written_bytes: u64,
    /// Of values that were not written, and of room that was given for some.
    waiting_bytes: u64,
    next_ticket: u64,
    copies: Copies,
}

/// Whether values that were written are copied to be here, judged each time that as much was
/// written as the pool holds.
#[derive(Default)]
struct Copies {
    is_wasted: bool,
    bytes: u64,
    offered_count: u64,
    copied_count: u64,
}

impl Copies {
    // A load that only writes soon pays for one copy in many; one that reads what it wrote finds
    // it here, from its first read on.
    fn is_next_worth_it(&mut self, bytes: u64, size_bytes: u64, hits: &AtomicU64) -> bool {
        if self.bytes >= size_bytes {
            let hit_count = hits.swap(0, Ordering::Relaxed);
            *self = Copies {
                is_wasted: hit_count * COPIES_PER_HIT < self.copied_count,
                ..Copies::default()
            };
        }
        self.bytes += bytes;
        self.offered_count += 1;
        let is_worth_it = !self.is_wasted || self.offered_count.is_multiple_of(COPY_SAMPLE);
        self.copied_count += u64::from(is_worth_it);
        is_worth_it
    }
}

/// Where a value is that a pointer leads to.
#[derive(Debug)]
pub enum Found {
    /// In memory.
    Here(Bytes),
    /// In a segment by now.
    There(ValuePointer),
}

impl ValuePool {
    /// An empty pool of `size_bytes`, of which as many may wait to be written as leaves room for
    /// one value when somebody begins to write, at `flush_bytes`.
    pub fn new(size_bytes: u64, flush_bytes: u64) -> Arc<ValuePool> {
        Arc::new(ValuePool {
            size_bytes: AtomicU64::new(size_bytes),
            flush_bytes: AtomicU64::new(flush_bytes),
            shards: (0..SHARD_COUNT).map(|_| RwLock::default()).collect(),
            books: Mutex::default(),
            unwritten_bytes_total: AtomicU64::new(0),
            hit_count: AtomicU64::new(0),
        })
    }

    /// Changes both sizes; values beyond go with the next one that comes.
    pub fn set_size(&self, size_bytes: u64, flush_bytes: u64) {
        // Relaxed, here and below: limits are taken note of a value earlier or later.
        self.size_bytes.store(size_bytes, Ordering::Relaxed);
        self.flush_bytes.store(flush_bytes, Ordering::Relaxed);
    }

    /// Where the value is, if it is known here.
    pub fn find(&self, pointer: &ValuePointer) -> Option<Found> {
        let place = (pointer.segment, pointer.offset);
        let shard = self.shard(place).read();
        let kept = shard.unwrap_or_else(PoisonError::into_inner);
        let waiting = match kept.get(&place)? {
            Kept::Written(value) => {
                self.hit_count.fetch_add(1, Ordering::Relaxed);
                return (value.len() == pointer.len as usize).then(|| Found::Here(value.clone()));
            }
            Kept::Waiting(waiting) => waiting.upgrade()?,
        };
        drop(kept);
        Some(waiting.found())
    }

    /// Whether to copy a value of `bytes` that was written, in order to keep it.
    pub fn is_copy_worth_it(&self, bytes: u64) -> bool {
        let size_bytes = self.size_bytes();
        if bytes > size_bytes {
            // It would never be kept, and may be as large as all other memory together.
            return false;
        }
        let mut books = self.books();
        let copies = &mut books.copies;
        copies.is_next_worth_it(bytes, size_bytes, &self.hit_count)
    }

    /// Keeps a value that was written, for as long as there is room.
    pub fn keep_written(&self, pointer: &ValuePointer, value: Bytes) {
        let bytes = value.len() as u64 + VALUE_OVERHEAD_BYTES;
        let place = (pointer.segment, pointer.offset);
        if self.waiting_bytes() + bytes > self.size_bytes() {
            return;
        }
        // In the table before it is on the books: whoever puts it out then finds it there.
        self.set(place, Kept::Written(value));
        let mut gone = Vec::new();
        {
            let mut books = self.books();
            books.written.push_back((place, bytes));
            books.written_bytes += bytes;
            books.make_room(self.size_bytes(), 0, &mut gone);
        }
        self.take_out(&gone);
    }

    /// Whether values of `bytes` in all may wait here: where they could never have room before
    /// somebody begins to write others, nobody would make any.
    pub fn may_wait(&self, bytes: u64, count: usize) -> bool {
        let flush_bytes = self.flush_bytes.load(Ordering::Relaxed);
        needed(bytes, count) + flush_bytes <= self.size_bytes()
    }

    /// Room for `count` values of `bytes` in all that are to wait here; `None` when too much waits.
    pub fn room_for(self: &Arc<ValuePool>, bytes: u64, count: usize) -> Option<PoolRoom> {
        let bytes = needed(bytes, count);
        let mut gone = Vec::new();
        {
            let mut books = self.books();
            if books.waiting_bytes + bytes > self.size_bytes() {
                return None;
            }
            books.make_room(self.size_bytes(), bytes, &mut gone);
            books.waiting_bytes += bytes;
        }
        self.take_out(&gone);
        let pool = Arc::clone(self);
        Some(PoolRoom { pool, bytes })
    }

    /// Bytes of all values here.
    pub fn used_bytes(&self) -> u64 {
        let books = self.books();
        books.written_bytes + books.waiting_bytes
    }

    /// Bytes of values that were not written.
    pub fn waiting_bytes(&self) -> u64 {
        self.books().waiting_bytes
    }

    /// Counts bytes of values that nobody will ever write.
    pub fn count_unwritten(&self, bytes: u64) {
        self.unwritten_bytes_total
            .fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of all values so far that nobody will ever write.
    pub fn unwritten_bytes_total(&self) -> u64 {
        self.unwritten_bytes_total.load(Ordering::Relaxed)
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Ordering::Relaxed)
    }

    fn set(&self, place: Place, kept: Kept) {
        let shard = self.shard(place).write();
        shard
            .unwrap_or_else(PoisonError::into_inner)
            .insert(place, kept);
    }

    // What is taken out is dropped under no lock: giving back memory may take a system call.
    fn take_out(&self, gone: &[Place]) {
        for place in gone {
            let shard = self.shard(*place).write();
            let kept = shard.unwrap_or_else(PoisonError::into_inner).remove(place);
            drop(kept);
        }
    }

    fn shard(&self, (segment, offset): Place) -> &RwLock<IdMap<Place, Kept>> {
        // Odd, so that neither numbers nor offsets in steps of a power of two meet in one shard.
        let mixed = (segment.0 ^ u64::from(offset)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let index = usize::try_from(mixed % SHARD_COUNT).expect("below the number of shards");
        &self.shards[index]
    }

    // Fields change together, and nothing between them can panic.
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn needed(bytes: u64, count: usize) -> u64 {
    bytes + VALUE_OVERHEAD_BYTES * count as u64
}

impl Books {
    fn make_room(&mut self, size_bytes: u64, bytes: u64, gone: &mut Vec<Place>) {
        while self.written_bytes + self.waiting_bytes + bytes > size_bytes {
            let Some((place, freed)) = self.written.pop_front() else {
                break;
            };
            self.written_bytes -= freed;
            gone.push(place);
        }
    }
}

/// Room for values that are to wait; what is not used is given back.
pub struct PoolRoom {
    pool: Arc<ValuePool>,
    bytes: u64,
}

impl PoolRoom {
    /// Puts a value into the room.
    ///
    /// # Panics
    /// When it is larger than what is left.
    pub fn keep(&mut self, new: NewWaiting<'_>) -> Arc<WaitingValue> {
        let bytes = new.value.len() as u64 + VALUE_OVERHEAD_BYTES;
        assert!(bytes <= self.bytes);
        self.bytes -= bytes;
        let ticket = {
            let mut books = self.pool.books();
            books.next_ticket += 1;
            books.next_ticket
        };
        let len = u32::try_from(new.value.len()).expect("limits are below 4 GiB");
        let pointer = ValuePointer::to_no_place(ticket, len, new.crc);
        let waiting = Arc::new(WaitingValue {
            pool: Arc::clone(&self.pool),
            pointer,
            keyspace: new.keyspace,
            key: Bytes::copy_of(new.key),
            state: Mutex::new(Waiting {
                found: Found::Here(new.value),
                counted_bytes: bytes,
            }),
        });
        let kept = Kept::Waiting(Arc::downgrade(&waiting));
        self.pool.set((pointer.segment, pointer.offset), kept);
        waiting
    }
}

impl Drop for PoolRoom {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.pool.books().waiting_bytes -= self.bytes;
        }
    }
}

/// A value that is to wait.
pub struct NewWaiting<'a> {
    /// Whose it is.
    pub keyspace: KeyspaceId,
    /// The user's key.
    pub key: &'a [u8],
    /// The user's value.
    pub value: Bytes,
    /// CRC32C of the value.
    pub crc: u32,
}

/// A value that waits to be written, or was written since: kept by the memtable that names it.
pub struct WaitingValue {
    pool: Arc<ValuePool>,
    pointer: ValuePointer,
    keyspace: KeyspaceId,
    key: Bytes,
    state: Mutex<Waiting>,
}

struct Waiting {
    found: Found,
    /// Its part of the bytes that wait; 0 when it no longer counts.
    counted_bytes: u64,
}

impl WaitingValue {
    /// What its entry in the memtable points to.
    pub fn pointer(&self) -> &ValuePointer {
        &self.pointer
    }

    /// Whose it is.
    pub fn keyspace(&self) -> KeyspaceId {
        self.keyspace
    }

    /// The user's key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value, if it was not written yet.
    pub fn unwritten(&self) -> Option<Bytes> {
        match self.found() {
            Found::Here(value) => Some(value),
            Found::There(_) => None,
        }
    }

    /// Its part of the bytes that wait.
    pub fn waiting_bytes(&self) -> u64 {
        self.state().counted_bytes
    }

    /// Says where the value was written. From here on it may leave memory.
    pub fn written(&self, place: &ValuePointer) {
        let (before, counted_bytes) = {
            let mut state = self.state();
            let before = std::mem::replace(&mut state.found, Found::There(*place));
            (before, std::mem::take(&mut state.counted_bytes))
        };
        self.pool.books().waiting_bytes -= counted_bytes;
        if let Found::Here(value) = before {
            self.pool.keep_written(place, value);
        }
    }

    /// The memtable that keeps it was flushed: whoever holds that still may read the value, and
    /// nobody waits for its room any more. Gives the bytes of the value if it was not written.
    pub fn settle(&self) -> u64 {
        let (counted_bytes, unwritten_bytes) = {
            let mut state = self.state();
            let unwritten_bytes = match &state.found {
                Found::Here(value) => value.len() as u64,
                Found::There(_) => 0,
            };
            (std::mem::take(&mut state.counted_bytes), unwritten_bytes)
        };
        self.pool.books().waiting_bytes -= counted_bytes;
        unwritten_bytes
    }

    fn found(&self) -> Found {
        match &self.state().found {
            Found::Here(value) => Found::Here(value.clone()),
            Found::There(place) => Found::There(*place),
        }
    }

    // Each change is whole before anything in it could panic.
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingValue {
    fn drop(&mut self) {
        self.settle();
        self.pool
            .take_out(&[(self.pointer.segment, self.pointer.offset)]);
    }
}

impl fmt::Debug for ValuePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let books = self.books();
        let (waiting, written) = (books.waiting_bytes, books.written_bytes);
        write!(f, "ValuePool({waiting} bytes wait, {written} were written)")
    }
}

#[cfg(test)]
mod tests;
