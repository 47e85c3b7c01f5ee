//! Who holds how many bytes of the memory limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The block cache is never told to shrink below this part of the limit: with an empty cache
/// every read of a hot block goes to the file. A sixteenth is 6 percent, which keeps the whole
/// within the promised limit + 10 percent when everyone else has already taken it all.
const CACHE_FLOOR_DIVISOR: u64 = 16;

/// What is handed out leaves this part of the limit to the allocator: blocks of 4 KiB cost 2
/// percent beyond their bytes, and holes between them, in a heap for each thread, up to a tenth of
/// the limit (measured under 64 MiB over 1.9 GB, where a compaction ran beside the first reads).
const SLACK_DIVISOR: u64 = 8;

/// And so much more, at most as much again: what a cache gives back that shrinks for memtables are
/// blocks here and there, and their pages stay. Under 32 MiB, on a machine that does much else, 116
/// percent of the limit were resident without it, with sixteen cursors held beside writers.
const SLACK_BYTES: u64 = 4 << 20;

fn slack(limit_bytes: u64) -> u64 {
    let part = limit_bytes / SLACK_DIVISOR;
    part + part.min(SLACK_BYTES)
}

/// The part of the limit that filters and indexes may always take.
const FILES_FLOOR_DIVISOR: u64 = 8;

/// The part of the limit that iterators may take to read ahead: an eighth. One scan of sixteen runs
/// takes 4 MiB where there are, and gains nothing from more.
const ITERATORS_DIVISOR: u64 = 8;

/// The part of the limit that compactions may take together.
const COMPACTION_DIVISOR: u64 = 4;

/// Least that one part of a compaction gets: windows and lookaheads of a dozen inputs. Below 32 MiB
/// of limit it is less, a quarter of what all get.
const COMPACTION_PART_BYTES_MIN: u64 = 2 << 20;

/// The part of the limit that training a dictionary may take, in sixteenths: six. It takes turns
/// with compactions, which have one sixteenth beside it, but for the first of them.
const TRAINING_SIXTEENTHS: u64 = 6;

/// The same for compactions beside a training.
const BESIDE_TRAINING_DIVISOR: u64 = 16;

/// Who may hold memory of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOwner {
    /// Live and sealed memtables, and pages of earlier ones that wait for the next.
    Memtables,
    /// Blocks of sorted files that may be dropped at any time.
    BlockCache,
    /// Filters and indexes of open sorted files.
    FiltersAndIndexes,
    /// What iterators decode and read ahead.
    Iterators,
    /// Buffers of running flushes and compactions.
    Compaction,
    /// Samples and counts from which a dictionary is trained.
    Training,
    /// Buffers and mapped segments of the write-ahead log.
    Log,
    /// Large values not written yet, and the newest of those that were.
    Values,
    /// Blocks that left the cache while cursors and returned values held them. They are of the
    /// cache's share.
    PinnedBlocks,
    /// Memtables that lie in sorted files by now, and that cursors hold.
    PinnedMemtables,
}

impl MemoryOwner {
    /// Every owner, in the order in which reports list them.
    pub const ALL: [MemoryOwner; 10] = [
        MemoryOwner::Memtables,
        MemoryOwner::BlockCache,
        MemoryOwner::FiltersAndIndexes,
        MemoryOwner::Iterators,
        MemoryOwner::Compaction,
        MemoryOwner::Training,
        MemoryOwner::Log,
        MemoryOwner::Values,
        MemoryOwner::PinnedBlocks,
        MemoryOwner::PinnedMemtables,
    ];

    /// Whether it holds what is of the cache's share.
    fn is_of_cache(self) -> bool {
        matches!(self, MemoryOwner::BlockCache | MemoryOwner::PinnedBlocks)
    }

    /// The word for the owner in reports and as a label of metrics.
    pub fn name(self) -> &'static str {
        match self {
            MemoryOwner::Memtables => "memtables",
            MemoryOwner::BlockCache => "block_cache",
            MemoryOwner::FiltersAndIndexes => "filters_and_indexes",
            MemoryOwner::Iterators => "iterators",
            MemoryOwner::Compaction => "compaction",
            MemoryOwner::Training => "training",
            MemoryOwner::Log => "log",
            MemoryOwner::Values => "values",
            MemoryOwner::PinnedBlocks => "pinned_blocks",
            MemoryOwner::PinnedMemtables => "pinned_memtables",
        }
    }
}

/// The account of the memory limit: bytes held, by owner.
///
/// It only counts. Those who hold memory charge it here and ask what they may take; nobody is
/// stopped here. Any thread may call anything at any time. Charge in pieces of some size (a
/// chunk of an arena, a block), not per entry.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: AtomicU64,
    held: [Held; MemoryOwner::ALL.len()],
    /// Most that compactions held at one time, under this limit.
    compaction_peak: AtomicU64,
}

// Owners charge from different threads; a line each keeps them apart.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Held(AtomicU64);

impl MemoryBudget {
    /// An empty account under a limit of `limit_bytes`.
    pub fn new(limit_bytes: u64) -> MemoryBudget {
        MemoryBudget {
            limit: AtomicU64::new(limit_bytes),
            held: Default::default(),
            compaction_peak: AtomicU64::new(0),
        }
    }

    /// The limit in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Changes the limit; takes effect with the next question asked.
    pub fn set_limit_bytes(&self, limit_bytes: u64) {
        if self.limit.swap(limit_bytes, Ordering::Relaxed) != limit_bytes {
            // What compactions held under another limit, they never will under this one.
            let held = self.held_bytes(MemoryOwner::Compaction);
            self.compaction_peak.store(held, Ordering::Relaxed);
        }
    }

    /// Notes that `owner` holds `bytes` more. Prefer [`MemoryBudget::hold`], which cannot forget
    /// to give back.
    pub fn charge(&self, owner: MemoryOwner, bytes: u64) {
        // Relaxed, here and below: the account guards no memory, it only counts it.
        let before = self.held[owner as usize]
            .0
            .fetch_add(bytes, Ordering::Relaxed);
        if owner == MemoryOwner::Compaction {
            self.compaction_peak
                .fetch_max(before + bytes, Ordering::Relaxed);
        }
    }

    /// Notes that `owner` holds `bytes` less.
    ///
    /// Panics when more is given back than was charged.
    pub fn release(&self, owner: MemoryOwner, bytes: u64) {
        let before = self.held[owner as usize]
            .0
            .fetch_sub(bytes, Ordering::Relaxed);
        assert!(
            bytes <= before,
            "{} gives back {bytes} bytes of memory and held {before}",
            owner.name()
        );
    }

    /// Notes that `owner` holds `bytes` now, whatever it held before. For owners that count for
    /// themselves.
    pub fn set_held(&self, owner: MemoryOwner, bytes: u64) {
        self.held[owner as usize].0.store(bytes, Ordering::Relaxed);
    }

    /// Charges `bytes` to `owner` until the returned guard is dropped.
    pub fn hold(self: &Arc<Self>, owner: MemoryOwner, bytes: u64) -> Reservation {
        self.charge(owner, bytes);
        Reservation {
            memory_budget: Arc::clone(self),
            owner,
            bytes,
        }
    }

    /// Bytes that compactions may take now beside what they hold; `is_training` while a dictionary
    /// is being trained, or is to be.
    pub fn left_for_compactions(&self, is_training: bool) -> u64 {
        let share = match is_training {
            true => self.limit_bytes() / BESIDE_TRAINING_DIVISOR,
            false => self.limit_bytes() / COMPACTION_DIVISOR,
        };
        share.saturating_sub(self.held_bytes(MemoryOwner::Compaction))
    }

    /// Least bytes that a part of a compaction may take.
    pub fn compaction_part_min(&self) -> u64 {
        COMPACTION_PART_BYTES_MIN.min(self.limit_bytes() / COMPACTION_DIVISOR / 4)
    }

    /// Bytes that filters and indexes of open files may hold now: what all others leave, and at
    /// least an eighth of the limit. Beyond, files are closed that nobody holds.
    pub fn files_allowance(&self) -> usize {
        let limit = self.limit_bytes();
        let is_other =
            |owner: &MemoryOwner| !owner.is_of_cache() && *owner != MemoryOwner::FiltersAndIndexes;
        let others: u64 = MemoryOwner::ALL
            .iter()
            .filter(|owner| is_other(owner))
            .map(|owner| self.held_bytes(*owner))
            .sum();
        let allowance = (limit - slack(limit) - limit / CACHE_FLOOR_DIVISOR)
            .saturating_sub(others)
            .max(limit / FILES_FLOOR_DIVISOR);
        usize::try_from(allowance).unwrap_or(usize::MAX)
    }

    /// Whether compactions hold so little that a dictionary may be trained beside them.
    pub fn may_train(&self) -> bool {
        let held = self.held_bytes(MemoryOwner::Compaction);
        held <= self.limit_bytes() / BESIDE_TRAINING_DIVISOR
    }

    /// Bytes that training a dictionary may take.
    pub fn training_share(&self) -> u64 {
        self.limit_bytes() / 16 * TRAINING_SIXTEENTHS
    }

    /// Bytes that iterators may hold together beside what they cannot do without.
    pub fn iterators_share(&self) -> u64 {
        self.limit_bytes() / ITERATORS_DIVISOR
    }

    /// Charges an iterator until the returned guard is dropped: with `least` bytes, and with up to
    /// `most` as far as that is no more than half of what iterators have left, so that there is
    /// some for the next one.
    pub fn hold_ahead(self: &Arc<Self>, least: u64, most: u64) -> Reservation {
        let owner = MemoryOwner::Iterators;
        let share = self.iterators_share();
        let allowed = |held: u64| (share.saturating_sub(held) / 2).clamp(least, most.max(least));
        let held = &self.held[owner as usize].0;
        let before = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            Some(held + allowed(held))
        });
        let before = before.expect("there is always a next value");
        Reservation {
            memory_budget: Arc::clone(self),
            owner,
            bytes: allowed(before),
        }
    }

    /// Bytes that `owner` holds now.
    pub fn held_bytes(&self, owner: MemoryOwner) -> u64 {
        self.held[owner as usize].0.load(Ordering::Relaxed)
    }

    /// Bytes that all owners hold now.
    pub fn total_bytes(&self) -> u64 {
        MemoryOwner::ALL
            .iter()
            .map(|owner| self.held_bytes(*owner))
            .sum()
    }

    /// Every owner with the bytes it holds, in the order of [`MemoryOwner::ALL`].
    pub fn by_owner(&self) -> [(MemoryOwner, u64); MemoryOwner::ALL.len()] {
        MemoryOwner::ALL.map(|owner| (owner, self.held_bytes(owner)))
    }

    /// Bytes the block cache may hold now, with what is pinned of its blocks: the limit less what
    /// everyone else holds and less the allocator's slack, and at least a sixteenth of the limit.
    ///
    /// Compactions count with the most they ever held under this limit: a cache that grew into
    /// their share between two of them would give back blocks here and there when the next one
    /// begins, and hardly a whole page (measured: a quarter of the heap free, and resident).
    pub fn cache_allowance(&self) -> usize {
        let limit = self.limit_bytes();
        let others: u64 = MemoryOwner::ALL
            .iter()
            .filter(|owner| !owner.is_of_cache())
            .map(|owner| match owner {
                MemoryOwner::Compaction => self.compaction_peak.load(Ordering::Relaxed),
                _ => self.held_bytes(*owner),
            })
            .sum();
        let allowance = (limit - slack(limit))
            .saturating_sub(others)
            .max(limit / CACHE_FLOOR_DIVISOR);
        usize::try_from(allowance).unwrap_or(usize::MAX)
    }
}

/// Bytes charged to an owner for as long as this lives.
#[derive(Debug)]
pub struct Reservation {
    memory_budget: Arc<MemoryBudget>,
    owner: MemoryOwner,
    bytes: u64,
}

impl Reservation {
    /// Bytes charged now.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the charge to `bytes` in all.
    pub fn resize(&mut self, bytes: u64) {
        if self.bytes < bytes {
            self.memory_budget.charge(self.owner, bytes - self.bytes);
        } else {
            self.memory_budget.release(self.owner, self.bytes - bytes);
        }
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory_budget.release(self.owner, self.bytes);
    }
}

#[cfg(test)]
mod tests;
