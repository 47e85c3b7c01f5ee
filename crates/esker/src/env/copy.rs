//! Bytes of one file at the end of another.

use std::ops::Range;
use std::path::Path;

use crate::base::types::error::Result;
use crate::env::fs::{AppendFile, Fs, ReadFile};

/// Bytes copied at a time: large enough that the calls cost nothing, and no burden to memory.
const COPY_BYTES: u64 = 1 << 20;

/// Makes a file of the first `len_bytes` bytes of another; to sync it and its name is the caller's.
pub fn copy_front(
    fs: &dyn Fs,
    from: &dyn ReadFile,
    target: &Path,
    len_bytes: u64,
) -> Result<Box<dyn AppendFile>> {
    let mut to = fs.create(target)?;
    append_range(from, &mut *to, 0..len_bytes)?;
    Ok(to)
}

/// Appends those bytes of a file to another.
pub fn append_range(from: &dyn ReadFile, to: &mut dyn AppendFile, range: Range<u64>) -> Result<()> {
    let mut buffer = Vec::new();
    let mut offset = range.start;
    while offset < range.end {
        let len = COPY_BYTES.min(range.end - offset);
        from.prefetch(offset + len, COPY_BYTES);
        buffer.resize(usize::try_from(len).expect("at most a megabyte"), 0);
        from.read_at(offset, &mut buffer)?;
        to.append(&buffer)?;
        offset += len;
    }
    Ok(())
}
