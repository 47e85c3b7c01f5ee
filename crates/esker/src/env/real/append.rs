//! A file written from front to back through a buffer.

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::fs::AppendFile;
use crate::env::real::os_file::OsFile;
use crate::env::real::place::Place;

// A write call costs about a microsecond besides the copy. Blocks of sorted files come in
// pieces of 4 to 32 KiB; 128 KiB turns tens of calls into one, and the buffers of all files
// being written at one time (a few for each background thread) stay near the caches.
const BUFFER_BYTES: usize = 128 << 10;

/// A file written from front to back by one owner.
///
/// Shape: a buffer of 128 KiB before the file. Others see appended bytes only after
/// `sync`; what is in the buffer when the file is dropped is lost.
///
/// Errors: after the first failure nobody knows where the file ends, so every later call
/// fails too.
#[derive(Debug)]
pub struct RealAppendFile {
    file: OsFile,
    buffer: Vec<u8>,
    written_bytes: u64,
    /// Of which so many were sent on their way to the medium.
    begun_bytes: u64,
    first_failure: Option<Error>,
}

impl RealAppendFile {
    /// Creates the file, or empties the one that is there.
    pub fn create<'a>(place: impl Into<Place<'a>>) -> Result<RealAppendFile> {
        Ok(RealAppendFile::to(OsFile::create(place)?))
    }

    /// Creates the file, which must not be there yet.
    pub fn create_new<'a>(place: impl Into<Place<'a>>) -> Result<RealAppendFile> {
        Ok(RealAppendFile::to(OsFile::create_new(place)?))
    }

    fn to(file: OsFile) -> RealAppendFile {
        RealAppendFile {
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            written_bytes: 0,
            begun_bytes: 0,
            first_failure: None,
        }
    }

    fn check_intact(&self) -> Result<()> {
        match &self.first_failure {
            None => Ok(()),
            Some(first) => Err(Error::new(
                ErrorKind::Faulted,
                "an earlier write or sync of this file failed; write it anew",
            )
            .in_file(self.file.path().display())
            .caused_by(first.again())),
        }
    }

    fn keep_failure(&mut self, done: Result<()>) -> Result<()> {
        if let Err(error) = &done {
            self.first_failure = Some(error.again());
        }
        done
    }

    fn write_through(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(self.written_bytes, bytes)?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.write_through(&buffer);
        buffer.clear();
        self.buffer = buffer;
        done
    }

    fn take_in(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.write_through(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }
}

impl AppendFile for RealAppendFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_intact()?;
        let done = self.take_in(bytes);
        self.keep_failure(done)
    }

    fn begin_sync(&mut self) {
        let len = self.written_bytes - self.begun_bytes;
        self.file.begin_sync(self.begun_bytes, len);
        self.begun_bytes = self.written_bytes;
    }

    fn sync(&mut self) -> Result<()> {
        self.check_intact()?;
        let done = self.flush().and_then(|()| self.file.sync_contents());
        self.keep_failure(done)
    }

    fn size_bytes(&self) -> u64 {
        self.written_bytes + self.buffer.len() as u64
    }
}

#[cfg(test)]
mod tests;
