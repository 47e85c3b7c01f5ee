//! The files of the log: one is prepared ahead, used ones are recycled.
//!
//! A recycled segment has its blocks on the disk already, so filling it and syncing it change no
//! metadata; a segment prepared ahead makes a rotation cost no file operation on the write path.
//!
//! The first segment of a session is small, and each later one twice as large until they are full
//! size: so what is prepared and kept ahead is no more than what was written already.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::env::fs::{Fs, LogFile};
use crate::flow::event_queue::EventQueue;
use crate::flow::file_events;
use crate::store::names::FileName;
use crate::store::version::numbers::FileNumbers;

/// Used segments kept for recycling: one to prepare from, one more for a burst.
const RETIRED_MAX: usize = 2;

/// Bytes of the first segment of a session. A small database writes no second one for long, and a
/// fast writer is at the full 32 MiB after five more rotations.
const FIRST_BYTES: u64 = 1 << 20;

/// What part of a segment may be kept free for commits: so small a one that the rest, which is for
/// everybody, is not used up by a few writes.
const ROOM_DIVISOR: u64 = 4;

/// Creates, recycles and removes segments of the log. Any thread may call anything.
pub struct Segments {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    numbers: Arc<FileNumbers>,
    full_bytes: u64,
    shelf: Mutex<Shelf>,
    events: EventQueue,
}

struct Shelf {
    spare: Option<(FileNumber, Box<dyn LogFile>)>,
    retired: Vec<FileNumber>,
    is_preparing: bool,
    /// The newest segment handed out.
    newest_taken: Option<FileNumber>,
    /// Bytes of the next segment; 0 once the log is wound down.
    next_bytes: u64,
}

impl Segments {
    /// Segments in `dir` that grow to `full_bytes` each.
    pub fn new(
        fs: Arc<dyn Fs>,
        dir: &Path,
        numbers: Arc<FileNumbers>,
        full_bytes: u64,
    ) -> Segments {
        let shelf = Mutex::new(Shelf {
            spare: None,
            retired: Vec::new(),
            is_preparing: false,
            newest_taken: None,
            next_bytes: full_bytes.min(FIRST_BYTES),
        });
        Segments {
            fs,
            dir: dir.to_path_buf(),
            numbers,
            full_bytes,
            shelf,
            events: EventQueue::default(),
        }
    }

    /// The same, telling there which come and go.
    pub fn telling(self, events: EventQueue) -> Segments {
        Segments { events, ..self }
    }

    /// A fresh segment with room for at least `bytes`: the spare one, else made on the spot.
    /// Its directory entry is durable.
    pub fn take(&self, bytes: u64) -> Result<(FileNumber, Box<dyn LogFile>)> {
        let spare = self.shelf().spare.take();
        let newest = self.shelf().newest_taken;
        // Segments are read back in the order of their numbers. One whose preparation was
        // overtaken by a segment made on the spot has a smaller number than that.
        let is_fit = |number: FileNumber, file: &dyn LogFile| {
            file.capacity_bytes() >= bytes && Some(number) > newest
        };
        let (number, file) = match spare {
            Some((number, file)) if is_fit(number, &*file) => (number, file),
            other => {
                // A spare that is too small for one giant batch cannot stay either: the next
                // rotation needs a larger number than this one.
                if let Some((number, file)) = other {
                    self.retire(number, file.capacity_bytes())?;
                }
                let next_bytes = self.shelf().next_bytes;
                self.make_growing(bytes.max(next_bytes))?
            }
        };
        self.shelf().newest_taken = Some(number);
        Ok((number, file))
    }

    /// A fresh segment with room for `bytes` and no more, made on the spot. Its directory entry is
    /// durable.
    pub fn take_small(&self, bytes: u64) -> Result<(FileNumber, Box<dyn LogFile>)> {
        let made = self.make(bytes)?;
        self.shelf().newest_taken = Some(made.0);
        Ok(made)
    }

    /// Makes the spare segment, unless there is one. For a background thread.
    pub fn prepare(&self) -> Result<()> {
        let bytes = {
            let mut shelf = self.shelf();
            if shelf.spare.is_some() || shelf.is_preparing {
                return Ok(());
            }
            shelf.is_preparing = true;
            shelf.next_bytes
        };
        let made = self.make_growing(bytes);
        let mut shelf = self.shelf();
        shelf.is_preparing = false;
        shelf.spare = Some(made?);
        Ok(())
    }

    /// Whether a segment of `bytes` is larger than they grow to: it was made for one giant batch.
    pub fn is_giant(&self, bytes: u64) -> bool {
        bytes > self.full_bytes
    }

    /// Most bytes of a segment that are kept free for commits.
    pub fn room_bytes_max(&self) -> u64 {
        self.full_bytes / ROOM_DIVISOR
    }

    /// Takes back a segment of `bytes` whose entries are all in sorted files: for recycling, or
    /// removed.
    pub fn retire(&self, number: FileNumber, bytes: u64) -> Result<()> {
        {
            let mut shelf = self.shelf();
            let is_wound_down = shelf.next_bytes == 0;
            if !is_wound_down && !self.is_giant(bytes) && shelf.retired.len() < RETIRED_MAX {
                shelf.retired.push(number);
                return Ok(());
            }
        }
        self.remove(number)
    }

    /// For closing: removes the segments that hold nothing. From now on one that is taken is as
    /// small as it can be, and one that is used up is removed at once.
    pub fn wind_down(&self) {
        let (spare, retired) = {
            let mut shelf = self.shelf();
            shelf.next_bytes = 0;
            (shelf.spare.take(), std::mem::take(&mut shelf.retired))
        };
        let spare = spare.map(|(number, _)| number);
        for number in spare.into_iter().chain(retired) {
            // What cannot be removed now is found by the next open.
            let _ = self.remove(number);
        }
    }

    /// Segments that exist but hold nothing: the spare one and those kept for recycling.
    pub fn idle(&self) -> Vec<FileNumber> {
        let shelf = self.shelf();
        shelf
            .spare
            .iter()
            .map(|(number, _)| *number)
            .chain(shelf.retired.clone())
            .collect()
    }

    // The next one is twice as large.
    fn make_growing(&self, capacity_bytes: u64) -> Result<(FileNumber, Box<dyn LogFile>)> {
        let made = self.make(capacity_bytes)?;
        let mut shelf = self.shelf();
        shelf.next_bytes = (2 * shelf.next_bytes).min(self.full_bytes);
        Ok(made)
    }

    fn make(&self, capacity_bytes: u64) -> Result<(FileNumber, Box<dyn LogFile>)> {
        let number = self.numbers.take();
        let path = self.path(number);
        let old = self.shelf().retired.pop();
        if let Some(old) = old
            && let Err(error) = self.fs.rename(&self.path(old), &path)
        {
            self.shelf().retired.push(old);
            return Err(error);
        }
        let opened = self.fs.open_log(&path, capacity_bytes);
        let made = opened.and_then(|file| self.fs.sync_dir(&self.dir).map(|()| file));
        if let Some(old) = old {
            file_events::note_deleted(&self.events, &self.dir, FileName::Wal(old), None);
        }
        if made.is_err() {
            // Perhaps there is no space: what was made so far must not hold more of it. A file
            // that cannot be removed either is found by the next open.
            let _ = self.fs.remove_file(&path);
        }
        let file = made?;
        let name = FileName::Wal(number);
        file_events::note_created(&self.events, &self.dir, (name, file.capacity_bytes()), old);
        Ok((number, file))
    }

    /// Removes a segment that is not needed and not to be used for another one.
    pub fn remove(&self, number: FileNumber) -> Result<()> {
        file_events::remove(&self.events, &*self.fs, &self.dir, FileName::Wal(number))
    }

    fn path(&self, number: FileNumber) -> PathBuf {
        self.dir.join(FileName::Wal(number).to_string())
    }

    // A spare or a retired number that is lost to a panic is only a file that is removed at the
    // next open.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
