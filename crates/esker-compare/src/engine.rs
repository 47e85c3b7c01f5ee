//! What an engine under measurement can do.

use std::path::Path;

use crate::Fault;

/// What every engine is opened with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Bytes of block cache.
    pub cache_bytes: usize,
    /// Bytes of a memtable.
    pub buffer_bytes: usize,
    /// Whether blocks are packed with snappy.
    pub is_packed: bool,
    /// Filter bits for each key; 0 is no filter.
    pub bloom_bits: u32,
    /// Further settings of Esker by their name in the catalogue.
    pub esker: Vec<(String, String)>,
}

/// Entries and bytes that a scan met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Entries.
    pub count: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// One open database. Written by one thread; a write survives a killed process.
pub trait Engine {
    /// Sets the value of a key.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Fault>;
    /// Bytes of the value of a key, if it has one.
    fn get(&mut self, key: &[u8]) -> Result<Option<usize>, Fault>;
    /// Walks over everything from the first key on.
    fn scan_forward(&mut self) -> Result<Met, Fault>;
    /// Walks over everything from the last key on.
    fn scan_backward(&mut self) -> Result<Met, Fault>;
    /// Merges everything into one run.
    fn compact(&mut self) -> Result<(), Fault>;
}

/// Opens the database in a directory, or creates it. Dropping it closes it.
pub type Open = fn(&Path, &Setup) -> Result<Box<dyn Engine>, Fault>;

/// A way to open one kind of engine.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Name shown.
    pub name: &'static str,
    /// How it is opened.
    pub open: Open,
}
