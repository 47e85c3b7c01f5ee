//! Brings the files of a set into the directory of the database, under numbers of its own.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, Level};
use crate::db::core::Core;
use crate::db::file_deletion;
use crate::db::ingest::copies::Copies;
use crate::db::ingest::file_set::LIST_NAME;
use crate::db::ingest::source::{SetFiles, Source};
use crate::db::job_events::note_made;
use crate::env::copy::link;
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::adoption::Adoption;
use crate::store::version::file::FileRecord;
use crate::store::version::run::Run;

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
    core: &'a Core,
    numbers: Vec<FileNumber>,
    /// Whether every block of a copy is checked.
    is_checking: bool,
    /// What is here and was not asked for yet, by where it came from.
    brought: HashMap<PathBuf, Vec<FileNumber>>,
}

impl<'a> Staged<'a> {
    /// None yet. With `is_checking` every block of a copy is held against its checksum as it is
    /// made: what was read of the set before may be another thing by then.
    pub fn new(core: &'a Core, is_checking: bool) -> Staged<'a> {
        Staged {
            core,
            numbers: Vec::new(),
            is_checking,
            brought: HashMap::new(),
        }
    }

    /// Brings the files of a set here, and reads every block of them and holds it against its
    /// checksum; of what is copied each byte is read once for both. [`Staged::take`] finds them.
    ///
    /// Errors: `Corruption` for files that are damaged; those of making names and copies.
    pub fn bring_checked(&mut self, source: &SetFiles, transfer: Transfer) -> Result<()> {
        let mut copies = Copies::new(self.core, source);
        for (_, record) in source.levels().files() {
            let brought = self.bring(record, transfer, &mut copies);
            let (number, is_linked) = brought.map_err(|error| source.in_set(error))?;
            if is_linked {
                // By its name here, which nobody else gives to another file.
                let checked = source.verify_file(self.core, &self.path(number), record);
                checked.map_err(|error| source.in_set(error))?;
            }
            let here = self.brought.entry(source.path(record)).or_default();
            here.push(number);
        }
        copies.finish().map_err(|error| source.in_set(error))
    }

    // Brings a file here under a new number; says which, and whether it is a second name.
    fn bring(
        &mut self,
        record: &FileRecord,
        transfer: Transfer,
        copies: &mut Copies<'_>,
    ) -> Result<(FileNumber, bool)> {
        self.core.gate.check_write()?;
        let fs = &*self.core.env.fs;
        let number = self.number_unlike(record.binding().bound);
        let (path, target) = (copies.source.path(record), self.path(number));
        let is_linked = transfer != Transfer::Copy && link(fs, &path, &target)?;
        match is_linked {
            // Whoever carried the set here may have left it in the page cache.
            true => fs.sync_file(&target)?,
            false => copies.copy(record, target, self.is_checking)?,
        }
        Ok((number, is_linked))
    }

    /// Brings the files of a set here; gives for each of its runs what the manifest is to say of
    /// its files, but for their sequence numbers, which are still those of the set.
    pub fn take(&mut self, source: &SetFiles, transfer: Transfer) -> Result<Vec<StagedRun>> {
        let mut runs = Vec::new();
        for (level, run) in source.levels().all_runs() {
            let files = self.take_run(source, run, transfer)?;
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
            fs.rename(&self.path(record.number), &self.path(number))?;
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

    fn take_run(
        &mut self,
        source: &SetFiles,
        run: &Run,
        transfer: Transfer,
    ) -> Result<Vec<FileRecord>> {
        let mut taken = Vec::new();
        let cache = Arc::new(ShardedCache::new(0));
        let mut copies = Copies::new(self.core, source);
        let mut numbers = Vec::new();
        for record in run.files() {
            let brought = self.brought.get_mut(&source.path(record));
            let number = match brought.and_then(Vec::pop) {
                Some(number) => number,
                None => self.bring(record, transfer, &mut copies)?.0,
            };
            numbers.push(number);
        }
        copies.finish()?;
        for (record, number) in run.files().iter().zip(numbers) {
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

    fn path(&self, number: FileNumber) -> PathBuf {
        self.core.dir.join(FileName::Sst(number).to_string())
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
