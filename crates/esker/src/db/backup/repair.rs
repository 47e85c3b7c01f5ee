//! Repairs a database that nobody has open: offline, reporting first, deleting nothing.
//!
//! What is whole stays as it is; what must be replaced is written beside it; what is taken out
//! gets a second name in the folder `lost` before the manifest stops naming it. A crash at any
//! point leaves a directory that can be repaired again.

use std::path::Path;
use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, Result};
use crate::db::backup::job::Job;
use crate::db::backup::mend::mend;
use crate::db::backup::remake::remake;
use crate::db::backup::report::{ManifestState, RepairReport};
use crate::db::backup::survey::{Found, Listing, survey};
use crate::db::directory::lock_for_reading;
use crate::env::bundle::Env;
use crate::env::fs::DirLock;
use crate::store::names::FileName;
use crate::store::version::numbers::FileNumbers;
use crate::store::version::state::Orders;

/// How to repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Only report what would be done: no file is written, made, renamed or removed.
    pub dry_run: bool,
}

/// Repairs the database in the directory `path`, or reports what a repair would do.
///
/// Errors: `Invalid` when there is no database; `Locked` while somebody has it open;
/// `Unsupported` for files of a newer Esker or of another engine, and for an order of keys that
/// this program does not have; `NotBuilt` for files that this build cannot uncompress, which are
/// not touched; `OutOfSpace`; `Io`. A repair that failed can be done again.
pub fn repair(path: impl AsRef<Path>, options: RepairOptions) -> Result<RepairReport> {
    repair_in(&Env::real(1), path.as_ref(), options, &[])
}

/// As [`repair`], in any world, for keyspaces that may have their keys in one of `comparators`.
pub fn repair_in(
    env: &Env,
    dir: &Path,
    options: RepairOptions,
    comparators: &[Comparator],
) -> Result<RepairReport> {
    if !env.fs.exists(dir)? {
        let place = dir.display();
        return Err(Error::invalid(format!("there is no directory {place}")));
    }
    // Before the lock, so that a directory of somebody else gets no lock file.
    Listing::read(&*env.fs, dir)?.refuse_empty(dir)?;
    let _lock = take_lock(env, dir, options)?;
    let mut listing = Listing::read(&*env.fs, dir)?;
    let known = Orders::new(comparators.to_vec());
    let found = survey(&*env.fs, dir, &listing, &known)?;
    if let Some(next) = found.next_file() {
        listing.leave_out_strangers(next);
    }
    let mut job = Job {
        env,
        dir,
        comparators: &known,
        is_dry_run: options.dry_run,
        report: RepairReport {
            dir: dir.display().to_string(),
            is_dry_run: options.dry_run,
            ..RepairReport::default()
        },
        numbers: Arc::new(FileNumbers::new(listing.next_free())),
        listing,
    };
    match found {
        Found::Whole(version) => mend(&mut job, &version, None)?,
        Found::Manifest {
            number,
            version,
            cause,
        } => {
            job.report.manifest = ManifestState::Found {
                name: FileName::Manifest(number).to_string(),
                cause: cause.to_string(),
            };
            mend(&mut job, &version, Some(number))?;
        }
        Found::Nothing { remains, cause } => {
            let name = |number| FileName::Manifest(number).to_string();
            job.report.manifest = ManifestState::Rebuilt {
                cause: cause.to_string(),
                names_from: remains.as_ref().map(|remains| name(remains.manifest)),
            };
            remake(&mut job, remains, comparators)?;
        }
    }
    Ok(job.report)
}

fn take_lock(env: &Env, dir: &Path, options: RepairOptions) -> Result<Option<Box<dyn DirLock>>> {
    if options.dry_run {
        return lock_for_reading(&*env.fs, dir);
    }
    env.fs.lock(&dir.join(FileName::Lock.to_string())).map(Some)
}
