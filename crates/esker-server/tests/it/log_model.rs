//! What the shared log must hold, as a small and obvious model; and random work for it.

use std::collections::BTreeMap;

use esker::internals::env::random::Random;
use esker_raft::entry::Entry;
use esker_raft::{
    Configuration, GroupId, HardState, LogRead, LogState, NodeId, Point, ReadError, Record,
    ReplicaId,
};
use esker_server::disk_log::{DiskLog, LogReader};

/// Groups of the model. Few, so that they meet.
const GROUPS: u64 = 4;

/// One group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What the log says of it.
    pub state: LogState,
    /// Its entries behind the last compacted one.
    pub entries: BTreeMap<u64, (u64, Vec<u8>)>,
}

/// A log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// By their ids.
    pub groups: BTreeMap<u64, Group>,
    /// Largest replica ids.
    pub destroyed: BTreeMap<u64, u64>,
}

/// An entry.
pub fn entry(index: u64, term: u64, data: &[u8]) -> Entry {
    Entry {
        index,
        term,
        data: data.to_vec().into(),
        ..Entry::default()
    }
}

impl Model {
    /// The same behind a record.
    pub fn follow(&mut self, record: &Record) {
        match record {
            Record::Begin {
                group,
                replica,
                index,
                term,
                configuration,
            } => {
                let begin = Point {
                    index: *index,
                    term: *term,
                };
                let known = self.groups.get(&group.0);
                let known = known.filter(|known| known.state.replica == *replica);
                let hard = known.map(|known| known.state.hard).unwrap_or_default();
                let state = LogState {
                    replica: *replica,
                    begin,
                    configuration: configuration.clone(),
                    compacted: begin,
                    last: begin,
                    hard,
                };
                let entries = BTreeMap::new();
                self.groups.insert(group.0, Group { state, entries });
            }
            Record::Append { group, entries } => {
                let known = self.groups.get_mut(&group.0).unwrap();
                known.entries.split_off(&entries[0].index);
                for entry in entries {
                    let kept = (entry.term, entry.data.to_vec());
                    known.entries.insert(entry.index, kept);
                    known.state.last = Point {
                        index: entry.index,
                        term: entry.term,
                    };
                }
            }
            Record::Hard { group, state } => {
                self.groups.get_mut(&group.0).unwrap().state.hard = *state;
            }
            Record::Compact { group, index, term } => {
                let known = self.groups.get_mut(&group.0).unwrap();
                known.entries = known.entries.split_off(&(index + 1));
                known.state.compacted = Point {
                    index: *index,
                    term: *term,
                };
            }
            Record::Destroy { group, replica } => {
                self.groups.remove(&group.0);
                let known = self.destroyed.entry(group.0).or_default();
                *known = (*known).max(replica.0);
            }
        }
    }

    /// What a log shows to its readers.
    pub fn seen(reader: &LogReader) -> Model {
        let mut model = Model::default();
        for id in 0..GROUPS {
            let group = GroupId(id);
            if let Some(replica) = reader.destroyed(group) {
                model.destroyed.insert(id, replica.0);
            }
            let Some(state) = reader.state(group) else {
                assert_eq!(reader.term(group, 1), Err(ReadError::Unavailable));
                continue;
            };
            let (low, high) = (state.compacted.index + 1, state.last.index + 1);
            let mut entries = BTreeMap::new();
            if low < high {
                for entry in reader.read(group, low, high, u64::MAX).unwrap().unwrap() {
                    assert_eq!(reader.term(group, entry.index), Ok(entry.term));
                    entries.insert(entry.index, (entry.term, entry.data.to_vec()));
                }
                assert_eq!(entries.len() as u64, high - low);
            }
            let compacted = state.compacted;
            assert_eq!(reader.term(group, compacted.index), Ok(compacted.term));
            if compacted.index > 0 {
                let before = reader.term(group, compacted.index - 1);
                assert_eq!(before, Err(ReadError::Compacted));
                let before = reader.entries(group, compacted.index, high, 1);
                assert_eq!(before, Err(ReadError::Compacted));
            }
            assert_eq!(reader.term(group, high), Err(ReadError::Unavailable));
            model.groups.insert(id, Group { state, entries });
        }
        model
    }

    /// A record that may come next.
    pub fn next_record(&self, dice: &mut Random) -> Record {
        let id = dice.below(GROUPS);
        let group = GroupId(id);
        let Some(known) = self.groups.get(&id) else {
            let replica = ReplicaId(self.destroyed.get(&id).copied().unwrap_or(0) + 1);
            return begin(group, replica, 1 + dice.below(3), 1);
        };
        let state = &known.state;
        match dice.below(20) {
            0 => begin(
                group,
                state.replica,
                state.last.index + dice.below(9),
                state.last.term.max(1),
            ),
            1 => Record::Destroy {
                group,
                replica: state.replica,
            },
            2..=5 => {
                let index = state.compacted.index
                    + dice.below(state.last.index - state.compacted.index + 1);
                let term = match known.entries.get(&index) {
                    Some((term, _)) => *term,
                    None => state.compacted.term,
                };
                Record::Compact { group, index, term }
            }
            6..=9 => Record::Hard {
                group,
                state: HardState {
                    term: state.last.term + dice.below(2),
                    vote: dice.below(4),
                    commit: state.compacted.index,
                },
            },
            _ => self.append(group, known, dice),
        }
    }

    fn append(&self, group: GroupId, known: &Group, dice: &mut Random) -> Record {
        let state = &known.state;
        // Mostly behind the last entry; sometimes in place of some of the last ones.
        let back = match dice.one_in(4) {
            true => dice.below(state.last.index - state.compacted.index + 1),
            false => 0,
        };
        let first = state.last.index + 1 - back;
        let before = known.entries.get(&(first - 1));
        let before = before.map_or(state.compacted.term, |(term, _)| *term);
        let mut term = before.max(1) + u64::from(back > 0);
        let entries = (first..=first + dice.below(6)).map(|index| {
            term += u64::from(dice.one_in(8));
            let len = match dice.below(30) {
                0 => 40_000 + dice.below(30_000) as usize,
                _ => dice.below(300) as usize,
            };
            let data = dice.bytes(len);
            entry(index, term, &data)
        });
        Record::Append {
            group,
            entries: entries.collect(),
        }
    }
}

/// The begin of a group with three voters.
pub fn begin(group: GroupId, replica: ReplicaId, index: u64, term: u64) -> Record {
    let voters = [0, 1, 2].map(|more| (ReplicaId(replica.0 + more), NodeId(more)));
    Record::Begin {
        group,
        replica,
        index,
        term,
        configuration: Configuration::first(index, &voters),
    }
}

/// Random work on a log, and what it must hold.
pub struct Work {
    /// Behind each record that was begun to be written; the last one is now.
    pub history: Vec<Model>,
    /// How many of them are durable for certain.
    pub durable: usize,
    dice: Random,
}

impl Work {
    /// Nothing was written; `now` is there and durable.
    pub fn new(now: Model, seed: u64) -> Work {
        Work {
            history: vec![now],
            durable: 0,
            dice: Random::new(seed),
        }
    }

    /// The model of now.
    pub fn now(&self) -> &Model {
        self.history.last().unwrap()
    }

    /// One step; an error is the log's.
    pub fn step(&mut self, log: &mut DiskLog) -> esker::Result<()> {
        match self.dice.below(10) {
            0..=5 => {
                let mut records = Vec::new();
                for _ in 0..1 + self.dice.below(4) {
                    let mut now = self.now().clone();
                    let record = now.next_record(&mut self.dice);
                    now.follow(&record);
                    records.push(record);
                    self.history.push(now);
                }
                log.append(&records).map(drop)
            }
            6..=7 => {
                log.sync()?;
                self.durable = self.history.len() - 1;
                match self.dice.one_in(2) {
                    true => log.mark(),
                    false => Ok(()),
                }
            }
            8 => {
                if self.dice.one_in(2) {
                    log.sync()?;
                    self.durable = self.history.len() - 1;
                }
                log.release().map(drop)
            }
            _ => match log.pins().first().copied() {
                None => Ok(()),
                Some(pin) if self.dice.one_in(2) => log.rewrite(pin.group),
                Some(pin) => {
                    let known = &self.now().groups[&pin.group.0];
                    let (term, _) = known.entries[&pin.index];
                    let (group, index) = (pin.group, pin.index);
                    let record = Record::Compact { group, index, term };
                    let mut now = self.now().clone();
                    now.follow(&record);
                    self.history.push(now);
                    log.append(&[record]).map(drop)
                }
            },
        }
    }

    /// Holds what a log shows after a crash against what may be; the work goes on from there.
    ///
    /// # Panics
    /// When it is no prefix of what was written that has everything that was durable.
    pub fn settle(&mut self, seen: Model, told: &str) {
        let allowed = &self.history[self.durable..];
        let found = allowed.iter().position(|model| *model == seen);
        if found.is_none() {
            let is_older = self.history.contains(&seen);
            panic!(
                "{told}: {}",
                match is_older {
                    true => "what was durable is lost".to_owned(),
                    false => format!("no such state was ever written: {seen:?}"),
                }
            );
        }
        self.history = vec![seen];
        self.durable = 0;
    }
}
