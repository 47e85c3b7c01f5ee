//! One directory in memory that can fail and crash at any step, for the tests of this folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::types::error::{Error, Result};
use crate::env::fs::{AppendFile, DirLock, Fs, LogFile, LogSync, ReadFile};
use crate::env::random::Random;

/// Bytes that a power cut keeps or loses together.
const SECTOR_BYTES: usize = 512;

/// One directory in memory. Clones are the same directory.
#[derive(Clone, Debug)]
pub struct MemoryFs(Arc<Mutex<Disk>>);

#[derive(Debug)]
struct Disk {
    files: BTreeMap<u64, File>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    next_id: u64,
    step_count: u64,
    fault: Option<Fault>,
    random: Random,
}

#[derive(Clone, Debug, Default)]
struct File {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// What was written since the last sync: start and end.
    dirty: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    at_step: u64,
    kind: std::io::ErrorKind,
    /// Whether everything behind that step fails too, as after a crash.
    is_lasting: bool,
}

impl MemoryFs {
    /// An empty directory; `seed` decides what a power cut takes.
    pub fn new(seed: u64) -> MemoryFs {
        MemoryFs(Arc::new(Mutex::new(Disk {
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            next_id: 0,
            step_count: 0,
            fault: None,
            random: Random::new(seed),
        })))
    }

    /// As the engine holds it.
    pub fn shared(&self) -> Arc<dyn Fs> {
        Arc::new(self.clone())
    }

    /// Steps so far that changed something or synced.
    pub fn step_count(&self) -> u64 {
        self.disk().step_count
    }

    /// Lets everything fail from that step on, until the next crash.
    pub fn stop_at(&self, at_step: u64) {
        self.disk().fault = Some(Fault {
            at_step,
            kind: std::io::ErrorKind::Other,
            is_lasting: true,
        });
    }

    /// Lets that one step fail.
    pub fn fail_at(&self, at_step: u64, kind: std::io::ErrorKind) {
        self.disk().fault = Some(Fault {
            at_step,
            kind,
            is_lasting: false,
        });
    }

    /// The process is gone; what it wrote is still in the page cache.
    pub fn kill(&self) {
        self.disk().fault = None;
    }

    /// The power is gone: of what was not synced, any part may be there.
    pub fn cut_power(&self) {
        let mut disk = self.disk();
        disk.fault = None;
        disk.settle_names();
        let ids: Vec<u64> = disk.files.keys().copied().collect();
        for id in ids {
            disk.settle_sectors(id);
            let file = disk.files.get_mut(&id).unwrap();
            file.bytes.clone_from(&file.durable);
            file.dirty.clear();
        }
        disk.names = disk.durable_names.clone();
    }

    /// What the file holds, if it is there.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let disk = self.disk();
        let id = disk.names.get(name)?;
        Some(disk.files[id].bytes.clone())
    }

    /// Puts a file there, durably.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut disk = self.disk();
        let id = disk.new_file();
        let durable = bytes.clone();
        let dirty = Vec::new();
        let file = File {
            bytes,
            durable,
            dirty,
        };
        disk.files.insert(id, file);
        disk.names.insert(name.to_string(), id);
        disk.durable_names.insert(name.to_string(), id);
    }

    /// Removes a file, durably.
    pub fn take(&self, name: &str) {
        let mut disk = self.disk();
        disk.names.remove(name);
        disk.durable_names.remove(name);
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }
}

impl Disk {
    // Counts a step; `true` when it is to have only part of its effect and then fail.
    fn is_failing(&mut self) -> bool {
        let step = self.step_count;
        self.step_count += 1;
        match self.fault {
            Some(fault) if fault.is_lasting => step >= fault.at_step,
            Some(fault) => step == fault.at_step,
            None => false,
        }
    }

    fn step(&mut self, doing: &str) -> Result<()> {
        match self.is_failing() {
            true => Err(self.error(doing)),
            false => Ok(()),
        }
    }

    fn error(&self, doing: &str) -> Error {
        let kind = self.fault.expect("only a fault fails").kind;
        Error::io(doing, kind.into())
    }

    fn new_file(&mut self) -> u64 {
        self.next_id += 1;
        self.files.insert(self.next_id, File::default());
        self.next_id
    }

    fn write(&mut self, id: u64, offset: usize, bytes: &[u8]) -> Result<()> {
        let is_failing = self.is_failing();
        let len = if is_failing {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        let file = self.files.get_mut(&id).unwrap();
        if file.bytes.len() < offset + len {
            file.bytes.resize(offset + len, 0);
        }
        file.bytes[offset..offset + len].copy_from_slice(&bytes[..len]);
        file.dirty.push((offset, offset + len));
        match is_failing {
            true => Err(self.error("write")),
            false => Ok(()),
        }
    }

    fn sync(&mut self, id: u64) -> Result<()> {
        if self.is_failing() {
            self.settle_sectors(id);
            return Err(self.error("sync"));
        }
        let file = self.files.get_mut(&id).unwrap();
        file.durable.resize(file.bytes.len(), 0);
        for (start, end) in file.dirty.drain(..) {
            file.durable[start..end].copy_from_slice(&file.bytes[start..end]);
        }
        Ok(())
    }

    // Each sector that is not durable becomes so, or not.
    fn settle_sectors(&mut self, id: u64) {
        let file = self.files.get_mut(&id).unwrap();
        if file.durable.len() < file.bytes.len() && self.random.one_in(2) {
            file.durable.resize(file.bytes.len(), 0);
        }
        for (start, end) in &file.dirty {
            let mut at = *start;
            while at < *end {
                let sector_end = (at / SECTOR_BYTES + 1) * SECTOR_BYTES;
                let end = sector_end.min(*end).min(file.durable.len());
                if at < end && self.random.one_in(2) {
                    file.durable[at..end].copy_from_slice(&file.bytes[at..end]);
                }
                at = sector_end;
            }
        }
    }

    fn settle_names(&mut self) {
        let names: BTreeSet<String> = self
            .names
            .keys()
            .chain(self.durable_names.keys())
            .cloned()
            .collect();
        for name in names {
            if self.random.one_in(2) {
                match self.names.get(&name) {
                    Some(id) => self.durable_names.insert(name, *id),
                    None => self.durable_names.remove(&name),
                };
            }
        }
    }

    fn id(&self, path: &Path) -> Result<u64> {
        let found = self.names.get(&name_of(path)).copied();
        found.ok_or_else(|| Error::io("open", std::io::ErrorKind::NotFound.into()))
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_string()
}

impl Fs for MemoryFs {
    fn create_dir_all(&self, _dir: &Path) -> Result<()> {
        Ok(())
    }

    fn list(&self, _dir: &Path) -> Result<Vec<String>> {
        Ok(self.disk().names.keys().cloned().collect())
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.disk().names.contains_key(&name_of(path)))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let disk = self.disk();
        Ok(disk.files[&disk.id(path)?].bytes.len() as u64)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn AppendFile>> {
        let mut disk = self.disk();
        disk.step("create")?;
        let id = disk.new_file();
        disk.names.insert(name_of(path), id);
        Ok(Box::new(Open {
            fs: self.clone(),
            id,
        }))
    }

    fn open_log(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogFile>> {
        let mut disk = self.disk();
        disk.step("open log")?;
        let id = match disk.id(path) {
            Ok(id) => id,
            Err(_) => disk.new_file(),
        };
        disk.names.insert(name_of(path), id);
        let file = disk.files.get_mut(&id).unwrap();
        let len = file
            .bytes
            .len()
            .max(usize::try_from(capacity_bytes).unwrap());
        file.bytes.resize(len, 0);
        Ok(Box::new(Open {
            fs: self.clone(),
            id,
        }))
    }

    fn open_read(&self, path: &Path) -> Result<Arc<dyn ReadFile>> {
        let id = self.disk().id(path)?;
        Ok(Arc::new(Open {
            fs: self.clone(),
            id,
        }))
    }

    fn rename(&self, source: &Path, target: &Path) -> Result<()> {
        let mut disk = self.disk();
        let is_failing = disk.is_failing();
        if !is_failing || disk.random.one_in(2) {
            let id = disk.id(source)?;
            disk.names.remove(&name_of(source));
            disk.names.insert(name_of(target), id);
        }
        match is_failing {
            true => Err(disk.error("rename")),
            false => Ok(()),
        }
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let mut disk = self.disk();
        disk.step("remove")?;
        disk.id(path)?;
        disk.names.remove(&name_of(path));
        Ok(())
    }

    fn remove_dir(&self, _path: &Path) -> Result<()> {
        Ok(())
    }

    fn hard_link(&self, source: &Path, target: &Path) -> Result<()> {
        let mut disk = self.disk();
        disk.step("link")?;
        let id = disk.id(source)?;
        disk.names.insert(name_of(target), id);
        Ok(())
    }

    fn sync_dir(&self, _dir: &Path) -> Result<()> {
        let mut disk = self.disk();
        if disk.is_failing() {
            disk.settle_names();
            return Err(disk.error("sync directory"));
        }
        disk.durable_names = disk.names.clone();
        Ok(())
    }

    fn lock(&self, _path: &Path) -> Result<Box<dyn DirLock>> {
        Ok(Box::new(Unlocked))
    }

    fn free_bytes(&self, _dir: &Path) -> Result<u64> {
        Ok(u64::MAX)
    }
}

struct Unlocked;

impl DirLock for Unlocked {}

struct Open {
    fs: MemoryFs,
    id: u64,
}

impl AppendFile for Open {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let mut disk = self.fs.disk();
        let end = disk.files[&self.id].bytes.len();
        disk.write(self.id, end, bytes)
    }

    fn sync(&mut self) -> Result<()> {
        self.fs.disk().sync(self.id)
    }

    fn size_bytes(&self) -> u64 {
        self.fs.disk().files[&self.id].bytes.len() as u64
    }
}

impl LogFile for Open {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let offset = usize::try_from(offset).unwrap();
        self.fs.disk().write(self.id, offset, bytes)
    }

    fn capacity_bytes(&self) -> u64 {
        self.fs.disk().files[&self.id].bytes.len() as u64
    }

    fn syncer(&self) -> Arc<dyn LogSync> {
        Arc::new(Open {
            fs: self.fs.clone(),
            id: self.id,
        })
    }
}

impl LogSync for Open {
    fn sync(&self) -> Result<()> {
        self.fs.disk().sync(self.id)
    }
}

impl ReadFile for Open {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let disk = self.fs.disk();
        let start = usize::try_from(offset).unwrap();
        let found = disk.files[&self.id].bytes.get(start..start + buffer.len());
        buffer.copy_from_slice(found.ok_or_else(|| Error::corruption("the file ends"))?);
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.fs.disk().files[&self.id].bytes.len() as u64
    }

    fn prefetch(&self, _offset: u64, _len: u64) {}
}
