//! The rows of a keyspace as the writes of one entry see them: with those before them.

use std::collections::BTreeMap;

use esker::{Keyspace, Result, WriteBatch};
use esker_rpc::time::WireSecond;
use esker_rpc::value::{StoredValue, TimeTag};

/// A row that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it ends.
    pub expiry: WireSecond,
    /// The user's bytes.
    pub user: Vec<u8>,
}

/// Rows of a keyspace, and what is to become of them.
pub struct Overlay<'a> {
    keyspace: &'a Keyspace,
    now: WireSecond,
    written: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl<'a> Overlay<'a> {
    /// The rows of `keyspace` as they are at `now`.
    pub fn new(keyspace: &'a Keyspace, now: WireSecond) -> Overlay<'a> {
        Overlay {
            keyspace,
            now,
            written: BTreeMap::new(),
        }
    }

    /// The row under a raw key; `None` if there is none, or it has ended.
    ///
    /// Errors: those of reading; `Corruption` for a value without the header of a stored one.
    pub fn row(&self, key: &[u8]) -> Result<Option<Row>> {
        let stored = match self.written.get(key) {
            Some(None) => return Ok(None),
            Some(Some(stored)) => return living(stored, self.now),
            None => self.keyspace.get(key)?,
        };
        match stored {
            None => Ok(None),
            Some(stored) => living(&stored, self.now),
        }
    }

    /// Puts a row.
    pub fn put(&mut self, key: Vec<u8>, user: &[u8], expiry: WireSecond, time_tag: TimeTag) {
        let stored = StoredValue {
            expiry,
            time_tag,
            user,
        };
        self.written.insert(key, Some(stored.to_bytes()));
    }

    /// Removes a row.
    pub fn remove(&mut self, key: Vec<u8>) {
        self.written.insert(key, None);
    }

    /// Puts all of it into a batch.
    pub fn drain_into(self, batch: &mut WriteBatch) {
        for (key, stored) in self.written {
            match stored {
                Some(stored) => batch.put(self.keyspace, key, stored),
                None => batch.delete(self.keyspace, key),
            };
        }
    }
}

// A stored value as a row, if it lives.
fn living(stored: &[u8], now: WireSecond) -> Result<Option<Row>> {
    let stored = read_stored(stored)?;
    Ok((!stored.expiry.is_expired(now)).then(|| Row {
        expiry: stored.expiry,
        user: stored.user.to_vec(),
    }))
}

/// Takes a stored value apart; `Corruption` if it is none.
pub fn read_stored(stored: &[u8]) -> Result<StoredValue<'_>> {
    StoredValue::read(stored).ok_or_else(|| {
        esker::Error::corruption("a value of a partition has no header, so no replica wrote it")
    })
}
