//! Entries in memory that come in any order, and go as a sorted run.

use std::path::Path;

use esker::{Expiry, KeyspaceOptions, SstWriter};

/// Bytes of entries that lie together at the most, but for one entry alone: so that memory is taken
/// in steps, and none is moved when there is more.
const CHUNK_BYTES: usize = 1 << 20;

/// The first of them, which double: thousands of keyspaces may have some entries each.
const FIRST_BYTES: usize = 4 << 10;

/// Entries that wait to be sorted.
#[derive(Default)]
pub struct Gathered {
    chunks: Vec<Vec<u8>>,
    entries: Vec<Waiting>,
    chunk_bytes: usize,
}

/// Where an entry lies: its key, and the value behind it.
struct Waiting {
    /// The first eight bytes of its key, which mostly say all that sorting asks.
    prefix: u64,
    chunk: usize,
    offset: usize,
    key_len: usize,
    value_len: usize,
    expiry: Option<Expiry>,
}

impl Gathered {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that they take, with what is kept for more of them.
    pub fn size_bytes(&self) -> usize {
        self.chunk_bytes + self.entries.capacity() * size_of::<Waiting>()
    }

    /// Adds one.
    pub fn push(&mut self, key: &[u8], value: &[u8], expiry: Option<Expiry>) {
        let len = key.len() + value.len();
        let has_room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= len;
        if !self.chunks.last().is_some_and(has_room) {
            let step_bytes = self.chunk_bytes.clamp(FIRST_BYTES, CHUNK_BYTES);
            let chunk = Vec::with_capacity(len.max(step_bytes));
            self.chunk_bytes += chunk.capacity();
            self.chunks.push(chunk);
        }
        let chunk = self.chunks.len() - 1;
        let bytes = &mut self.chunks[chunk];
        let offset = bytes.len();
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value);
        self.entries.push(Waiting {
            prefix: prefix(key),
            chunk,
            offset,
            key_len: key.len(),
            value_len: value.len(),
            expiry,
        });
    }

    /// Writes them into a directory, as a set of files; of a key that came twice the last value.
    pub fn write(mut self, dir: &Path, options: &KeyspaceOptions) -> esker::Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        // Stable, so that of equal keys the last is the last.
        entries.sort_by(|left, right| {
            let by_prefix = left.prefix.cmp(&right.prefix);
            by_prefix.then_with(|| self.key(left).cmp(self.key(right)))
        });
        let mut writer = SstWriter::create(dir, options.clone())?;
        for (place, entry) in entries.iter().enumerate() {
            let key = self.key(entry);
            let next = entries.get(place + 1);
            if next.is_none_or(|next| self.key(next) != key) {
                put(&mut writer, key, self.value(entry), entry.expiry)?;
            }
        }
        writer.finish()?;
        Ok(())
    }

    fn key(&self, entry: &Waiting) -> &[u8] {
        &self.chunks[entry.chunk][entry.offset..][..entry.key_len]
    }

    fn value(&self, entry: &Waiting) -> &[u8] {
        &self.chunks[entry.chunk][entry.offset + entry.key_len..][..entry.value_len]
    }
}

/// Puts an entry that ends then, or never.
pub fn put(
    writer: &mut SstWriter,
    key: &[u8],
    value: &[u8],
    expiry: Option<Expiry>,
) -> esker::Result<()> {
    match expiry {
        None => writer.put(key, value),
        Some(expiry) => writer.put_until(key, value, expiry),
    }
}

// The order of two prefixes is that of their keys, or they are equal.
fn prefix(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = key.len().min(8);
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests;
