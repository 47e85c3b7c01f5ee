//! One replica's state: a keyspace, the machine over its rows, and how far both have come.

use std::sync::Arc;

use esker::{Db, Durability, Error, ErrorKind, Keyspace, Result, WriteBatch, WriteOptions};
use esker_raft::{Committed, Effect, GroupId, Mark, Point};
use esker_rpc::message::data::KeyAnswer;

use crate::meta::ids::META;
use crate::meta::state::{RowChange, State};
use crate::partition::command::Command;
use crate::partition::ended::put_mark;
use crate::partition::machine::Machine;
use crate::partition::mark::ReplicaMark;

/// A write that does not wait and needs no log of the engine's: the raft log has it.
const APPLIED: WriteOptions = WriteOptions {
    durability: Some(Durability::Memory),
    no_wait: true,
};

/// What an entry brought to those who asked for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Brought {
    /// An answer to each write of the entry, in their order.
    Keys(Vec<KeyAnswer>),
    /// What the machine of the meta service says.
    Meta(Vec<u8>),
    /// Nothing: the entry changes the members, or nothing at all.
    Nothing,
}

/// Why an entry was not applied.
#[derive(Debug)]
pub enum NotApplied {
    /// Not now: memory, disk or compactions are behind. The same entry is to be tried again.
    Later(Error),
    /// The state cannot be read: this replica is damaged, others need not be.
    Damaged(Error),
    /// This process cannot go on with it: the database refuses writes, or the entry is of a newer
    /// version.
    Ended(Error),
}

/// An entry that is done but for its commit.
struct Pending {
    batch: WriteBatch,
    mark: ReplicaMark,
    machine: AnyMachine,
    brought: Brought,
}

/// What makes rows of entries: of a partition, or of the meta service.
#[derive(Clone)]
enum AnyMachine {
    Keys(Machine),
    Meta(Arc<State>),
}

/// The state of one replica. One thread applies; readers have the keyspace.
pub struct Replica {
    db: Db,
    group: GroupId,
    keyspace: Keyspace,
    mark: ReplicaMark,
    machine: AnyMachine,
    pending: Option<Pending>,
}

impl Replica {
    /// The state of a group's replica in `keyspace` as `mark` says. That of the meta service is
    /// read whole.
    ///
    /// Errors: `Corruption` of rows that are none of the meta service's; those of reading.
    pub fn new(
        db: &Db,
        group: GroupId,
        (keyspace, mark): (Keyspace, ReplicaMark),
    ) -> Result<Replica> {
        let machine = match group {
            META => AnyMachine::Meta(Arc::new(read_meta(&keyspace)?)),
            _ => AnyMachine::Keys(Machine {
                clock_us: mark.clock_us,
            }),
        };
        Ok(Replica {
            db: db.clone(),
            group,
            keyspace,
            machine,
            mark,
            pending: None,
        })
    }

    /// What the meta service knows, if this is its replica.
    pub fn meta(&self) -> Option<&Arc<State>> {
        match &self.machine {
            AnyMachine::Meta(state) => Some(state),
            AnyMachine::Keys(_) => None,
        }
    }

    /// Its rows.
    pub fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }

    /// How far it has come.
    pub fn mark(&self) -> &ReplicaMark {
        &self.mark
    }

    /// Applies the next entry: one batch, with the mark behind it. Nothing waits.
    ///
    /// Errors: the state is as before the entry then.
    ///
    /// # Panics
    ///
    /// On an entry that does not follow on the last one.
    pub fn apply(&mut self, entry: &Committed) -> std::result::Result<Brought, NotApplied> {
        assert_eq!(
            entry.index,
            self.mark.raft.applied.index + 1,
            "entries are applied one by one"
        );
        let pending = match self.pending.take() {
            Some(pending) => pending,
            None => self.prepare(entry).map_err(classify)?,
        };
        self.commit(pending)
    }

    fn prepare(&self, entry: &Committed) -> Result<Pending> {
        let mut machine = self.machine.clone();
        let mut batch = self.db.batch();
        let mut raft = Mark {
            applied: Point {
                index: entry.index,
                term: entry.term,
            },
            begun: self.mark.raft.begun,
            configuration: self.mark.raft.configuration.clone(),
        };
        let brought = match &entry.effect {
            Effect::Nothing => Brought::Nothing,
            Effect::Configuration(configuration) => {
                raft.configuration = configuration.clone();
                Brought::Nothing
            }
            Effect::Write(bytes) => match &mut machine {
                AnyMachine::Keys(machine) => {
                    let command = Command::read(bytes).ok_or_else(unreadable)?;
                    Brought::Keys(machine.apply(&self.keyspace, &command, &mut batch)?)
                }
                AnyMachine::Meta(state) => {
                    let state = Arc::make_mut(state);
                    let applied = state.apply(bytes).map_err(|_| unreadable())?;
                    self.put_meta(&mut batch, &applied.rows);
                    Brought::Meta(applied.answer)
                }
            },
        };
        let clock_us = match &machine {
            AnyMachine::Keys(machine) => machine.clock_us,
            AnyMachine::Meta(_) => 0,
        };
        let mark = ReplicaMark { raft, clock_us };
        put_mark(&mut batch, (self.group, &self.keyspace), &mark);
        Ok(Pending {
            batch,
            mark,
            machine,
            brought,
        })
    }

    fn put_meta(&self, batch: &mut WriteBatch, rows: &[RowChange]) {
        for row in rows {
            match &row.value {
                Some(value) => batch.put(&self.keyspace, &row.key, value),
                None => batch.delete(&self.keyspace, &row.key),
            };
        }
    }

    fn commit(&mut self, mut pending: Pending) -> std::result::Result<Brought, NotApplied> {
        if let Err(error) = pending.batch.commit_with(APPLIED) {
            let error = classify(error);
            if matches!(error, NotApplied::Later(_)) {
                self.pending = Some(pending);
            }
            return Err(error);
        }
        self.mark = pending.mark;
        self.machine = pending.machine;
        Ok(pending.brought)
    }
}

fn classify(error: Error) -> NotApplied {
    match error.kind() {
        ErrorKind::Busy | ErrorKind::OutOfSpace | ErrorKind::OutOfFiles => NotApplied::Later(error),
        ErrorKind::Corruption => NotApplied::Damaged(error),
        // Whatever it is, the rows need not be damaged: a newer Esker wrote the entry, or the disk
        // does not answer. The next life may go on where this one ends.
        _ => NotApplied::Ended(error),
    }
}

fn read_meta(keyspace: &Keyspace) -> Result<State> {
    let mut rows = Vec::new();
    for row in keyspace.iter()? {
        rows.push(row?);
    }
    State::load(rows).map_err(|error| Error::corruption(error.to_string()))
}

fn unreadable() -> Error {
    let message = "an entry of the raft log has a right checksum and cannot be read: a newer Esker \
                   wrote it";
    Error::new(ErrorKind::Unsupported, message)
}
