//! The range deletes of a memtable, in the order of their sequence numbers.
//!
//! They lie in chunks, each twice as long as the one before, and stay where they are: adding one
//! copies none, and readers walk over them while the writer adds. So a reader who knows the first
//! thousand looks at what came since, whatever there is in all.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::range_delete::RangeDelete;
use crate::base::types::seqno::SeqNo;

/// Places in the first chunk; each further one has twice as many. Most memtables see few.
const FIRST_CHUNK_LEN: usize = 8;

/// Chunks: with 28 there is room for two thousand million, far beyond any memtable.
const CHUNK_COUNT: usize = 28;

/// Range deletes that are looked through, newest first, to learn whether one lies between an
/// operand and what it would be folded into; with more in between nothing is folded.
const LOOKED_AT_MAX: usize = 16;

/// What a heap block costs beyond its bytes: the allocator's own word and its rounding, which
/// are 8 and at most 16 bytes in the common allocators, for the bytes and for their counted head.
const HEAP_BLOCK_BYTES: usize = 2 * 24 + size_of::<Vec<u8>>() + 2 * size_of::<usize>();

type Chunk = Box<[OnceLock<RangeDelete>]>;

/// Range deletes, by rising sequence number; none at first. One thread adds; any number read, and
/// never wait.
#[derive(Default)]
pub struct RangeDeletes {
    count: AtomicUsize,
    bytes: AtomicUsize,
    // Made with the first range delete: most memtables never see one.
    chunks: OnceLock<Box<[OnceLock<Chunk>]>>,
}

impl RangeDeletes {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        // Acquire: pairs with the Release in `add`; whoever reads at a sequence number that
        // covers a range delete also sees it counted.
        self.count.load(Ordering::Acquire)
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All but the first `known`, oldest first.
    pub fn since(&self, known: usize) -> impl DoubleEndedIterator<Item = &RangeDelete> {
        (known..self.len()).map(|index| self.at(index))
    }

    /// All, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &RangeDelete> {
        self.since(0)
    }

    /// Bytes of memory that they take, and that readers need to search them.
    pub fn used_bytes(&self) -> usize {
        // Relaxed: a number for accounting, nothing is reached through it.
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds the newest; only the memtable's writer does.
    ///
    /// # Panics
    /// When a second writer does, or when there is no place left.
    pub fn add(&self, range_delete: RangeDelete) {
        let mut bytes = reader_bytes(self.len()) + heap_bytes(&range_delete);
        let chunks = self.chunks.get_or_init(|| {
            bytes += CHUNK_COUNT * size_of::<OnceLock<Chunk>>();
            (0..CHUNK_COUNT).map(|_| OnceLock::new()).collect()
        });
        let (chunk, place) = locate(self.len());
        let chunk = chunks[chunk].get_or_init(|| {
            let len = FIRST_CHUNK_LEN << chunk;
            bytes += len * size_of::<OnceLock<RangeDelete>>();
            (0..len).map(|_| OnceLock::new()).collect()
        });
        let is_first = chunk[place].set(range_delete).is_ok();
        assert!(is_first, "one thread adds range deletes");
        // Relaxed: a number for accounting, nothing is reached through it.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        // Release: see `len`.
        self.count.fetch_add(1, Ordering::Release);
    }

    /// Whether one that is newer than `seqno` covers the key; `None` when it would take long to
    /// tell.
    pub fn cover(&self, comparator: &Comparator, key: &[u8], seqno: SeqNo) -> Option<bool> {
        let mut newer = self.iter().rev().take_while(|delete| delete.seqno > seqno);
        let covers = |delete: &RangeDelete| {
            comparator.compare(&delete.start, key).is_le()
                && comparator.compare(key, &delete.end).is_lt()
        };
        if newer.by_ref().take(LOOKED_AT_MAX).any(covers) {
            return Some(true);
        }
        newer.next().is_none().then_some(false)
    }

    fn at(&self, index: usize) -> &RangeDelete {
        let (chunk, place) = locate(index);
        let chunk = self.chunks.get().and_then(|chunks| chunks[chunk].get());
        let place = chunk.and_then(|chunk| chunk[place].get());
        place.expect("what is counted has been added")
    }
}

/// Chunk and place in it of the range delete with that index.
fn locate(index: usize) -> (usize, usize) {
    // Chunk `c` begins at index `(2^c - 1) * FIRST_CHUNK_LEN`.
    let shifted = index / FIRST_CHUNK_LEN + 1;
    let chunk = shifted.ilog2() as usize;
    (chunk, index - ((1 << chunk) - 1) * FIRST_CHUNK_LEN)
}

fn heap_bytes(range_delete: &RangeDelete) -> usize {
    let ends = [&range_delete.start, &range_delete.end];
    let heap = ends.map(|end| match end.pinned_bytes() {
        0 => 0,
        pinned => pinned + HEAP_BLOCK_BYTES,
    });
    heap.iter().sum()
}

/// What one more than `count` makes the readers' search structures grow by, at most: two bounds,
/// and its number in two nodes of each height of their tree, which are counted by four bytes.
fn reader_bytes(count: usize) -> usize {
    let height = (count + 1).ilog2() as usize + 1;
    2 * size_of::<Bytes>() + 2 * height * size_of::<SeqNo>() + 4 * size_of::<u32>()
}

#[cfg(all(test, not(loom)))]
mod tests;
