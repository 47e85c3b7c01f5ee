//! Pages of which some wait for their next use.
//!
//! A page that comes from the system costs who first writes to it a fault, in which the kernel
//! clears it: a tenth of the time of a put. Memtables take pieces of the same sizes one after the
//! other, so what one lets go serves the next.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::env::pages::{Pages, Piece};

/// Pieces of other pages; those that are given back are kept for a while, as far as allowed.
pub struct SparePages {
    pages: Arc<dyn Pages>,
    spare: Mutex<Spare>,
}

/// Pieces that wait, with their bytes, longest waiting first.
#[derive(Default)]
struct Spare {
    pieces: VecDeque<(usize, Box<dyn Piece>)>,
    bytes: usize,
    bytes_max: usize,
}

impl SparePages {
    /// Pieces of `pages`. None is kept before [`Pages::keep_spare`] is called.
    pub fn new(pages: Arc<dyn Pages>) -> SparePages {
        SparePages {
            pages,
            spare: Mutex::default(),
        }
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages for SparePages {
    fn take(&self, bytes: usize) -> Option<Box<dyn Piece>> {
        let waiting = self.spare().find(bytes);
        waiting.or_else(|| self.pages.take(bytes))
    }

    fn give_back(&self, piece: Box<dyn Piece>) {
        let bytes = piece.size_bytes();
        let mut spare = self.spare();
        spare.pieces.push_back((bytes, piece));
        spare.bytes += bytes;
        let surplus = spare.surplus();
        // What goes back to the system goes without the lock.
        drop(spare);
        drop(surplus);
    }

    fn keep_spare(&self, bytes_max: usize) {
        let mut spare = self.spare();
        spare.bytes_max = bytes_max;
        let surplus = spare.surplus();
        drop(spare);
        drop(surplus);
    }

    fn spare_bytes(&self) -> usize {
        self.spare().bytes
    }

    fn trim_heap(&self, used_bytes: u64) {
        self.pages.trim_heap(used_bytes);
    }
}

impl Spare {
    /// A piece of just that size, the one that has waited least: it may still be in the
    /// processor's cache.
    fn find(&mut self, bytes: usize) -> Option<Box<dyn Piece>> {
        let place = self.pieces.iter().rposition(|(size, _)| *size == bytes)?;
        let (size, piece) = self.pieces.remove(place)?;
        self.bytes -= size;
        Some(piece)
    }

    /// Takes out what is above the bound, longest waiting first: sizes that nobody asks for again
    /// leave so.
    fn surplus(&mut self) -> Vec<Box<dyn Piece>> {
        let mut surplus = Vec::new();
        while self.bytes > self.bytes_max {
            let (size, piece) = self.pieces.pop_front().expect("bytes are of pieces");
            self.bytes -= size;
            surplus.push(piece);
        }
        surplus
    }
}

impl fmt::Debug for SparePages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SparePages({} bytes wait)", self.spare_bytes())
    }
}

#[cfg(test)]
mod tests;
