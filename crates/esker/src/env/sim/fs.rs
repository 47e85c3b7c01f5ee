//! Files in memory; a power cut forgets what was not synced.

use std::fmt;
use std::io::ErrorKind as Os;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::{Error, Result};
use crate::env::fs::{
    AppendFile, DirLock, ExtentFile, Fs, LogFile, LogSync, MappedFile, ReadFile, Unchanging,
};
use crate::env::sim::crash::CrashMode;
use crate::env::sim::disk::{Disk, SimLocked, refused, split};
use crate::env::sim::tree::{Dirs, FileId, Step};

/// A file system in memory, with the medium's behaviour that `env/fs.rs` assumes.
///
/// Shape: one [`Disk`] behind one lock. Every call that changes something has a number
/// ([`SimFs::call_count`]): two runs that make the same calls give them the same numbers.
/// A sync makes durable the bytes and the size of its file, not its name; `sync_dir` makes
/// names durable, not bytes; a new directory is durable at once. Nothing is buffered: appended
/// bytes are seen by readers at once.
///
/// Any thread may call anything; for one and the same run, the caller keeps the order.
#[derive(Clone)]
pub struct SimFs {
    disk: Arc<Mutex<Disk>>,
}

impl SimFs {
    /// An empty disk. The seed decides what a failed sync loses.
    pub fn new(seed: u64) -> SimFs {
        SimFs::from_disk(Disk::new(Dirs::new(), Default::default(), seed))
    }

    fn from_disk(disk: Disk) -> SimFs {
        SimFs {
            disk: Arc::new(Mutex::new(disk)),
        }
    }

    /// How many calls changed the disk, or tried to.
    pub fn call_count(&self) -> u64 {
        self.disk().call_count()
    }

    /// What a power cut at this moment would leave; this disk goes on. The same mode and seed
    /// give the same image. Locks are not part of it.
    pub fn crash_image(&self, mode: CrashMode, seed: u64) -> SimFs {
        SimFs::from_disk(self.disk().crash_image(mode, seed))
    }

    /// A power cut: the disk as it is afterwards. Every handle of this one fails from now on.
    pub fn crash(&self, mode: CrashMode, seed: u64) -> SimFs {
        let image = self.crash_image(mode, seed);
        self.power_off();
        image
    }

    /// What a killed process would leave at this moment; this disk goes on.
    pub fn kill_image(&self) -> SimFs {
        SimFs::from_disk(self.disk().kill_image())
    }

    /// A killed process: everything written is there; what was not synced is still unsynced.
    /// Every handle of this file system fails from now on.
    pub fn kill(&self) -> SimFs {
        let image = self.kill_image();
        self.power_off();
        image
    }

    /// From now on every call fails, as for a process whose machine is off.
    pub fn power_off(&self) {
        self.disk().power_off();
    }

    /// Makes the disk so small, or so large, that this many bytes can still be written.
    pub fn set_free_bytes(&self, free_bytes: u64) {
        self.disk().set_free_bytes(free_bytes);
    }

    /// Lets the next sync of a file fail: some of its unsynced sectors reach the medium, the
    /// others are still seen by readers but will never be written, not even by a later sync
    /// that succeeds. So do page caches (Rebello et al., ATC 2020).
    pub fn lose_next_sync(&self) {
        self.disk().lose_next_sync();
    }

    // A test that panicked while holding the lock has failed already.
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self, path: &Path, is_shared: bool) -> SimLock {
        SimLock {
            fs: self.clone(),
            lock: SimLocked {
                path: path.to_owned(),
                is_shared,
            },
        }
    }

    fn handle(&self, disk: &mut Disk, id: FileId, path: &Path) -> Handle {
        disk.open(id);
        Handle {
            fs: self.clone(),
            id,
            path: path.to_owned(),
        }
    }
}

impl fmt::Debug for SimFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimFs")
            .field("call_count", &self.call_count())
            .finish_non_exhaustive()
    }
}

impl Fs for SimFs {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        self.disk().create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        let disk = self.disk();
        disk.check_on()?;
        match disk.tree().dir(dir) {
            Some(files) => Ok(files
                .keys()
                .cloned()
                .chain(disk.tree().dirs_below(dir))
                .collect()),
            None => Err(refused("list", dir, Os::NotFound)),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        let disk = self.disk();
        disk.check_on()?;
        Ok(disk.find(path).is_some() || disk.tree().dir(path).is_some())
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let disk = self.disk();
        disk.check_on()?;
        let id = disk.find_file("read the size", path)?;
        Ok(disk.content(id).now().len())
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let id = disk.find_or_create(call, "create", path)?;
        disk.truncate(call, id);
        Ok(Box::new(SimAppendFile {
            handle: self.handle(&mut disk, id, path),
            size_bytes: 0,
        }))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let id = disk.find_or_create(call, "open or create", path)?;
        if let Err(error) = disk.grow(call, id, capacity_bytes, path) {
            if disk.content(id).now().is_empty() {
                disk.change_names(call, unlink(path, id)?);
            }
            return Err(error);
        }
        Ok(Box::new(SimLogFile {
            capacity_bytes: disk.content(id).now().len(),
            handle: Arc::new(self.handle(&mut disk, id, path)),
        }))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        if disk.find(path).is_some() {
            return Err(refused("create", path, Os::AlreadyExists));
        }
        let id = disk.find_or_create(call, "create", path)?;
        if let Err(error) = disk.grow(call, id, capacity_bytes, path) {
            disk.change_names(call, unlink(path, id)?);
            return Err(error);
        }
        Ok(Arc::new(SimExtentFile {
            handle: self.handle(&mut disk, id, path),
            capacity_bytes,
        }))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        let mut disk = self.disk();
        disk.check_on()?;
        let id = disk.find_file("open", path)?;
        Ok(Arc::new(SimReadFile {
            size_bytes: disk.content(id).now().len(),
            handle: self.handle(&mut disk, id, path),
        }))
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let doing = format!("rename to {}", target.display());
        let id = disk.find_file(&doing, source)?;
        let (dir, name) = place(&disk, &doing, target)?;
        if disk.find(target) != Some(id) {
            let mut steps = unlink(source, id)?;
            steps.push(Step::Link(dir, name, id));
            disk.change_names(call, steps);
        }
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let id = disk.find_file("remove", path)?;
        disk.change_names(call, unlink(path, id)?);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let doing = "remove the directory";
        let Some(files) = disk.tree().dir(path) else {
            return Err(refused(doing, path, Os::NotFound));
        };
        if !files.is_empty() || disk.tree().dirs_below(path).next().is_some() {
            return Err(refused(doing, path, Os::DirectoryNotEmpty));
        }
        disk.change_names(call, vec![Step::RemoveDir(path.to_owned())]);
        Ok(())
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        let mut disk = self.disk();
        let call = disk.begin_call()?;
        let doing = format!("link as {}", target.display());
        let id = disk.find_file(&doing, source)?;
        let (dir, name) = place(&disk, &doing, target)?;
        if disk.find(target).is_some() {
            return Err(refused(&doing, source, Os::AlreadyExists));
        }
        disk.change_names(call, vec![Step::Link(dir, name, id)]);
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk();
        let id = disk.find_file("sync", path)?;
        disk.sync(id, path)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let mut disk = self.disk();
        disk.begin_call()?;
        if disk.tree().dir(dir).is_none() {
            return Err(refused("sync the directory", dir, Os::NotFound));
        }
        disk.sync_dir(dir);
        Ok(())
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        self.disk().lock(path)?;
        Ok(Box::new(self.locked(path, false)))
    }

    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>> {
        match self.disk().lock_unwritten(path)? {
            true => Ok(Some(Box::new(self.locked(path, true)))),
            false => Ok(None),
        }
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        let disk = self.disk();
        disk.check_on()?;
        match disk.tree().dir(dir) {
            Some(_) => Ok(disk.free_bytes()),
            None => Err(refused("read the free space", dir, Os::NotFound)),
        }
    }
}

// Where a name can be put: its directory is there, and it is none itself.
fn place(disk: &Disk, doing: &str, path: &Path) -> Result<(PathBuf, String)> {
    if disk.tree().dir(path).is_some() {
        return Err(refused(doing, path, Os::IsADirectory));
    }
    match split(path) {
        Some((dir, name)) if disk.tree().dir(dir).is_some() => Ok((dir.to_owned(), name)),
        _ => Err(refused(doing, path, Os::NotFound)),
    }
}

fn unlink(path: &Path, id: FileId) -> Result<Vec<Step>> {
    let (dir, name) = split(path).ok_or_else(|| refused("find", path, Os::NotFound))?;
    Ok(vec![Step::Unlink(dir.to_owned(), name, id)])
}

// What every open file has. Dropped, it lets the disk forget a file without a name.
struct Handle {
    fs: SimFs,
    id: FileId,
    path: PathBuf,
}

impl Handle {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.fs.disk().write(self.id, offset, bytes, &self.path)
    }

    fn sync(&self) -> Result<()> {
        self.fs.disk().sync(self.id, &self.path)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.fs.disk().close(self.id);
    }
}

struct SimAppendFile {
    handle: Handle,
    size_bytes: u64,
}

impl AppendFile for SimAppendFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.handle.write(self.size_bytes, bytes)?;
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.handle.sync()
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

struct SimLogFile {
    handle: Arc<Handle>,
    capacity_bytes: u64,
}

impl LogFile for SimLogFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        assert!(end.is_some_and(|end| end <= self.capacity_bytes));
        self.handle.write(offset, bytes)
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(SimLogSync(Arc::clone(&self.handle)))
    }
}

struct SimLogSync(Arc<Handle>);

impl LogSync for SimLogSync {
    fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

struct SimExtentFile {
    handle: Handle,
    capacity_bytes: u64,
}

impl ExtentFile for SimExtentFile {
    fn write_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()> {
        let bytes = pieces.concat();
        let end = offset.checked_add(bytes.len() as u64);
        assert!(end.is_some_and(|end| end <= self.capacity_bytes));
        self.handle.write(offset, &bytes)
    }

    fn trim(&self, size_bytes: u64) -> Result<()> {
        self.handle.fs.disk().trim(self.handle.id, size_bytes)
    }
}

impl LogSync for SimExtentFile {
    fn sync(&self) -> Result<()> {
        self.handle.sync()
    }
}

struct SimReadFile {
    handle: Handle,
    size_bytes: u64,
}

impl ReadFile for SimReadFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let disk = self.handle.fs.disk();
        disk.check_on()?;
        let bytes = disk.content(self.handle.id).now();
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(Error::corruption(format!(
                "the file ends before the {} bytes that should be here",
                buffer.len()
            ))
            .in_file(self.handle.path.display())
            .at_offset(offset));
        }
        bytes.read(offset, buffer);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}

    fn map(&self, _word: Unchanging) -> Option<Arc<dyn MappedFile>> {
        let mut bytes = vec![0; usize::try_from(self.size_bytes).ok()?];
        self.read_at(0, &mut bytes).ok()?;
        (!bytes.is_empty()).then(|| Arc::new(Copied(bytes)) as Arc<dyn MappedFile>)
    }
}

/// A file's bytes as they were when it was mapped: nobody changes such a file.
pub struct Copied(pub Vec<u8>);

impl MappedFile for Copied {
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.0.get(start..start.checked_add(len)?)
    }
}

#[derive(Debug)]
struct SimLock {
    fs: SimFs,
    lock: SimLocked,
}

impl DirLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.fs.disk().unlock(&self.lock);
    }
}

#[cfg(test)]
mod tests;
