//! A log file in memory whose bytes a script can damage.

use std::sync::{Arc, Mutex};

use esker::internals::base::types::error::{Error, Result};
use esker::internals::env::fs::{LogFile, LogSync, ReadFile};

/// A file of fixed size. Clones are the same file.
#[derive(Clone)]
pub struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryFile {
    /// A file of zeros.
    pub fn zeros(len: usize) -> MemoryFile {
        MemoryFile(Arc::new(Mutex::new(vec![0; len])))
    }

    /// What the file holds now.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// Changes bytes behind everybody's back.
    pub fn damage(&self, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.0.lock().unwrap());
    }
}

impl LogFile for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap();
        self.0.lock().unwrap()[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn capacity_bytes(&self) -> u64 {
        self.size_bytes()
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
        let bytes = self.0.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let found = bytes.get(start..start + buffer.len());
        buffer.copy_from_slice(found.ok_or_else(|| Error::corruption("the file ends"))?);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}
