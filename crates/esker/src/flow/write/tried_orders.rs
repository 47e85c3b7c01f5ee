//! Whether the orders of keyspaces take the keys that somebody brings.

use std::cmp::Ordering;

use crate::base::types::error::{Error, Result};
use crate::base::types::ids::KeyspaceId;
use crate::base::types::user_code;
use crate::flow::write::active::Active;
use crate::store::batch::reader::BatchReader;

impl Active {
    /// Whether all of these keyspaces have their keys in bytewise order.
    pub fn are_bytewise(&self, keyspaces: &[KeyspaceId]) -> Result<bool> {
        for &keyspace in keyspaces {
            let table = self.table(keyspace)?.writer.table();
            if !table.comparator().is_bytewise() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has the orders of the batch's keyspaces meet its keys before they are logged: a key that
    /// makes an order panic would do so again in each opening. `Invalid` then, and for an order
    /// that says that a key is not equal to itself.
    #[cold]
    pub fn try_comparators(&self, batch: &BatchReader<'_>) -> Result<()> {
        for entry in batch.entries() {
            let entry = entry?;
            let comparator = self.table(entry.keyspace)?.writer.table().comparator();
            let told = user_code::catch(|| comparator.compare(entry.key, entry.key));
            let reason = match told {
                Ok(Ordering::Equal) => continue,
                Ok(_) => "says that it is not equal to itself".to_string(),
                Err(text) => format!("panicked: {text}"),
            };
            let (name, key) = (comparator.name(), entry.key.escape_ascii());
            let message = format!("the comparator `{name}`, given key b\"{key}\", {reason}");
            return Err(Error::invalid(format!("{message}; nothing was written")));
        }
        Ok(())
    }
}
