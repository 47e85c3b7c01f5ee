//! Files and directories of the operating system.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Weak};

use rustix::fs::statvfs;
use rustix::io::retry_on_intr;

use crate::base::types::error::Result;
use crate::env::fs::{AppendFile, DirLock, ExtentFile, FileKeeper, Fs, LogFile, ReadFile};
use crate::env::real::append::RealAppendFile;
use crate::env::real::descriptors::{self, patiently};
use crate::env::real::extent::RealExtentFile;
use crate::env::real::lock::RealLock;
use crate::env::real::log::RealLogFile;
use crate::env::real::os_file::{OsFile, RealReadFile, path_error};

// New directories are their owner's alone, as new files are.
const DIR_MODE: u32 = 0o700;

/// The file system of the operating system. Any thread may call anything; no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFs;

impl Fs for RealFs {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        let missing: Vec<&Path> = dir
            .ancestors()
            .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.is_dir())
            .collect();
        if missing.is_empty() {
            return self.sync_present_dir(dir);
        }
        for path in missing.into_iter().rev() {
            match fs::DirBuilder::new().mode(DIR_MODE).create(path) {
                Ok(()) => {}
                // Another process was faster; its sync may still be to come, so ours is too.
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(cause) => return Err(path_error("create the directory", path, cause)),
            }
            self.sync_dir(parent_of(path))?;
        }
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        let list = || -> io::Result<Vec<OsString>> {
            patiently(|| fs::read_dir(dir))?
                .map(|entry| Ok(entry?.file_name()))
                .collect()
        };
        let names = list().map_err(|cause| path_error("list", dir, cause))?;
        // A name that is no UTF-8 is none of ours; nobody here could ask for it.
        Ok(names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect())
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        path.try_exists()
            .map_err(|cause| path_error("look for", path, cause))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(cause) => Err(path_error("read the size", path, cause)),
        }
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealAppendFile::create(path)?))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        Ok(Box::new(RealLogFile::open(path, capacity_bytes)?))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        Ok(Arc::new(RealExtentFile::create(path, capacity_bytes)?))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        RealReadFile::open(path)
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        fs::rename(source, target).map_err(|cause| {
            let doing = format!("rename to {}", target.display());
            path_error(&doing, source, cause)
        })
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        fs::remove_file(path).map_err(|cause| path_error("remove", path, cause))
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        fs::remove_dir(path).map_err(|cause| path_error("remove the directory", path, cause))
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        fs::hard_link(source, target).map_err(|cause| {
            let doing = format!("link as {}", target.display());
            path_error(&doing, source, cause)
        })
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        // A directory has no contents apart from its entries, so this is fsync, not fdatasync.
        let opened = OsFile::open(dir)?;
        opened
            .file()
            .sync_all()
            .map_err(|cause| opened.error("sync the directory", cause))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        Ok(Box::new(RealLock::take(path)?))
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        match retry_on_intr(|| statvfs(dir)) {
            // What an ordinary user may still take; the rest is root's.
            Ok(stat) => Ok(stat.f_bavail.saturating_mul(stat.f_frsize)),
            Err(errno) => Err(path_error("read the free space", dir, errno.into())),
        }
    }

    fn keep_open(&self, wanted: usize, keeper: Weak<dyn FileKeeper>) -> usize {
        descriptors::keep(wanted, &keeper)
    }
}

impl RealFs {
    // The directory may be there because a process made it and was killed before it synced the
    // parent. A parent that we may not even open was made by somebody else, and long ago.
    fn sync_present_dir(&self, dir: &Path) -> Result<()> {
        match self.sync_dir(parent_of(dir)) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::PermissionDenied) => Ok(()),
            done => done,
        }
    }
}

// The directory that holds the entry of `path`.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
