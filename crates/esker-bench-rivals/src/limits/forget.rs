//! Makes the system forget what it cached of some files, so that reads are cold.

use std::fs::{self, File};
use std::path::Path;

use esker_bench::fail::{Failure, Outcome};
use rustix::fs::{Advice, fadvise};

/// Drops every file below `dir` from the page cache. Nothing may have them mapped.
pub fn forget(dir: &Path) -> Outcome {
    let told = |error| Failure::system(format!("cannot read {}", dir.display()), &error);
    for entry in fs::read_dir(dir).map_err(told)? {
        let entry = entry.map_err(told)?;
        match entry.file_type().map_err(told)?.is_dir() {
            true => forget(&entry.path())?,
            false => forget_file(&entry.path())?,
        }
    }
    Ok(())
}

/// Drops one file. Only pages that are on the medium can be dropped, so it is synced first.
pub fn forget_file(path: &Path) -> Outcome {
    let dropped = File::open(path).and_then(|file| {
        file.sync_all()?;
        Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
    });
    let told = |error| Failure::system(format!("cannot drop {}", path.display()), &error);
    dropped.map_err(told)
}

/// Bytes that the files below `dir` take on the medium; holes take none.
pub fn disk_bytes(dir: &Path) -> Outcome<u64> {
    use std::os::unix::fs::MetadataExt;
    // The unit of this field is 512 bytes whatever the file system.
    const UNIT_BYTES: u64 = 512;
    let told = |error| Failure::system(format!("cannot read {}", dir.display()), &error);
    let mut bytes = 0;
    for entry in fs::read_dir(dir).map_err(told)? {
        let entry = entry.map_err(told)?;
        let found = entry.metadata().map_err(told)?;
        bytes += match found.is_dir() {
            true => disk_bytes(&entry.path())?,
            false => found.blocks() * UNIT_BYTES,
        };
    }
    Ok(bytes)
}
