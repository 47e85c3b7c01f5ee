//! A batch: writes to any keyspaces that happen together or not at all.

use std::sync::Arc;
use std::time::Duration;

use crate::base::options::call::WriteOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, Result};
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_handle::Keyspace;
use crate::db::lease::Lease;
use crate::db::writing;
use crate::store::batch::writer::{Batch, LargeBytes};

/// Writes that happen together: after a crash all of them are there or none.
///
/// Errors of its methods leave the batch as it was: `TooLarge`, and `Invalid` for a keyspace of
/// another database.
pub struct WriteBatch {
    lease: Lease,
    batch: Batch<'static>,
}

impl WriteBatch {
    pub(crate) fn new(lease: Lease) -> WriteBatch {
        WriteBatch {
            lease,
            batch: Batch::new(),
        }
    }

    /// Sets the value of a key.
    pub fn put(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        let expiry = writing::own_expiry(self.lease.core(), parts);
        put(&mut self.batch, parts, key.as_ref(), expiry, value.as_ref())
    }

    /// Sets the value of a key for a time.
    pub fn put_with_ttl(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Duration,
    ) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        let expiry = writing::expiry(self.lease.core(), ttl);
        put(
            &mut self.batch,
            parts,
            key.as_ref(),
            Some(expiry),
            value.as_ref(),
        )
    }

    /// Sets the value of a key up to that unix second, or for good with `None`, whatever time to
    /// live the keyspace has: for entries that come from another database with what
    /// [`Valued`](crate::Valued) says of them. One that is past leaves the key as if deleted.
    pub fn put_until(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        expiry_unix_s: Option<u32>,
    ) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        let (key, value) = (key.as_ref(), value.as_ref());
        put(&mut self.batch, parts, key, expiry_unix_s, value)
    }

    /// Removes a key.
    pub fn delete(&mut self, keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        self.batch.delete(parts.id, key.as_ref())
    }

    /// Removes all keys from `start` up to `end`, exclusive.
    pub fn delete_range(
        &mut self,
        keyspace: &Keyspace,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
    ) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        writing::delete_range(&mut self.batch, parts, start.as_ref(), end.as_ref())
    }

    /// Folds an operand into the value of a key, by the keyspace's merge operator. Operands have
    /// no expiry: see [`Keyspace::merge`].
    pub fn merge(
        &mut self,
        keyspace: &Keyspace,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
    ) -> Result<()> {
        let parts = own(&self.lease, keyspace)?;
        writing::merge(&mut self.batch, parts, key.as_ref(), operand.as_ref())
    }

    /// How many writes are in the batch.
    pub fn len(&self) -> usize {
        self.batch.count() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Bytes of the batch as it will stand in the log; large values go to the value log instead.
    pub fn size_bytes(&self) -> usize {
        self.batch.size_bytes()
    }

    /// Forgets all writes, and keeps the memory.
    pub fn clear(&mut self) {
        self.batch.clear();
    }

    /// Writes the batch and empties it.
    pub fn commit(&mut self) -> Result<()> {
        self.commit_with(WriteOptions::default())
    }

    /// Writes the batch as told and empties it. After an error other than `Faulted` nothing was
    /// written, and the batch is as it was.
    pub fn commit_with(&mut self, options: WriteOptions) -> Result<()> {
        let core = Arc::clone(self.lease.core());
        writing::write(&core, &mut self.batch, options, &[])?;
        self.batch.clear();
        Ok(())
    }
}

// A large value is kept until the batch is written; a small one goes into its bytes at once.
fn put(
    batch: &mut Batch<'static>,
    parts: &KeyspaceParts,
    key: &[u8],
    expiry: Option<u32>,
    value: &[u8],
) -> Result<()> {
    if writing::is_apart(parts, value) {
        let value = LargeBytes::Shared(Bytes::copy_of(value));
        return writing::put_until(batch, parts, key, expiry, value);
    }
    writing::put_here(batch, parts, key, expiry, value)
}

// Numbers of keyspaces mean something in their own database only.
fn own<'a>(lease: &Lease, keyspace: &'a Keyspace) -> Result<&'a KeyspaceParts> {
    if Arc::ptr_eq(lease.core(), keyspace.lease().core()) {
        return Ok(keyspace.parts());
    }
    Err(Error::invalid(format!(
        "keyspace {:?} belongs to another database than the batch",
        keyspace.name()
    )))
}
