//! YCSB's operations on a table: a record is one value, in the layout of the RocksDB binding.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::record::{NoRecord, fields, replace_fields};
use crate::scenario::ycsb::reply::Reply;
use crate::target::store::{Store, WriteHow};

/// Which fields a read wants.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// All of them.
    All,
    /// One.
    One(&'a str),
}

impl Wanted<'_> {
    fn has(self, name: &[u8]) -> bool {
        match self {
            Wanted::All => true,
            Wanted::One(wanted) => wanted.as_bytes() == name,
        }
    }
}

/// A table in a store. Any number of threads use it at the same time.
///
/// The main table has its keys as they are; another one lives behind a prefix, because the trait
/// of a store knows no tables.
pub struct Table<'a> {
    store: &'a dyn Store,
    prefix: Vec<u8>,
    first_failure: OnceLock<String>,
}

/// What a thread needs to work on a table, used again and again.
#[derive(Debug, Default)]
pub struct Scratch {
    key: Vec<u8>,
    current: Vec<u8>,
    updated: Vec<u8>,
}

/// Takes the fields that were read, name and value.
pub type Take<'a> = dyn FnMut(&[u8], &[u8]) + 'a;

impl<'a> Table<'a> {
    /// The main table of the store.
    pub fn main(store: &'a dyn Store) -> Table<'a> {
        Table {
            store,
            prefix: Vec::new(),
            first_failure: OnceLock::new(),
        }
    }

    /// Another table of the store.
    pub fn named(store: &'a dyn Store, name: &str) -> Table<'a> {
        let mut prefix = name.as_bytes().to_vec();
        // No key that YCSB makes has such a byte.
        prefix.push(0);
        Table {
            prefix,
            ..Table::main(store)
        }
    }

    /// Reads the wanted fields of a record.
    pub fn read(
        &self,
        key: &[u8],
        wanted: Wanted<'_>,
        scratch: &mut Scratch,
        take: &mut Take<'_>,
    ) -> Reply {
        let mut parsed = Ok(());
        let key = self.whole_key(key, &mut scratch.key);
        let found = self
            .store
            .get(key, &mut |record| parsed = deliver(record, wanted, take));
        self.reply_of(found, parsed)
    }

    /// Reads a whole record into `record`.
    pub fn read_whole(&self, key: &[u8], scratch: &mut Scratch, record: &mut Vec<u8>) -> Reply {
        let key = self.whole_key(key, &mut scratch.key);
        let found = self.store.get(key, &mut |bytes| {
            record.clear();
            record.extend_from_slice(bytes);
        });
        self.reply_of(found, Ok(()))
    }

    /// Reads several whole records; `take` gets the place of each that is there, and the record.
    /// Returns how many there are.
    pub fn read_many(
        &self,
        keys: &[Vec<u8>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Outcome<usize> {
        let whole: Vec<Vec<u8>> = keys
            .iter()
            .map(|key| [self.prefix.as_slice(), key].concat())
            .collect();
        let whole: Vec<&[u8]> = whole.iter().map(Vec::as_slice).collect();
        let found = self.store.multi_get(&whole, take);
        if let Err(failure) = &found {
            self.remember(&failure.message);
        }
        found
    }

    /// Writes a record, whether it is there or not.
    pub fn insert(&self, key: &[u8], record: &[u8], scratch: &mut Scratch) -> Reply {
        let key = self.whole_key(key, &mut scratch.key);
        self.written(self.store.put(key, record, WriteHow::default()))
    }

    /// Replaces fields of a record: reads it, and writes it with the fields of `changes`. As in
    /// the binding, of two updates at the same time one may be lost.
    pub fn update(&self, key: &[u8], changes: &[u8], scratch: &mut Scratch) -> Reply {
        let Scratch {
            key: whole,
            current,
            updated,
        } = scratch;
        let key = self.whole_key(key, whole);
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

    /// Reads the wanted fields of up to `count` records from `key` on; returns how many there
    /// were.
    pub fn scan(
        &self,
        key: &[u8],
        count: u64,
        wanted: Wanted<'_>,
        scratch: &mut Scratch,
        take: &mut Take<'_>,
    ) -> (Reply, u64) {
        let key = self.whole_key(key, &mut scratch.key);
        let mut seen = 0;
        let scanned = self.store.cursor().and_then(|mut cursor| {
            let mut parsed = Ok(());
            let mut is_there = cursor.seek(key)?;
            while is_there && seen < count && cursor.key().starts_with(&self.prefix) {
                parsed = parsed.and(deliver(cursor.value(), wanted, take));
                seen += 1;
                // One step too far would read a record that nobody asked for.
                is_there = seen < count && cursor.next()?;
            }
            Ok(parsed)
        });
        let reply = match scanned {
            Ok(parsed) => self.reply_of(Ok(true), parsed),
            Err(failure) => self.reply_of(Err(failure), Ok(())),
        };
        (reply, seen)
    }

    /// What the first failure said, if there was one.
    pub fn first_failure(&self) -> Option<&str> {
        self.first_failure.get().map(String::as_str)
    }

    fn whole_key<'k>(&self, key: &'k [u8], whole: &'k mut Vec<u8>) -> &'k [u8] {
        if self.prefix.is_empty() {
            return key;
        }
        whole.clear();
        whole.extend_from_slice(&self.prefix);
        whole.extend_from_slice(key);
        whole
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

fn deliver(record: &[u8], wanted: Wanted<'_>, take: &mut Take<'_>) -> Result<(), NoRecord> {
    for field in fields(record) {
        let (name, value) = field?;
        if wanted.has(name) {
            take(name, value);
        }
    }
    Ok(())
}
