//! What a merge operator is: the rule that folds operands into a value.

use std::fmt;
use std::sync::Arc;

use crate::base::types::user_code;

/// Folds operands into values; named in the manifest and checked at open.
///
/// The operator must be deterministic and must not depend on how operands were grouped:
/// folding `a` and `b` first and then `c` gives the same value as all three at once.
///
/// It is called by writers in the middle of a write, by readers, and by flushes and compactions on
/// threads of the engine. So it must not use the database: every operation called from here is
/// refused as `Invalid`, or panics if it cannot return an error (`snapshot`, `stats`). Nor may it
/// wait for another thread that uses it, and while it works in a write no other write passes.
///
/// A panic in it means that nothing was folded: the operands stay as they are, and reads of the
/// key fail and say so, until the key is written anew or the operator takes them. (In a program
/// that is built to abort on panics it ends the program.)
pub trait MergeOperator: Send + Sync {
    /// Name kept in the manifest.
    fn name(&self) -> &str;

    /// The value of `key` after folding `operands`, oldest first, into `base`.
    ///
    /// `base` is the value before the first operand, `None` when there was none (or it was
    /// deleted or has expired). An `Err` holds the reason: reads of the key then fail with it,
    /// and compaction keeps the operands as they are.
    fn fold(&self, key: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String>;

    /// One operand that does what `older` and then `newer` do, if there is one.
    ///
    /// `None` leaves the two as they are; chains are then folded only where a base is known.
    fn combine(&self, key: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>>;
}

/// A shared merge operator.
#[derive(Clone)]
pub struct MergeRule(pub Arc<dyn MergeOperator>);

/// Why a merge operator did not fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFolded {
    /// It said so, and why.
    Refused(String),
    /// It panicked, with that text.
    Panicked(String),
}

impl fmt::Display for NotFolded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFolded::Refused(reason) => write!(f, "it refused: {reason}"),
            NotFolded::Panicked(text) => write!(f, "it panicked: {text}"),
        }
    }
}

/// The only way in which the engine calls an operator: marked, and its panics caught.
impl MergeRule {
    /// As [`MergeOperator::fold`].
    pub fn fold(
        &self,
        key: &[u8],
        base: Option<&[u8]>,
        operands: &[&[u8]],
    ) -> Result<Vec<u8>, NotFolded> {
        user_code::catch(|| self.0.fold(key, base, operands))
            .map_err(NotFolded::Panicked)?
            .map_err(NotFolded::Refused)
    }

    /// As [`MergeOperator::combine`]; the `Err` is the text of a panic.
    pub fn combine(
        &self,
        key: &[u8],
        older: &[u8],
        newer: &[u8],
    ) -> Result<Option<Vec<u8>>, String> {
        user_code::catch(|| self.0.combine(key, older, newer))
    }
}

impl fmt::Debug for MergeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MergeRule({})", self.0.name())
    }
}
