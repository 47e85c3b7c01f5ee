//! The state of the simulated disk, and the number of every call that changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind as Os;
use std::path::{Path, PathBuf};

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::random::Random;
use crate::env::sim::content::Content;
use crate::env::sim::crash::{CrashMode, Survival};
use crate::env::sim::tree::{Dirs, FileId, Step, Tree};

// A disk that nobody fills by accident: 1 TiB.
const CAPACITY_BYTES: u64 = 1 << 40;

/// Everything the disk knows. Not shared: `env/sim/fs.rs` guards it with one lock.
#[derive(Debug)]
pub struct Disk {
    call_count: u64,
    is_off: bool,
    tree: Tree,
    files: BTreeMap<FileId, OneFile>,
    next_id: FileId,
    locks: Vec<SimLocked>,
    capacity_bytes: u64,
    used_bytes: u64,
    is_next_sync_lost: bool,
    random: Random,
}

#[derive(Debug, Default)]
struct OneFile {
    content: Content,
    handle_count: u64,
}

/// A lock that somebody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimLocked {
    /// Of which file.
    pub path: PathBuf,
    /// Whether others may have it so at the same time.
    pub is_shared: bool,
}

/// An error with the operating system's class, about one path.
#[track_caller]
pub fn refused(doing: &str, path: &Path, why: Os) -> Error {
    Error::io(doing, why.into()).in_file(path.display())
}

impl Disk {
    /// A disk with those directories and files, all durable.
    pub fn new(dirs: Dirs, contents: BTreeMap<FileId, Content>, seed: u64) -> Disk {
        let used_bytes = contents.values().map(|content| content.now().len()).sum();
        let next_id = contents.keys().next_back().map_or(1, |last| last + 1);
        let with_no_handle = |content| OneFile {
            content,
            handle_count: 0,
        };
        let files = contents.into_iter();
        Disk {
            call_count: 0,
            is_off: false,
            tree: Tree::durable(dirs),
            files: files
                .map(|(id, content)| (id, with_no_handle(content)))
                .collect(),
            next_id,
            locks: Vec::new(),
            capacity_bytes: CAPACITY_BYTES,
            used_bytes,
            is_next_sync_lost: false,
            random: Random::new(seed),
        }
    }

    /// How many calls changed the disk, or tried to.
    pub fn call_count(&self) -> u64 {
        self.call_count
    }

    /// From now on every call fails.
    pub fn power_off(&mut self) {
        self.is_off = true;
    }

    /// Bytes that can still be written.
    pub fn free_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.used_bytes)
    }

    /// Makes the disk so large, or so small, that this many bytes can still be written.
    pub fn set_free_bytes(&mut self, free_bytes: u64) {
        self.capacity_bytes = self.used_bytes + free_bytes;
    }

    /// Lets the next sync of a file fail and lose what it should have made durable.
    pub fn lose_next_sync(&mut self) {
        self.is_next_sync_lost = true;
    }

    /// The disk after a power cut.
    pub fn crash_image(&self, mode: CrashMode, seed: u64) -> Disk {
        let mut survival = Survival::new(mode, seed, self.call_count);
        let dirs = self.tree.image(&mut survival);
        let named: BTreeSet<FileId> = dirs
            .values()
            .flat_map(|dir| dir.values().copied())
            .collect();
        let mut contents = BTreeMap::new();
        for (id, file) in &self.files {
            // Asked for every file, named or not, so that one name more or less does not
            // change the dice of the others.
            let bytes = file.content.image(&mut survival);
            if named.contains(id) {
                contents.insert(*id, Content::durable(bytes));
            }
        }
        self.successor(Disk::new(dirs, contents, seed))
    }

    /// The disk after the process was killed: everything written is there, synced or not, and
    /// what was not synced can still be lost by a power cut.
    pub fn kill_image(&self) -> Disk {
        let mut image = Disk::new(Dirs::new(), BTreeMap::new(), self.random.clone().next_u64());
        image.tree = self.tree.clone();
        image.next_id = self.next_id;
        image.call_count = self.call_count;
        let named = self.tree.named_files();
        for (id, file) in self.files.iter().filter(|(id, _)| named.contains(id)) {
            let content = file.content.clone();
            image.used_bytes += content.now().len();
            image.files.insert(
                *id,
                OneFile {
                    content,
                    handle_count: 0,
                },
            );
        }
        self.successor(image)
    }

    fn successor(&self, mut image: Disk) -> Disk {
        image.capacity_bytes = self.capacity_bytes;
        image
    }

    /// Asked first by every call that only looks.
    pub fn check_on(&self) -> Result<()> {
        if self.is_off {
            let cause = std::io::Error::other("the simulated machine is off");
            return Err(Error::io("use the disk", cause));
        }
        Ok(())
    }

    /// Asked first by every call that changes the disk: its number, from 1.
    pub fn begin_call(&mut self) -> Result<u64> {
        self.check_on()?;
        self.call_count += 1;
        Ok(self.call_count)
    }

    /// The directories and their names.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Makes a directory and its parents, all durable.
    pub fn create_dir_all(&mut self, dir: &Path) -> Result<()> {
        self.begin_call()?;
        let ancestors: Vec<&Path> = dir.ancestors().collect();
        for ancestor in ancestors.into_iter().rev() {
            if self.find(ancestor).is_some() {
                return Err(refused("create the directory", ancestor, Os::AlreadyExists));
            }
            self.tree.create_dir(ancestor);
        }
        Ok(())
    }

    /// The file at `path`, if a file is there.
    pub fn find(&self, path: &Path) -> Option<FileId> {
        let (dir, name) = split(path)?;
        self.tree.file(dir, &name)
    }

    /// The file at `path`; `NotFound` or `IsADirectory` otherwise.
    pub fn find_file(&self, doing: &str, path: &Path) -> Result<FileId> {
        let why = match self.tree.dir(path) {
            Some(_) => Os::IsADirectory,
            None => Os::NotFound,
        };
        self.find(path).ok_or_else(|| refused(doing, path, why))
    }

    /// The file at `path`, created empty by the call `call` if it is missing.
    pub fn find_or_create(&mut self, call: u64, doing: &str, path: &Path) -> Result<FileId> {
        match self.find_file(doing, path) {
            Err(error) if error.is_missing_file() => {}
            found => return found,
        }
        let place = split(path).filter(|(dir, _)| self.tree.dir(dir).is_some());
        let (dir, name) = place.ok_or_else(|| refused(doing, path, Os::NotFound))?;
        let id = self.next_id;
        self.next_id += 1;
        self.files.insert(id, OneFile::default());
        self.tree
            .change(call, vec![Step::Link(dir.to_owned(), name, id)]);
        Ok(id)
    }

    /// Changes names as the call `call` and forgets files that have none left.
    pub fn change_names(&mut self, call: u64, steps: Vec<Step>) {
        self.tree.change(call, steps);
        self.forget_nameless();
    }

    /// Makes the names in a directory durable.
    pub fn sync_dir(&mut self, dir: &Path) {
        self.tree.sync_dir(dir);
        self.forget_nameless();
    }

    /// Says that one more handle is open on a file.
    pub fn open(&mut self, id: FileId) {
        self.file(id).handle_count += 1;
    }

    /// Says that a handle was closed.
    pub fn close(&mut self, id: FileId) {
        self.file(id).handle_count -= 1;
        if self.file(id).handle_count == 0 {
            self.forget_nameless();
        }
    }

    /// The bytes of a file that processes see.
    pub fn content(&self, id: FileId) -> &Content {
        &self
            .files
            .get(&id)
            .expect("a file lives as long as its handles")
            .content
    }

    /// Empties a file.
    pub fn truncate(&mut self, call: u64, id: FileId) {
        self.used_bytes -= self.content(id).now().len();
        self.file(id).content.truncate(call);
    }

    /// Adds zeros up to `len`; on a full disk nothing is added.
    pub fn grow(&mut self, call: u64, id: FileId, len: u64, path: &Path) -> Result<()> {
        let more = len.saturating_sub(self.content(id).now().len());
        if more > self.free_bytes() {
            return Err(refused("allocate blocks", path, Os::StorageFull));
        }
        self.used_bytes += more;
        self.file(id).content.grow(call, len);
        Ok(())
    }

    /// Cuts the end of a file off.
    pub fn trim(&mut self, id: FileId, len: u64) -> Result<()> {
        let call = self.begin_call()?;
        let less = self.content(id).now().len().saturating_sub(len);
        if less > 0 {
            self.used_bytes -= less;
            self.file(id).content.trim(call, len);
        }
        Ok(())
    }

    /// Writes at `offset`; on a full disk only what fits, and an error.
    pub fn write(&mut self, id: FileId, offset: u64, bytes: &[u8], path: &Path) -> Result<()> {
        let call = self.begin_call()?;
        let end = offset + bytes.len() as u64;
        let over = end
            .saturating_sub(self.content(id).now().len())
            .saturating_sub(self.free_bytes());
        let fitting = bytes
            .len()
            .saturating_sub(usize::try_from(over).unwrap_or(usize::MAX));
        let old_len = self.content(id).now().len();
        self.file(id).content.write(call, offset, &bytes[..fitting]);
        self.used_bytes += self.content(id).now().len() - old_len;
        if over > 0 {
            return Err(refused("write", path, Os::StorageFull).at_offset(offset));
        }
        Ok(())
    }

    /// Makes bytes and size of a file durable.
    pub fn sync(&mut self, id: FileId, path: &Path) -> Result<()> {
        self.begin_call()?;
        if std::mem::take(&mut self.is_next_sync_lost) {
            let mut random = self.random.clone();
            self.file(id).content.fail_sync(&mut random);
            self.random = random;
            let cause = std::io::Error::other("simulated failure of the medium");
            return Err(Error::io("sync", cause).in_file(path.display()));
        }
        self.file(id).content.sync();
        Ok(())
    }

    /// Takes a lock; `Locked` if somebody has it.
    pub fn lock(&mut self, path: &Path) -> Result<()> {
        let call = self.begin_call()?;
        self.refuse_locked(path, false)?;
        self.find_or_create(call, "lock", path)?;
        self.locks.push(SimLocked {
            path: path.to_owned(),
            is_shared: false,
        });
        Ok(())
    }

    /// Takes a lock beside others who do so; says whether there was a file to lock.
    pub fn lock_unwritten(&mut self, path: &Path) -> Result<bool> {
        self.check_on()?;
        if self.find(path).is_none() {
            return Ok(false);
        }
        self.refuse_locked(path, true)?;
        self.locks.push(SimLocked {
            path: path.to_owned(),
            is_shared: true,
        });
        Ok(true)
    }

    fn refuse_locked(&self, path: &Path, is_shared: bool) -> Result<()> {
        let mut locks = self.locks.iter();
        if locks.any(|lock| lock.path == path && !(lock.is_shared && is_shared)) {
            let message = format!(
                "the database is open in process {}, by another handle; close it there, or open \
                 it for reading only (open_read_only), which works meanwhile",
                std::process::id()
            );
            return Err(Error::new(ErrorKind::Locked, message).in_file(path.display()));
        }
        Ok(())
    }

    /// Gives a lock back.
    pub fn unlock(&mut self, lock: &SimLocked) {
        if let Some(index) = self.locks.iter().position(|held| held == lock) {
            self.locks.swap_remove(index);
        }
    }

    fn file(&mut self, id: FileId) -> &mut OneFile {
        self.files
            .get_mut(&id)
            .expect("a file lives as long as its names and handles")
    }

    // A file that no name leads to, now or after a power cut, and that nobody has open, is gone.
    fn forget_nameless(&mut self) {
        let named = self.tree.named_files();
        let used_bytes = &mut self.used_bytes;
        self.files.retain(|id, file| {
            let is_kept = file.handle_count > 0 || named.contains(id);
            if !is_kept {
                *used_bytes -= file.content.now().len();
            }
            is_kept
        });
    }
}

/// The directory and the name of a path; `None` for the root, or a name that is no UTF-8.
pub fn split(path: &Path) -> Option<(&Path, String)> {
    Some((path.parent()?, path.file_name()?.to_str()?.to_owned()))
}
