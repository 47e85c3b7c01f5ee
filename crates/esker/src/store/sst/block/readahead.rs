//! Reads ahead of a scan, the further the longer it goes on.

use crate::base::types::error::Result;
use crate::env::fs::ReadFile;
use crate::store::sst::format::BlockHandle;

/// Blocks met one behind the other before anything is read ahead: a seek that takes a few
/// entries often crosses one border between blocks, and rarely two.
const BLOCKS_BEFORE: u32 = 2;

/// First window, in bytes: about what a disk transfers in the time of one access.
const WINDOW_BYTES_FIRST: u64 = 64 << 10;

/// Least window, in bytes, where most blocks of a window are in the cache: a few blocks.
const WINDOW_BYTES_MIN: u64 = 8 << 10;

/// A window of which not one part in so many was wanted was too large.
const WANTED_PART: u64 = 4;

/// How far ahead the operating system is asked to read by itself at most, in bytes.
const PREFETCH_BYTES_MAX: u64 = 1 << 20;

/// What one scan of one file has read ahead.
///
/// Scans read whole windows instead of single blocks, either way: one call for about a hundred
/// blocks, while the operating system already fetches what lies behind the window. Blocks that the
/// cache has lie between others without ending a scan.
#[derive(Debug)]
pub struct Readahead {
    /// Largest window, in bytes.
    window_bytes_max: u64,
    /// Where the block met last begins and ends.
    last: (u64, u64),
    /// Blocks met one behind the other, and whether each lay before the last one.
    streak: u32,
    is_back: bool,
    window_start: u64,
    window: Vec<u8>,
    window_bytes: u64,
    /// Bytes of the window that were asked for.
    wanted_bytes: u64,
    /// How far the operating system was asked to read, in the direction of the scan.
    prefetched_to: u64,
}

impl Readahead {
    /// Nothing read yet, and later at most so much at once.
    pub fn new(window_bytes_max: usize) -> Readahead {
        Readahead {
            window_bytes_max: window_bytes_max as u64,
            last: (0, 0),
            streak: 0,
            is_back: false,
            window_start: 0,
            window: Vec::new(),
            window_bytes: 0,
            wanted_bytes: 0,
            prefetched_to: 0,
        }
    }

    /// Reads at most so much at once from now on; lets go of what is larger.
    pub fn set_window_max(&mut self, window_bytes_max: usize) {
        self.window_bytes_max = window_bytes_max as u64;
        if self.window.capacity() > window_bytes_max {
            self.window = Vec::new();
        }
    }

    /// Whether anything may be read ahead.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.window_bytes_max > 0
    }

    /// Tells that the reads came to a block that the cache has. Returns whether they are a scan.
    pub fn pass(&mut self, handle: BlockHandle) -> bool {
        if let Some(end) = handle.end() {
            self.meet(handle.offset, end);
        }
        self.streak >= BLOCKS_BEFORE
    }

    /// The stored bytes of a block from the window, which is moved when needed; `None` while the
    /// reads are not a scan, or the block is better read by itself.
    pub fn stored(&mut self, file: &dyn ReadFile, handle: BlockHandle) -> Option<Result<&[u8]>> {
        let end = handle.end().filter(|end| *end <= file.size_bytes())?;
        self.meet(handle.offset, end);
        if self.streak < BLOCKS_BEFORE || handle.stored_len() > self.window_bytes_max {
            return None;
        }
        if !self.holds(handle.offset, end)
            && let Err(error) = self.move_to(file, handle.offset, end)
        {
            return Some(Err(error));
        }
        self.wanted_bytes += handle.stored_len();
        let start = usize::try_from(handle.offset - self.window_start).ok()?;
        let len = usize::try_from(handle.stored_len()).ok()?;
        self.window.get(start..start + len).map(Ok)
    }

    fn meet(&mut self, start: u64, end: u64) {
        let (last_start, last_end) = std::mem::replace(&mut self.last, (start, end));
        let goes_back = end == last_start;
        if start != last_end && !goes_back {
            self.streak = 0;
            (self.window_bytes, self.wanted_bytes) = (0, 0);
            self.window.clear();
            self.prefetched_to = start;
        } else if goes_back != self.is_back {
            self.streak = 1;
            self.prefetched_to = start;
        } else {
            self.streak = self.streak.saturating_add(1);
        }
        self.is_back = goes_back;
    }

    fn holds(&self, start: u64, end: u64) -> bool {
        self.window_start <= start && end <= self.window_start + self.window.len() as u64
    }

    fn move_to(&mut self, file: &dyn ReadFile, start: u64, end: u64) -> Result<()> {
        let wanted_bytes = std::mem::take(&mut self.wanted_bytes);
        self.window_bytes = match self.window_bytes {
            0 => WINDOW_BYTES_FIRST,
            bytes if wanted_bytes * WANTED_PART < self.window.len() as u64 => {
                (bytes / 2).max(WINDOW_BYTES_MIN)
            }
            bytes => bytes * 2,
        }
        .min(self.window_bytes_max);
        let (window_start, window_end) = match self.is_back {
            false => {
                let window_end = (start + self.window_bytes).max(end);
                (start, window_end.min(file.size_bytes()))
            }
            true => (start.min(end.saturating_sub(self.window_bytes)), end),
        };
        let len = usize::try_from(window_end - window_start).unwrap_or(0);
        self.window.clear();
        self.window_start = window_start;
        if let Err(error) = file.read_onto(window_start, len, &mut self.window) {
            self.window.clear();
            return Err(error);
        }
        self.prefetch(file, window_start, window_end);
        Ok(())
    }

    // Asked for in large steps: a call for every window would mostly repeat the last one.
    fn prefetch(&mut self, file: &dyn ReadFile, window_start: u64, window_end: u64) {
        let ahead = (self.window_bytes * 4).min(PREFETCH_BYTES_MAX);
        if self.is_back {
            let to = window_start.saturating_sub(ahead);
            let from = self.prefetched_to.min(window_start);
            if to + self.window_bytes < from {
                file.prefetch(to, from - to);
                self.prefetched_to = to;
            }
            return;
        }
        let to = (window_end + ahead).min(file.size_bytes());
        let from = self.prefetched_to.max(window_end);
        if to > from + self.window_bytes {
            file.prefetch(from, to - from);
            self.prefetched_to = to;
        }
    }
}

#[cfg(test)]
mod tests;
