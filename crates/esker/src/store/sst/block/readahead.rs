//! Reads ahead of a scan, the further the longer it goes on.

use crate::base::types::error::Result;
use crate::env::fs::ReadFile;
use crate::store::sst::format::BlockHandle;

/// Blocks read one behind the other before anything is read ahead: a seek that takes a few
/// entries often crosses one border between blocks, and rarely two.
const BLOCKS_BEFORE: u32 = 2;

/// First window, in bytes: about what a disk transfers in the time of one access.
const WINDOW_BYTES_MIN: u64 = 64 << 10;

/// How far ahead the operating system is asked to read by itself at most, in bytes.
const PREFETCH_BYTES_MAX: u64 = 1 << 20;

/// What one scan of one file has read ahead.
///
/// Forward scans read whole windows instead of single blocks: one call for about a hundred
/// blocks, while the operating system already fetches what lies behind the window.
#[derive(Debug)]
pub struct Readahead {
    /// Largest window, in bytes.
    window_bytes_max: u64,
    /// Offset behind the block read last.
    expected: u64,
    /// Blocks read one behind the other.
    streak: u32,
    window_start: u64,
    window: Vec<u8>,
    window_bytes: u64,
    prefetched_to: u64,
}

impl Readahead {
    /// Nothing read yet, and later at most so much at once.
    pub fn new(window_bytes_max: usize) -> Readahead {
        Readahead {
            window_bytes_max: window_bytes_max as u64,
            expected: 0,
            streak: 0,
            window_start: 0,
            window: Vec::new(),
            window_bytes: 0,
            prefetched_to: 0,
        }
    }

    /// The stored bytes of a block from the window, which is moved when needed; `None` while the
    /// reads are not a scan, or the block is better read by itself.
    pub fn stored(&mut self, file: &dyn ReadFile, handle: BlockHandle) -> Option<Result<&[u8]>> {
        let end = handle.end().filter(|end| *end <= file.size_bytes())?;
        if handle.offset == self.expected {
            self.streak = self.streak.saturating_add(1);
        } else {
            self.streak = 0;
            self.window_bytes = 0;
            self.window.clear();
        }
        self.expected = end;
        if self.streak < BLOCKS_BEFORE || handle.stored_len() > self.window_bytes_max {
            return None;
        }
        if !self.holds(handle.offset, end)
            && let Err(error) = self.move_to(file, handle.offset, end)
        {
            return Some(Err(error));
        }
        let start = usize::try_from(handle.offset - self.window_start).ok()?;
        let len = usize::try_from(handle.stored_len()).ok()?;
        self.window.get(start..start + len).map(Ok)
    }

    fn holds(&self, start: u64, end: u64) -> bool {
        self.window_start <= start && end <= self.window_start + self.window.len() as u64
    }

    fn move_to(&mut self, file: &dyn ReadFile, start: u64, end: u64) -> Result<()> {
        self.window_bytes = (self.window_bytes * 2)
            .max(WINDOW_BYTES_MIN)
            .min(self.window_bytes_max);
        let window_end = (start + self.window_bytes).max(end).min(file.size_bytes());
        let len = usize::try_from(window_end - start).unwrap_or(0);
        self.window.clear();
        self.window_start = start;
        if let Err(error) = file.read_onto(start, len, &mut self.window) {
            self.window.clear();
            return Err(error);
        }
        let prefetch_end = (window_end + self.window_bytes * 4)
            .min(window_end + PREFETCH_BYTES_MAX)
            .min(file.size_bytes());
        // Asked for in large steps: a call for every window would mostly repeat the last one.
        if prefetch_end > self.prefetched_to.max(window_end) + self.window_bytes {
            let from = self.prefetched_to.max(window_end);
            file.prefetch(from, prefetch_end - from);
            self.prefetched_to = prefetch_end;
        }
        Ok(())
    }
}
