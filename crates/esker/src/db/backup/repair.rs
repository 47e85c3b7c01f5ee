//! Repairs a database that nobody has open: offline, reporting first, deleting nothing.
//!
//! What is whole stays as it is; what must be replaced is written beside it; what is taken out
//! gets a second name in the folder `lost` before the manifest stops naming it. A crash at any
//! point leaves a directory that can be repaired again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::order::KeyOrder;
use crate::db::backup::lost::Lost;
use crate::db::backup::rebuild::{Sorted, merge_files, sort_files, version_of};
use crate::db::backup::report::{KeptKeyspace, LogState, LostFile, ManifestState, RepairReport};
use crate::db::backup::salvage::{Salvage, keyspaces_in};
use crate::db::backup::survey::{Found, Listing, survey};
use crate::db::backup::verify::check_sst;
use crate::env::bundle::Env;
use crate::env::fs::DirLock;
use crate::flow::write::replay::{ReplaySource, replay};
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::version::apply::apply;
use crate::store::version::current::{draft_current, swap_current};
use crate::store::version::edit::{Change, Edit};
use crate::store::version::manifest::Manifest;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::{Orders, Version};
use crate::store::vlog::open_values::OpenValues;

/// Bytes of blocks kept in memory: every file is read once, from front to back.
const CACHE_BYTES: usize = 8 << 20;

/// Room of the empty segment with which the log of a repaired database begins: one block.
const FIRST_SEGMENT_BYTES: u64 = 32 << 10;

/// How to repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Only report what would be done: no file is written, made, renamed or removed. (The lock
    /// file, if there is one, is told who looks.)
    pub dry_run: bool,
}

/// Repairs the database in the directory `path`, or reports what a repair would do.
///
/// Errors: `Invalid` when there is no database; `Locked` while somebody has it open;
/// `Unsupported` for files of a newer Esker or of another engine, and for an order of keys that
/// this program does not have; `OutOfSpace`; `Io`. A repair that failed can be done again.
pub fn repair(path: impl AsRef<Path>, options: RepairOptions) -> Result<RepairReport> {
    repair_in(&Env::real(1), path.as_ref(), options, &[])
}

/// As [`repair`], in any world, for keyspaces that may have their keys in one of `orders`.
pub fn repair_in(
    env: &Env,
    dir: &Path,
    options: RepairOptions,
    orders: &[KeyOrder],
) -> Result<RepairReport> {
    if !env.fs.exists(dir)? {
        let place = dir.display();
        return Err(Error::invalid(format!("there is no directory {place}")));
    }
    let _lock = take_lock(env, dir, options)?;
    let listing = Listing::read(&*env.fs, dir)?;
    let known = Orders::new(orders.to_vec());
    let mut job = Job {
        env,
        dir,
        orders: &known,
        is_dry_run: options.dry_run,
        report: RepairReport {
            dir: dir.display().to_string(),
            is_dry_run: options.dry_run,
            ..RepairReport::default()
        },
        numbers: Arc::new(FileNumbers::new(listing.next_free())),
        listing,
    };
    match survey(&*env.fs, dir, &job.listing, &known)? {
        Found::Whole(version) => job.mend(&version, None)?,
        Found::Manifest {
            number,
            version,
            cause,
        } => {
            job.report.manifest = ManifestState::Found {
                name: FileName::Manifest(number).to_string(),
                cause: cause.to_string(),
            };
            job.mend(&version, Some(number))?;
        }
        Found::Nothing { remains, cause } => {
            let name = |number| FileName::Manifest(number).to_string();
            job.report.manifest = ManifestState::Rebuilt {
                cause: cause.to_string(),
                names_from: remains.as_ref().map(|remains| name(remains.manifest)),
            };
            let remains = remains.as_deref();
            let sorted = sort_files(env, dir, &job.listing, orders, remains)?;
            let in_log = keyspaces_in(&*env.fs, dir, &job.listing.wals);
            let version = version_of(env, &known, remains, &sorted, &in_log)?;
            job.rebuild(version, sorted)?;
        }
    }
    Ok(job.report)
}

// A dry run of a directory that nobody ever locked leaves it without a lock file.
fn take_lock(env: &Env, dir: &Path, options: RepairOptions) -> Result<Option<Box<dyn DirLock>>> {
    let path = dir.join(FileName::Lock.to_string());
    if options.dry_run && !env.fs.exists(&path)? {
        return Ok(None);
    }
    match env.fs.lock(&path) {
        Ok(lock) => Ok(Some(lock)),
        // On a medium that cannot be written nobody writes.
        Err(error) if options.dry_run && error.kind() == ErrorKind::Io => Ok(None),
        Err(error) => Err(error),
    }
}

struct Job<'a> {
    env: &'a Env,
    dir: &'a Path,
    orders: &'a Orders,
    is_dry_run: bool,
    report: RepairReport,
    numbers: Arc<FileNumbers>,
    listing: Listing,
}

impl Job<'_> {
    /// Takes damaged files out of a version that is known, and reads a damaged log.
    /// `current` is the manifest that CURRENT must name again.
    fn mend(&mut self, version: &Version, current: Option<FileNumber>) -> Result<()> {
        let fs = &self.env.fs;
        self.numbers.skip(version.next_file);
        let mut edit = self.drop_damaged(version);
        let mut leaving: Vec<String> = self
            .report
            .lost_files
            .iter()
            .map(|lost| lost.name.clone())
            .filter(|name| self.is_listed(name))
            .collect();
        let segments = self.segments_of(version);
        if self.is_log_damaged(version, &segments) {
            edit.extend(self.salvage(version, &segments)?);
            leaving.extend(
                segments
                    .iter()
                    .map(|number| FileName::Wal(*number).to_string()),
            );
        } else {
            self.report.log.segment_count = segments.len();
        }
        self.report.moved.clone_from(&leaving);
        if self.is_dry_run || self.report.is_whole() {
            return Ok(());
        }
        let mut lost = Lost::new(&**fs, self.dir);
        lost.save(leaving)?;
        self.keep_values(&mut lost)?;
        if let Some(number) = current {
            if self.listing.has_current {
                lost.keep_copy(FileName::Current.to_string())?;
            }
            draft_current(&**fs, self.dir, number)?;
            swap_current(&**fs, self.dir)?;
        }
        if !edit.is_empty() {
            edit.push(Change::SetNextFile {
                number: self.numbers.peek(),
            });
            let (mut manifest, _, _) = Manifest::recover(Arc::clone(fs), self.dir, self.orders)?;
            manifest.append(&edit)?;
        }
        lost.remove_saved()
    }

    /// Makes a new manifest for what the sorted files come to.
    fn rebuild(&mut self, version: Version, sorted: Sorted) -> Result<()> {
        let fs = &self.env.fs;
        self.numbers.skip(version.next_file);
        self.count_sound(&version, &sorted);
        let segments = self.listing.wals.clone();
        let mut leaving: BTreeSet<FileNumber> = sorted.obsolete.iter().copied().collect();
        let is_sound: BTreeSet<FileNumber> = sorted
            .sound
            .values()
            .flatten()
            .map(|file| file.record().number)
            .collect();
        let ssts = self.listing.ssts.iter();
        leaving.extend(ssts.filter(|number| !is_sound.contains(number)));
        self.report.lost_files.clone_from(&sorted.lost);
        let mut edit = Edit::new();
        if !self.is_dry_run {
            self.refuse_full_disk(&sorted)?;
            let (files, merged) =
                merge_files(self.env, self.dir, &version, &sorted, &self.numbers)?;
            edit.extend(files);
            leaving.extend(merged);
        }
        edit.extend(self.salvage(&version, &segments)?);
        let names = leaving.into_iter().map(FileName::Sst);
        let names = names.chain(segments.into_iter().map(FileName::Wal));
        let manifests = self.listing.manifests.iter();
        let names = names.chain(manifests.map(|number| FileName::Manifest(*number)));
        let mut names: Vec<String> = names.map(|name| name.to_string()).collect();
        if self.listing.has_current {
            names.push(FileName::Current.to_string());
        }
        self.report.moved.clone_from(&names);
        if self.is_dry_run {
            return Ok(());
        }
        edit.push(Change::SetNextFile {
            number: self.numbers.peek(),
        });
        let first = apply(&version, &edit)?;
        first.check()?;
        let mut lost = Lost::new(&**fs, self.dir);
        let is_current = |name: &String| *name == FileName::Current.to_string();
        lost.save(names.into_iter().filter(|name| !is_current(name)))?;
        self.keep_values(&mut lost)?;
        if self.listing.has_current {
            lost.keep_copy(FileName::Current.to_string())?;
            fs.remove_file(&self.dir.join(FileName::Current.to_string()))?;
            fs.sync_dir(self.dir)?;
            self.listing.has_current = false;
        }
        Manifest::create(Arc::clone(fs), self.dir, first)?;
        lost.remove_saved()
    }

    // What is taken out may point into any segment of the value log, and the next opening removes
    // those that nothing points into any more: so each gets a second name beside it.
    fn keep_values(&self, lost: &mut Lost<'_>) -> Result<()> {
        if self.report.lost_files.is_empty() && !self.report.log.is_salvaged {
            return Ok(());
        }
        let names = self.listing.vlogs.iter();
        let mut names = names.map(|number| FileName::Vlog(*number).to_string());
        names.try_for_each(|name| lost.keep_copy(name))
    }

    fn is_listed(&self, name: &str) -> bool {
        match FileName::parse(name) {
            Some(FileName::Sst(number)) => self.listing.ssts.binary_search(&number).is_ok(),
            _ => false,
        }
    }

    // Every file of the version is read; those that are not whole are dropped.
    fn drop_damaged(&mut self, version: &Version) -> Edit {
        let cache = Arc::new(ShardedCache::new(CACHE_BYTES));
        let mut edit = Edit::new();
        for state in version.keyspaces.values() {
            let mut kept = KeptKeyspace {
                name: state.name.to_string(),
                ..KeptKeyspace::default()
            };
            for (level, record) in state.levels.files() {
                let number = record.number;
                let name = FileName::Sst(number).to_string();
                let file = self.env.fs.open_read(&self.dir.join(&name));
                let Err(error) = file.and_then(|file| check_sst(file, state, record, &cache))
                else {
                    kept.file_count += 1;
                    kept.size_bytes += record.size_bytes;
                    kept.entry_count += record.entry_count;
                    continue;
                };
                edit.push(Change::RemoveFile {
                    keyspace: state.id,
                    level,
                    number,
                });
                self.report.lost_files.push(LostFile {
                    name,
                    keyspace: Some(state.name.to_string()),
                    keys: Some((record.smallest.clone(), record.largest.clone())),
                    entry_count: Some(record.entry_count),
                    cause: match error.is_missing_file() {
                        true => "the file is missing".into(),
                        false => error.to_string(),
                    },
                });
            }
            self.report.kept.push(kept);
        }
        edit
    }

    fn count_sound(&mut self, version: &Version, sorted: &Sorted) {
        for (id, state) in &version.keyspaces {
            let mut kept = KeptKeyspace {
                name: state.name.to_string(),
                ..KeptKeyspace::default()
            };
            for file in sorted.sound.get(id).into_iter().flatten() {
                kept.file_count += 1;
                kept.size_bytes += file.record().size_bytes;
                kept.entry_count += file.record().entry_count;
            }
            self.report.kept.push(kept);
        }
    }

    fn segments_of(&self, version: &Version) -> Vec<FileNumber> {
        let wals = self.listing.wals.iter().copied();
        wals.filter(|number| *number >= version.first_log).collect()
    }

    // Whether an open would refuse the log.
    fn is_log_damaged(&self, version: &Version, segments: &[FileNumber]) -> bool {
        let first = version.first_log;
        let is_missing = first.0 > 0 && !segments.contains(&first);
        let mut nowhere = BTreeMap::<KeyspaceId, _>::new();
        let source = ReplaySource {
            fs: &*self.env.fs,
            dir: self.dir,
            segments,
            first_log: first,
            values: &OpenValues::new(Arc::clone(&self.env.fs), self.dir, 1),
        };
        let read = replay(&source, &mut nowhere, version.last_seqno);
        is_missing || read.is_err()
    }

    // Puts what is intact of the log into files; the log begins anew with an empty segment.
    fn salvage(&mut self, version: &Version, segments: &[FileNumber]) -> Result<Edit> {
        let numbers = (!self.is_dry_run).then_some(&self.numbers);
        let salvage = Salvage::new(self.env, self.dir, version, numbers);
        let (state, mut edit): (LogState, Edit) = salvage.run(segments)?;
        self.report.log = state;
        if !self.is_dry_run {
            let number = self.numbers.take();
            let path = self.dir.join(FileName::Wal(number).to_string());
            let log = self.env.fs.open_log(&path, FIRST_SEGMENT_BYTES)?;
            log.syncer().sync()?;
            self.env.fs.sync_dir(self.dir)?;
            edit.push(Change::SetFirstLog { number });
        }
        Ok(edit)
    }

    fn refuse_full_disk(&self, sorted: &Sorted) -> Result<()> {
        let free = self.env.fs.free_bytes(self.dir)?;
        let needed = sorted.sound_bytes();
        if free >= needed {
            return Ok(());
        }
        let message = format!(
            "merging the sorted files takes up to {needed} bytes and {free} are free; make room"
        );
        Err(Error::new(ErrorKind::OutOfSpace, message))
    }
}
