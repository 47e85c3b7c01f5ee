//! Whether somebody may write what he brings, as far as prepared transactions claim it.

use crate::base::types::error::Result;
use crate::base::types::ids::KeyspaceId;
use crate::base::types::user_code;
use crate::flow::write::active::Active;
use crate::store::batch::reader::BatchReader;
use crate::store::batch::two_phases::Claim;

impl Active {
    /// `Conflict` when a batch writes to what a prepared transaction claims. A keyspace that is not
    /// here is refused by others.
    #[cold]
    pub fn check_unclaimed(&self, batch: &BatchReader<'_>) -> Result<()> {
        let comparator = |id| Ok(self.table(id)?.writer.table().comparator());
        user_code::told(|| self.prepared().check_unclaimed(batch, comparator))
    }

    /// `Conflict` when a prepared transaction writes to anything of that.
    pub fn check_unwritten(&self, claims: &[Claim]) -> Result<()> {
        let comparator = |id| Ok(self.table(id)?.writer.table().comparator());
        user_code::told(|| self.prepared().check_unwritten(claims, comparator))
    }

    /// `Conflict` when a prepared transaction claims that key.
    pub fn check_key_unclaimed(&self, id: KeyspaceId, key: &[u8]) -> Result<()> {
        let comparator = self.table(id)?.writer.table().comparator();
        user_code::told(|| self.prepared().check_one(id, comparator, key, None))
    }

    /// `Conflict` when a prepared transaction claims anything of that keyspace.
    pub fn check_keyspace_unclaimed(&self, id: KeyspaceId) -> Result<()> {
        self.prepared().check_keyspace(id)
    }

    /// `Conflict` when a prepared transaction claims any key from `first` to `last`, that one too.
    pub fn check_keys_unclaimed(&self, id: KeyspaceId, first: &[u8], last: &[u8]) -> Result<()> {
        let comparator = self.table(id)?.writer.table().comparator();
        user_code::told(|| {
            let prepared = self.prepared();
            prepared.check_one(id, comparator, first, Some(last))?;
            prepared.check_one(id, comparator, last, None)
        })
    }
}
