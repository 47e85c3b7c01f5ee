//! A directory that is read and never written to: what would change in it goes to another one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::base::types::error::{Error, Result};
use crate::env::copy::copy;
use crate::env::fs::{AppendFile, DirLock, ExtentFile, FileKeeper, Fs, LogFile, ReadFile};

/// The same file system, but in one directory, the lower one, nothing changes: files that are made
/// there lie in the upper one, and what is renamed, linked or removed there is so in this file
/// system's memory alone. Folders inside the lower directory are not looked into.
///
/// Any thread may call anything; two that change the same name at the same time leave it open which
/// of them was first. Other paths are those of the file system below.
#[derive(Debug)]
pub struct OverlayFs {
    base: Arc<dyn Fs>,
    lower: PathBuf,
    upper: PathBuf,
    /// The names, relative to the directory, that are no longer what the lower one says.
    changed: Mutex<BTreeMap<PathBuf, Place>>,
    /// Nobody else changes the lower directory meanwhile.
    _lock: Option<Box<dyn DirLock>>,
}

/// Where a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In the lower directory, under that path: another name of a file there.
    Lower(PathBuf),
    /// In the upper directory, under its own name.
    Upper,
    /// Nowhere.
    Gone,
}

impl OverlayFs {
    /// Whatever changes in `lower` goes to `upper`, an empty directory. `lock` is held as long.
    pub fn new(
        base: Arc<dyn Fs>,
        lower: &Path,
        upper: &Path,
        lock: Option<Box<dyn DirLock>>,
    ) -> OverlayFs {
        OverlayFs {
            base,
            lower: lower.to_owned(),
            upper: upper.to_owned(),
            changed: Mutex::default(),
            _lock: lock,
        }
    }

    // Each change is one step, so a panic elsewhere leaves the map whole.
    fn changed(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Place>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, name: &Path, place: Place) {
        self.changed().insert(name.to_owned(), place);
    }

    // The name in the directory, for paths that lead into it.
    fn name_of<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let name = path.strip_prefix(&self.lower).ok()?;
        (!name.as_os_str().is_empty()).then_some(name)
    }

    fn place_of(&self, name: &Path) -> Place {
        if let Some(place) = self.changed().get(name) {
            return place.clone();
        }
        match name.parent().is_none_or(|folder| folder == Path::new("")) {
            true => Place::Lower(self.lower.join(name)),
            false => Place::Upper,
        }
    }

    // Where to look for what `path` leads to.
    fn find(&self, path: &Path) -> Result<PathBuf> {
        let Some(name) = self.name_of(path) else {
            return Ok(path.to_owned());
        };
        match self.place_of(name) {
            Place::Lower(found) => Ok(found),
            Place::Upper => Ok(self.upper.join(name)),
            Place::Gone => Err(missing(path)),
        }
    }

    // Makes a file, which lies in the upper directory from then on.
    fn make<T>(&self, path: &Path, make: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let Some(name) = self.name_of(path) else {
            return make(path);
        };
        let made = make(&self.upper.join(name))?;
        self.note(name, Place::Upper);
        Ok(made)
    }

    // Where a directory's entries are made durable, if any were made.
    fn dir_to_change(&self, dir: &Path) -> PathBuf {
        match dir.strip_prefix(&self.lower) {
            Ok(name) if name.as_os_str().is_empty() => self.upper.clone(),
            Ok(name) => self.upper.join(name),
            Err(_) => dir.to_owned(),
        }
    }

    // Both names in the directory, or `None` when both lead elsewhere. No file goes from one side
    // to the other: one of the lower directory would be told of that.
    fn names_of<'a>(
        &self,
        source: &'a Path,
        target: &'a Path,
    ) -> Result<Option<(&'a Path, &'a Path)>> {
        match (self.name_of(source), self.name_of(target)) {
            (Some(from), Some(to)) => Ok(Some((from, to))),
            (None, None) => Ok(None),
            _ => {
                let cause = io::ErrorKind::CrossesDevices.into();
                Err(Error::io("link or rename", cause).in_file(source.display()))
            }
        }
    }
}

fn missing(path: &Path) -> Error {
    Error::io("look for", io::ErrorKind::NotFound.into()).in_file(path.display())
}

impl Fs for OverlayFs {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        if dir == self.lower {
            return Ok(());
        }
        let Some(name) = self.name_of(dir) else {
            return self.base.create_dir_all(dir);
        };
        self.base.create_dir_all(&self.upper.join(name))?;
        let folders = name.ancestors().filter(|name| !name.as_os_str().is_empty());
        folders.for_each(|name| self.note(name, Place::Upper));
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        if dir != self.lower {
            return self.base.list(&self.find(dir)?);
        }
        let mut names = self.base.list(dir)?;
        let changed = self.changed();
        names.retain(|name| !changed.contains_key(Path::new(name)));
        let there = changed.iter().filter(|(_, place)| **place != Place::Gone);
        let own = there.filter_map(|(name, _)| match name.components().count() {
            1 => name.to_str().map(str::to_owned),
            _ => None,
        });
        names.extend(own);
        Ok(names)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        match self.find(path) {
            Ok(found) => self.base.exists(&found),
            Err(_) => Ok(false),
        }
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        self.base.file_size(&self.find(path)?)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        self.make(path, |path| self.base.create(path))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        if let Some(name) = self.name_of(path)
            && let Place::Lower(found) = self.place_of(name)
            && self.base.exists(&found)?
        {
            copy(&*self.base, &found, &self.upper.join(name))?;
        }
        self.make(path, |path| self.base.open_log(path, capacity_bytes))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        if self.exists(path)? {
            let cause = io::ErrorKind::AlreadyExists.into();
            return Err(Error::io("create", cause).in_file(path.display()));
        }
        self.make(path, |path| self.base.create_extent(path, capacity_bytes))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        self.base.open_read(&self.find(path)?)
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        let Some((from, to)) = self.names_of(source, target)? else {
            return self.base.rename(source, target);
        };
        let place = self.place_of(from);
        match &place {
            Place::Upper => self
                .base
                .rename(&self.upper.join(from), &self.upper.join(to))?,
            Place::Lower(found) => {
                self.base.file_size(found)?;
                let replaced = self.upper.join(to);
                if self.base.exists(&replaced)? {
                    self.base.remove_file(&replaced)?;
                }
            }
            Place::Gone => return Err(missing(source)),
        }
        self.note(to, place);
        self.note(from, Place::Gone);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let Some(name) = self.name_of(path) else {
            return self.base.remove_file(path);
        };
        match self.place_of(name) {
            Place::Upper => self.base.remove_file(&self.upper.join(name))?,
            Place::Lower(found) => self.base.file_size(&found).map(drop)?,
            Place::Gone => return Err(missing(path)),
        }
        self.note(name, Place::Gone);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.base.remove_dir(&self.dir_to_change(path))?;
        if let Some(name) = self.name_of(path) {
            self.note(name, Place::Gone);
        }
        Ok(())
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        let Some((from, to)) = self.names_of(source, target)? else {
            return self.base.hard_link(source, target);
        };
        if self.exists(target)? {
            let cause = io::ErrorKind::AlreadyExists.into();
            return Err(Error::io("link", cause).in_file(target.display()));
        }
        let place = self.place_of(from);
        match &place {
            Place::Upper => self
                .base
                .hard_link(&self.upper.join(from), &self.upper.join(to))?,
            Place::Lower(found) => self.base.file_size(found).map(drop)?,
            Place::Gone => return Err(missing(source)),
        }
        self.note(to, place);
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        self.base.sync_file(&self.find(path)?)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.base.sync_dir(&self.dir_to_change(dir))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        self.make(path, |path| self.base.lock(path))
    }

    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>> {
        match self.find(path) {
            Ok(found) => self.base.lock_unwritten(&found),
            Err(_) => Ok(None),
        }
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        self.base.free_bytes(&self.dir_to_change(dir))
    }

    fn keep_open(&self, wanted: usize, keeper: Weak<dyn FileKeeper>) -> usize {
        self.base.keep_open(wanted, keeper)
    }
}

#[cfg(test)]
mod tests;
