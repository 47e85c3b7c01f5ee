//! The log of one node's groups: a crash loses what is not synced.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use esker_raft::entry::Entry;
use esker_raft::{
    Configuration, GroupId, HardState, LogRead, LogState, Point, ReadError, Record, ReplicaId,
    Save, SaveNumber,
};

use crate::sim::plan::Planted;
use crate::sim::rng::Rng;

/// A disk that several hold on to: the shard, to read, and its owner.
#[derive(Clone)]
pub struct Disk(Arc<Mutex<Inner>>);

struct Inner {
    planted: Planted,
    groups: BTreeMap<GroupId, GroupLog>,
    destroyed: BTreeMap<GroupId, ReplicaId>,
    pending: VecDeque<Save>,
    // What is durable, where a bug has the shard read what is not.
    durable: BTreeMap<GroupId, GroupLog>,
    // The group of the last record that was synced, as it was before, for a disk that lies.
    undo: Option<(GroupId, Option<GroupLog>)>,
}

#[derive(Clone)]
struct GroupLog {
    replica: ReplicaId,
    begin: Point,
    configuration: Configuration,
    compacted: Point,
    hard: HardState,
    entries: VecDeque<Entry>,
}

impl Disk {
    pub fn new(planted: Planted) -> Disk {
        Disk(Arc::new(Mutex::new(Inner {
            planted,
            groups: BTreeMap::new(),
            destroyed: BTreeMap::new(),
            pending: VecDeque::new(),
            durable: BTreeMap::new(),
            undo: None,
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("one thread")
    }

    /// Everything up to `number` becomes durable; gives what that is.
    pub fn sync(&self, number: SaveNumber) -> Vec<Record> {
        let mut inner = self.inner();
        let mut durable = Vec::new();
        while inner
            .pending
            .front()
            .is_some_and(|save| save.number <= number)
        {
            let save = inner.pending.pop_front().expect("there is one");
            inner.write_durably(&save.records);
            durable.extend(save.records);
        }
        durable
    }

    /// What the writes in a group's log say, applied or not.
    pub fn payloads(&self, group: GroupId) -> Vec<Vec<u8>> {
        let inner = self.inner();
        let entries = inner.groups.get(&group).map(|log| &log.entries);
        let payloads = entries.into_iter().flatten();
        payloads.map(|entry| entry.data.to_vec()).collect()
    }

    /// The power goes: of what was not synced some records survive, from the front; gives those.
    pub fn crash(&self, rng: &mut Rng) -> Vec<Record> {
        let mut inner = self.inner();
        if inner.planted == Planted::LyingDisk
            && let Some((group, before)) = inner.undo.take()
        {
            match before {
                Some(before) => inner.groups.insert(group, before),
                None => inner.groups.remove(&group),
            };
            inner.pending.clear();
            return Vec::new();
        }
        let mut records: Vec<Record> = inner
            .pending
            .drain(..)
            .flat_map(|save| save.records)
            .collect();
        let kept = usize::try_from(rng.below(records.len() as u64 + 1)).expect("an index");
        records.truncate(kept);
        inner.write_durably(&records);
        if inner.planted == Planted::AckBeforeDurable {
            inner.groups = inner.durable.clone();
        }
        records
    }

    pub fn all_destroyed(&self) -> BTreeMap<GroupId, ReplicaId> {
        self.inner().destroyed.clone()
    }

    /// The disk is replaced by an empty one.
    pub fn wipe(&self, group: GroupId) {
        self.inner().groups.remove(&group);
    }
}

impl Inner {
    fn write_durably(&mut self, records: &[Record]) {
        let is_apart = self.planted == Planted::AckBeforeDurable;
        if is_apart {
            std::mem::swap(&mut self.groups, &mut self.durable);
        }
        for record in records {
            self.write(record);
        }
        if is_apart {
            std::mem::swap(&mut self.groups, &mut self.durable);
        }
    }

    fn write(&mut self, record: &Record) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        let read = Record::decode(&bytes).expect("what was written reads");
        assert_eq!(&read, record);
        let group = record.group();
        self.undo = Some((group, self.groups.get(&group).cloned()));
        match read {
            Record::Begin {
                replica,
                index,
                term,
                configuration,
                ..
            } => {
                let hard = self
                    .groups
                    .get(&group)
                    .map(|log| log.hard)
                    .unwrap_or_default();
                let begin = Point { index, term };
                let log = GroupLog {
                    replica,
                    begin,
                    configuration,
                    compacted: begin,
                    hard,
                    entries: VecDeque::new(),
                };
                self.groups.insert(group, log);
            }
            Record::Append { entries, .. } => self.append(group, entries),
            Record::Hard { state, .. } => self.log(group).hard = state,
            Record::Compact { index, term, .. } => {
                let log = self.log(group);
                log.entries.retain(|entry| entry.index > index);
                log.compacted = Point { index, term };
            }
            Record::Destroy { replica, .. } => {
                self.groups.remove(&group);
                if self.planted != Planted::ForgetTombstone {
                    self.destroyed.insert(group, replica);
                }
            }
        }
    }

    fn append(&mut self, group: GroupId, entries: Vec<Entry>) {
        let keeps = self.planted == Planted::KeepTruncated;
        let log = self.log(group);
        let first = entries[0].index;
        let end = entries[entries.len() - 1].index;
        let tail: Vec<Entry> = log
            .entries
            .iter()
            .filter(|e| e.index > end)
            .cloned()
            .collect();
        log.entries.retain(|entry| entry.index < first);
        let last = log
            .entries
            .back()
            .map_or(log.compacted.index, |entry| entry.index);
        assert_eq!(last + 1, first, "an append leaves no hole");
        log.entries.extend(entries);
        if keeps {
            log.entries.extend(tail);
        }
    }

    fn log(&mut self, group: GroupId) -> &mut GroupLog {
        self.groups
            .get_mut(&group)
            .expect("a log begins before it goes on")
    }
}

impl GroupLog {
    fn last(&self) -> Point {
        self.entries.back().map_or(self.compacted, |entry| Point {
            index: entry.index,
            term: entry.term,
        })
    }

    fn get(&self, index: u64) -> Option<&Entry> {
        let offset = index.checked_sub(self.compacted.index + 1)?;
        self.entries.get(usize::try_from(offset).ok()?)
    }
}

/// Reads only what is durable, so that nothing but the cache can have what is not.
impl LogRead for Disk {
    fn entries(
        &self,
        group: GroupId,
        low: u64,
        high: u64,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, ReadError> {
        let inner = self.inner();
        let log = inner.groups.get(&group).ok_or(ReadError::Unavailable)?;
        if low <= log.compacted.index {
            return Err(ReadError::Compacted);
        }
        if high > log.last().index + 1 {
            return Err(ReadError::Unavailable);
        }
        let mut found = Vec::new();
        let mut bytes = 0;
        for index in low..high {
            let entry = log.get(index).ok_or(ReadError::Unavailable)?;
            bytes += entry.data.len() as u64;
            if !found.is_empty() && bytes > bytes_max {
                break;
            }
            found.push(entry.clone());
        }
        Ok(found)
    }

    fn term(&self, group: GroupId, index: u64) -> Result<u64, ReadError> {
        let inner = self.inner();
        let log = inner.groups.get(&group).ok_or(ReadError::Unavailable)?;
        if index == log.compacted.index {
            return Ok(log.compacted.term);
        }
        match log.get(index) {
            Some(entry) => Ok(entry.term),
            None if index < log.compacted.index => Err(ReadError::Compacted),
            None => Err(ReadError::Unavailable),
        }
    }
}

impl Disk {
    /// Takes the records of a turn; durable later, and then told to the shard by number.
    pub fn save(&mut self, save: &Save) {
        let mut inner = self.inner();
        inner.pending.push_back(save.clone());
        if inner.planted == Planted::AckBeforeDurable {
            for record in &save.records {
                inner.write(record);
            }
        }
    }

    /// What a group's log holds, when its replica is started again.
    pub fn state(&self, group: GroupId) -> Option<LogState> {
        let inner = self.inner();
        let log = inner.groups.get(&group)?;
        Some(LogState {
            replica: log.replica,
            begin: log.begin,
            configuration: log.configuration.clone(),
            compacted: log.compacted,
            last: log.last(),
            hard: log.hard,
        })
    }

    /// The largest replica id of a group that was destroyed here.
    pub fn destroyed(&self, group: GroupId) -> Option<ReplicaId> {
        self.inner().destroyed.get(&group).copied()
    }
}
