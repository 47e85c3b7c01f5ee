//! What lies in the directory of a damaged database, and which version can be had of it.

use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::db::backup::salvage::keyspaces_in;
use crate::db::directory::unfinished_checkpoint;
use crate::db::log_survey::may_be_of_log;
use crate::env::fs::Fs;
use crate::flow::write::strays::never_created;
use crate::store::names::FileName;
use crate::store::version::current::read_current;
use crate::store::version::format::Current;
use crate::store::version::numbers::is_given_out;
use crate::store::version::recovery::{read_manifest, read_numbered};
use crate::store::version::remains::{Remains, read_remains};
use crate::store::version::state::{Orders, Version};

/// No database comes so far: with a thousand files a second it takes two thousand years.
const NUMBERS_END: FileNumber = FileNumber(1 << 46);

/// The files of a directory, each kind by ascending number.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Sorted files.
    pub ssts: Vec<FileNumber>,
    /// Segments of the log.
    pub wals: Vec<FileNumber>,
    /// Segments of the value log.
    pub vlogs: Vec<FileNumber>,
    /// Manifests.
    pub manifests: Vec<FileNumber>,
    /// Whether there is a CURRENT.
    pub has_current: bool,
    /// Whether somebody ever had the directory open.
    pub has_lock: bool,
    /// Whether it is a checkpoint that is not finished.
    pub is_unfinished: bool,
}

impl Listing {
    /// What lies in `dir` now.
    pub fn read(fs: &dyn Fs, dir: &Path) -> Result<Listing> {
        let mut listing = Listing::default();
        for name in fs.list(dir)? {
            match FileName::parse(&name) {
                Some(FileName::Sst(number)) => listing.ssts.push(number),
                Some(FileName::Wal(number)) => listing.wals.push(number),
                Some(FileName::Manifest(number)) => listing.manifests.push(number),
                Some(FileName::Current) => listing.has_current = true,
                Some(FileName::Lock) => listing.has_lock = true,
                Some(FileName::Vlog(number)) => listing.vlogs.push(number),
                Some(FileName::CheckpointTemporary) => listing.is_unfinished = true,
                Some(FileName::Temporary(_) | FileName::CurrentTemporary) | None => {}
            }
        }
        for numbers in [
            &mut listing.ssts,
            &mut listing.wals,
            &mut listing.vlogs,
            &mut listing.manifests,
        ] {
            numbers.sort_unstable();
        }
        listing.leave_out_strangers(NUMBERS_END);
        Ok(listing)
    }

    /// Whether there is nothing of a database.
    pub fn is_empty(&self) -> bool {
        self.ssts.is_empty() && self.wals.is_empty() && self.manifests.is_empty()
    }

    /// Errors: `Invalid` when there is nothing of a database in `dir`, or a checkpoint that was
    /// not finished.
    pub fn refuse_empty(&self, dir: &Path) -> Result<()> {
        let place = dir.display();
        if self.is_unfinished && !self.has_current {
            return Err(unfinished_checkpoint(dir));
        }
        if !self.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(format!("there is no database in {place}")))
    }

    /// A number larger than that of any file here.
    pub fn next_free(&self) -> FileNumber {
        let lists = [&self.ssts, &self.wals, &self.vlogs, &self.manifests];
        let largest = lists.into_iter().filter_map(|list| list.last()).max();
        let largest = largest.map_or(0, |largest| largest.0);
        FileNumber(largest.checked_add(1).expect("a stranger's is left out"))
    }

    /// Leaves out files with numbers that a database whose next one is `next` has not given out.
    /// They are a stranger's, and would else make its numbers theirs.
    pub fn leave_out_strangers(&mut self, next: FileNumber) {
        for numbers in [
            &mut self.ssts,
            &mut self.wals,
            &mut self.vlogs,
            &mut self.manifests,
        ] {
            numbers.retain(|number| is_given_out(*number, next));
        }
    }
}

/// Which version can be had.
pub enum Found {
    /// CURRENT and the manifest it names are whole.
    Whole(Arc<Version>),
    /// The newest manifest is whole, and only CURRENT is not.
    Manifest {
        /// Its number.
        number: FileNumber,
        /// What it describes.
        version: Arc<Version>,
        /// What is wrong with CURRENT.
        cause: Error,
    },
    /// No manifest says what is current.
    Nothing {
        /// The newest one of which anything can be read.
        remains: Option<Box<Remains>>,
        /// What is wrong with the one that counts.
        cause: Error,
    },
}

impl Found {
    /// The number that the database gives out next, as far as a manifest says.
    pub fn next_file(&self) -> Option<FileNumber> {
        match self {
            Found::Whole(version) | Found::Manifest { version, .. } => Some(version.next_file),
            Found::Nothing { remains, .. } => {
                remains.as_ref().map(|remains| remains.version.next_file)
            }
        }
    }
}

/// Reads the manifest that counts, or the best that there is instead.
///
/// Errors: `Invalid` when there is no database; `Unsupported` for files of a newer Esker, of
/// another engine, or with an order that is not among `comparators`; what reading gives.
pub fn survey(fs: &dyn Fs, dir: &Path, listing: &Listing, comparators: &Orders) -> Result<Found> {
    listing.refuse_empty(dir)?;
    let read = read_manifest(fs, dir, comparators).and_then(|(version, _)| {
        check_created(fs, dir, listing, &version)?;
        Ok(version)
    });
    let cause = match read {
        Ok(version) => return Ok(Found::Whole(Arc::new(version))),
        Err(error) if is_for_repair(&error) => error,
        Err(error) => return Err(error),
    };
    if let Some((number, version)) = newest_whole(fs, dir, listing, comparators)? {
        return Ok(Found::Manifest {
            number,
            version: Arc::new(version),
            cause,
        });
    }
    for &number in listing.manifests.iter().rev() {
        if let Some(remains) = read_remains(fs, dir, number, comparators)? {
            let remains = Some(Box::new(remains));
            return Ok(Found::Nothing { remains, cause });
        }
    }
    Ok(Found::Nothing {
        remains: None,
        cause,
    })
}

// Damage, and what is missing; a newer format is not for this program to touch.
fn is_for_repair(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Invalid)
}

// A manifest that has lost its end may know less of the keyspaces than the log.
fn check_created(fs: &dyn Fs, dir: &Path, listing: &Listing, version: &Version) -> Result<()> {
    let wals = listing.wals.iter().copied();
    let needed: Vec<FileNumber> = wals.filter(|wal| may_be_of_log(*wal, version)).collect();
    match keyspaces_in(fs, dir, &needed)?.last() {
        Some(&id) if id >= version.next_keyspace => Err(never_created(id)),
        _ => Ok(()),
    }
}

// A manifest may stand for the one that counted only if nothing has happened since: if there is
// no sorted file that it cannot know, and, unless it is surely the newest, all its own are there.
fn newest_whole(
    fs: &dyn Fs,
    dir: &Path,
    listing: &Listing,
    comparators: &Orders,
) -> Result<Option<(FileNumber, Version)>> {
    let named = read_current(fs, dir).ok();
    for (age, &number) in listing.manifests.iter().rev().enumerate() {
        let unnamed = Current {
            manifest: number,
            durable_end: 0,
        };
        let wanted = named.filter(|named| named.manifest == number);
        let read = read_numbered(fs, dir, wanted.unwrap_or(unnamed), comparators);
        let read = read.and_then(|(version, _)| {
            check_created(fs, dir, listing, &version)?;
            Ok(version)
        });
        let version = match read {
            Ok(version) => version,
            Err(error) if is_for_repair(&error) => continue,
            Err(error) => return Err(error),
        };
        let is_newest = age == 0 && named.is_none_or(|named| named.manifest <= number);
        let next = version.next_file;
        let mut ssts = listing.ssts.iter();
        let knows_all = ssts.all(|number| *number < next || !is_given_out(*number, next));
        if knows_all && (is_newest || has_all_files(&version, listing)) {
            return Ok(Some((number, version)));
        }
    }
    Ok(None)
}

fn has_all_files(version: &Version, listing: &Listing) -> bool {
    let levels = version.keyspaces.values().map(|state| &state.levels);
    let mut files = levels.flat_map(|levels| levels.files());
    files.all(|(_, file)| listing.ssts.binary_search(&file.number).is_ok())
}
