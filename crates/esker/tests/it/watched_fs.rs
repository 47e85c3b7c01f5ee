//! A simulated disk that shows itself to the test before every change, and that can lie.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use esker::Result;
use esker::internals::env::fs::{AppendFile, DirLock, ExtentFile, Fs, LogFile, LogSync, ReadFile};
use esker::internals::env::sim::SimFs;

/// Looks at the disk before a call changes it; the text says which call.
pub type Eye = Arc<dyn Fn(&SimFs, &str) + Send + Sync>;

/// What the disk does wrong, for tests that must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Nothing.
    None,
    /// Syncs of files whose name contains the text are acknowledged and not done.
    SkipSync(&'static str),
    /// Syncs of directories are acknowledged and not done.
    SkipSyncDir,
    /// One in so many writes to files whose name contains the text is acknowledged, not done.
    DropWrite(&'static str, u64),
    /// One in so many writes to such files is done to its half, and acknowledged.
    HalfWrite(&'static str, u64),
    /// A rename is on the medium at once, and what its file holds comes when it likes.
    RenameBeforeContent,
}

/// A simulated disk, watched. Clones are the same.
#[derive(Clone)]
pub struct WatchedFs {
    watch: Arc<Watch>,
}

struct Watch {
    sim: SimFs,
    eye: Option<Eye>,
    lie: Lie,
    is_shut: AtomicBool,
    write_count: AtomicU64,
}

impl WatchedFs {
    /// Watches `sim`.
    pub fn new(sim: &SimFs, eye: Option<Eye>, lie: Lie) -> WatchedFs {
        WatchedFs {
            watch: Arc::new(Watch {
                sim: sim.clone(),
                eye,
                lie,
                is_shut: AtomicBool::new(false),
                write_count: AtomicU64::new(0),
            }),
        }
    }

    /// Nothing is shown from now on: the process is dead and only its handles are left.
    pub fn shut(&self) {
        self.watch.is_shut.store(true, Ordering::SeqCst);
    }
}

impl Watch {
    fn show(&self, doing: &str, path: &Path) {
        if let Some(eye) = &self.eye
            && !self.is_shut.load(Ordering::SeqCst)
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            eye(&self.sim, &format!("{doing} {name}"));
        }
    }

    // How much of a write is done.
    fn honest_len(&self, path: &Path, len: usize) -> usize {
        let (part, one_in, rest) = match self.lie {
            Lie::DropWrite(part, one_in) => (part, one_in, 0),
            Lie::HalfWrite(part, one_in) => (part, one_in, len / 2),
            _ => return len,
        };
        if !is_named(path, part) {
            return len;
        }
        let count = self.write_count.fetch_add(1, Ordering::SeqCst) + 1;
        if count.is_multiple_of(one_in) {
            rest
        } else {
            len
        }
    }

    fn skips_sync(&self, path: &Path) -> bool {
        match self.lie {
            Lie::SkipSync(part) => is_named(path, part),
            Lie::RenameBeforeContent => is_named(path, "CURRENT"),
            _ => false,
        }
    }
}

fn is_named(path: &Path, part: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(part)
}

impl Fs for WatchedFs {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        self.watch.show("create directory", dir);
        self.watch.sim.create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        self.watch.sim.list(dir)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.watch.sim.exists(path)
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        self.watch.sim.file_size(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        self.watch.show("create", path);
        Ok(Box::new(Watched {
            inner: self.watch.sim.create(path)?,
            watch: Arc::clone(&self.watch),
            path: path.to_owned(),
        }))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        self.watch.show("open log", path);
        Ok(Box::new(Watched {
            inner: self.watch.sim.open_log(path, capacity_bytes)?,
            watch: Arc::clone(&self.watch),
            path: path.to_owned(),
        }))
    }

    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>> {
        self.watch.show("create", path);
        Ok(Arc::new(Watched {
            inner: self.watch.sim.create_extent(path, capacity_bytes)?,
            watch: Arc::clone(&self.watch),
            path: path.to_owned(),
        }))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        self.watch.sim.open_read(path)
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        self.watch.show("rename", source);
        self.watch.sim.rename(source, target)?;
        if self.watch.lie == Lie::RenameBeforeContent {
            let dir = target.parent().expect("a file lies in a directory");
            self.watch.sim.sync_dir(dir)?;
        }
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.watch.show("remove", path);
        self.watch.sim.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.watch.show("remove directory", path);
        self.watch.sim.remove_dir(path)
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        self.watch.show("link", source);
        self.watch.sim.hard_link(source, target)
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        self.watch.show("sync", path);
        match self.watch.skips_sync(path) {
            true => Ok(()),
            false => self.watch.sim.sync_file(path),
        }
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        self.watch.show("sync directory", dir);
        match self.watch.lie {
            Lie::SkipSyncDir => Ok(()),
            _ => self.watch.sim.sync_dir(dir),
        }
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>> {
        self.watch.show("lock", path);
        self.watch.sim.lock(path)
    }

    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>> {
        self.watch.sim.lock_unwritten(path)
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64> {
        self.watch.sim.free_bytes(dir)
    }
}

impl fmt::Debug for WatchedFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WatchedFs({:?}, {:?})", self.watch.lie, self.watch.sim)
    }
}

// A file open for writing.
struct Watched<F: ?Sized> {
    watch: Arc<Watch>,
    path: PathBuf,
    inner: F,
}

impl AppendFile for Watched<Box<dyn AppendFile>> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.watch.show("append to", &self.path);
        let len = self.watch.honest_len(&self.path, bytes.len());
        self.inner.append(&bytes[..len])
    }

    fn sync(&mut self) -> Result<()> {
        self.watch.show("sync", &self.path);
        if self.watch.skips_sync(&self.path) {
            return Ok(());
        }
        self.inner.sync()
    }

    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }
}

impl LogFile for Watched<Box<dyn LogFile>> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.watch.show("write to", &self.path);
        let len = self.watch.honest_len(&self.path, bytes.len());
        self.inner.write_at(offset, &bytes[..len])
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(Watched {
            inner: self.inner.syncer(),
            watch: Arc::clone(&self.watch),
            path: self.path.clone(),
        })
    }
}

impl ExtentFile for Watched<Arc<dyn ExtentFile>> {
    fn write_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()> {
        self.watch.show("write to", &self.path);
        let bytes = pieces.concat();
        let len = self.watch.honest_len(&self.path, bytes.len());
        self.inner.write_at(offset, &[&bytes[..len]])
    }

    fn trim(&self, size_bytes: u64) -> Result<()> {
        self.watch.show("trim", &self.path);
        self.inner.trim(size_bytes)
    }
}

impl LogSync for Watched<Arc<dyn ExtentFile>> {
    fn sync(&self) -> Result<()> {
        self.watch.show("sync", &self.path);
        if self.watch.skips_sync(&self.path) {
            return Ok(());
        }
        self.inner.sync()
    }
}

impl LogSync for Watched<Arc<dyn LogSync>> {
    fn sync(&self) -> Result<()> {
        self.watch.show("sync", &self.path);
        if self.watch.skips_sync(&self.path) {
            return Ok(());
        }
        self.inner.sync()
    }
}
