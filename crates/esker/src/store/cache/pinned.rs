//! What left the cache while somebody held it.
//!
//! A block that a cursor or a returned value holds stays in memory when it is evicted, and nobody
//! is told when it is let go. So what leaves held is listed here until a look finds that nobody
//! else has it any more. The list holds it as well, for as long as nobody looks: those who change
//! the cache look at a few each time.

/// What the cache can keep, and what it takes.
pub trait Holdable {
    /// Whether somebody beside the one who asks holds it.
    fn is_held_elsewhere(&self) -> bool;

    /// Bytes of memory behind the handle.
    fn size_bytes(&self) -> usize;
}

/// The listed values. One thread at a time.
pub struct Pinned<V> {
    values: Vec<V>,
    bytes: usize,
    /// Where the next look begins.
    next: usize,
}

impl<V: Holdable> Pinned<V> {
    /// Bytes of all listed values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Takes those of `left` that somebody holds.
    pub fn take_held(&mut self, left: &mut Vec<V>) {
        for held in left.extract_if(.., |value| value.is_held_elsewhere()) {
            self.bytes += held.size_bytes();
            self.values.push(held);
        }
    }

    /// Looks at up to `count` of them, those first that were looked at longest ago; what nobody
    /// holds any more goes.
    pub fn look(&mut self, count: usize) {
        for _ in 0..count.min(self.values.len()) {
            if self.next >= self.values.len() {
                self.next = 0;
            }
            match self.values.get(self.next) {
                Some(value) if value.is_held_elsewhere() => self.next += 1,
                Some(_) => {
                    let free = self.values.swap_remove(self.next);
                    self.bytes -= free.size_bytes();
                }
                None => return,
            }
        }
        if self.values.is_empty() {
            self.values = Vec::new();
        }
    }
}

impl<V> Default for Pinned<V> {
    fn default() -> Pinned<V> {
        Pinned {
            values: Vec::new(),
            bytes: 0,
            next: 0,
        }
    }
}

#[cfg(test)]
mod tests;
