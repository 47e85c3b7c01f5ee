//! Files and directories of the operating system.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the door to the files of the operating system"
)]

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Weak};

use rustix::fs::{AtFlags, Dir, FileType, fstatvfs, linkat, renameat, statvfs, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::base::types::error::Result;
use crate::env::fs::{AppendFile, DirLock, ExtentFile, FileKeeper, Fs, LogFile, ReadFile};
use crate::env::real::append::RealAppendFile;
use crate::env::real::descriptors::{self, patiently};
use crate::env::real::extent::RealExtentFile;
use crate::env::real::held::{HeldFs, Places};
use crate::env::real::lock::RealLock;
use crate::env::real::log::RealLogFile;
use crate::env::real::os_file::{OsFile, RealReadFile, path_error};
use crate::env::real::place::Place;
use crate::env::real::system;

// New directories are their owner's alone, as new files are.
const DIR_MODE: u32 = 0o700;

/// The file system of the operating system. Any thread may call anything; no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFs;

impl Places for RealFs {
    fn place<'a>(&'a self, path: &'a Path) -> Place<'a> {
        Place::from(path)
    }
}

impl<P: Places> Fs for P {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        let missing: Vec<&Path> = dir
            .ancestors()
            .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.is_dir())
            .collect();
        if missing.is_empty() {
            return sync_present_dir(self, dir);
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

    fn create_folder(&self, path: &Path) -> Result<()> {
        let place = self.place_to_change(path)?;
        match place.stat() {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                Err(place.error("make the directory", Errno::LOOP))
            }
            Ok(_) | Err(Errno::NOENT) => self.create_dir_all(path),
            Err(errno) => Err(place.error("look for", errno)),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        let place = self.place(dir);
        let opened = match place.is_held_dir() {
            true => None,
            false => Some(OsFile::open_dir(dir)?),
        };
        let list = || -> io::Result<Vec<CString>> {
            let entries = patiently(|| {
                let opened = opened.as_ref().map(|opened| opened.file().as_fd());
                Ok(Dir::read_from(opened.unwrap_or(place.dir()))?)
            });
            entries?
                .map(|entry| Ok(entry?.file_name().to_owned()))
                .collect()
        };
        let names = list().map_err(|cause| path_error("list", dir, cause))?;
        // A name that is no UTF-8 is none of ours; nobody here could ask for it.
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names.filter(|name| name != "." && name != "..").collect())
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        let place = self.place(path);
        match place.stat() {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(place.error("look for", errno)),
        }
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let place = self.place(path);
        let stat = place
            .stat()
            .map_err(|errno| place.error("read the size", errno))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            return Err(place.error("read the size", Errno::LOOP));
        }
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealAppendFile::create(
            self.place_to_change(path)?,
        )?))
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealAppendFile::create_new(
            self.place_to_change(path)?,
        )?))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        let place = self.place_to_change(path)?;
        Ok(Box::new(RealLogFile::open(place, capacity_bytes)?))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        let place = self.place_to_change(path)?;
        Ok(Arc::new(RealExtentFile::create(place, capacity_bytes)?))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        RealReadFile::open(self.place(path))
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        let (from, to) = (self.place_to_change(source)?, self.place_to_change(target)?);
        renameat(from.dir(), from.name(), to.dir(), to.name()).map_err(|errno| {
            let doing = format!("rename to {}", target.display());
            from.error(&doing, errno)
        })
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let place = self.place_to_change(path)?;
        place.remove().map_err(|errno| place.error("remove", errno))
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let place = self.place_to_change(path)?;
        let removed = unlinkat(place.dir(), place.name(), AtFlags::REMOVEDIR);
        removed.map_err(|errno| place.error("remove the directory", errno))
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        let (from, to) = (self.place(source), self.place_to_change(target)?);
        let flags = AtFlags::empty();
        linkat(from.dir(), from.name(), to.dir(), to.name(), flags).map_err(|errno| {
            let doing = format!("link as {}", target.display());
            from.error(&doing, errno)
        })
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        OsFile::open(self.place(path))?.sync_contents()
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let place = self.place(dir);
        let synced = match place.is_held_dir() {
            true => system::sync_entries(place.dir()),
            false => {
                let opened = OsFile::open_dir(dir)?;
                system::sync_entries(opened.file())
            }
        };
        synced.map_err(|errno| place.error("sync the directory", errno))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        let lock = RealLock::take(self.place(path))?;
        self.locked_by(lock.file());
        Ok(Box::new(lock))
    }

    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>> {
        let lock = RealLock::take_unwritten(self.place(path))?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn DirLock>))
    }

    fn hold_dir(&self, dir: &Path) -> Result<Option<Arc<dyn Fs>>> {
        Ok(Some(Arc::new(HeldFs::of(dir)?)))
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        let place = self.place(dir);
        let stat = match place.is_held_dir() {
            true => retry_on_intr(|| fstatvfs(place.dir())),
            false => retry_on_intr(|| statvfs(dir)),
        };
        match stat {
            // What an ordinary user may still take; the rest is root's.
            Ok(stat) => Ok(stat.f_bavail.saturating_mul(stat.f_frsize)),
            Err(errno) => Err(place.error("read the free space", errno)),
        }
    }

    fn keep_open(&self, wanted: usize, keeper: Weak<dyn FileKeeper>) -> usize {
        descriptors::keep(wanted, &keeper)
    }
}

// The directory may be there because a process made it and was killed before it synced the
// parent. A parent that we may not even open was made by somebody else, and long ago.
fn sync_present_dir(fs: &impl Fs, dir: &Path) -> Result<()> {
    match fs.sync_dir(parent_of(dir)) {
        Err(error) if error.io_kind() == Some(io::ErrorKind::PermissionDenied) => Ok(()),
        done => done,
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
