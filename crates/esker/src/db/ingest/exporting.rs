//! Puts what keyspaces hold into a directory: second names of their files, and a list.
//!
//! Files never change, so both sides go on as if they were alone: what the database compacts or
//! removes stays in the directory, and the other way round.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::flush_barrier::flush_barrier;
use crate::db::ingest::booking::{book, may_begin};
use crate::db::ingest::file_set::{FileSet, Maker, make_empty_dir, remove_list};
use crate::db::ingest::sst_writer::FileSetSummary;
use crate::db::keyspace::KeyspaceParts;
use crate::db::manual::flush;
use crate::env::copy::link_or_copy;
use crate::store::names::FileName;
use crate::store::version::state::Version;

/// Makes a set of all that `keyspaces` hold in the directory `dir`, as of one moment that is not
/// before the call. Writes go on meanwhile.
///
/// Errors: `Invalid` when the directory is there and not empty, and for a keyspace that was dropped
/// or is named twice; those of a flush; `OutOfSpace` and `Io`. What was made is removed again then.
pub fn export(
    core: &Arc<Core>,
    keyspaces: &[&Arc<KeyspaceParts>],
    dir: &Path,
) -> Result<FileSetSummary> {
    may_begin(core)?;
    let fs = &core.env.fs;
    let is_new = !fs.exists(dir)?;
    make_empty_dir(&**fs, dir)?;
    let made = user_code::told(|| fill(core, keyspaces, dir));
    if made.is_err() {
        give_up(core, dir, is_new);
    }
    made
}

fn fill(core: &Arc<Core>, keyspaces: &[&Arc<KeyspaceParts>], dir: &Path) -> Result<FileSetSummary> {
    let _job = book(core)?;
    let ids: BTreeSet<KeyspaceId> = keyspaces.iter().map(|parts| parts.id).collect();
    if ids.len() < keyspaces.len() || ids.is_empty() {
        return Err(Error::invalid("name each keyspace once, and at least one"));
    }
    // One alone need not wait for what others have in memory.
    let version = match keyspaces {
        [one] => {
            flush(core, one)?;
            core.history.current()
        }
        _ => flush_barrier(core)?.version,
    };
    let mut only = Version::clone(&version);
    only.keyspaces.retain(|id, _| ids.contains(id));
    if only.keyspaces.len() < ids.len() {
        return Err(Error::invalid("the keyspace was dropped"));
    }
    // No log comes along: all that it holds lies in the files.
    only.first_log = FileNumber(0);
    if only.live_values().iter().next().is_some() {
        // What the set gets is finished, so that its size is what it holds.
        core.values.seal_live_of(&ids);
    }
    for name in only.file_names() {
        core.gate.check_write()?;
        let name = name.to_string();
        link_or_copy(&*core.env.fs, &core.dir.join(&name), &dir.join(&name))?;
    }
    let set = FileSet {
        maker: Maker::Export,
        version: only,
    };
    set.write(&*core.env.fs, dir)?;
    Ok(FileSetSummary::of(&set.version))
}

// Best effort, for an error is being told already: without a list it is no set.
fn give_up(core: &Core, dir: &Path, is_new: bool) {
    let fs = &core.env.fs;
    remove_list(&**fs, dir);
    for name in fs.list(dir).unwrap_or_default() {
        if FileName::parse(&name).is_some() {
            // As above.
            let _ = fs.remove_file(&dir.join(name));
        }
    }
    if is_new {
        // As above.
        let _ = fs.remove_dir(dir);
    }
}
