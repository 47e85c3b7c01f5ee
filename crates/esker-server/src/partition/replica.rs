//! One replica's state: a keyspace, the machine over its rows, and how far both have come.

use esker::{Db, Durability, Error, ErrorKind, Keyspace, Result, WriteBatch, WriteOptions};
use esker_raft::{Committed, Effect, Mark, Point};
use esker_rpc::message::data::KeyAnswer;

use crate::partition::command::Command;
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
    /// Nothing: the entry changes the members, or nothing at all.
    Nothing,
}

/// Why an entry was not applied.
#[derive(Debug)]
pub enum NotApplied {
    /// Not now: memory, disk or compactions are behind. The same entry is to be tried again.
    Later(Error),
    /// The state cannot be read, or the entry cannot: this replica is damaged, others need not be.
    Damaged(Error),
    /// The whole database refuses writes.
    Ended(Error),
}

/// An entry that is done but for its commit.
struct Pending {
    batch: WriteBatch,
    mark: ReplicaMark,
    machine: Machine,
    brought: Brought,
}

/// The state of one replica. One thread applies; readers have the keyspace.
pub struct Replica {
    db: Db,
    keyspace: Keyspace,
    mark: ReplicaMark,
    machine: Machine,
    pending: Option<Pending>,
}

impl Replica {
    /// The state in `keyspace` as `mark` says.
    pub fn new(db: &Db, keyspace: Keyspace, mark: ReplicaMark) -> Replica {
        Replica {
            db: db.clone(),
            keyspace,
            machine: Machine {
                clock_us: mark.clock_us,
            },
            mark,
            pending: None,
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
        let mut machine = self.machine;
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
            Effect::Write(bytes) => {
                let command = Command::read(bytes).ok_or_else(unreadable)?;
                Brought::Keys(machine.apply(&self.keyspace, &command, &mut batch)?)
            }
        };
        let mark = ReplicaMark {
            raft,
            clock_us: machine.clock_us,
        };
        batch.mark(&self.keyspace, mark.encode());
        Ok(Pending {
            batch,
            mark,
            machine,
            brought,
        })
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
        ErrorKind::Faulted | ErrorKind::Closed => NotApplied::Ended(error),
        _ => NotApplied::Damaged(error),
    }
}

fn unreadable() -> Error {
    let message = "an entry of the raft log has a right checksum and cannot be read: a newer Esker \
                   wrote it";
    Error::new(ErrorKind::Unsupported, message)
}
