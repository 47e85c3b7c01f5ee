//! A log file in memory, for the tests of this folder.

use std::sync::{Arc, Mutex};

use crate::base::types::error::{Error, Result};
use crate::env::fs::{LogFile, LogSync, ReadFile};

/// A file whose bytes tests can see and change. Clones are the same file.
#[derive(Clone, Default)]
pub struct MemoryFile {
    bytes: Arc<Mutex<Vec<u8>>>,
    writes_until_failure: Arc<Mutex<Option<u32>>>,
}

impl MemoryFile {
    /// A file of zeros.
    pub fn zeros(len: usize) -> MemoryFile {
        MemoryFile::with(vec![0; len])
    }

    /// A file with these bytes.
    pub fn with(bytes: Vec<u8>) -> MemoryFile {
        let file = MemoryFile::default();
        *file.bytes.lock().unwrap() = bytes;
        file
    }

    /// What the file holds now.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    /// Cuts the file off.
    pub fn truncate(&self, len: usize) {
        self.bytes.lock().unwrap().truncate(len);
    }

    /// Lets `count` writes pass and fails the next one.
    pub fn fail_after(&self, count: u32) {
        *self.writes_until_failure.lock().unwrap() = Some(count);
    }

    /// The file as its owner holds it.
    pub fn log_file(&self) -> Box<dyn LogFile> {
        Box::new(self.clone())
    }

    /// The file as a reader holds it.
    pub fn read_file(&self) -> Arc<dyn ReadFile> {
        Arc::new(MemoryFile::with(self.bytes()))
    }
}

impl LogFile for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut left = self.writes_until_failure.lock().unwrap();
        match left.as_mut() {
            Some(0) => {
                *left = None;
                return Err(Error::io("write", std::io::ErrorKind::Other.into()));
            }
            Some(count) => *count -= 1,
            None => {}
        }
        let start = usize::try_from(offset).unwrap();
        let end = start + bytes.len();
        self.bytes.lock().unwrap()[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn capacity_bytes(&self) -> u64 {
        self.bytes.lock().unwrap().len() as u64
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(self.clone())
    }
}

impl LogSync for MemoryFile {
    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl ReadFile for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let bytes = self.bytes.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let found = bytes.get(start..start + buffer.len());
        buffer.copy_from_slice(found.ok_or_else(|| Error::corruption("the file ends"))?);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.bytes.lock().unwrap().len() as u64
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}
