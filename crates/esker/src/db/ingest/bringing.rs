//! Brings files of a set into the directory of the database, by all who have time for it.
//!
//! Of small entries a check takes about as long as a copy, so two threads do it, each at a file of
//! its own (docs/experiments/0118: it gains where a core is free). What each does is in order: a
//! file is there whole, under a name that nothing else has, before anybody decides about it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::db::core::Core;
use crate::db::ingest::copies::Copies;
use crate::db::ingest::source::SetFiles;
use crate::env::copy::link;
use crate::env::joint_work::do_jointly;
use crate::store::names::FileName;
use crate::store::version::file::FileRecord;

/// How the files of a set come into the directory of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// By second names, which take no time and no space; by copies where the file system has no
    /// such names, or is another one. Both go on as if they were alone.
    #[default]
    Link,
    /// By copies, which are made durable.
    Copy,
    /// As by [`Transfer::Link`]; when all of it is in the database the set is removed.
    Move,
}

/// A file of a set, and the number under which it is to come here.
pub type Coming = (Arc<FileRecord>, FileNumber);

/// Files of one set that are being brought.
pub struct Bringing {
    /// The database.
    pub core: Arc<Core>,
    /// The set.
    pub source: SetFiles,
    /// How they come.
    pub transfer: Transfer,
    /// Whether every block of what is brought is read and held against its checksum: of a copy as
    /// it is made, of a second name by that name, which nobody else gives to another file.
    pub is_checking: bool,
}

impl Bringing {
    /// Brings those files, whose names are not there yet; the directory is not synced.
    ///
    /// Errors: `Corruption` for files that are damaged; those of the gate, and of making names and
    /// copies. Some of the files are there then, and nobody is at them any more.
    pub fn bring(self, files: Vec<Coming>) -> Result<()> {
        let is_shared = files.len() > 1;
        let waiting = Mutex::new(VecDeque::from(files));
        if !is_shared {
            return self.share(&waiting);
        }
        let pool = Arc::clone(&self.core.env.pool);
        let share = move || self.share(&waiting);
        do_jointly(&*pool, "bring files in", Arc::new(share))
    }

    // What one thread does.
    fn share(&self, waiting: &Mutex<VecDeque<Coming>>) -> Result<()> {
        let mut rest = Rest {
            waiting,
            is_wanted: false,
        };
        let mut copies = Copies::new(&self.core, &self.source);
        while let Some((record, number)) = rest.next() {
            self.bring_one(&record, number, &mut copies)?;
        }
        copies.finish()?;
        rest.is_wanted = true;
        Ok(())
    }

    fn bring_one(
        &self,
        record: &FileRecord,
        number: FileNumber,
        copies: &mut Copies<'_>,
    ) -> Result<()> {
        self.core.gate.check_write()?;
        let fs = &*self.core.env.fs;
        let (path, target) = (self.source.path(record), path_of(&self.core, number));
        if self.transfer == Transfer::Copy || !link(fs, &path, &target)? {
            return copies.copy(record, target, self.is_checking);
        }
        // Whoever carried the set here may have left it in the page cache.
        fs.sync_file(&target)?;
        match self.is_checking {
            true => self.source.verify_file(&self.core, &target, record),
            false => Ok(()),
        }
    }
}

/// Where a file lies in the directory of the database.
pub fn path_of(core: &Core, number: FileNumber) -> PathBuf {
    core.dir.join(FileName::Sst(number).to_string())
}

/// What nobody has come to yet. When one thread fails, or panics, the other comes to nothing more.
struct Rest<'a> {
    waiting: &'a Mutex<VecDeque<Coming>>,
    is_wanted: bool,
}

impl Rest<'_> {
    fn next(&self) -> Option<Coming> {
        self.waiting().pop_front()
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Coming>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        if !self.is_wanted {
            self.waiting().clear();
        }
    }
}
