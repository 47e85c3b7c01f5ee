//! The directories that a measurement leaves behind, and finds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::fault::Fault;

/// Removes a directory that an earlier run may have left.
pub fn clear(dir: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Bytes of the files in a directory.
pub fn directory_bytes(dir: &Path) -> Result<u64, Fault> {
    let mut bytes = 0;
    for file in fs::read_dir(dir)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}
