//! The version that an edit makes of another; a pure function.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::limits::{KEYSPACE_COUNT_MAX, KEYSPACE_NAME_BYTES_MAX};
use crate::base::types::seqno::SeqNo;
use crate::store::version::edit::{Change, SettingsText};
use crate::store::version::file::FileRecord;
use crate::store::version::format::check_format;
use crate::store::version::levels::{Levels, LevelsEdit};
use crate::store::version::run::RunId;
use crate::store::version::state::{KeyspaceState, Version, has_own_clock, is_unlogged};

/// The version that `edit` makes of `base`. Cost: one pass over each level that the edit names,
/// and a shared pointer for each keyspace and each other level.
///
/// Errors: `Corruption` when the edit contradicts the version: a file removed that is not there
/// or added that is, files that overlap where they must not, an unknown keyspace, a number or a
/// name used twice, a format that goes back. `Unsupported` for a format or an order of keys that
/// this program does not have. `base` is as it was in any case.
pub fn apply(base: &Version, edit: &[Change]) -> Result<Version> {
    let mut replay = Replay::new(base.clone());
    replay.apply(edit)?;
    replay.finish()
}

/// Many edits, one after the other, with the levels rebuilt only once behind the last: a
/// manifest of 10 000 edits opens in the time of one, not of 10 000.
#[derive(Debug)]
pub struct Replay {
    /// Everything but the files is already as it will be.
    next: Version,
    /// What the edit at hand does to files.
    pending: BTreeMap<KeyspaceId, LevelsEdit>,
    /// What all edits before it came to.
    net: BTreeMap<KeyspaceId, NetFiles>,
}

/// What several edits come to: a file that came and went again is neither added nor removed.
#[derive(Debug, Default)]
struct NetFiles {
    removed: BTreeMap<FileNumber, Level>,
    added: BTreeMap<FileNumber, (Level, RunId, Arc<FileRecord>)>,
}

impl Replay {
    /// A replay of edits on top of `base`.
    pub fn new(base: Version) -> Replay {
        Replay {
            next: base,
            pending: BTreeMap::new(),
            net: BTreeMap::new(),
        }
    }

    /// Applies the next edit. Errors as [`apply`], except that files of one run that overlap are
    /// found by [`Replay::finish`]; after an error, the replay is of no use.
    pub fn apply(&mut self, edit: &[Change]) -> Result<()> {
        for change in edit {
            self.make(change)?;
        }
        // The files come last, all at once: so a file may move between levels whichever of its
        // two changes is listed first.
        for (id, pending) in std::mem::take(&mut self.pending) {
            self.net.entry(id).or_default().take(pending)?;
        }
        Ok(())
    }

    /// The version after all edits.
    pub fn finish(mut self) -> Result<Version> {
        for (id, net) in std::mem::take(&mut self.net) {
            let state = self.keyspace(id)?;
            let edited = state.levels.edited(&state.comparator, net.into_edit());
            let edited = edited.map_err(|error| {
                Error::corruption(format!("keyspace {:?}", state.name)).caused_by(error)
            })?;
            state.levels = Arc::new(edited);
        }
        Ok(self.next)
    }

    fn make(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::AddFile {
                keyspace,
                level,
                run,
                record,
            } => self.add_file(*keyspace, *level, *run, record),
            Change::RemoveFile {
                keyspace,
                level,
                number,
            } => {
                let files = self.files_of(*keyspace)?;
                files.removed.push((*level, *number));
                Ok(())
            }
            Change::CreateKeyspace {
                id,
                name,
                comparator_name,
                merge_name,
                settings,
            } => self.create(*id, name, comparator_name, merge_name.as_deref(), settings),
            Change::DropKeyspace { id } => self.drop_keyspace(*id),
            Change::ChangeSettings {
                id,
                settings,
                merge_name,
            } => self.change_settings(*id, settings, merge_name.as_deref()),
            Change::SetFlushed { keyspace, seqno } => {
                let state = self.keyspace(*keyspace)?;
                state.flushed = state.flushed.max(*seqno);
                // A write numbered up to here would be taken for flushed, and lost by a replay.
                self.next.last_seqno = self.next.last_seqno.max(*seqno);
                Ok(())
            }
            Change::SetMark { keyspace, mark } => self.set_mark(*keyspace, mark),
            Change::SetClock { keyspace, unix_ms } => self.set_clock(*keyspace, *unix_ms),
            Change::SetFirstLog { number } => {
                self.next.first_log = self.next.first_log.max(*number);
                // A log with a smaller number would not be replayed.
                self.next.next_file = self.next.next_file.max(*number);
                Ok(())
            }
            Change::SetNextFile { number } => {
                self.next.next_file = self.next.next_file.max(*number);
                Ok(())
            }
            Change::SetLastSeqno { seqno } => {
                self.next.last_seqno = self.next.last_seqno.max(*seqno);
                Ok(())
            }
            Change::SetNextKeyspace { id } => {
                self.next.next_keyspace = self.next.next_keyspace.max(*id);
                Ok(())
            }
            Change::SetFormat { version } => self.set_format(*version),
        }
    }

    fn add_file(
        &mut self,
        keyspace: KeyspaceId,
        level: Level,
        run: RunId,
        record: &Arc<FileRecord>,
    ) -> Result<()> {
        let number = record.number;
        if level != Level::ZERO && run != 0 {
            return Err(Error::corruption(format!(
                "file {number} names run {run} at {level}, which is one run"
            )));
        }
        let files = self.files_of(keyspace)?;
        files.added.push((level, run, Arc::clone(record)));
        let following = number
            .0
            .checked_add(1)
            .ok_or_else(|| Error::corruption(format!("file {number} has the largest number")))?;
        self.next.next_file = self.next.next_file.max(FileNumber(following));
        self.next.last_seqno = self.next.last_seqno.max(record.largest_seqno);
        Ok(())
    }

    fn create(
        &mut self,
        id: KeyspaceId,
        name: &str,
        comparator_name: &str,
        merge_name: Option<&str>,
        settings: &SettingsText,
    ) -> Result<()> {
        let is_name_fit = !name.is_empty() && name.len() <= KEYSPACE_NAME_BYTES_MAX;
        if !is_name_fit || self.next.names.contains_key(name) {
            let what = "is empty, too long or taken";
            return Err(Error::corruption(format!("keyspace name {name:?} {what}")));
        }
        if has_own_clock(settings) && !is_unlogged(settings) {
            let what = "has a clock of its own and is not unlogged";
            return Err(Error::corruption(format!("keyspace {name:?} {what}")));
        }
        if id < self.next.next_keyspace {
            return Err(Error::corruption(format!("keyspace {id} was there before")));
        }
        if self.next.keyspaces.len() >= KEYSPACE_COUNT_MAX {
            return Err(Error::invalid(format!(
                "a database has at most {KEYSPACE_COUNT_MAX} keyspaces; drop one first"
            )));
        }
        let following = id
            .0
            .checked_add(1)
            .ok_or_else(|| Error::corruption(format!("keyspace {id} has the largest number")))?;
        let comparator = self.next.comparators.find(comparator_name);
        let comparator = comparator.map_err(|error| {
            Error::new(error.kind(), format!("keyspace {name:?}")).caused_by(error)
        })?;
        let name: Arc<str> = Arc::from(name);
        let state = KeyspaceState {
            id,
            name: Arc::clone(&name),
            comparator,
            merge_name: merge_name.map(Arc::from),
            settings: Arc::new(settings.clone()),
            flushed: SeqNo::ZERO,
            mark: None,
            clock_ms: has_own_clock(settings).then_some(0),
            levels: Arc::new(Levels::default()),
        };
        self.next.next_keyspace = KeyspaceId(following);
        self.next.keyspaces.insert(id, Arc::new(state));
        Arc::make_mut(&mut self.next.names).insert(name, id);
        Ok(())
    }

    fn drop_keyspace(&mut self, id: KeyspaceId) -> Result<()> {
        let state = self.next.keyspaces.remove(&id);
        let state = state.ok_or_else(|| unknown_keyspace(id))?;
        Arc::make_mut(&mut self.next.names).remove(&state.name);
        self.pending.remove(&id);
        self.net.remove(&id);
        Ok(())
    }

    fn change_settings(
        &mut self,
        id: KeyspaceId,
        settings: &SettingsText,
        merge_name: Option<&str>,
    ) -> Result<()> {
        let state = self.keyspace(id)?;
        if is_unlogged(settings) != state.is_unlogged() {
            return Err(Error::corruption(format!(
                "keyspace {id} changes whether it is unlogged, which is for ever"
            )));
        }
        if has_own_clock(settings) != state.clock_ms.is_some() {
            return Err(Error::corruption(format!(
                "keyspace {id} changes whether it has a clock of its own, which is for ever"
            )));
        }
        state.settings = Arc::new(settings.clone());
        state.merge_name = merge_name.map(Arc::from);
        Ok(())
    }

    fn set_mark(&mut self, id: KeyspaceId, mark: &Bytes) -> Result<()> {
        let state = self.keyspace(id)?;
        if !state.is_unlogged() {
            return Err(Error::corruption(format!(
                "keyspace {id} has a mark and is not unlogged"
            )));
        }
        state.mark = (!mark.is_empty()).then(|| mark.clone());
        Ok(())
    }

    fn set_clock(&mut self, id: KeyspaceId, unix_ms: u64) -> Result<()> {
        let state = self.keyspace(id)?;
        let Some(clock_ms) = state.clock_ms else {
            return Err(Error::corruption(format!(
                "keyspace {id} is told the time and has no clock of its own"
            )));
        };
        state.clock_ms = Some(clock_ms.max(unix_ms));
        Ok(())
    }

    fn set_format(&mut self, version: u32) -> Result<()> {
        check_format(version)?;
        if version < self.next.format_version {
            let current = self.next.format_version;
            return Err(Error::corruption(format!(
                "format version goes back from {current} to {version}"
            )));
        }
        self.next.format_version = version;
        Ok(())
    }

    fn keyspace(&mut self, id: KeyspaceId) -> Result<&mut KeyspaceState> {
        let state = self.next.keyspaces.get_mut(&id);
        Ok(Arc::make_mut(state.ok_or_else(|| unknown_keyspace(id))?))
    }

    fn files_of(&mut self, id: KeyspaceId) -> Result<&mut LevelsEdit> {
        if !self.next.keyspaces.contains_key(&id) {
            return Err(unknown_keyspace(id));
        }
        Ok(self.pending.entry(id).or_default())
    }
}

impl NetFiles {
    fn take(&mut self, edit: LevelsEdit) -> Result<()> {
        for (level, number) in edit.removed {
            match self.added.remove(&number) {
                Some((at, _, _)) if at == level => {}
                Some(_) => return Err(not_there(number, level)),
                None => {
                    if self.removed.insert(number, level).is_some() {
                        return Err(not_there(number, level));
                    }
                }
            }
        }
        for (level, run, record) in edit.added {
            let number = record.number;
            if self.added.insert(number, (level, run, record)).is_some() {
                return Err(Error::corruption(format!(
                    "file {number} is added but there already"
                )));
            }
        }
        Ok(())
    }

    fn into_edit(self) -> LevelsEdit {
        let removed = self.removed.into_iter();
        LevelsEdit {
            removed: removed.map(|(number, level)| (level, number)).collect(),
            added: self.added.into_values().collect(),
        }
    }
}

fn not_there(number: FileNumber, level: Level) -> Error {
    Error::corruption(format!(
        "file {number} is removed from {level} but not there"
    ))
}

fn unknown_keyspace(id: KeyspaceId) -> Error {
    Error::corruption(format!("keyspace {id} is not there"))
}

#[cfg(test)]
pub(in crate::store::version) mod tests;
