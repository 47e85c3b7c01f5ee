//! Has the system read around the blocks that single reads ask for.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::env::fs::ReadFile;

/// Bytes of a region: what Linux reads around a fault in a mapped file. On the disk that this was
/// measured on such a read takes three times as long as one of 4 KiB, and brings 32 times as much.
const REGION_BYTES: u64 = 128 << 10;

/// Regions of a file that are read whole before any of them was asked for again.
const REGIONS_ON_TRUST: u64 = 32;

/// Further regions that are read whole for each read that found its region touched before.
const REGIONS_PER_RETURN: u64 = 2;

/// Which regions of one file were touched, and how often one was touched again.
///
/// The first touch of a region has the system read all of it, as it does of its own for mapped
/// files. While a cold file warms up this takes one access to the disk for each region instead of
/// one for each block. Where reads return to nothing, in files of which a small part is used, it
/// ends after 4 MiB.
///
/// Any thread may call anything. What the system has in memory already costs it a look.
#[derive(Debug)]
pub struct Around {
    size_bytes: u64,
    /// A bit for each region.
    touched: Box<[AtomicU64]>,
    touched_count: AtomicU64,
    return_count: AtomicU64,
}

impl Around {
    /// Nothing was touched yet of a file of `size_bytes`.
    pub fn new(size_bytes: u64) -> Around {
        let words = size_bytes.div_ceil(REGION_BYTES).div_ceil(64);
        Around {
            size_bytes,
            touched: (0..words).map(|_| AtomicU64::new(0)).collect(),
            touched_count: AtomicU64::new(0),
            return_count: AtomicU64::new(0),
        }
    }

    /// Tells that a block at `offset` will be read from `file` now. What a damaged handle points to
    /// may lie behind the file's end, where there is nothing to read.
    pub fn touch(&self, file: &dyn ReadFile, offset: u64) {
        let region = offset / REGION_BYTES;
        let start = region * REGION_BYTES;
        let Some(len) = self.size_bytes.checked_sub(start).filter(|len| *len > 0) else {
            return;
        };
        let Ok(word) = usize::try_from(region / 64) else {
            return;
        };
        let Some(touched) = self.touched.get(word) else {
            return;
        };
        let bit = 1 << (region % 64);
        // Relaxed, here and below: a touch that is lost costs a hint too many or too few.
        let returns = self.return_count.load(Ordering::Relaxed);
        if touched.load(Ordering::Relaxed) & bit != 0 {
            // More than there are regions never matter, and threads need not meet here.
            if returns < self.touched.len() as u64 * 64 {
                self.return_count.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        let regions_max =
            REGIONS_ON_TRUST.saturating_add(returns.saturating_mul(REGIONS_PER_RETURN));
        if self.touched_count.load(Ordering::Relaxed) >= regions_max {
            return;
        }
        if touched.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            self.touched_count.fetch_add(1, Ordering::Relaxed);
            file.prefetch(start, REGION_BYTES.min(len));
        }
    }
}

#[cfg(test)]
mod tests;
