//! Reads ahead of whoever reads values in the order in which they were written.
//!
//! A segment is opened for reads anywhere, of which the system reads nothing ahead. A scan over
//! keys that were written in order is better served by a system that does; so that is told here.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::base::types::limits::KEY_BYTES_MAX;
use crate::env::fs::ReadFile;
use crate::store::vlog::format::RECORD_HEAD_BYTES;

/// Neighbours read one behind the other before anything is read ahead: of reads anywhere two now
/// and then are neighbours, and next to never three.
const NEIGHBOURS_BEFORE: u32 = 2;

/// How far ahead the system is asked to read, in bytes: what a disk transfers in several times the
/// time of one access.
const AHEAD_BYTES: u64 = 1 << 20;

/// Most bytes between the end of a value and its neighbour: what stands before that one.
const GAP_BYTES_MAX: u64 = (RECORD_HEAD_BYTES + KEY_BYTES_MAX) as u64;

/// What was read last of one segment, and how far ahead the system was asked to read.
///
/// Any thread may call anything. Scans that take turns hide one another, and then each of them
/// reads as if there were none of this.
// Relaxed throughout: all of it leads to hints.
#[derive(Debug, Default)]
pub struct Ahead {
    /// Offset behind the value read last.
    last_end: AtomicU64,
    /// Neighbours read one behind the other.
    streak: AtomicU32,
    asked_to: AtomicU64,
}

impl Ahead {
    /// Tells that the `len` bytes at `offset` of `file` are read now.
    pub fn reads(&self, file: &dyn ReadFile, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        let last_end = self.last_end.swap(end, Ordering::Relaxed);
        let is_neighbour = offset
            .checked_sub(last_end)
            .is_some_and(|gap| gap <= GAP_BYTES_MAX);
        if !is_neighbour {
            if self.streak.load(Ordering::Relaxed) > 0 {
                self.streak.store(0, Ordering::Relaxed);
                self.asked_to.store(0, Ordering::Relaxed);
            }
            return;
        }
        if self.streak.fetch_add(1, Ordering::Relaxed) < NEIGHBOURS_BEFORE {
            return;
        }
        let from = self.asked_to.load(Ordering::Relaxed).max(end);
        let to = end.saturating_add(AHEAD_BYTES).min(file.size_bytes());
        // In steps of half of it, not of a value: each is a call.
        if to >= from.saturating_add(AHEAD_BYTES / 2) {
            file.prefetch(from, to - from);
            self.asked_to.store(to, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
