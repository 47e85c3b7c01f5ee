//! The marks of unlogged keyspaces, as the write path has them.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::flow::write::commit::Committer;

impl Committer {
    /// The mark of the last batch of a keyspace that brought one: who reads from now on sees
    /// everything up to it. Errors: `Invalid` for one that was dropped.
    pub fn mark(&self, keyspace: KeyspaceId) -> Result<Option<Bytes>> {
        self.paused(|active| active.table(keyspace).map(|table| table.mark.clone()))
    }
}
