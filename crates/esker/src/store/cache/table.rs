//! From a key's tag to the number of its slot: open addressing in one array of words.
//!
//! A word holds the 32-bit tag of a key and the number of its slot plus one; 0 is free. A lookup
//! goes from the tag's home onwards until a free word, which with at most three quarters in use
//! is nearly always inside one cache line, and asks for the key itself only where a tag agrees.
//! Removing closes the gap (Knuth, The Art of Computer Programming 6.4, algorithm R), so there
//! are no tombstones.

/// Words of the smallest table: one cache line.
const WORD_COUNT_MIN: usize = 8;

/// The table; see the head of this file.
pub struct Table {
    words: Vec<u64>,
    count: usize,
}

impl Default for Table {
    /// An empty table.
    fn default() -> Table {
        Table {
            words: vec![0; WORD_COUNT_MIN],
            count: 0,
        }
    }
}

impl Table {
    /// The most bytes that the table takes for each key: it doubles at three quarters.
    pub const BYTES_PER_KEY_MAX: usize = (size_of::<u64>() * 2 * 4).div_ceil(3);

    /// Words in the table: a power of two.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// The slot with that tag for which `is_it` holds.
    #[inline]
    pub fn find(&self, tag: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut place = self.home(tag);
        loop {
            let word = self.words[place];
            if word == 0 {
                return None;
            }
            if tag_of(word) == tag && is_it(slot_of(word)) {
                return Some(slot_of(word));
            }
            place = self.after(place);
        }
    }

    /// Adds a slot under a tag; it is not there yet.
    pub fn insert(&mut self, tag: u32, slot: u32) {
        if (self.count + 1) * 4 > self.words.len() * 3 {
            let words = vec![0; self.words.len() * 2];
            for word in std::mem::replace(&mut self.words, words) {
                if word != 0 {
                    self.put(word);
                }
            }
        }
        self.put(word_of(tag, slot));
        self.count += 1;
    }

    /// Removes a slot that is there under that tag.
    pub fn remove(&mut self, tag: u32, slot: u32) {
        let word = word_of(tag, slot);
        let mut gap = self.home(tag);
        while self.words[gap] != word {
            assert!(self.words[gap] != 0);
            gap = self.after(gap);
        }
        let mut place = self.after(gap);
        while self.words[place] != 0 {
            // A word may move back into the gap unless its home lies behind the gap.
            let home = self.home(tag_of(self.words[place]));
            let mask = self.words.len() - 1;
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(gap) & mask {
                self.words[gap] = self.words[place];
                gap = place;
            }
            place = self.after(place);
        }
        self.words[gap] = 0;
        self.count -= 1;
    }

    fn put(&mut self, word: u64) {
        let mut place = self.home(tag_of(word));
        while self.words[place] != 0 {
            place = self.after(place);
        }
        self.words[place] = word;
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize & (self.words.len() - 1)
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.words.len() - 1)
    }
}

#[inline]
fn word_of(tag: u32, slot: u32) -> u64 {
    (u64::from(tag) << 32) | (u64::from(slot) + 1)
}

#[inline]
fn tag_of(word: u64) -> u32 {
    (word >> 32) as u32
}

#[inline]
fn slot_of(word: u64) -> u32 {
    (word & u64::from(u32::MAX)) as u32 - 1
}

#[cfg(test)]
mod tests;
