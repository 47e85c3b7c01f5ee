//! What a parser hands on: an entry for the database, or the end that a whole dump announces.

use esker::Expiry;
use esker_bench::text::record::{Malformed, Record};

/// One entry of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The line where it begins, counted from 1.
    pub line: u64,
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
    /// The keyspace it names, where it names one.
    pub keyspace: Option<String>,
    /// When it ends, where it says so.
    pub expiry: Option<Expiry>,
}

impl From<Record> for Entry {
    fn from(record: Record) -> Entry {
        Entry {
            line: record.line,
            key: record.key,
            value: record.value,
            ..Entry::default()
        }
    }
}

/// What a parser found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An entry.
    Entry(Entry),
    /// The last line of a whole dump.
    End {
        /// The line, counted from 1.
        line: u64,
        /// How many entries are before it.
        entries: u64,
    },
}

impl Found {
    /// The line where it begins, counted from 1.
    pub fn line(&self) -> u64 {
        match self {
            Found::Entry(entry) => entry.line,
            Found::End { line, .. } => *line,
        }
    }
}

/// What a parser made of some lines.
pub type Parsed = Result<Found, Malformed>;
