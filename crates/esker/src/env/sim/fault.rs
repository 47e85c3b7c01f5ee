//! Wraps any file system and fails where told.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::{EMFILE, Error, Result};
use crate::env::fs::{
    AppendFile, DirLock, ExtentFile, Fs, LogFile, LogSync, MappedFile, ReadFile, Unchanging,
};
use crate::env::sim::fault_plan::{CallClass, CallCounts, Fate, Fault, Plan, Plans};
use crate::env::sim::fs::{Copied, SimFs};

/// A file system that counts calls and fails those that a plan names.
///
/// Same seed, same plans and same calls: same faults. Any thread may call anything. Files
/// opened through it stay under its plans, whenever those are set.
#[derive(Clone)]
pub struct FaultFs {
    inner: Arc<dyn Fs>,
    watch: Arc<Watch>,
}

// What the file system and its open files share.
struct Watch {
    plans: Mutex<Plans>,
    sim: Option<SimFs>,
}

impl FaultFs {
    /// Watches `inner`. [`Fault::LostSync`] is then a sync that is not done.
    pub fn new(inner: Arc<dyn Fs>, seed: u64) -> FaultFs {
        FaultFs::watching(inner, None, seed)
    }

    /// Watches a simulated disk, which can also lose what a failed sync should have kept.
    pub fn over_sim(sim: &SimFs, seed: u64) -> FaultFs {
        FaultFs::watching(Arc::new(sim.clone()), Some(sim.clone()), seed)
    }

    fn watching(inner: Arc<dyn Fs>, sim: Option<SimFs>, seed: u64) -> FaultFs {
        let plans = Mutex::new(Plans::new(seed));
        FaultFs {
            inner,
            watch: Arc::new(Watch { plans, sim }),
        }
    }

    /// Replaces the plans; what they skip is counted from now. None: nothing fails.
    pub fn set_plans(&self, plans: Vec<Plan>) {
        self.watch.plans().set(plans);
    }

    /// Calls so far, failed ones included.
    pub fn counts(&self) -> CallCounts {
        self.watch.plans().counts()
    }

    /// How many calls met a fault.
    pub fn hit_count(&self) -> u64 {
        self.watch.plans().hit_count()
    }

    /// Whether a [`Fault::PowerOff`] has struck.
    pub fn is_off(&self) -> bool {
        self.watch.plans().is_off()
    }

    fn call<T>(
        &self,
        class: CallClass,
        doing: &str,
        path: &Path,
        act: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.watch.call(class, doing, path, act)
    }
}

impl Watch {
    // The plans are changed in one step each, so a panic elsewhere leaves them whole.
    fn plans(&self) -> MutexGuard<'_, Plans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Does the call, or not, as the plans say. No lock is held while it is done.
    fn call<T>(
        &self,
        class: CallClass,
        doing: &str,
        path: &Path,
        act: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let fate = self.plans().meet(class, path);
        match fate {
            Fate::Pass | Fate::Meet(Fault::BitFlip) => act(),
            Fate::Off => Err(off_error(doing, path)),
            Fate::Meet(Fault::PowerOff) => {
                if matches!(class, CallClass::Write | CallClass::Meta) {
                    // In flight when the power goes: unsynced on the disk, so that the crash
                    // image decides. Nobody is left to hear whether it worked.
                    let _ = act();
                }
                Err(off_error(doing, path))
            }
            Fate::Meet(fault) => Err(fault_error(fault, doing, path)),
        }
    }

    // A write, which may also be done in part. `put` writes a prefix of that many bytes.
    fn write(&self, path: &Path, len: usize, put: impl FnOnce(usize) -> Result<()>) -> Result<()> {
        let fate = self.plans().meet(CallClass::Write, path);
        match fate {
            Fate::Pass | Fate::Meet(Fault::BitFlip) => put(len),
            Fate::Off => Err(off_error("write", path)),
            Fate::Meet(Fault::PowerOff) => {
                // As in `call`: in flight, and nobody is left to hear.
                let _ = put(len);
                Err(off_error("write", path))
            }
            Fate::Meet(Fault::ShortWrite) => {
                let part = self.plans().below(len as u64 + 1);
                put(usize::try_from(part).unwrap_or(len))?;
                Err(fault_error(Fault::ShortWrite, "write", path))
            }
            Fate::Meet(fault) => Err(fault_error(fault, "write", path)),
        }
    }

    // A file's sync, which may also lose bytes.
    fn sync(&self, path: &Path, act: impl FnOnce() -> Result<()>) -> Result<()> {
        let fate = self.plans().meet(CallClass::Sync, path);
        match (fate, &self.sim) {
            (Fate::Pass | Fate::Meet(Fault::BitFlip), _) => act(),
            (Fate::Off | Fate::Meet(Fault::PowerOff), _) => Err(off_error("sync", path)),
            (Fate::Meet(Fault::LostSync), Some(sim)) => {
                sim.lose_next_sync();
                act()
            }
            (Fate::Meet(fault), _) => Err(fault_error(fault, "sync", path)),
        }
    }

    fn read(&self, path: &Path, buffer: &mut [u8], file: &dyn ReadFile, at: u64) -> Result<()> {
        let fate = self.plans().meet(CallClass::Read, path);
        match fate {
            Fate::Pass => file.read_at(at, buffer),
            Fate::Off | Fate::Meet(Fault::PowerOff) => Err(off_error("read", path)),
            Fate::Meet(Fault::BitFlip) => {
                file.read_at(at, buffer)?;
                self.flip(buffer);
                Ok(())
            }
            Fate::Meet(fault) => Err(fault_error(fault, "read", path)),
        }
    }

    // What is mapped fails no more but by ending the process, so this is the one time.
    fn map(
        &self,
        path: &Path,
        file: &dyn ReadFile,
        word: Unchanging,
    ) -> Option<Arc<dyn MappedFile>> {
        let fate = self.plans().meet(CallClass::Read, path);
        match fate {
            Fate::Pass => file.map(word),
            Fate::Meet(Fault::BitFlip) => {
                let mut bytes = vec![0; usize::try_from(file.size_bytes()).ok()?];
                file.read_at(0, &mut bytes).ok()?;
                self.flip(&mut bytes);
                Some(Arc::new(Copied(bytes)))
            }
            Fate::Off | Fate::Meet(_) => None,
        }
    }

    // Changes one bit, if there is one.
    fn flip(&self, bytes: &mut [u8]) {
        let bit_count = bytes.len() as u64 * 8;
        if bit_count > 0 {
            let bit = self.plans().below(bit_count);
            let index = usize::try_from(bit / 8).expect("below the number of bytes");
            bytes[index] ^= 1 << (bit % 8);
        }
    }
}

fn off_error(doing: &str, path: &Path) -> Error {
    let cause = io::Error::other("the simulated machine is off");
    Error::io(doing, cause).in_file(path.display())
}

fn fault_error(fault: Fault, doing: &str, path: &Path) -> Error {
    let cause = match fault {
        Fault::NoSpace => io::ErrorKind::StorageFull.into(),
        Fault::NoFiles => io::Error::from_raw_os_error(EMFILE),
        _ => io::Error::other("simulated failure of the medium"),
    };
    Error::io(doing, cause).in_file(path.display())
}

impl Fs for FaultFs {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        let act = || self.inner.create_dir_all(dir);
        self.call(CallClass::Meta, "create the directory", dir, act)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        self.call(CallClass::Look, "list", dir, || self.inner.list(dir))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.call(CallClass::Look, "look for", path, || {
            self.inner.exists(path)
        })
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let act = || self.inner.file_size(path);
        self.call(CallClass::Look, "read the size", path, act)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        let act = || self.inner.create(path);
        let inner = self.call(CallClass::Meta, "create", path, act)?;
        let (watch, path) = (Arc::clone(&self.watch), path.to_owned());
        Ok(Box::new(FaultAppendFile { inner, watch, path }))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        let act = || self.inner.open_log(path, capacity_bytes);
        let inner = self.call(CallClass::Meta, "open or create", path, act)?;
        let (watch, path) = (Arc::clone(&self.watch), path.to_owned());
        Ok(Box::new(FaultLogFile { inner, watch, path }))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        let act = || self.inner.create_extent(path, capacity_bytes);
        let inner = self.call(CallClass::Meta, "create", path, act)?;
        let (watch, path) = (Arc::clone(&self.watch), path.to_owned());
        Ok(Arc::new(FaultExtentFile { inner, watch, path }))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        let act = || self.inner.open_read(path);
        let inner = self.call(CallClass::Look, "open", path, act)?;
        let (watch, path) = (Arc::clone(&self.watch), path.to_owned());
        Ok(Arc::new(FaultReadFile { inner, watch, path }))
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        let doing = format!("rename to {}", target.display());
        let act = || self.inner.rename(source, target);
        self.call(CallClass::Meta, &doing, source, act)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let act = || self.inner.remove_file(path);
        self.call(CallClass::Meta, "remove", path, act)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let act = || self.inner.remove_dir(path);
        self.call(CallClass::Meta, "remove the directory", path, act)
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        let doing = format!("link as {}", target.display());
        let act = || self.inner.hard_link(source, target);
        self.call(CallClass::Meta, &doing, source, act)
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        let act = || self.inner.sync_file(path);
        self.call(CallClass::Sync, "sync", path, act)
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let act = || self.inner.sync_dir(dir);
        self.call(CallClass::Sync, "sync the directory", dir, act)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        self.call(CallClass::Meta, "lock", path, || self.inner.lock(path))
    }

    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>> {
        let act = || self.inner.lock_unwritten(path);
        self.call(CallClass::Look, "lock", path, act)
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        let act = || self.inner.free_bytes(dir);
        self.call(CallClass::Look, "read the free space", dir, act)
    }
}

impl fmt::Debug for FaultFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultFs")
            .field("plans", &*self.watch.plans())
            .field("inner", &self.inner)
            .finish()
    }
}

struct FaultAppendFile {
    inner: Box<dyn AppendFile>,
    watch: Arc<Watch>,
    path: PathBuf,
}

impl AppendFile for FaultAppendFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let inner = &mut self.inner;
        let put = |len| inner.append(&bytes[..len]);
        self.watch.write(&self.path, bytes.len(), put)
    }

    fn begin_sync(&mut self) {
        self.inner.begin_sync();
    }

    fn sync(&mut self) -> Result<()> {
        self.watch.sync(&self.path, || self.inner.sync())
    }

    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }
}

struct FaultLogFile {
    inner: Box<dyn LogFile>,
    watch: Arc<Watch>,
    path: PathBuf,
}

impl LogFile for FaultLogFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let inner = &mut self.inner;
        let put = |len| inner.write_at(offset, &bytes[..len]);
        self.watch.write(&self.path, bytes.len(), put)
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(FaultLogSync {
            inner: self.inner.syncer(),
            watch: Arc::clone(&self.watch),
            path: self.path.clone(),
        })
    }
}

struct FaultLogSync {
    inner: Arc<dyn LogSync>,
    watch: Arc<Watch>,
    path: PathBuf,
}

impl LogSync for FaultLogSync {
    fn sync(&self) -> Result<()> {
        self.watch.sync(&self.path, || self.inner.sync())
    }
}

struct FaultExtentFile {
    inner: Arc<dyn ExtentFile>,
    watch: Arc<Watch>,
    path: PathBuf,
}

impl ExtentFile for FaultExtentFile {
    fn write_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()> {
        let bytes = pieces.concat();
        let put = |len| self.inner.write_at(offset, &[&bytes[..len]]);
        self.watch.write(&self.path, bytes.len(), put)
    }

    fn trim(&self, size_bytes: u64) -> Result<()> {
        let act = || self.inner.trim(size_bytes);
        self.watch.call(CallClass::Meta, "trim", &self.path, act)
    }
}

impl LogSync for FaultExtentFile {
    fn sync(&self) -> Result<()> {
        self.watch.sync(&self.path, || self.inner.sync())
    }
}

struct FaultReadFile {
    inner: Arc<dyn ReadFile>,
    watch: Arc<Watch>,
    path: PathBuf,
}

impl ReadFile for FaultReadFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.watch.read(&self.path, buffer, &*self.inner, offset)
    }

    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.inner.prefetch(offset, len);
    }

    fn expect_random(&self) {
        self.inner.expect_random();
    }

    fn map(&self, word: Unchanging) -> Option<Arc<dyn MappedFile>> {
        self.watch.map(&self.path, &*self.inner, word)
    }
}

#[cfg(test)]
mod tests;
