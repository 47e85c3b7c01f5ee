//! Brings the files of a set into the directory of the database, under numbers of its own.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, Level};
use crate::db::core::Core;
use crate::db::file_deletion;
use crate::db::ingest::bringing::{Bringing, Transfer, path_of};
use crate::db::ingest::file_set::LIST_NAME;
use crate::db::ingest::source::{SetFiles, Source};
use crate::db::job_events::note_made;
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::adoption::Adoption;
use crate::store::version::file::FileRecord;
use crate::store::version::run::Run;

/// A run of files that lie in the directory of the database.
pub struct StagedRun {
    /// Where the set has it.
    pub level: Level,
    /// The files, with the sequence numbers that they have there.
    pub files: Vec<FileRecord>,
}

/// Files that lie in the directory of the database and belong to no version of it. When this is
/// dropped they are removed, unless they were installed.
pub struct Staged<'a> {
    core: &'a Arc<Core>,
    numbers: Vec<FileNumber>,
    /// Whether every block of what is brought is checked.
    is_checking: bool,
    /// What is here and was not asked for yet, by where it came from.
    brought: HashMap<PathBuf, Vec<FileNumber>>,
}

impl<'a> Staged<'a> {
    /// None yet. With `is_checking` every block of what is brought is held against its checksum, as
    /// what it is here: what was read of the set before may be another thing by then.
    pub fn new(core: &'a Arc<Core>, is_checking: bool) -> Staged<'a> {
        Staged {
            core,
            numbers: Vec::new(),
            is_checking,
            brought: HashMap::new(),
        }
    }

    /// Brings the files of a set here; with a check each of their blocks is held against its
    /// checksum, and of what is copied each byte is read once for both. [`Staged::take`] finds
    /// them.
    ///
    /// Errors: `Corruption` for files that are damaged; those of making names and copies.
    pub fn bring(&mut self, source: &SetFiles, transfer: Transfer) -> Result<()> {
        let bringing = Bringing {
            core: Arc::clone(self.core),
            source: source.clone(),
            transfer,
            is_checking: self.is_checking,
        };
        let mut coming = Vec::new();
        for (_, record) in source.levels().files() {
            let number = self.number_unlike(record.binding().bound);
            coming.push((Arc::clone(record), number));
        }
        bringing.bring(coming.clone())?;
        for (record, number) in coming {
            let here = self.brought.entry(source.path(&record)).or_default();
            here.push(number);
        }
        Ok(())
    }

    /// Brings the files of a set here, unless they were brought; gives for each of its runs what
    /// the manifest is to say of its files, but for their sequence numbers, which are still those
    /// of the set. Errors as of [`Staged::bring`].
    pub fn take(&mut self, source: &SetFiles, transfer: Transfer) -> Result<Vec<StagedRun>> {
        let is_here = |record: &FileRecord| {
            let here = self.brought.get(&source.path(record));
            here.is_some_and(|numbers| !numbers.is_empty())
        };
        if !source.levels().files().all(|(_, record)| is_here(record)) {
            self.bring(source, transfer)?;
        }
        let mut runs = Vec::new();
        for (level, run) in source.levels().all_runs() {
            let files = self.take_run(source, run)?;
            runs.push(StagedRun { level, files });
        }
        self.core.env.fs.sync_dir(&self.core.dir)?;
        Ok(runs)
    }

    /// Gives files that were written for this, by their own numbers, new ones, as all adopted files
    /// have.
    pub fn rename(&mut self, written: Vec<FileRecord>) -> Result<StagedRun> {
        let fs = &self.core.env.fs;
        // Should it fail in between, these are removed as well.
        self.numbers
            .extend(written.iter().map(|record| record.number));
        let mut files = Vec::new();
        for record in written {
            let number = self.number_unlike(record.number);
            fs.rename(
                &path_of(self.core, record.number),
                &path_of(self.core, number),
            )?;
            files.push(FileRecord {
                number,
                passing: None,
                adoption: Some(Adoption {
                    number: record.number,
                    smallest_seqno: record.smallest_seqno,
                }),
                ..record
            });
        }
        fs.sync_dir(&self.core.dir)?;
        let level = Level::ZERO;
        Ok(StagedRun { level, files })
    }

    fn take_run(&mut self, source: &SetFiles, run: &Run) -> Result<Vec<FileRecord>> {
        let mut taken = Vec::new();
        let cache = Arc::new(ShardedCache::new(0));
        for record in run.files() {
            let here = self.brought.get_mut(&source.path(record));
            let number = here.and_then(Vec::pop).expect("the set was brought");
            let binding = record.binding();
            let stored = binding
                .renumbering
                .map_or(record.smallest_seqno, |it| it.stored);
            let adopted = FileRecord {
                number,
                passing: None,
                adoption: Some(Adoption {
                    number: binding.bound,
                    smallest_seqno: stored,
                }),
                ..FileRecord::clone(record)
            };
            // What it was when it was checked may have been replaced meanwhile; and one that was
            // copied is read as what it is here.
            source.open_file(&*self.core.env.fs, &self.core.dir, &adopted, &cache)?;
            note_made(self.core, [&adopted]);
            taken.push(adopted);
        }
        Ok(taken)
    }

    /// These are part of the database now.
    pub fn installed<'r>(&mut self, files: impl Iterator<Item = &'r FileRecord>) {
        let used: HashSet<FileNumber> = files.map(|file| file.number).collect();
        self.numbers.retain(|number| !used.contains(number));
    }

    /// Removes files that are not wanted any more.
    pub fn give_up<'r>(&mut self, files: impl Iterator<Item = &'r FileRecord>) {
        let unwanted: HashSet<FileNumber> = files.map(|file| file.number).collect();
        self.numbers.retain(|number| !unwanted.contains(number));
        file_deletion::remove_orphans(self.core, unwanted);
    }

    // An adopted file has another number in it than in its name.
    fn number_unlike(&mut self, bound: FileNumber) -> FileNumber {
        let mut number = self.core.numbers.take();
        if number == bound {
            number = self.core.numbers.take();
        }
        self.numbers.push(number);
        number
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // After a failed edit nobody knows whether they count: the next opening finds out.
        if self.core.gate.fault().is_none() {
            let numbers = std::mem::take(&mut self.numbers);
            file_deletion::remove_orphans(self.core, numbers);
        }
    }
}

/// Removes sets that are in the database now, the lists first: without one, the rest is no set any
/// more. A set of several keyspaces is there as often. Errors: the first that there was; what comes
/// behind it stays.
pub fn remove_sets(core: &Core, sources: &[Source]) -> Result<()> {
    let fs = &core.env.fs;
    for source in sources.iter().map(|source| &source.files) {
        let list = source.dir.join(LIST_NAME);
        if fs.exists(&list)? {
            fs.remove_file(&list)?;
            fs.sync_dir(&source.dir)?;
        }
        for (_, record) in source.levels().files() {
            fs.remove_file(&source.path(record))?;
            for (segment, _) in record.values.iter() {
                let path = source.dir.join(FileName::Vlog(segment).to_string());
                if fs.exists(&path)? {
                    fs.remove_file(&path)?;
                }
            }
        }
        fs.sync_dir(&source.dir)?;
    }
    Ok(())
}
