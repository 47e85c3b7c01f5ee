//! How much lies on the disk, and how much room is left.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::quantity;

/// The unit of a file's blocks, whatever the file system.
const UNIT_BYTES: u64 = 512;

/// Bytes that the files below `dir` take on the medium; holes take none. What somebody removes
/// meanwhile, which engines do in the background, takes none either.
pub fn disk_bytes(dir: &Path) -> Outcome<u64> {
    let told = |error| Failure::system(format!("cannot read {}", dir.display()), &error);
    let mut bytes = 0;
    for entry in fs::read_dir(dir).map_err(told)? {
        bytes += bytes_of(&entry.map_err(told)?).map_err(told)?;
    }
    Ok(bytes)
}

fn bytes_of(entry: &DirEntry) -> io::Result<u64> {
    Ok(unless_gone(entry_bytes(entry))?.unwrap_or(0))
}

fn entry_bytes(entry: &DirEntry) -> io::Result<u64> {
    let found = entry.metadata()?;
    if !found.is_dir() {
        return Ok(found.blocks() * UNIT_BYTES);
    }
    let mut bytes = 0;
    for entry in fs::read_dir(entry.path())? {
        bytes += bytes_of(&entry?)?;
    }
    Ok(bytes)
}

/// What was found, unless it was removed meanwhile.
pub fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Bytes that may still be written below `dir`, which need not be there yet.
pub fn free_bytes(dir: &Path) -> Outcome<u64> {
    let there = dir.ancestors().find(|path| path.is_dir());
    let there = there.unwrap_or(Path::new("."));
    let told = |error: rustix::io::Errno| {
        Failure::system(format!("cannot look at {}", there.display()), &error.into())
    };
    let found = rustix::fs::statvfs(there).map_err(told)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Refuses work that needs `wanted` bytes below `dir` where there are fewer.
///
/// Errors: `Usage`, with both numbers and what to do.
pub fn check_room(dir: &Path, wanted: u64, smaller: &str) -> Outcome {
    let free = free_bytes(dir)?;
    if free >= wanted {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "this takes up to {} of disk, and {} has {}; name another directory with --dir{smaller}",
        quantity::bytes(wanted as f64),
        dir.display(),
        quantity::bytes(free as f64)
    )))
}

#[cfg(test)]
mod tests;
