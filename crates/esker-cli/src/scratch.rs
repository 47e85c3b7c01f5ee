//! A folder of our own for what has to be put together anew; removed when dropped.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::fail::{Failure, Outcome};

/// As other new directories of a database: their owner's alone.
const DIR_MODE: u32 = 0o700;

/// Each name is tried that an earlier process of our number may have left.
const SCRATCH_TRIES_MAX: u32 = 1000;

/// The folder.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty one where the system keeps such, named after what it is for.
    pub fn make(what: &str) -> Outcome<Scratch> {
        let folder = std::env::temp_dir();
        let process = std::process::id();
        let mut tries = 0..SCRATCH_TRIES_MAX;
        loop {
            let count = tries.next();
            let name = format!("esker-{what}-{process}-{}", count.unwrap_or_default());
            let path = folder.join(name);
            match DirBuilder::new().mode(DIR_MODE).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && count.is_some() => {}
                Err(error) => {
                    let doing = format!("cannot make the folder {}", path.display());
                    return Err(Failure::system(doing, &error));
                }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            remark!("esker: cannot remove {}: {error}", self.0.display());
        }
    }
}
