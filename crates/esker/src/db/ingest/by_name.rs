//! Takes sets of several keyspaces in, each into the keyspace of its name.
//!
//! Whoever takes files in is on the books, and must not wait for whoever changes the set of
//! keyspaces: it may be who closes the database, and waits for all on the books. So keyspaces that
//! are missing are made where nobody is at that; else what was brought is given up, and is brought
//! again once they are there.

use std::path::Path;
use std::sync::Arc;

use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::ingest::adopting::{IngestOptions, check, take_in};
use crate::db::ingest::booking::{book, may_begin};
use crate::db::ingest::file_set::FileSet;
use crate::db::ingest::placing::{may_stay, may_stay_in_new};
use crate::db::ingest::source::SetFiles;
use crate::db::ingest::sst_writer::FileSetSummary;
use crate::db::ingest::staging::Staged;
use crate::db::keyspace::KeyspaceParts;
use crate::db::open_keyspace::{create, find_or_create, known_rule};

/// How often a set that comes by name is brought and checked, where keyspaces are changed just when
/// those that it lacks are to be made. Whoever does so is waited for in between, so a second time
/// is needed seldom, and a third one where somebody drops what was made.
const NAMED_TRIES_MAX: u32 = 4;

/// Takes all keyspaces of the set in `dir` in, each into the one of its name, which is made with
/// the settings that it had where it is not there. Gives their names too.
///
/// Errors: as [`ingest`](crate::db::ingest::adopting::ingest); those of making keyspaces; `Busy`
/// when others drop and make keyspaces all the time. The set is checked before one is made; those
/// that were made when another error comes stay, empty, as others may have opened them.
pub fn ingest_by_name(
    core: &Arc<Core>,
    dir: &Path,
    options: &IngestOptions,
) -> Result<(FileSetSummary, Vec<String>)> {
    may_begin(core)?;
    user_code::told(|| {
        let orders = core.history.current().comparators.clone();
        let set = FileSet::read(&*core.env.fs, dir, &orders)?;
        let states = set.version.keyspaces.values();
        let names: Vec<String> = states.map(|state| state.name.to_string()).collect();
        let mut opened = Vec::new();
        for name in &names {
            let files = SetFiles::open(core, (dir, Some(name)))?;
            let mut asked = files.state.asked()?;
            asked.merge = known_rule(&files.state, &core.merge_rules)?;
            opened.push((files, asked));
        }
        for _ in 0..NAMED_TRIES_MAX {
            if let Some(taken) = take_named_in(core, &opened, options)? {
                return Ok((taken, names));
            }
            for ((_, asked), name) in opened.iter().zip(&names) {
                if core.keyspaces.find(name).is_none() {
                    find_or_create(core, name, Some(asked.clone()))?;
                }
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "keyspaces are dropped and made all the time; try again",
        ))
    })
}

// Brings the files here, checks them, makes the keyspaces that are missing, and takes the files in;
// `None`, with nothing changed but for keyspaces that were made, where somebody changes keyspaces:
// nobody on the books may wait for that.
fn take_named_in(
    core: &Arc<Core>,
    opened: &[(SetFiles, KeyspaceOptions)],
    options: &IngestOptions,
) -> Result<Option<FileSetSummary>> {
    let _job = book(core)?;
    let mut staged = Staged::new(core, options.verify);
    for (files, _) in opened.iter().filter(|_| options.verify) {
        let is_staying = match core.keyspaces.find(&files.state.name) {
            Some(target) => may_stay(&files.clone().goes_to(target)?, options.place)?,
            None => may_stay_in_new(files),
        };
        check(core, (files, is_staying), options.transfer, &mut staged)?;
    }
    let mut sources = Vec::new();
    for (files, asked) in opened {
        let name = &files.state.name;
        let Some(target) = target_of(core, name, asked)? else {
            return Ok(None);
        };
        sources.push(files.clone().goes_to(target)?);
    }
    take_in(core, &sources, options, staged).map(Some)
}

// The keyspace of that name, made if it is missing; `None` while somebody changes keyspaces.
fn target_of(
    core: &Core,
    name: &str,
    asked: &KeyspaceOptions,
) -> Result<Option<Arc<KeyspaceParts>>> {
    if let Some(target) = core.keyspaces.find(name) {
        return Ok(Some(target));
    }
    core.own_log.refuse_call()?;
    let Some(_changing) = core.keyspaces.try_change() else {
        return Ok(None);
    };
    core.gate.check_write()?;
    match core.keyspaces.find(name) {
        Some(target) => Ok(Some(target)),
        None => create(core, name, Some(asked.clone())).map(Some),
    }
}

#[cfg(test)]
mod tests;
