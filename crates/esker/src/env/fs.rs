//! The file system as the engine sees it: files, directories, sync.
//!
//! What is assumed of the medium, and simulated in tests (`env/sim`): bytes written but not
//! synced may after a power cut be there, be missing, or be torn at sector boundaries, in any
//! order; a new or renamed directory entry is durable only after its directory was synced; a
//! failed sync leaves it unknown which bytes are durable, and a second try proves nothing.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

use crate::base::types::error::{Error, Result};

/// Files and directories. Every method may be called from any thread. A symbolic link in the place
/// of a file is refused.
///
/// Errors: `OutOfSpace` where the disk is full, `OutOfFiles` where the process may not open one
/// more, else `Io` with the path in the message.
pub trait Fs: Send + Sync + fmt::Debug {
    /// Creates a directory and its parents; no error if it exists. Makes new directories
    /// durable by syncing their parents.
    fn create_dir_all(&self, dir: &Path) -> Result<()>;

    /// Creates a directory inside that of a database; no error if it exists, but where a symbolic
    /// link is in its place: what is put into it must not go elsewhere.
    fn create_folder(&self, path: &Path) -> Result<()> {
        self.create_dir_all(path)
    }

    /// Names of the files and directories in `dir`, in no order.
    fn list(&self, dir: &Path) -> Result<Vec<String>>;

    /// Whether a file or directory is there.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// Size of a file in bytes.
    fn file_size(&self, path: &Path) -> Result<u64>;

    /// Creates (or empties) a file that is written from front to back.
    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>>;

    /// The same for a file that must not be there yet: what is there is somebody else's.
    fn create_new(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        if self.exists(path)? {
            let cause = io::ErrorKind::AlreadyExists.into();
            return Err(Error::io("create", cause).in_file(path.display()));
        }
        self.create(path)
    }

    /// Creates a file for a log with room for `capacity_bytes`, allocated on the disk, or takes
    /// over the file that is there (a recycled segment: its old bytes stay readable until
    /// overwritten; it is grown if smaller). A file that is new reads as zeros.
    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>>;

    /// Creates a file with `capacity_bytes` allocated on the disk where that is possible, whose
    /// parts are filled by several threads. It reads as zeros, and must not be there yet.
    fn create_extent(&self, path: &Path, capacity_bytes: u64) -> Result<Arc<dyn ExtentFile>>;

    /// Opens a file for reading.
    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>>;

    /// Moves a file, replacing what was at `target`. Durable after [`Fs::sync_dir`].
    fn rename(&self, source: &Path, target: &Path) -> Result<()>;

    /// Removes a file. Durable after [`Fs::sync_dir`].
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Removes an empty directory. Durable after [`Fs::sync_dir`] of its parent.
    fn remove_dir(&self, path: &Path) -> Result<()>;

    /// Gives a file a second name. Durable after [`Fs::sync_dir`].
    fn hard_link(&self, source: &Path, target: &Path) -> Result<()>;

    /// Makes the bytes of a file durable that somebody else may have written; its name is another
    /// thing.
    fn sync_file(&self, path: &Path) -> Result<()>;

    /// Makes the entries of a directory durable.
    fn sync_dir(&self, dir: &Path) -> Result<()>;

    /// Takes the lock of a directory, by the file at `path`, for as long as the result lives.
    /// `Locked`, with the holder's process id, when another process or handle has it.
    fn lock(&self, path: &Path) -> Result<Box<dyn DirLock>>;

    /// Keeps everybody from taking that lock for as long as the result lives, and writes nothing,
    /// not even who it is: several may do so at the same time. `None` where there is no file to
    /// lock, `Locked` as for [`Fs::lock`].
    fn lock_unwritten(&self, path: &Path) -> Result<Option<Box<dyn DirLock>>>;

    /// Bytes that can still be written below `dir`.
    fn free_bytes(&self, dir: &Path) -> Result<u64>;

    /// The same file system, but whatever is asked of a path in `dir` goes to the directory that is
    /// there now, though that be moved away; and once its lock was taken by the result, changes in
    /// it are refused when the lock is no longer there. `None` where a path stays what it is.
    fn hold_dir(&self, dir: &Path) -> Result<Option<Arc<dyn Fs>>> {
        let _unmoved = dir;
        Ok(None)
    }

    /// How many of `wanted` files `keeper` may keep open. It is asked to close some of them when
    /// the process may not open one more. May be called again with another number.
    fn keep_open(&self, wanted: usize, keeper: Weak<dyn FileKeeper>) -> usize {
        let _unlimited = keeper;
        wanted
    }
}

/// Who keeps files open that can be closed and opened again.
pub trait FileKeeper: Send + Sync {
    /// Closes half of the files that nobody uses at the moment, at least one; says how many. Called
    /// by any thread, under any lock that may be held while a file is opened.
    fn close_idle(&self) -> usize;

    /// How many files are open.
    fn open_count(&self) -> usize;
}

/// A file written from front to back by one owner.
pub trait AppendFile: Send {
    /// Appends all of `bytes`. May buffer; an error means that any part may be missing.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Has what was appended so far begin its way to the medium, for a sync that comes later to
    /// wait for less. Nothing is durable by it. A hint; never fails.
    fn begin_sync(&mut self) {}

    /// Makes everything appended so far durable, and the file's size with it.
    fn sync(&mut self) -> Result<()>;

    /// Bytes appended so far.
    fn size_bytes(&self) -> u64;
}

/// A preallocated file that one owner fills in place.
///
/// When `write_at` returns, the bytes are in the kernel's page cache: they survive a killed
/// process, not a power cut.
pub trait LogFile: Send {
    /// Writes all of `bytes` at `offset`; the range must lie within the capacity.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Bytes the file has room for.
    fn capacity_bytes(&self) -> u64;

    /// A handle by which any thread can sync the file while its owner goes on writing.
    fn syncer(&self) -> Arc<dyn LogSync>;

    /// Says that a sync follows nearly every write. A hint; never fails.
    fn expect_syncs(&mut self) {}
}

/// A preallocated file whose parts are filled by several threads at the same time, each its own
/// and each once.
///
/// When `write_at` returns, the bytes are in the kernel's page cache, as with [`LogFile`].
pub trait ExtentFile: LogSync {
    /// Writes all of `pieces`, one behind the other, from `offset` on; they lie within the
    /// capacity. An error means that any part may be missing.
    fn write_at(&self, offset: u64, pieces: &[&[u8]]) -> Result<()>;

    /// Gives back the end of the file from `size_bytes` on, where nothing was ever written.
    /// Durable after the next sync; until then the file has either size.
    fn trim(&self, size_bytes: u64) -> Result<()>;
}

/// Syncs one log or extent file, from any thread.
pub trait LogSync: Send + Sync {
    /// Makes durable everything whose `write_at` returned before this call.
    fn sync(&self) -> Result<()>;
}

/// A file open for reading, from any thread.
pub trait ReadFile: Send + Sync {
    /// Fills `buffer` from `offset`. `Corruption` when the file ends before the buffer is full:
    /// nobody reads beyond what was once written.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Appends the `len` bytes from `offset` to `buffer`; errors as [`ReadFile::read_at`], and
    /// then `buffer` may hold any part of them. Room that is not filled yet need not be cleared
    /// first, which costs a tenth of reading a block from the page cache.
    fn read_onto(&self, offset: u64, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        let start = buffer.len();
        buffer.resize(start + len, 0);
        self.read_at(offset, &mut buffer[start..])
    }

    /// Size of the file when it was opened, in bytes.
    fn size_bytes(&self) -> u64;

    /// Says that the range will be read soon. A hint; never fails.
    fn prefetch(&self, offset: u64, len: u64);

    /// Says that reads will be anywhere: nothing is to be read that is not asked for, by a read or
    /// by [`ReadFile::prefetch`]. A hint; never fails.
    fn expect_random(&self) {}

    /// The file in memory, to be looked at anywhere without a call; `None` where it cannot be had
    /// so, or where it is no longer as long as when it was opened.
    ///
    /// What cannot be read from the disk then is no error any longer: the system ends the process
    /// (docs/decisions/0008-mapped-reads.md).
    fn map(&self, _word: Unchanging) -> Option<Arc<dyn MappedFile>> {
        None
    }
}

/// The word of who asks for a map of a file that nobody changes it any more, in any process.
///
/// What the map lends as a slice would be none if the file changed. So only the engine gives the
/// word: for sorted files, which are finished, of a directory that it has locked, and where the
/// setting `mapped_reads` takes the rest upon itself.
#[derive(Clone, Copy, Debug)]
pub struct Unchanging(());

impl Unchanging {
    /// Gives the word.
    pub(crate) fn word() -> Unchanging {
        Unchanging(())
    }
}

/// The bytes of a file in memory, brought from the disk when somebody looks at them. They stay
/// though the file is closed or removed. Any thread may call anything.
pub trait MappedFile: Send + Sync {
    /// The `len` bytes from `offset`; `None` where the file has not so many. The same each time.
    fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]>;
}

/// The lock of a directory; released when dropped.
pub trait DirLock: Send + Sync + fmt::Debug {}

#[cfg(test)]
pub(crate) mod contract;
