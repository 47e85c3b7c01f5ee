//! A record as one value, in the layout of YCSB's binding of Pegasus: an object in JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::scenario::ycsb::record::{NoRecord, fields};

/// Fields by name.
pub type Fields<'a> = BTreeMap<Cow<'a, str>, Cow<'a, str>>;

/// The object of a record in the layout of the binding of RocksDB. What is no text is replaced, as
/// Java does it.
pub fn encode(record: &[u8]) -> Result<Vec<u8>, NoRecord> {
    let mut object = Fields::new();
    for field in fields(record) {
        let (name, value) = field?;
        object.insert(
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(value),
        );
    }
    serde_json::to_vec(&object).map_err(|_| NoRecord)
}

/// The fields of an object.
pub fn decode(json: &[u8]) -> Result<Fields<'_>, NoRecord> {
    serde_json::from_slice(json).map_err(|_| NoRecord)
}

#[cfg(test)]
mod tests;
