//! A second database, made of hard links to the files of one moment.
//!
//! CURRENT is written last, so a checkpoint that a crash cut short is no database, and never
//! passes for one: a file says from the beginning that it is not finished, so that the next try
//! begins anew. The links share their bytes with the source; sorted files and sealed segments of
//! the value log never change, so each database may go on, and remove its own names of them, as if
//! it were alone.

use std::io::ErrorKind as Os;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::flush_barrier::{FlushedMoment, flush_barrier};
use crate::env::bundle::Env;
use crate::env::copy::link_or_copy;
use crate::env::fs::{DirLock, Fs};
use crate::flow::write::carried_segment::write_prepared;
use crate::store::batch::prepared_log::LoggedPrepare;
use crate::store::names::FileName;
use crate::store::version::manifest::Manifest;
use crate::store::version::state::Version;

/// Makes a database in the directory `target`, with everything that was written so far.
///
/// Writes go on meanwhile; of those that come after the call, all up to some moment are in it.
///
/// Errors: `Invalid` when `target` is there and not empty, unless it is a checkpoint that was not
/// finished: then it is begun anew; for an order that panics; those of a flush; `OutOfSpace` and
/// `Io`. What was made is removed again then, as far as that is possible.
pub fn checkpoint(core: &Arc<Core>, target: &Path) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_write()?;
    let fs = &core.env.fs;
    in_new_directory(&**fs, target, || user_code::told(|| fill(core, target)))
}

/// Has `fill` make a database in the directory `target`, which it has alone; what was made of one
/// that failed is removed again. Errors: as [`checkpoint`].
pub fn in_new_directory(
    fs: &dyn Fs,
    target: &Path,
    fill: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let claim = Claim::take(fs, target)?;
    let made = fill();
    if made.is_err() {
        claim.give_up();
    }
    made
}

fn fill(core: &Arc<Core>, target: &Path) -> Result<()> {
    let fs = &core.env.fs;
    let FlushedMoment { version, prepared } = flush_barrier(core)?;
    // What the copy gets is finished, so that its size is what it holds.
    core.values.seal_live();
    let values = prepared.iter().flat_map(|one| &one.value_segments);
    let mut names = version.file_names();
    names.extend(values.map(|number| FileName::Vlog(*number)));
    for name in names {
        let name = name.to_string();
        link_or_copy(&**fs, &core.dir.join(&name), &target.join(&name))?;
    }
    let mut first = Version::clone(&version);
    // No log comes along, since all that it holds lies in the files, but for what is prepared.
    let mut next = core.numbers.peek();
    let logged: Vec<LoggedPrepare> = prepared.iter().map(|one| one.logged.clone()).collect();
    let begins_at = write_prepared(&**fs, target, &logged, || {
        let number = next;
        next = FileNumber(next.0 + 1);
        number
    })?;
    first.first_log = begins_at.unwrap_or(FileNumber(0));
    if begins_at.is_some() {
        first.next_file = next;
    }
    finish(&core.env, target, first)
}

/// Makes a database of the files in `target`. It keeps the identity, which the files have in them
/// (docs/decisions/0015-a-file-says-whose-it-is.md).
pub fn finish(env: &Env, target: &Path, first: Version) -> Result<()> {
    Manifest::create(Arc::clone(&env.fs), target, first)?;
    // A database from here on; whoever opens it would remove this too.
    let sign = FileName::CheckpointTemporary.to_string();
    env.fs.remove_file(&target.join(sign))
}

/// An empty directory that nobody else fills meanwhile.
struct Claim<'a> {
    fs: &'a dyn Fs,
    target: &'a Path,
    /// Whether the directory was not there before.
    is_new: bool,
    lock: Box<dyn DirLock>,
}

impl<'a> Claim<'a> {
    fn take(fs: &'a dyn Fs, target: &'a Path) -> Result<Claim<'a>> {
        let is_new = !fs.exists(target)?;
        if !is_new {
            // Before the lock, so that a directory of somebody else gets no lock file.
            refuse_filled(fs, target)?;
        }
        fs.create_dir_all(target)?;
        let lock = fs.lock(&target.join(FileName::Lock.to_string()));
        let begun = lock.and_then(|lock| begin(fs, target).map(|()| lock));
        let lock = match begun {
            Ok(lock) => lock,
            Err(error) => {
                if is_new {
                    let sign = FileName::CheckpointTemporary.to_string();
                    // Nothing of use is there yet; what cannot be removed does no harm.
                    let _ = fs.remove_file(&target.join(sign));
                    // As above.
                    let _ = fs.remove_file(&target.join(FileName::Lock.to_string()));
                    // The same holds for the directory.
                    let _ = fs.remove_dir(target);
                }
                return Err(error);
            }
        };
        Ok(Claim {
            fs,
            target,
            is_new,
            lock,
        })
    }

    // Best effort, for an error is being told already: what stays behind has no CURRENT, so it is
    // no database, and the next checkpoint to this place removes it.
    fn give_up(self) {
        let current = self.target.join(FileName::Current.to_string());
        let names = match self.fs.remove_file(&current) {
            // Without CURRENT for good, before anything that it needs goes.
            Ok(()) => self
                .fs
                .sync_dir(self.target)
                .and_then(|()| self.fs.list(self.target)),
            Err(_) => self.fs.list(self.target),
        };
        let sign = FileName::CheckpointTemporary.to_string();
        for name in names.unwrap_or_default() {
            if FileName::parse(&name).is_some() && name != sign {
                // As above.
                let _ = self.fs.remove_file(&self.target.join(name));
            }
        }
        // Last, once nothing else can come back.
        if self.fs.sync_dir(self.target).is_ok() {
            // As above.
            let _ = self.fs.remove_file(&self.target.join(sign));
        }
        drop(self.lock);
        if self.is_new {
            // As above.
            let _ = self.fs.remove_dir(self.target);
        }
    }
}

// Removes what a checkpoint left that was not finished, and says that this one is not.
fn begin(fs: &dyn Fs, target: &Path) -> Result<()> {
    refuse_filled(fs, target)?;
    for name in fs.list(target)? {
        let is_kept = [FileName::Lock, FileName::CheckpointTemporary]
            .into_iter()
            .any(|kept| kept.to_string() == name);
        if !is_kept {
            fs.remove_file(&target.join(name))?;
        }
    }
    let sign = FileName::CheckpointTemporary.to_string();
    fs.create(&target.join(sign))?.sync()?;
    fs.sync_dir(target)
}

fn refuse_filled(fs: &dyn Fs, target: &Path) -> Result<()> {
    let place = target.display();
    let names = fs.list(target).map_err(|error| match error.io_kind() {
        // It is there, so not being found is being something else than a directory.
        Some(Os::NotADirectory | Os::NotFound) => {
            Error::invalid(format!("{place} is no directory; name one")).caused_by(error)
        }
        _ => error,
    })?;
    let lock = FileName::Lock.to_string();
    let sign = FileName::CheckpointTemporary.to_string();
    let is_unfinished = names.contains(&sign) && !names.contains(&FileName::Current.to_string());
    // Of an unfinished one everything that a checkpoint makes may be there.
    let is_in_the_way = |name: &String| match is_unfinished {
        true => FileName::parse(name).is_none(),
        false => *name != lock,
    };
    match names.into_iter().filter(is_in_the_way).min() {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!(
            "{place} is not empty: it has {name}; name a directory that is empty or not there"
        ))),
    }
}
