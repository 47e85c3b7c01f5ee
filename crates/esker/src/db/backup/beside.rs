//! A checkpoint of a database that another process has open, made without asking it.
//!
//! What a manifest names is held first, by second names in the target, and the log, whose segments
//! are written over when they are done, is copied. Then the manifest is read again. As long as it
//! names the same first segment of the log, none of what was copied has been given away, and all
//! together is what the process would have left if it had been killed somewhere in between: with
//! everything that was in the page cache when the copy was begun. Else it is tried again, and what
//! is held already stays held, so that each try has less to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::db::backup::checkpoint::{finish, in_new_directory};
use crate::db::beside_writer::Tries;
use crate::db::log_survey::segments_of;
use crate::env::bundle::Env;
use crate::env::copy::{copy_front, link_or_copy};
use crate::env::fs::AppendFile;
use crate::flow::write::chain::{Front, Link, chain};
use crate::store::batch::prepared_log::PreparedLog;
use crate::store::batch::reader::{BatchEntry, BatchReader};
use crate::store::names::FileName;
use crate::store::sst::saving::only_damage;
use crate::store::version::recovery::read_manifest;
use crate::store::version::state::{Orders, Version};
use crate::store::vlog::pointer::ValuePointer;
use crate::store::wal::reader::{Tail, WalReader};

/// Makes a database in the directory `target` from the one in `dir`, whoever has that open: it is
/// not locked, and nothing is written there.
///
/// It holds what the process would find after being killed: everything that was written before the
/// call, and of what comes after it all up to some moment. What was written with the durability
/// `Memory` and is in no file yet is not in it. Sorted files and most segments of the value log
/// are hard links where the file system has them; the rest is copied. Files are taken as they are,
/// damaged ones too: [`Db::verify`](crate::Db::verify) of the copy tells.
///
/// Errors: `Invalid` when there is no database in `dir`, or `target` is there and not empty;
/// `Busy` when the process is too fast; `Corruption` when manifest or log are damaged so that they
/// say nothing; `OutOfSpace` and `Io`. Nothing that passes for a database is left in `target` then.
pub fn checkpoint_beside(dir: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<()> {
    checkpoint_beside_in(&Env::real(1), dir.as_ref(), target.as_ref(), &[])
}

/// As [`checkpoint_beside`], in any world; keyspaces may have their keys in one of `comparators`.
pub fn checkpoint_beside_in(
    env: &Env,
    dir: &Path,
    target: &Path,
    comparators: &[Comparator],
) -> Result<()> {
    let mut env = env.clone();
    if !env.fs.exists(dir)? {
        let place = dir.display();
        return Err(Error::invalid(format!("there is no directory {place}")));
    }
    if let Some(held) = env.fs.hold_dir(dir)? {
        env.fs = held;
    }
    let comparators = Orders::new(comparators.to_vec());
    // Before the target is touched.
    read_manifest(&*env.fs, dir, &comparators)?;
    in_new_directory(&*env.fs, target, || {
        let mut copy = CopyBeside {
            env: &env,
            dir,
            target,
            comparators: &comparators,
            held: BTreeMap::new(),
            log: BTreeMap::new(),
        };
        let taken = copy.take()?;
        copy.make_durable(&taken)?;
        finish(&env, target, taken.version)
    })
}

/// A checkpoint on its way.
struct CopyBeside<'a> {
    env: &'a Env,
    dir: &'a Path,
    target: &'a Path,
    comparators: &'a Orders,
    /// Sorted files and segments of the value log that the target has, and whether they are links.
    held: BTreeMap<FileName, bool>,
    /// Segments of the log that the target has, not synced yet.
    log: BTreeMap<FileNumber, Box<dyn AppendFile>>,
}

/// What belongs together.
struct Taken {
    version: Version,
    /// Where the last value ends that the log has in each segment of the value log.
    value_ends: BTreeMap<FileNumber, u64>,
}

impl CopyBeside<'_> {
    fn take(&mut self) -> Result<Taken> {
        let mut tries = Tries::default();
        loop {
            match self.try_to_take() {
                Err(error) if tries.again_after(&error) => {}
                taken => return taken,
            }
        }
    }

    fn try_to_take(&mut self) -> Result<Taken> {
        let (mut version, _) = read_manifest(&*self.env.fs, self.dir, self.comparators)?;
        let mut is_all_there = true;
        for name in version.file_names() {
            is_all_there &= self.hold(name, false)?;
        }
        let value_ends = self.copy_log(&version);
        if let Ok(ends) = &value_ends {
            for number in ends.keys() {
                is_all_there &= self.hold(FileName::Vlog(*number), true)?;
            }
        }
        let (now, _) = read_manifest(&*self.env.fs, self.dir, self.comparators)?;
        // Of a database that did not change nobody has removed anything: it is lost.
        let is_unchanged = || now.to_edit() == version.to_edit();
        let is_whole = value_ends.is_ok() && is_all_there;
        if now.first_log != version.first_log || (!is_whole && !is_unchanged()) {
            let message = "the database was flushed faster than its log could be copied; try again";
            return Err(Error::new(ErrorKind::Busy, message));
        }
        // The log may have what the format was raised for since; that is durable before it.
        version.format_version = now.format_version;
        Ok(Taken {
            version,
            value_ends: value_ends?,
        })
    }

    // Gives a file a name in the target; `false` when it is not there any more. A copy of one that
    // is growing was perhaps made too early, so it is made again.
    fn hold(&mut self, name: FileName, is_growing: bool) -> Result<bool> {
        match self.held.get(&name) {
            Some(true) => return Ok(true),
            Some(false) if !is_growing => return Ok(true),
            _ => {}
        }
        let (source, target) = (self.path_of(name), self.target_of(name));
        match link_or_copy(&*self.env.fs, &source, &target) {
            Ok(is_link) => {
                self.held.insert(name, is_link);
                Ok(true)
            }
            Err(error) if error.is_missing_file() => Ok(false),
            Err(error) => Err(error),
        }
    }

    // Gives where the last value ends that the log has in each segment of the value log.
    fn copy_log(&mut self, version: &Version) -> Result<BTreeMap<FileNumber, u64>> {
        for number in std::mem::take(&mut self.log).into_keys() {
            let path = self.target_of(FileName::Wal(number));
            self.env.fs.remove_file(&path)?;
        }
        let segments = segments_of(&*self.env.fs, self.dir, version)?;
        let links = self.chain(&segments)?;
        let last = links.iter().rfind(|link| link.is_begun());
        let last = last.map(|link| link.number);
        let mut value_ends = ValueEnds {
            version,
            prepared: PreparedLog::default(),
            ends: BTreeMap::new(),
        };
        for link in links.iter().filter(|link| link.is_part) {
            // Those that were never begun hold nothing; but the first must be there.
            if !link.is_begun() && link.number != version.first_log {
                continue;
            }
            let name = FileName::Wal(link.number);
            let file = self.env.fs.open_read(&self.path_of(name))?;
            let end = match link.end {
                Some(end) => end,
                None if Some(link.number) == last => self.end_of(link)?.unwrap_or(u64::MAX),
                None if link.is_begun() => u64::MAX,
                None => 0,
            };
            let end = end.min(file.size_bytes());
            let copy = copy_front(&*self.env.fs, &*file, &self.target_of(name), end)?;
            self.log.insert(link.number, copy);
            let reader = WalReader::new(file, link.number).until(end);
            value_ends.note_segment(link.number, reader)?;
        }
        value_ends.finish()
    }

    // The chain, looked at again while a head seems to be damaged: it may just have been written.
    fn chain(&self, segments: &[FileNumber]) -> Result<Vec<Link>> {
        let is_odd = |link: &Link| match &link.front {
            Front::Head(_) => false,
            Front::Nothing(tail) => has_intact_records(*tail),
            Front::Damaged(_) => true,
        };
        let links = chain(&*self.env.fs, self.dir, segments)?;
        match links.iter().any(is_odd) {
            true => chain(&*self.env.fs, self.dir, segments),
            false => Ok(links),
        }
    }

    /// Where the last segment ends, which may be being written; `None` when it is damaged.
    ///
    /// Whoever reads beside the writer may find a record half written and whole ones behind it,
    /// which look like damage. Looked at again that record is whole then. What counts is what lies
    /// before it: everything that was there before the first look.
    fn end_of(&self, link: &Link) -> Result<Option<u64>> {
        let (end, is_odd) = self.look_at_end(link)?;
        if !is_odd {
            return Ok(Some(end));
        }
        let (later_end, is_odd) = self.look_at_end(link)?;
        Ok((later_end > end || !is_odd).then_some(end))
    }

    // The end of the last record, and whether intact ones lie behind it.
    fn look_at_end(&self, link: &Link) -> Result<(u64, bool)> {
        let mut reader = link.reader(&*self.env.fs, self.dir)?;
        loop {
            match only_damage(reader.next().map(|record| record.is_some()))? {
                Ok(true) => {}
                Ok(false) => return Ok((reader.record_end(), has_intact_records(reader.tail()))),
                Err(_) => return Ok((reader.record_end(), true)),
            }
        }
    }

    /// What was copied in a hurry is synced; what the owner still writes to becomes our own.
    fn make_durable(&mut self, taken: &Taken) -> Result<()> {
        let fs = &*self.env.fs;
        for copy in self.log.values_mut() {
            copy.sync()?;
        }
        let of_files = taken.version.file_names();
        for (&number, &end) in &taken.value_ends {
            let name = FileName::Vlog(number);
            if self.held.get(&name) != Some(&true) {
                continue;
            }
            let path = self.target_of(name);
            let file = fs.open_read(&path)?;
            let end = match of_files.contains(&name) {
                true => file.size_bytes(),
                false => end.min(file.size_bytes()),
            };
            let temporary = self.target_of(FileName::Temporary(number));
            copy_front(fs, &*file, &temporary, end)?.sync()?;
            fs.rename(&temporary, &path)?;
        }
        for name in self.held.keys() {
            let is_of_log = |number: &FileNumber| FileName::Vlog(*number) == *name;
            if !of_files.contains(name) && !taken.value_ends.keys().any(is_of_log) {
                fs.remove_file(&self.target_of(*name))?;
            }
        }
        Ok(())
    }

    fn path_of(&self, name: FileName) -> PathBuf {
        self.dir.join(name.to_string())
    }

    fn target_of(&self, name: FileName) -> PathBuf {
        self.target.join(name.to_string())
    }
}

/// Where the last value ends that a log names, in each segment of the value log.
struct ValueEnds<'a> {
    version: &'a Version,
    prepared: PreparedLog,
    ends: BTreeMap<FileNumber, u64>,
}

impl ValueEnds<'_> {
    // What is damaged is told by whoever opens the copy.
    fn note_segment(&mut self, number: FileNumber, mut reader: WalReader) -> Result<()> {
        let mut prepared = std::mem::take(&mut self.prepared);
        let mut is_head = true;
        while let Ok(Some(record)) = only_damage(reader.next_placed())? {
            if std::mem::take(&mut is_head) || record.payload.is_empty() {
                continue;
            }
            let effect = prepared.follow((number, record.offset), record.payload);
            let Ok(effect) = only_damage(effect)? else {
                break;
            };
            if let Some(batch) = effect.written() {
                // Values of flushed entries may have been moved or removed since.
                self.note(&batch, |version, entry| {
                    let state = version.keyspace(entry.keyspace);
                    state.is_some_and(|state| entry.trailer.seqno() > state.flushed)
                })?;
            }
        }
        self.prepared = prepared;
        Ok(())
    }

    fn finish(mut self) -> Result<BTreeMap<FileNumber, u64>> {
        for prepared in std::mem::take(&mut self.prepared).into_live() {
            self.note(&prepared.read()?.entries, |_, _| true)?;
        }
        Ok(self.ends)
    }

    fn note(
        &mut self,
        batch: &BatchReader<'_>,
        is_wanted: impl Fn(&Version, &BatchEntry<'_>) -> bool,
    ) -> Result<()> {
        for entry in batch.entries() {
            let entry = entry?;
            if !is_wanted(self.version, &entry) {
                continue;
            }
            if let Some(pointer) = ValuePointer::of(&entry.in_keyspace())? {
                let end = u64::from(pointer.offset) + u64::from(pointer.len);
                let known = self.ends.entry(pointer.segment).or_default();
                *known = end.max(*known);
            }
        }
        Ok(())
    }
}

fn has_intact_records(tail: Tail) -> bool {
    matches!(tail, Tail::Torn { intact_count, .. } if intact_count > 0)
}
