//! Entries of the log that cannot be there: of keyspaces that never were, or are kept out of it.

use crate::base::types::error::Error;
use crate::base::types::ids::KeyspaceId;

/// What an entry in the log means whose keyspace the manifest does not know.
pub fn never_created(id: KeyspaceId) -> Error {
    Error::corruption(format!(
        "the log has entries of keyspace {id}, and the manifest does not say that it was ever \
         created: the manifest has lost its end; `esker repair --dry-run` tells what can be saved"
    ))
}

/// What an entry in the log means whose keyspace is unlogged: nobody can have written it.
pub fn of_unlogged(id: KeyspaceId) -> Error {
    Error::corruption(format!(
        "the log has entries of keyspace {id}, which is unlogged: they are of another database, or \
         the manifest is; `esker repair --dry-run` tells what can be saved"
    ))
}
