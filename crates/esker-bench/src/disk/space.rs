//! How much lies on the disk, and how much room is left.

use std::fs::{self, Metadata};
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
    let mut bytes = 0;
    walk(dir, &mut |_, found| {
        bytes += found.blocks() * UNIT_BYTES;
        Ok(())
    })?;
    Ok(bytes)
}

/// Gives every file below `dir` to `take`. What is gone by the time that it is looked at, or that
/// `take` looks at it, is passed over; `dir` itself must be there.
pub fn walk(dir: &Path, take: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>) -> Outcome {
    let told = |error| Failure::system(format!("cannot read {}", dir.display()), &error);
    for entry in fs::read_dir(dir).map_err(told)? {
        visit(&entry.map_err(told)?.path(), take).map_err(told)?;
    }
    Ok(())
}

fn visit(path: &Path, take: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let Some(found) = unless_gone(fs::symlink_metadata(path))? else {
        return Ok(());
    };
    if !found.is_dir() {
        unless_gone(take(path, &found))?;
        return Ok(());
    }
    let Some(entries) = unless_gone(fs::read_dir(path))? else {
        return Ok(());
    };
    for entry in entries {
        visit(&entry?.path(), take)?;
    }
    Ok(())
}

/// What was found, unless it was removed meanwhile.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
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
