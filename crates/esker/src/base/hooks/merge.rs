//! What a merge operator is: the rule that folds operands into a value.

use std::fmt;
use std::sync::Arc;

/// Folds operands into values; named in the manifest and checked at open.
///
/// The operator must be deterministic and must not depend on how operands were grouped:
/// folding `a` and `b` first and then `c` gives the same value as all three at once.
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

impl fmt::Debug for MergeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MergeRule({})", self.0.name())
    }
}
