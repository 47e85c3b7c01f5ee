//! Takes sets of files into the database, by one edit: at one moment, over all keyspaces.
//!
//! What comes is newer than all that is there, and older than all that is written later. So from
//! the moment on at which its sequence numbers are chosen until the edit is installed, writers
//! wait: while what they wrote a moment ago is flushed, and one record of the manifest is synced.
//! No lock is held over that; they find a mark under their own lock, and wait for a signal.
//!
//! Readers do not wait. The number up to which they see is raised when all views have the files: so
//! whoever began before sees none of them, and whoever begins then sees all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{KeyspaceId, Level};
use crate::base::types::limits::LEVEL_COUNT;
use crate::base::types::seqno::{SeqNo, Visibility};
use crate::base::types::user_code;
use crate::db::claims::wait_for_keyspaces;
use crate::db::core::Core;
use crate::db::flush_barrier::Turn;
use crate::db::format_raise::raise_format;
use crate::db::ingest::booking::{book, may_begin};
use crate::db::ingest::bringing::Transfer;
use crate::db::ingest::file_set::Maker;
use crate::db::ingest::held_writers::HeldWriters;
use crate::db::ingest::placing::{Place, Prepared, may_stay, prepare};
use crate::db::ingest::source::{SetFiles, Source};
use crate::db::ingest::sst_writer::FileSetSummary;
use crate::db::ingest::staging::{Staged, StagedRun, remove_sets};
use crate::db::install::install;
use crate::db::keyspace::KeyspaceParts;
use crate::db::manual::flush_unless_parked;
use crate::db::snapshots::SnapshotOwner;
use crate::db::write_control;
use crate::store::version::apply::apply;
use crate::store::version::edit::{Change, Edit};
use crate::store::version::file::FileRecord;
use crate::store::version::format::ADOPTED_FORMAT;
use crate::store::version::needed_format::needed_format;

/// How often writers are let go on while a set is prepared anew because of what they wrote.
const TRIES_MAX: u32 = 2;

/// How files are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IngestOptions {
    /// Where it stands to what is there.
    pub place: Place,
    /// How they come into the directory of the database.
    pub transfer: Transfer,
    /// Whether every block of every file is read first and held against its checksum. It costs as
    /// much as reading the files once; without it, what is damaged inside is found by the first
    /// reader or compaction that comes to it. What the files say of themselves is checked in any
    /// case.
    pub verify: bool,
}

impl Default for IngestOptions {
    fn default() -> IngestOptions {
        IngestOptions {
            place: Place::default(),
            transfer: Transfer::default(),
            verify: true,
        }
    }
}

impl IngestOptions {
    /// The same with what comes standing there.
    pub fn place(self, place: Place) -> IngestOptions {
        IngestOptions { place, ..self }
    }

    /// The same with files that come in that way.
    pub fn transfer(self, transfer: Transfer) -> IngestOptions {
        IngestOptions { transfer, ..self }
    }

    /// The same, reading every block first or not.
    pub fn verify(self, verify: bool) -> IngestOptions {
        IngestOptions { verify, ..self }
    }
}

/// A set of files, or one keyspace of it, and where it goes.
pub struct Part<'a> {
    /// The keyspace that takes it in.
    pub target: &'a Arc<KeyspaceParts>,
    /// The directory of the set.
    pub dir: &'a Path,
    /// Which keyspace of the set is meant, if it has several.
    pub name: Option<&'a str>,
}

/// Takes all parts in, or none; those of one keyspace each above the one before. Says what came
/// into the database.
///
/// Errors: as [`SetFiles::open`] and [`SetFiles::goes_to`]; `Invalid` for several parts of one
/// keyspace where one of them is more than what an `SstWriter` wrote; those of a flush, of making
/// names, copies and of the manifest; `LockTimeout` when transactions keep locks on a keyspace;
/// `Conflict` when one is prepared that claims keys of the files. The database is as it was then,
/// and so are the sets.
pub fn ingest(
    core: &Arc<Core>,
    parts: &[Part<'_>],
    options: &IngestOptions,
) -> Result<FileSetSummary> {
    may_begin(core)?;
    user_code::told(|| {
        let opened = parts.iter().map(|part| {
            let files = SetFiles::open(core, (part.dir, part.name))?;
            files.goes_to(Arc::clone(part.target))
        });
        let sources = opened.collect::<Result<Vec<_>>>()?;
        refuse_unordered(&sources, options.place)?;
        let _job = book(core)?;
        let mut staged = Staged::new(core, options.verify);
        for source in sources.iter().filter(|_| options.verify) {
            let is_staying = may_stay(source, options.place)?;
            check(
                core,
                (&source.files, is_staying),
                options.transfer,
                &mut staged,
            )?;
        }
        take_in(core, &sources, options, staged)
    })
}

/// Reads every block of a set before anything changes: those of files that are to stay as they are
/// by their names here, once they have them.
///
/// Errors: `Corruption` for files that are damaged; those of making names and copies.
pub fn check(
    core: &Core,
    (files, is_staying): (&SetFiles, bool),
    transfer: Transfer,
    staged: &mut Staged<'_>,
) -> Result<()> {
    match is_staying {
        true => {
            let brought = staged.bring(files, transfer);
            brought.map_err(|error| files.in_set(error))
        }
        false => files.verify(core),
    }
}

/// Takes sets in of which those that were to be checked are, as [`ingest`]. Whoever calls this is
/// on the books.
pub fn take_in<'a>(
    core: &'a Arc<Core>,
    sources: &[Source],
    options: &IngestOptions,
    mut staged: Staged<'a>,
) -> Result<FileSetSummary> {
    let how = (options.place, options.transfer);
    let mut prepared = Vec::new();
    for source in sources {
        // So that the look at what is there finds it in files.
        flush_unless_parked(core, &source.target)?;
        prepared.push(prepare_in(core, source, how, &mut staged)?);
    }
    let mut tries_left = TRIES_MAX;
    while !take_prepared_in(
        core,
        (sources, &mut prepared),
        (how, tries_left == 0),
        &mut staged,
    )? {
        tries_left -= 1;
        for (source, ready) in sources.iter().zip(&mut prepared) {
            if !ready.still_fits(source)? {
                staged.give_up(ready.files());
                *ready = prepare_in(core, source, how, &mut staged)?;
            }
        }
    }
    staged.installed(prepared.iter().flat_map(Prepared::files));
    let mut all = FileSetSummary::default();
    for (source, ready) in sources.iter().zip(&prepared) {
        all.add_files(&source.files.state.comparator, ready.files());
    }
    drop(prepared);
    drop(staged);
    write_control::set_rates(core);
    if options.transfer == Transfer::Move {
        // What stays does no harm: all of it is in the database.
        let _left = remove_sets(core, sources);
    }
    Ok(all)
}

fn prepare_in<'a>(
    core: &'a Core,
    source: &Source,
    how: (Place, Transfer),
    staged: &mut Staged<'_>,
) -> Result<Prepared<'a>> {
    prepare(core, source, how, staged).map_err(|error| source.files.in_set(error))
}

// With writers waiting, takes in what is prepared; `false` when something does not fit any more,
// because it was written to a keyspace meanwhile. On the last try it is prepared once more under
// locks of the keyspaces, however long who writes to these waits: else it would never end where
// somebody writes all the time. Nobody else waits for that. What even then does not fit, because a
// prepared transaction was committed, is prepared again: no oftener than there are such, for none
// can be prepared in a keyspace that is locked.
fn take_prepared_in<'a>(
    core: &'a Arc<Core>,
    (sources, prepared): (&[Source], &mut [Prepared<'a>]),
    (how, is_last): ((Place, Transfer), bool),
    staged: &mut Staged<'_>,
) -> Result<bool> {
    // No checkpoint gathers the database meanwhile: it would have the files, and lack what was
    // written before them.
    let turn = Turn::take(core)?;
    for source in sources {
        // Most of what must be flushed, while writers still go on.
        flush_unless_parked(core, &source.target)?;
    }
    // Whoever locked a key of them goes first; whoever comes to one waits until all is visible.
    let targets = sources.iter().map(|source| source.target.id).collect();
    let locks = wait_for_keyspaces(core, &targets)?;
    if is_last {
        // Who saw no locks before there were these has written by now.
        core.committer.paused(|_| ());
    }
    loop {
        if is_last {
            fit(core, (sources, prepared), (how, true), staged)?;
        }
        let held = HeldWriters::hold(core);
        if fit(core, (sources, prepared), (how, false), staged)? {
            refuse_claimed(core, sources, prepared)?;
            adopt(core, sources, prepared)?;
            drop(held);
            drop(locks);
            drop(turn);
            return Ok(true);
        }
        drop(held);
        if !is_last {
            return Ok(false);
        }
    }
}

// Flushes what was written to the keyspaces, and prepares anew what does not fit any more; or says
// that there is such, where it may not be.
fn fit<'a>(
    core: &'a Arc<Core>,
    (sources, prepared): (&[Source], &mut [Prepared<'a>]),
    (how, may_prepare): ((Place, Transfer), bool),
    staged: &mut Staged<'_>,
) -> Result<bool> {
    for (source, ready) in sources.iter().zip(prepared) {
        flush_unless_parked(core, &source.target)?;
        if ready.still_fits(source)? {
            continue;
        }
        if !may_prepare {
            return Ok(false);
        }
        staged.give_up(ready.files());
        *ready = prepare_in(core, source, how, staged)?;
    }
    Ok(true)
}

// Several sets come into one keyspace one above the other, as they were named. What its maker meant
// by a set must not depend on the others for that, nor on what the keyspace holds.
fn refuse_unordered(sources: &[Source], place: Place) -> Result<()> {
    let is_stackable = |source: &Source| {
        place == Place::Above && source.files.maker == Maker::Writer && source.files.is_stackable()
    };
    for (index, source) in sources.iter().enumerate() {
        let id = source.target.id;
        let mut others = sources[..index]
            .iter()
            .filter(|other| other.target.id == id);
        if let Some(other) = others.next()
            && !(is_stackable(source) && is_stackable(other))
        {
            return Err(Error::invalid(format!(
                "keyspace {:?} is named twice, which only sets of an SstWriter may be that come \
                 above what is there; take one set after the other in",
                source.target.name
            )));
        }
    }
    Ok(())
}

// An ingest is a write, so it may not come to what a prepared transaction claims. None is prepared
// while writers wait.
fn refuse_claimed(core: &Core, sources: &[Source], prepared: &[Prepared<'_>]) -> Result<()> {
    if !core.committer.has_two_phases() {
        return Ok(());
    }
    core.committer.paused(|active| {
        for (source, ready) in sources.iter().zip(prepared) {
            for file in ready.files() {
                let (first, last) = (&file.smallest, &file.largest);
                let checked = active.check_keys_unclaimed(source.target.id, first, last);
                checked.map_err(|error| source.files.in_set(error))?;
            }
        }
        Ok(())
    })
}

// Gives all files the numbers behind the last write's, and makes them current, while writers wait.
fn adopt(core: &Arc<Core>, sources: &[Source], prepared: &[Prepared<'_>]) -> Result<()> {
    core.gate.check_write()?;
    // What is durable is a prefix of all writes: those in the log come before the files.
    core.committer.sync_log()?;
    let last = core.committer.visible();
    let version = core.history.current();
    // Half of all, so that plain writes, which ask nobody, have more left than there is time for.
    let newest_max = Visibility::own_seqno(0).get() / 2;
    let mut edit = Edit::new();
    let mut newest = last;
    let mut stacked = BTreeMap::new();
    for (source, ready) in sources.iter().zip(prepared) {
        let Some((smallest, largest)) = ready.seqnos() else {
            continue;
        };
        // Of several sets for one keyspace each has its numbers behind those of the one before.
        let below = stacked.get(&source.target.id).copied();
        let first = below.unwrap_or(last).get() + 1;
        let shown = |stored: SeqNo| first + (stored.get() - smallest.get());
        if shown(largest) >= newest_max {
            return Err(source.files.in_set(Error::invalid(
                "their sequence numbers are more than this database has left; load what they \
                 hold by `esker dump` and `esker load`",
            )));
        }
        let top = SeqNo::new(shown(largest));
        newest = newest.max(top);
        stacked.insert(source.target.id, top);
        let state = version.keyspace(source.target.id).ok_or_else(dropped)?;
        let is_empty = below.is_none() && state.levels.file_count() == 0;
        let shown = |stored| SeqNo::new(shown(stored));
        add_runs(&mut edit, (state.id, is_empty), &ready.runs, shown);
    }
    if edit.is_empty() {
        return Ok(());
    }
    // Refused here, before it is asked to be logged.
    apply(&version, &edit)?;
    raise_format(core, needed_format(&edit).max(ADOPTED_FORMAT))?;
    // Whoever reads at the number before, through a view that has the files already, finds what
    // compactions of them keep for this one.
    let now = core.env.clock.monotonic();
    let _pin = core.snapshots.pin(last, now, SnapshotOwner::Ingest);
    if !install(core, edit, None)? {
        return Err(dropped());
    }
    let targets = sources.iter().map(|source| source.target.id);
    core.committer.adopted(targets, newest);
    Ok(())
}

fn dropped() -> Error {
    Error::invalid("the keyspace was dropped")
}

// An empty keyspace takes runs where the set has them, and a single one at the bottom; another one
// takes them on top of all others.
fn add_runs(
    edit: &mut Edit,
    (keyspace, is_empty): (KeyspaceId, bool),
    runs: &[StagedRun],
    shown: impl Fn(SeqNo) -> SeqNo,
) {
    let bottom = Level::new(LEVEL_COUNT - 1).filter(|_| runs.len() == 1);
    for run in runs {
        let level = match is_empty {
            true => bottom.unwrap_or(run.level),
            false => Level::ZERO,
        };
        let first = run.files.iter().map(|file| file.number.0).min();
        let id = first.filter(|_| level == Level::ZERO).unwrap_or(0);
        edit.extend(run.files.iter().map(|record| Change::AddFile {
            keyspace,
            level,
            run: id,
            record: Arc::new(FileRecord {
                smallest_seqno: shown(record.smallest_seqno),
                largest_seqno: shown(record.largest_seqno),
                ..record.clone()
            }),
        }));
    }
}

#[cfg(test)]
mod tests;
