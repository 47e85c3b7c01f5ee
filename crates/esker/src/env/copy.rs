//! Copies of files and of parts of them, and second names.

use std::ops::Range;
use std::path::Path;

use crate::base::types::error::{ErrorKind, Result};
use crate::env::fs::{AppendFile, Fs, ReadFile};

/// Bytes copied at a time: large enough that the calls cost nothing, and small enough that they are
/// in the processor's caches still when they are written.
pub(in crate::env) const COPY_BYTES: u64 = 256 << 10;

/// Gives a file a second name, or copies it where it cannot have one: on another file system, or
/// one without links. Says whether it has.
pub fn link_or_copy(fs: &dyn Fs, source: &Path, target: &Path) -> Result<bool> {
    let is_linked = link(fs, source, target)?;
    if !is_linked {
        copy(fs, source, target)?;
    }
    Ok(is_linked)
}

/// Gives a file a second name, where it can have one; says whether it has.
pub fn link(fs: &dyn Fs, source: &Path, target: &Path) -> Result<bool> {
    match fs.hard_link(source, target) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Io => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies a file and makes the copy's bytes durable; to sync its name is the caller's.
pub fn copy(fs: &dyn Fs, source: &Path, target: &Path) -> Result<()> {
    let from = fs.open_read(source)?;
    copy_front(fs, &*from, target, from.size_bytes())?.sync()
}

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
        buffer.resize(usize::try_from(len).expect("a piece is small"), 0);
        from.read_at(offset, &mut buffer)?;
        to.append(&buffer)?;
        offset += len;
    }
    Ok(())
}
