//! YCSB's operations on a table: a record is one value, laid out as a binding of YCSB does it.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::json_record;
use crate::scenario::ycsb::record::{NoRecord, fields, replace_fields};
use crate::scenario::ycsb::reply::Reply;
use crate::target::store::{Store, WriteHow};

/// Which binding of YCSB is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// That of RocksDB: fields with their lengths; an update reads, changes and writes.
    RocksDb,
    /// That of Pegasus: an object in JSON; an update writes the fields it has and nothing else.
    Pegasus,
}

/// A table in a store. Any number of threads use it at the same time.
pub struct Table<'a> {
    store: &'a dyn Store,
    binding: Binding,
    first_failure: OnceLock<String>,
}

/// What a thread needs to work on a table, used again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    current: Vec<u8>,
    updated: Vec<u8>,
}

/// Takes the fields that were read, name and value.
pub type Take<'a> = dyn FnMut(&[u8], &[u8]) + 'a;

impl<'a> Table<'a> {
    /// The table that is all of the store.
    pub fn new(store: &'a dyn Store, binding: Binding) -> Table<'a> {
        Table {
            store,
            binding,
            first_failure: OnceLock::new(),
        }
    }

    /// Reads the fields of a record.
    pub fn read(&self, key: &[u8], take: &mut Take<'_>) -> Reply {
        let mut parsed = Ok(());
        let found = self.store.get(key, &mut |record| {
            let told = match self.binding {
                Binding::RocksDb => deliver(record, take),
                Binding::Pegasus => deliver_json(record, take),
            };
            parsed = parsed.and(told);
        });
        self.reply_of(found, parsed)
    }

    /// Writes a record, whether it is there or not.
    pub fn insert(&self, key: &[u8], record: &[u8]) -> Reply {
        match self.binding {
            Binding::RocksDb => self.written(self.store.put(key, record, WriteHow::default())),
            Binding::Pegasus => self.insert_json(key, record),
        }
    }

    fn insert_json(&self, key: &[u8], record: &[u8]) -> Reply {
        match json_record::encode(record) {
            Ok(json) => self.written(self.store.put(key, &json, WriteHow::default())),
            Err(NoRecord) => self.reply_of(Ok(true), Err(NoRecord)),
        }
    }

    /// Replaces fields of a record: reads it, and writes it with the fields of `changes`. As in
    /// the binding, of two updates at the same time one may be lost. That of Pegasus leaves the
    /// fields of `changes` alone.
    pub fn update(&self, key: &[u8], changes: &[u8], scratch: &mut Scratch) -> Reply {
        if self.binding == Binding::Pegasus {
            return self.insert_json(key, changes);
        }
        let Scratch { current, updated } = scratch;
        let found = self.store.get(key, &mut |record| {
            current.clear();
            current.extend_from_slice(record);
        });
        match self.reply_of(found, Ok(())) {
            Reply::Ok => {}
            other => return other,
        }
        if replace_fields(current, changes, updated).is_err() {
            return self.reply_of(Ok(true), Err(NoRecord));
        }
        self.written(self.store.put(key, updated, WriteHow::default()))
    }

    /// Reads the fields of up to `count` records from `key` on.
    pub fn scan(&self, key: &[u8], count: u64, take: &mut Take<'_>) -> Reply {
        let mut seen = 0;
        let scanned = self.store.cursor().and_then(|mut cursor| {
            let mut parsed = Ok(());
            let mut is_there = cursor.seek(key)?;
            while is_there && seen < count {
                parsed = parsed.and(deliver(cursor.value(), take));
                seen += 1;
                // One step too far would read a record that nobody asked for.
                is_there = seen < count && cursor.next()?;
            }
            Ok(parsed)
        });
        match scanned {
            Ok(parsed) => self.reply_of(Ok(true), parsed),
            Err(failure) => self.reply_of(Err(failure), Ok(())),
        }
    }

    /// What the first failure said, if there was one.
    pub fn first_failure(&self) -> Option<&str> {
        self.first_failure.get().map(String::as_str)
    }

    fn written(&self, written: Outcome) -> Reply {
        self.reply_of(written.map(|()| true), Ok(()))
    }

    fn reply_of(&self, found: Outcome<bool>, parsed: Result<(), NoRecord>) -> Reply {
        match (found, parsed) {
            (Ok(true), Ok(())) => Reply::Ok,
            (Ok(false), _) => Reply::NotFound,
            (Ok(true), Err(NoRecord)) => {
                self.remember("a value is no record: something else wrote to this database");
                Reply::UnexpectedState
            }
            (Err(Failure { message, .. }), _) => {
                self.remember(&message);
                Reply::Error
            }
        }
    }

    fn remember(&self, message: impl Display) {
        self.first_failure.get_or_init(|| message.to_string());
    }
}

fn deliver(record: &[u8], take: &mut Take<'_>) -> Result<(), NoRecord> {
    for field in fields(record) {
        let (name, value) = field?;
        take(name, value);
    }
    Ok(())
}

fn deliver_json(json: &[u8], take: &mut Take<'_>) -> Result<(), NoRecord> {
    for (name, value) in &json_record::decode(json)? {
        take(name.as_bytes(), value.as_bytes());
    }
    Ok(())
}
