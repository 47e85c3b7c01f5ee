//! Fold merge operands into a value.

use std::sync::Arc;

use crate::base::hooks::merge::{MergeRule, NotFolded};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::shown_key::shown_key;

/// Folds the operands of one keyspace, and knows the names that its errors need.
///
/// Shape: one shared pointer, because every cursor that is opened clones it.
#[derive(Clone, Debug)]
pub struct Folder(Arc<FolderParts>);

#[derive(Debug)]
struct FolderParts {
    /// Name of the keyspace.
    keyspace: Box<str>,
    /// Name of the operator that wrote the operands, as the manifest has it; empty if unknown.
    operator: Box<str>,
    /// The operator, if the database was opened with one.
    rule: Option<MergeRule>,
}

impl Folder {
    /// A folder for `keyspace` with its own `rule`, whose name is the operator's.
    pub fn new(keyspace: &str, rule: Option<MergeRule>) -> Folder {
        Folder(Arc::new(FolderParts {
            keyspace: keyspace.into(),
            operator: rule.as_ref().map_or("", |rule| rule.0.name()).into(),
            rule,
        }))
    }

    /// The value of `key` after folding `newest_first` into `base`.
    ///
    /// # Errors
    /// `Unsupported` when there is no operator; `Invalid` with the operator's reason when it
    /// refuses, or panics. The entries stay as they are: the read succeeds once the cause is gone.
    pub fn fold(
        &self,
        key: &[u8],
        base: Option<&[u8]>,
        newest_first: &[impl AsRef<[u8]>],
    ) -> Result<Vec<u8>> {
        let Some(rule) = &self.0.rule else {
            return Err(self.no_rule());
        };
        let oldest_first: Vec<&[u8]> = newest_first.iter().rev().map(AsRef::as_ref).collect();
        rule.fold(key, base, &oldest_first)
            .map_err(|reason| self.not_folded(key, newest_first.len(), &reason))
    }

    fn no_rule(&self) -> Error {
        let FolderParts {
            keyspace, operator, ..
        } = &*self.0;
        let message = match operator.is_empty() {
            // A repair without a manifest does not know it.
            true => format!(
                "keyspace `{keyspace}` holds merge operands and is not known to have a merge \
                 operator; give it the one that they were written with: `Db::keyspace_with`, or \
                 `esker keyspaces operator`"
            ),
            false => format!(
                "keyspace `{keyspace}` holds merge operands; open it with its merge operator \
                 `{operator}`"
            ),
        };
        Error::new(ErrorKind::Unsupported, message)
    }

    #[cold]
    fn not_folded(&self, key: &[u8], operand_count: usize, reason: &NotFolded) -> Error {
        Error::invalid(format!(
            "merge operator `{}` of keyspace `{}` did not fold {operand_count} operands of \
             key {}: {reason}; put or delete the key, or open the database with an \
             operator that accepts them",
            self.0.operator,
            self.0.keyspace,
            shown_key(key),
        ))
    }
}

#[cfg(test)]
mod tests;
