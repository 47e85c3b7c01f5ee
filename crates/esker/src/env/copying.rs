//! A file that is copied while somebody reads it from front to back: each byte is read once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::Result;
use crate::env::copy::COPY_BYTES;
use crate::env::fs::{AppendFile, ReadFile};

/// An open file whose bytes go into another one as its reader comes to them. What the reader sees
/// of a piece, and what the copy has there, are the same bytes, whoever changes the file meanwhile.
///
/// A read that begins where the copy ends, or in the piece before that, has the copy go on; any
/// other is one of the file alone. For one thread at a time: others wait for it.
pub struct CopyingFile {
    from: Arc<dyn ReadFile>,
    copy: Mutex<Copy>,
}

struct Copy {
    to: Box<dyn AppendFile>,
    /// The last bytes of the copy: what the reader may come back to.
    window: Vec<u8>,
}

impl CopyingFile {
    /// A copy of `from` in `to`, which is empty.
    pub fn new(from: Arc<dyn ReadFile>, to: Box<dyn AppendFile>) -> CopyingFile {
        assert!(to.size_bytes() == 0);
        let window = Vec::new();
        CopyingFile {
            from,
            copy: Mutex::new(Copy { to, window }),
        }
    }

    /// Copies what nobody has read, and makes the copy durable; its name is the caller's. Errors:
    /// those of reading and writing.
    pub fn finish(&self) -> Result<()> {
        let mut copy = self.copy();
        let end = self.from.size_bytes();
        while copy.to.size_bytes() < end {
            copy.window.clear();
            copy.go_on(&*self.from)?;
        }
        copy.to.sync()
    }

    // After an error, or a panic in between, the copy is given up by whoever made it.
    fn copy(&self) -> MutexGuard<'_, Copy> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Has `take` the bytes from `offset` on, where they are those of the copy; says whether it had.
    fn through_copy(&self, offset: u64, len: usize, take: impl FnOnce(&[u8])) -> Result<bool> {
        let end = offset.saturating_add(len as u64);
        let mut copy = self.copy();
        let is_near = (copy.window_start()..=copy.to.size_bytes()).contains(&offset);
        if !is_near || len as u64 > COPY_BYTES || end > self.from.size_bytes() {
            return Ok(false);
        }
        while copy.to.size_bytes() < end {
            let behind = copy.place_of(offset);
            copy.window.drain(..behind);
            copy.go_on(&*self.from)?;
        }
        let start = copy.place_of(offset);
        take(&copy.window[start..start + len]);
        Ok(true)
    }
}

impl Copy {
    fn window_start(&self) -> u64 {
        self.to.size_bytes() - self.window.len() as u64
    }

    fn place_of(&self, offset: u64) -> usize {
        usize::try_from(offset - self.window_start()).expect("it lies within the window")
    }

    // Copies the next piece.
    fn go_on(&mut self, from: &dyn ReadFile) -> Result<()> {
        let (at, known) = (self.to.size_bytes(), self.window.len());
        let len = COPY_BYTES.min(from.size_bytes() - at);
        from.prefetch(at + len, COPY_BYTES);
        let len = usize::try_from(len).expect("a piece is small");
        from.read_onto(at, len, &mut self.window)?;
        self.to.append(&self.window[known..])
    }
}

impl ReadFile for CopyingFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let len = buffer.len();
        match self.through_copy(offset, len, |bytes| buffer.copy_from_slice(bytes))? {
            true => Ok(()),
            false => self.from.read_at(offset, buffer),
        }
    }

    fn read_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        match self.through_copy(offset, len, |bytes| buffer.extend_from_slice(bytes))? {
            true => Ok(()),
            false => self.from.read_onto(offset, len, buffer),
        }
    }

    fn size_bytes(&self) -> u64 {
        self.from.size_bytes()
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.from.prefetch(offset, len);
    }
}

impl fmt::Debug for CopyingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CopyingFile at {}", self.copy().to.size_bytes())
    }
}

#[cfg(test)]
mod tests;
