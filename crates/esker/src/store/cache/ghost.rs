//! The names of what was evicted lately, without the things themselves.
//!
//! One word for each place: a key's tag and the time it was evicted, counted in evictions. A
//! newer key with the same place pushes an older one out, and a key that is older than the table
//! has places is forgotten; both only make the memory a little shorter.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::store::cache::table::Table;

/// Spreads the tag's bits: 2^32 divided by the golden ratio (Knuth 6.4).
const SPREAD: u32 = 0x9e37_79b1;

/// The most places, whatever the cache holds: 512 KiB a shard.
const PLACE_COUNT_MAX: usize = 1 << 16;

/// What was evicted lately.
#[derive(Default)]
pub struct Ghost {
    /// A tag, and above it the time.
    places: Vec<AtomicU64>,
    now: AtomicU32,
}

impl Ghost {
    /// The most bytes for each key in the cache: half as many places as the table has words.
    pub const BYTES_PER_KEY_MAX: usize = Table::BYTES_PER_KEY_MAX / 2;

    /// Makes room for about as many names as a table of that many words has keys. Forgets all
    /// when the size changes: it happens only while the cache fills for the first time.
    pub fn fit(&mut self, table_word_count: usize) {
        let place_count = (table_word_count / 2).min(PLACE_COUNT_MAX);
        if self.places.len() != place_count {
            self.places = (0..place_count).map(|_| AtomicU64::new(0)).collect();
            *self.now.get_mut() = 0;
        }
    }

    /// Notes that a key was evicted, or came and was not kept.
    pub fn note(&self, tag: u32) {
        // Relaxed, here and below: a name that is lost, or read while it is replaced by another,
        // makes the memory a little shorter.
        let before = self.now.fetch_add(1, Ordering::Relaxed);
        // 0 marks a place never used; after 2^32 evictions time begins again, and for a moment
        // old names look new or new ones old.
        let now = before.wrapping_add(1).max(1);
        let place = self.place_of(tag);
        if let Some(place) = self.places.get(place) {
            let noted = u64::from(now) << u32::BITS | u64::from(tag);
            place.store(noted, Ordering::Relaxed);
        }
    }

    /// How many keys were noted so far, or a little more.
    pub fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Whether a key was evicted lately.
    pub fn has(&self, tag: u32) -> bool {
        let Some(place) = self.places.get(self.place_of(tag)) else {
            return false;
        };
        let place = place.load(Ordering::Relaxed);
        let time = (place >> u32::BITS) as u32;
        let is_young = (self.now().wrapping_sub(time) as usize) < self.places.len();
        place & u64::from(u32::MAX) == u64::from(tag) && time != 0 && is_young
    }

    /// As [`Ghost::has`]; a key that was is forgotten here.
    pub fn take(&mut self, tag: u32) -> bool {
        let is_there = self.has(tag);
        if is_there {
            let place = self.place_of(tag);
            *self.places[place].get_mut() = 0;
        }
        is_there
    }

    // Any number, while there are no places.
    fn place_of(&self, tag: u32) -> usize {
        // The table's home is the low bits; the product makes the places differ from it.
        let mixed = tag.wrapping_mul(SPREAD) >> 8;
        mixed as usize & self.places.len().wrapping_sub(1)
    }
}
