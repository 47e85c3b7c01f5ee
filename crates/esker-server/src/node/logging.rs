//! The stage that has the raft log: saves in; says how far it is durable, and how full it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker::{ErrorKind, Result};
use esker_raft::{GroupId, Record, Save, SaveNumber};

use crate::disk_log::DiskLog;
use crate::node::ask::LogPressure;
use crate::node::limits::PIN_ROUNDS_MAX;
use crate::node::replicas::Replicas;

/// The raft log of a node. One thread calls it.
pub struct Logging {
    log: DiskLog,
    replicas: Arc<Replicas>,
    bytes_max: u64,
    /// Records that are not appended, and the save that the last of them are of.
    taken: Vec<Record>,
    taken_number: Option<SaveNumber>,
    /// Whether anybody waits for one of them.
    taken_must_sync: bool,
    /// The last save that is appended and not durable.
    appended: Option<SaveNumber>,
    /// The groups with records that are not durable, and the last entry of each if it has one.
    unsynced: BTreeMap<GroupId, Option<u64>>,
    must_sync: bool,
    has_no_room: bool,
    /// Groups that keep the oldest segment of a log that is too long, and for how many rounds.
    pinning: BTreeMap<GroupId, u32>,
}

impl Logging {
    /// The log, of which everything is durable. From `bytes_max` bytes on writers are told to wait.
    pub fn new(log: DiskLog, replicas: Arc<Replicas>, bytes_max: u64) -> Logging {
        Logging {
            log,
            replicas,
            bytes_max,
            taken: Vec::new(),
            taken_number: None,
            taken_must_sync: false,
            appended: None,
            unsynced: BTreeMap::new(),
            must_sync: false,
            has_no_room: false,
            pinning: BTreeMap::new(),
        }
    }

    /// Takes a save, for the next [`Logging::write`].
    pub fn take(&mut self, save: Save) {
        self.taken.extend(save.records);
        self.taken_number = Some(save.number);
        self.taken_must_sync |= save.must_sync;
    }

    /// Whether something waits to be written.
    pub fn is_busy(&self) -> bool {
        self.taken_number.is_some() || self.must_sync
    }

    /// Appends all that was taken at once, and syncs if anybody waits for it. Says up to which save
    /// everything is durable, if that is news.
    ///
    /// A log without room is no error: what was taken waits until there is some, and the next
    /// [`Logging::upkeep`] says so. Errors: nothing more is taken then, and the node must end.
    pub fn write(&mut self) -> Result<Option<SaveNumber>> {
        self.append()?;
        if !std::mem::take(&mut self.must_sync) {
            return Ok(None);
        }
        self.log.sync()?;
        for (group, last) in std::mem::take(&mut self.unsynced) {
            let Some(view) = self.replicas.view(group) else {
                continue;
            };
            if let Some(last) = last {
                view.set_durable(last);
            }
            view.keyspace.own_log_is_durable();
        }
        Ok(self.appended.take())
    }

    /// Whether the log says nowhere how far it was synced: [`Logging::rest`] is to be called soon
    /// if nothing more comes.
    pub fn is_unmarked(&self) -> bool {
        !self.log.is_marked()
    }

    /// Nothing more came: what was synced is marked as such.
    ///
    /// Errors: as [`Logging::write`].
    pub fn rest(&mut self) -> Result<()> {
        self.log.mark()
    }

    fn append(&mut self) -> Result<()> {
        let Some(number) = self.taken_number else {
            return Ok(());
        };
        // Entries that others take the place of are durable no more, from before they are written.
        self.taken
            .iter()
            .for_each(|record| lower(&self.replicas, record));
        match self.log.append(&self.taken) {
            Ok(_) => {
                for record in &self.taken {
                    note(&mut self.unsynced, record);
                }
                self.taken.clear();
                self.taken_number = None;
                self.appended = Some(number);
                self.must_sync |= std::mem::take(&mut self.taken_must_sync);
                self.has_no_room = false;
                Ok(())
            }
            Err(error) if error.is_shortage() => {
                self.has_no_room = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Gives back what no group needs, and sees to it that none keeps too much: to be called every
    /// second, and followed by a [`Logging::write`].
    ///
    /// Errors: as [`Logging::write`].
    pub fn upkeep(&mut self) -> Result<LogPressure> {
        // What nobody waits for becomes durable now, so that it can let go of segments.
        self.must_sync |= self.appended.is_some();
        // What cannot be removed now is tried again in a second.
        if let Err(error) = self.log.release()
            && error.kind() == ErrorKind::Faulted
        {
            return Err(error);
        }
        let bytes = self.log.size_bytes();
        let is_long = bytes > self.bytes_max / 2;
        let pins = match is_long {
            true => self.log.pins(),
            false => Vec::new(),
        };
        let groups: BTreeSet<GroupId> = pins.iter().map(|pin| pin.group).collect();
        self.pinning.retain(|group, _| groups.contains(group));
        for &group in &groups {
            let rounds = self.pinning.entry(group).or_default();
            *rounds += 1;
            if *rounds > PIN_ROUNDS_MAX {
                *rounds = 0;
                self.rewrite(group)?;
            }
        }
        for pin in &pins {
            let view = self.replicas.view(pin.group);
            let is_behind = view.filter(|view| view.flushed() < pin.index);
            if let Some(view) = is_behind {
                // A keyspace that is gone needs no flush, and its replica no log.
                let _ = view.keyspace.flush_soon();
            }
        }
        Ok(LogPressure {
            has_no_room: self.has_no_room,
            is_full: self.has_no_room || bytes > self.bytes_max,
            is_tight: bytes > self.bytes_max / 4 * 3,
            pins,
        })
    }

    // The last resort for a group that cannot be flushed or compacted.
    fn rewrite(&mut self, group: GroupId) -> Result<()> {
        match self.log.rewrite(group) {
            Ok(()) => {
                self.must_sync = true;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Faulted => Err(error),
            // It has too many entries for that, or they cannot be read, or there is no room: the
            // log stays as long as it is, and writers wait when it is too long.
            Err(_) => Ok(()),
        }
    }

    /// Bytes of all segments.
    pub fn size_bytes(&self) -> u64 {
        self.log.size_bytes()
    }
}

// Entries of the group from the record's first one on are not durable any more.
fn lower(replicas: &Replicas, record: &Record) {
    let Record::Append { group, entries } = record else {
        return;
    };
    if let (Some(first), Some(view)) = (entries.first(), replicas.view(*group))
        && view.durable() >= first.index
    {
        view.set_durable(first.index - 1);
    }
}

// What is appended, and will be durable with the next sync.
fn note(unsynced: &mut BTreeMap<GroupId, Option<u64>>, record: &Record) {
    let last = unsynced.entry(record.group()).or_default();
    match record {
        Record::Append { entries, .. } => *last = entries.last().map(|entry| entry.index),
        Record::Begin { index, .. } => *last = Some(*index),
        Record::Destroy { .. } => *last = None,
        Record::Hard { .. } | Record::Compact { .. } => {}
    }
}
