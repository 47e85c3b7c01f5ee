//! Files that are whole or not there: written under another name first.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};

/// Writes `bytes` to `path`: under a temporary name beside it first, then renamed, so that
/// whoever reads `path` sees the old file or the new one.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let unfinished = beside(path);
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(|error| {
            // What was begun is of no use; that it is gone changes nothing about the failure.
            let _ = fs::remove_file(&unfinished);
            Failure::system(format!("cannot write {}", path.display()), &error)
        })
}

/// Fails early, before hours of work, where [`write()`] would fail late.
pub fn check_writable(path: &Path) -> Outcome {
    if path.is_dir() || path.file_name().is_none() {
        return Err(Failure::usage(format!(
            "cannot write {}: it is a directory; name a file",
            path.display()
        )));
    }
    let unfinished = beside(path);
    let tried = File::create(&unfinished).and_then(|_| fs::remove_file(&unfinished));
    tried.map_err(|error| {
        Failure::usage(format!(
            "cannot write {}: {error}; name a file in a directory that is there and yours",
            path.display()
        ))
    })
}

/// Whether two paths lead to one file, as far as both are there.
pub fn is_same(left: &Path, right: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    left == right || (real(left).is_some() && real(left) == real(right))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests;
