//! Files in memory, for the tests of this folder.

use std::sync::{Arc, Mutex};

use crate::base::types::error::{Error, Result};
use crate::env::fs::{AppendFile, MappedFile, ReadFile, Unchanging};
use crate::env::sim::fs::Copied;

/// A file being written; clones share the bytes.
#[derive(Clone, Debug, Default)]
pub struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryFile {
    /// What was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl AppendFile for MemoryFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }
}

/// A file to be read.
#[derive(Clone, Debug)]
pub struct MemoryBytes(pub Vec<u8>);

impl ReadFile for MemoryBytes {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap();
        match self.0.get(start..start + buffer.len()) {
            Some(bytes) => {
                buffer.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(Error::corruption("the file ends too early")),
        }
    }

    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn prefetch(&self, offset: u64, len: u64) {
        assert!(offset + len <= self.size_bytes());
    }

    fn map(&self, _word: Unchanging) -> Option<Arc<dyn MappedFile>> {
        Some(Arc::new(Copied(self.0.clone())))
    }
}
