//! Makes the system forget what it cached of some files, so that reads are cold.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::disk::advice::drop_pages;
use crate::disk::space::walk;
use crate::fail::{Failure, Outcome};
use crate::quantity;

/// Where Linux is told to drop its whole cache; only a privileged user may.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// What was forgotten, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Files that the system was advised to drop.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the system dropped all that it had cached, names of files included; `None` where
    /// it was not asked to.
    pub is_all: Option<bool>,
}

impl Forgotten {
    /// A line for people: which of the two was done.
    pub fn text(&self) -> String {
        let advised = format!(
            "{} files of {} dropped from the page cache by advice",
            self.files,
            quantity::bytes(self.bytes as f64)
        );
        match self.is_all {
            None => advised,
            Some(true) => format!("{advised}, then the whole cache by {DROP_CACHES}"),
            Some(false) => format!("{advised} only: {DROP_CACHES} may not be written"),
        }
    }
}

/// Drops every file below `dir` from the page cache; with `is_all` then everything that the system
/// has cached, if it lets us. What a process has mapped stays: close stores before.
pub fn forget_store(dir: &Path, is_all: bool) -> Outcome<Forgotten> {
    let mut forgotten = forget(dir)?;
    // Without permission the advice above is all that can be done; the caller tells.
    forgotten.is_all = is_all.then(|| fs::write(DROP_CACHES, "3\n").is_ok());
    Ok(forgotten)
}

/// Drops every file below `dir` from the page cache. Nothing may have them mapped. What somebody
/// removes meanwhile, as some engines do for a moment after they were closed, is out of it too.
pub fn forget(dir: &Path) -> Outcome<Forgotten> {
    let mut all = Forgotten::default();
    walk(dir, &mut |path, found| {
        if found.is_file() {
            drop_file(path)?;
            all.files += 1;
            all.bytes += found.size();
        }
        Ok(())
    })?;
    Ok(all)
}

/// Drops one file. Only pages that are on the medium can be dropped, so it is synced first.
pub fn forget_file(path: &Path) -> Outcome {
    let told = |error| Failure::system(format!("cannot drop {}", path.display()), &error);
    drop_file(path).map_err(told)
}

fn drop_file(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    drop_pages(&file)
}

#[cfg(test)]
mod tests;
