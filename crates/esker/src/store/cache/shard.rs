//! One shard of the cache: map, eviction order, byte budget.
//!
//! Eviction is S3-FIFO (Yang, Zhang, Qiu, Yue, Vigfusson: FIFO queues are all you need for cache
//! eviction, SOSP 2023). What is new enters a small queue with a tenth of the budget. What was
//! used again by the time it reaches the queue's end moves to the main queue, the rest leaves,
//! and its name is remembered for a while; what returns in that while goes to the main queue at
//! once. At the end of the main queue what was used goes round again, one use forgotten.
//!
//! Against the usual list by last use this resists scans, because a long pass runs through the
//! small queue only; and a hit moves nothing: it sets two bits in the slot it read anyway, so it
//! needs no exclusive lock. CLOCK, which also does that, lets a scan flush everything.
//!
//! A lookup reads one line of the table and one of the slots. Slots of one file are chained, so
//! that removing a file visits its own blocks only; of one queue likewise. The chains lie apart
//! from the slots: a lookup has no use for them, and who takes a slot out of both meets four
//! neighbours.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::base::types::id_map::IdMap;
use crate::base::types::ids::FileNumber;
use crate::store::cache::block_key::BlockKey;
use crate::store::cache::ghost::Ghost;
use crate::store::cache::table::Table;

/// The small queue's part of the budget is one in this many; the paper's choice, and it found
/// anything from 5 to 20 % to do about as well.
const SMALL_DIVISOR: usize = 10;

/// Uses are counted up to here, as in the paper: two bits tell warm from hot.
const USES_MAX: u8 = 3;

/// Of what is cheap to bring again and comes back, one in this many is put in. What is wanted often
/// has its turn soon; where all is wanted alike, putting in and taking out wins nothing, and took a
/// tenth of the time. With one in 16 that was a sixth, and by zipf's law as slow as with each.
const TURN_LENGTH: u32 = 4;

/// No slot: the end of a chain.
const NONE: u32 = u32::MAX;

/// A queue or the slots of one file, newest first.
#[derive(Clone, Copy)]
struct Chain {
    newest: u32,
    oldest: u32,
}

/// Neighbours in a chain.
#[derive(Clone, Copy)]
struct Links {
    newer: u32,
    older: u32,
}

/// Which of a slot's two chains.
#[derive(Clone, Copy)]
enum Along {
    Queue = 0,
    File = 1,
}

/// Which queue a slot is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    Small = 0,
    Main = 1,
}

/// One entry: one cache line, when the value is up to four words.
#[repr(align(64))]
struct Slot<V> {
    key: BlockKey,
    /// `None` while the slot is free.
    value: Option<V>,
    /// What the entry takes from the budget, its overhead included.
    charge_bytes: u32,
    tag: u32,
    queue: Queue,
    /// Uses since it came to the front of its queue; raised by readers under the shared lock.
    uses: AtomicU8,
}

/// One shard. Lookups need it shared, everything else exclusively.
pub struct Shard<V> {
    table: Table,
    slots: Vec<Slot<V>>,
    /// Of each slot, along the queue and along the file.
    links: Vec<[Links; 2]>,
    free: Vec<u32>,
    files: IdMap<FileNumber, Chain>,
    queues: [Chain; 2],
    small_bytes: usize,
    used_bytes: usize,
    capacity_bytes: usize,
    ghost: Ghost,
}

impl<V: Clone> Shard<V> {
    /// What an entry takes beside its value: its slot and links, with the eighth by which they are
    /// taken in advance and the word that lists it when free; and its places in table and ghost.
    pub const ENTRY_BYTES: usize = (size_of::<Slot<V>>() + size_of::<[Links; 2]>()) * 9 / 8
        + size_of::<u32>()
        + Table::BYTES_PER_KEY_MAX
        + Ghost::BYTES_PER_KEY_MAX;

    /// What the first entry of a file takes in the map of files, which doubles at seven eighths.
    pub const FILE_BYTES: usize = (size_of::<(FileNumber, Chain)>() + 1) * 16 / 7;

    /// An empty shard with that budget.
    pub fn new(capacity_bytes: usize) -> Shard<V> {
        Shard {
            table: Table::default(),
            slots: Vec::new(),
            links: Vec::new(),
            free: Vec::new(),
            files: IdMap::default(),
            queues: [Chain::EMPTY; 2],
            small_bytes: 0,
            used_bytes: 0,
            capacity_bytes,
            ghost: Ghost::default(),
        }
    }

    /// Bytes of all entries with their overhead; never above the budget between calls.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// A handle onto the value, if it is here.
    #[inline]
    pub fn get(&self, key: &BlockKey, tag: u32) -> Option<V> {
        let slot = self.slot(self.find(key, tag)?);
        // Relaxed, and a use may be lost between load and store: it is an estimate, and a hot
        // entry is then not written to at all.
        let uses = slot.uses.load(Ordering::Relaxed);
        if uses < USES_MAX {
            slot.uses.store(uses + 1, Ordering::Relaxed);
        }
        slot.value.clone()
    }

    /// Puts a value in, in place of one with the same key. What had to leave for it goes into
    /// `evicted`. A value that is too large is not kept.
    pub fn insert(
        &mut self,
        key: BlockKey,
        tag: u32,
        value: V,
        charge_bytes: usize,
        evicted: &mut Vec<V>,
    ) {
        if let Some(place) = self.find(&key, tag) {
            evicted.extend(self.remove(place));
        }
        let charge = charge_bytes.checked_add(Self::ENTRY_BYTES);
        // As if it were the first of its file: what leaves for it may have been the only other.
        let room = self.capacity_bytes.saturating_sub(Self::FILE_BYTES);
        let charge = charge.filter(|&charge| charge <= room);
        let Some(charge_bytes) = charge.and_then(|charge| u32::try_from(charge).ok()) else {
            return;
        };
        // Room first, so that what comes is not what leaves.
        self.evict_down_to(room - charge_bytes as usize, evicted);
        let queue = if self.ghost.take(tag) {
            Queue::Main
        } else {
            Queue::Small
        };
        let place = self.take_slot(Slot {
            key,
            value: Some(value),
            charge_bytes,
            tag,
            queue,
            uses: AtomicU8::new(0),
        });
        self.table.insert(tag, place);
        self.ghost.fit(self.table.word_count());
        self.enqueue(place, queue);
        let known = self.files.get(&key.file).copied();
        if known.is_none() {
            self.used_bytes += Self::FILE_BYTES;
        }
        let mut chain = known.unwrap_or(Chain::EMPTY);
        self.link_newest(&mut chain, place, Along::File);
        self.files.insert(key.file, chain);
        self.used_bytes += charge_bytes as usize;
    }

    /// Whether what is cheap to bring again is to be put in: it would push nothing out, or is here,
    /// or was here or offered lately and it is its turn. Else its name is remembered.
    pub fn wants(&self, key: &BlockKey, tag: u32, charge_bytes: usize) -> bool {
        let bytes = self.used_bytes.saturating_add(charge_bytes);
        let own_bytes = Self::ENTRY_BYTES + Self::FILE_BYTES;
        let has_room = bytes.saturating_add(own_bytes) <= self.capacity_bytes;
        let is_back = || self.ghost.has(tag) && self.ghost.now().is_multiple_of(TURN_LENGTH);
        let is_wanted = has_room || is_back() || self.find(key, tag).is_some();
        if !is_wanted {
            self.ghost.note(tag);
        }
        is_wanted
    }

    /// Removes all blocks of a file, without looking at any other's.
    pub fn remove_file(&mut self, file: FileNumber, evicted: &mut Vec<V>) {
        while let Some(chain) = self.files.get(&file) {
            let place = chain.newest;
            evicted.extend(self.remove(place));
        }
    }

    /// Sets the budget and evicts down to it. When that leaves most slots free, their memory is
    /// given back.
    pub fn set_capacity_bytes(&mut self, capacity_bytes: usize, evicted: &mut Vec<V>) {
        self.capacity_bytes = capacity_bytes;
        self.evict_down_to(capacity_bytes, evicted);
        if self.free.len() > self.slots.len() / 2 {
            self.rebuild();
        }
    }

    #[inline]
    fn find(&self, key: &BlockKey, tag: u32) -> Option<u32> {
        self.table.find(tag, |place| self.slot(place).key == *key)
    }

    fn evict_down_to(&mut self, bytes: usize, evicted: &mut Vec<V>) {
        while self.used_bytes > bytes {
            let is_main_empty = self.queues[Queue::Main as usize].oldest == NONE;
            if is_main_empty || self.small_bytes > self.capacity_bytes / SMALL_DIVISOR {
                self.leave_small(evicted);
            } else {
                self.leave_main(evicted);
            }
        }
        assert!(self.used_bytes <= bytes);
    }

    /// The oldest of the small queue moves to the main one if it was used, else leaves.
    fn leave_small(&mut self, evicted: &mut Vec<V>) {
        let place = self.queues[Queue::Small as usize].oldest;
        let slot = self.slot_mut(place);
        let tag = slot.tag;
        if *slot.uses.get_mut() > 0 {
            *slot.uses.get_mut() = 0;
            self.dequeue(place);
            self.enqueue(place, Queue::Main);
        } else {
            evicted.extend(self.remove(place));
            self.ghost.note(tag);
        }
    }

    /// The oldest of the main queue goes round again if it was used, else leaves.
    fn leave_main(&mut self, evicted: &mut Vec<V>) {
        let place = self.queues[Queue::Main as usize].oldest;
        let uses = self.slot_mut(place).uses.get_mut();
        if *uses > 0 {
            *uses -= 1;
            self.dequeue(place);
            self.enqueue(place, Queue::Main);
        } else {
            evicted.extend(self.remove(place));
        }
    }

    /// Takes an entry out of everything.
    fn remove(&mut self, place: u32) -> Option<V> {
        self.dequeue(place);
        let slot = self.slot_mut(place);
        let (key, tag, charge_bytes) = (slot.key, slot.tag, slot.charge_bytes);
        let value = slot.value.take();
        self.table.remove(tag, place);
        let mut chain = self.files[&key.file];
        self.unlink(&mut chain, place, Along::File);
        if chain.newest == NONE {
            self.files.remove(&key.file);
            self.used_bytes -= Self::FILE_BYTES;
        } else {
            self.files.insert(key.file, chain);
        }
        self.used_bytes -= charge_bytes as usize;
        self.free.push(place);
        value
    }

    fn enqueue(&mut self, place: u32, queue: Queue) {
        let slot = self.slot_mut(place);
        slot.queue = queue;
        if queue == Queue::Small {
            self.small_bytes += slot.charge_bytes as usize;
        }
        let mut chain = self.queues[queue as usize];
        self.link_newest(&mut chain, place, Along::Queue);
        self.queues[queue as usize] = chain;
    }

    fn dequeue(&mut self, place: u32) {
        let slot = self.slot(place);
        let queue = slot.queue;
        if queue == Queue::Small {
            self.small_bytes -= slot.charge_bytes as usize;
        }
        let mut chain = self.queues[queue as usize];
        self.unlink(&mut chain, place, Along::Queue);
        self.queues[queue as usize] = chain;
    }

    fn take_slot(&mut self, slot: Slot<V>) -> u32 {
        if let Some(place) = self.free.pop() {
            *self.slot_mut(place) = slot;
            return place;
        }
        if self.slots.len() == self.slots.capacity() {
            // An eighth, not as much again: the overhead of an entry counts on it.
            self.slots.reserve_exact(self.slots.len() / 8 + 1);
            self.links.reserve_exact(self.slots.len() / 8 + 1);
        }
        let place = u32::try_from(self.slots.len()).expect("4 G slots are 256 GiB");
        self.slots.push(slot);
        self.links.push([Links::NOWHERE; 2]);
        place
    }

    /// Moves all entries, oldest first, into arrays of their number.
    fn rebuild(&mut self) {
        let old = std::mem::replace(self, Shard::new(self.capacity_bytes));
        let Shard {
            mut slots,
            links,
            queues,
            ..
        } = old;
        self.slots.reserve_exact(slots.len() / 2);
        self.links.reserve_exact(slots.len() / 2);
        for chain in queues {
            let mut place = chain.oldest;
            while place != NONE {
                let slot = &mut slots[place as usize];
                place = links[place as usize][Along::Queue as usize].newer;
                let charge_bytes = slot.charge_bytes as usize - Self::ENTRY_BYTES;
                let (queue, uses) = (slot.queue, *slot.uses.get_mut());
                let value = slot.value.take().expect("a slot in a queue has a value");
                self.insert(slot.key, slot.tag, value, charge_bytes, &mut Vec::new());
                let moved = self.queues[Queue::Small as usize].newest;
                *self.slot_mut(moved).uses.get_mut() = uses;
                self.dequeue(moved);
                self.enqueue(moved, queue);
            }
        }
    }

    fn link_newest(&mut self, chain: &mut Chain, place: u32, along: Along) {
        let older = chain.newest;
        *self.links_mut(place, along) = Links { newer: NONE, older };
        match older {
            NONE => chain.oldest = place,
            _ => self.links_mut(older, along).newer = place,
        }
        chain.newest = place;
    }

    fn unlink(&mut self, chain: &mut Chain, place: u32, along: Along) {
        let Links { newer, older } = *self.links_mut(place, along);
        match newer {
            NONE => chain.newest = older,
            _ => self.links_mut(newer, along).older = older,
        }
        match older {
            NONE => chain.oldest = newer,
            _ => self.links_mut(older, along).newer = newer,
        }
    }

    #[inline]
    fn links_mut(&mut self, place: u32, along: Along) -> &mut Links {
        &mut self.links[place as usize][along as usize]
    }

    #[inline]
    fn slot(&self, place: u32) -> &Slot<V> {
        &self.slots[place as usize]
    }

    #[inline]
    fn slot_mut(&mut self, place: u32) -> &mut Slot<V> {
        &mut self.slots[place as usize]
    }
}

impl Chain {
    const EMPTY: Chain = Chain {
        newest: NONE,
        oldest: NONE,
    };
}

impl Links {
    const NOWHERE: Links = Links {
        newer: NONE,
        older: NONE,
    };
}
