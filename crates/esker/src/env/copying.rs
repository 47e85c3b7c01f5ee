//! A file that is copied while somebody reads it from front to back: each byte is read once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::codec::checksum::hash64;
use crate::base::types::error::{Error, Result};
use crate::env::copy::COPY_BYTES;
use crate::env::fs::{AppendFile, ReadFile};

/// Bytes after which the copy is sent on its way: the medium works while the next ones are checked,
/// and a call for as many costs nothing beside their copying. A multiple of what is copied at a
/// time.
const BEGIN_SYNC_BYTES: u64 = 8 << 20;

const _: () = assert!(BEGIN_SYNC_BYTES.is_multiple_of(COPY_BYTES));

/// An open file whose bytes go into another one as its reader comes to them. What the reader sees
/// of a piece, and what the copy has there, are the same bytes, whoever changes the file meanwhile.
///
/// A read that begins where the copy ends, or in the piece before that, has the copy go on; any
/// other is one of the file alone, and [`CopyingFile::compare`] holds what it brought against the
/// copy. For one thread at a time: others wait for it.
///
/// Shape: 24 bytes for each read of the file alone, and of the copy a piece, or as much as is read
/// at a time.
pub struct CopyingFile {
    from: Arc<dyn ReadFile>,
    copy: Mutex<Copy>,
}

struct Copy {
    to: Box<dyn AppendFile>,
    /// The last bytes of the copy: what the reader may come back to.
    window: Vec<u8>,
    /// What was read beside the copy.
    asides: Vec<Aside>,
}

// What a read of the file alone brought.
struct Aside {
    offset: u64,
    len: usize,
    hash: u64,
}

impl CopyingFile {
    /// A copy of `from` in `to`, which is empty.
    pub fn new(from: Arc<dyn ReadFile>, to: Box<dyn AppendFile>) -> CopyingFile {
        assert!(to.size_bytes() == 0);
        let copy = Copy {
            to,
            window: Vec::new(),
            asides: Vec::new(),
        };
        CopyingFile {
            from,
            copy: Mutex::new(copy),
        }
    }

    /// Copies what nobody has read, and has all of it begin its way to the medium. Errors: those of
    /// reading and writing.
    pub fn copy_rest(&self) -> Result<()> {
        let mut copy = self.copy();
        let end = self.from.size_bytes();
        while copy.to.size_bytes() < end {
            copy.window.clear();
            copy.go_on(&*self.from)?;
        }
        copy.window = Vec::new();
        copy.to.begin_sync();
        Ok(())
    }

    /// Makes the copy durable; its name is the caller's. Errors: those of writing.
    pub fn sync(&self) -> Result<()> {
        self.copy().to.sync()
    }

    /// Holds what the reader saw beside the copy against what that has, by `copied`, which is the
    /// copy, whole and synced.
    ///
    /// Errors: `Corruption` where the file was another when it was read once more to be copied;
    /// those of reading.
    pub fn compare(&self, copied: &dyn ReadFile) -> Result<()> {
        let mut bytes = Vec::new();
        for aside in &self.copy().asides {
            bytes.clear();
            copied.read_onto(aside.offset, aside.len, &mut bytes)?;
            if hash64(&bytes) != aside.hash {
                let message = "gave other bytes when it was copied than when it was checked: \
                               somebody writes to it, or its medium fails";
                return Err(Error::corruption(message).at_offset(aside.offset));
            }
        }
        Ok(())
    }

    // After an error, or a panic in between, the copy is given up by whoever made it.
    fn copy(&self) -> MutexGuard<'_, Copy> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Keeps what a read of the file alone brought.
    fn note_aside(&self, offset: u64, bytes: &[u8]) {
        self.copy().asides.push(Aside {
            offset,
            len: bytes.len(),
            hash: hash64(bytes),
        });
    }

    // Has `take` the bytes from `offset` on, where they are those of the copy; says whether it had.
    fn through_copy(&self, offset: u64, len: usize, take: impl FnOnce(&[u8])) -> Result<bool> {
        let end = offset.saturating_add(len as u64);
        let mut copy = self.copy();
        let is_near = (copy.window_start()..=copy.to.size_bytes()).contains(&offset);
        if !is_near || end > self.from.size_bytes() {
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
        self.to.append(&self.window[known..])?;
        if self.to.size_bytes().is_multiple_of(BEGIN_SYNC_BYTES) {
            self.to.begin_sync();
        }
        Ok(())
    }
}

impl ReadFile for CopyingFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let len = buffer.len();
        match self.through_copy(offset, len, |bytes| buffer.copy_from_slice(bytes))? {
            true => Ok(()),
            false => {
                self.from.read_at(offset, buffer)?;
                self.note_aside(offset, buffer);
                Ok(())
            }
        }
    }

    fn read_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        match self.through_copy(offset, len, |bytes| buffer.extend_from_slice(bytes))? {
            true => Ok(()),
            false => {
                let start = buffer.len();
                self.from.read_onto(offset, len, buffer)?;
                self.note_aside(offset, &buffer[start..]);
                Ok(())
            }
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
