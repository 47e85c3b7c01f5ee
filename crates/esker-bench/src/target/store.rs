//! The traits that every engine under test implements: the same loop drives all of them.

use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::target::counters::Counters;
use crate::target::settings::{Matched, StoreSettings};

/// How one write is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteHow {
    /// Whether it is on the medium when the call returns.
    pub sync: bool,
    /// Whether it skips the log, and is lost with the process until the next flush.
    pub no_log: bool,
}

/// An open store. Any number of threads call it at the same time.
///
/// No call copies more than the engine makes it copy: values are lent to a closure, cursors lend
/// what they stand on.
pub trait Store: Send + Sync {
    /// Sets the value of a key.
    fn put(&self, key: &[u8], value: &[u8], how: WriteHow) -> Outcome;

    /// Lends the value of a key to `take`; says whether there is one.
    fn get(&self, key: &[u8], take: &mut dyn FnMut(&[u8])) -> Outcome<bool>;

    /// Lends the values of several keys, each with its place in `keys`; says how many there are.
    /// Engines without such a call do one after the other.
    fn multi_get(&self, keys: &[&[u8]], take: &mut dyn FnMut(usize, &[u8])) -> Outcome<usize> {
        let mut found = 0;
        for (place, key) in keys.iter().enumerate() {
            found += usize::from(self.get(key, &mut |value| take(place, value))?);
        }
        Ok(found)
    }

    /// Removes a key.
    fn delete(&self, key: &[u8], how: WriteHow) -> Outcome;

    /// Folds an operand into the value of a key, by [`StoreSettings::has_merges`].
    /// `Unsupported` where the engine has no merges or none was set.
    fn merge(&self, key: &[u8], operand: &[u8], how: WriteHow) -> Outcome {
        let _unused = (key, operand, how);
        Err(Failure::unsupported("this engine has no merge operators"))
    }

    /// One transaction, of the kind of [`StoreSettings::transactions`]: reads the value of `key`
    /// into `value`, which is empty where there is none, has it changed, puts it and commits.
    /// Where somebody else was faster it is done again. `Unsupported` where the engine has no such
    /// transactions or none were set.
    fn transact(&self, key: &[u8], value: &mut Vec<u8>, change: fn(&mut Vec<u8>)) -> Outcome {
        let _unused = (key, value, change);
        Err(Failure::unsupported("this engine has no such transactions"))
    }

    /// An empty batch, to be used again after each commit.
    fn batch(&self) -> Outcome<Box<dyn Batch + '_>>;

    /// A cursor over everything as it is now. It stands nowhere yet.
    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>>;

    /// Puts everything written so far into files.
    fn flush(&self) -> Outcome;

    /// Merges everything into as few files as the engine can.
    fn compact(&self) -> Outcome;

    /// Returns when no background work is left, nor due.
    fn drain(&self) -> Outcome;

    /// A text of the engine about itself: such as `stats`; `None` if it has no
    /// such text.
    fn property(&self, name: &str) -> Option<String>;

    /// What the engine counted since it was opened.
    fn counters(&self) -> Counters;

    /// Closes the store, as a user would who wants to open it again. Dropping it closes too, but
    /// says nothing of failures.
    fn close(self: Box<Self>) -> Outcome;
}

/// Writes that happen together.
pub trait Batch {
    /// Adds a put.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome;

    /// Adds a delete.
    fn delete(&mut self, key: &[u8]) -> Outcome;

    /// Adds a merge.
    fn merge(&mut self, key: &[u8], operand: &[u8]) -> Outcome;

    /// Writes everything added, and empties the batch.
    fn commit(&mut self, how: WriteHow) -> Outcome;
}

/// Ordered movement. Each movement says whether the cursor stands on an entry afterwards.
pub trait Cursor {
    /// To the first entry.
    fn seek_to_first(&mut self) -> Outcome<bool>;

    /// To the last entry.
    fn seek_to_last(&mut self) -> Outcome<bool>;

    /// To the first entry whose key is not before `key`.
    fn seek(&mut self, key: &[u8]) -> Outcome<bool>;

    /// To the next entry. Only from an entry.
    fn next(&mut self) -> Outcome<bool>;

    /// To the previous entry. Only from an entry.
    fn prev(&mut self) -> Outcome<bool>;

    /// The key; empty off any entry.
    fn key(&self) -> &[u8];

    /// The value; empty off any entry.
    fn value(&self) -> &[u8];
}

/// An opened store, and what the engine made of the settings.
pub struct Opened {
    /// The store.
    pub store: Box<dyn Store>,
    /// One row for each setting that was given.
    pub matched: Vec<Matched>,
}

/// An engine: opens stores in directories, and removes them.
///
/// Directories are looked after by [`crate::target::marker`]: an engine opens and removes what it
/// is told to.
pub trait Engine: Send + Sync {
    /// Its name as reports show it, such as `Esker`.
    fn name(&self) -> &str;

    /// Its version.
    fn version(&self) -> String;

    /// Whether `dir` holds a store of this engine.
    fn is_there(&self, dir: &Path) -> bool;

    /// Opens the store in `dir`, which exists; makes one if there is none.
    fn open(&self, dir: &Path, settings: &StoreSettings) -> Outcome<Opened>;

    /// How the bytes of the closed store in `dir` divide: what, and how many. Nothing where the
    /// engine cannot tell.
    fn division(&self, dir: &Path) -> Outcome<Vec<(String, u64)>> {
        let _unused = dir;
        Ok(Vec::new())
    }

    /// Removes the store in `dir` and nothing else that lies there. Nothing to remove is fine.
    fn destroy(&self, dir: &Path) -> Outcome;
}
