//! One deleted range of keys.

use crate::base::types::bytes::Bytes;
use crate::base::types::seqno::SeqNo;

/// All entries with keys from `start` up to `end`, exclusive, and with smaller sequence numbers
/// than `seqno`, are hidden from readers that see `seqno`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDelete {
    /// First key that is hidden.
    pub start: Bytes,
    /// First key behind the range that is not.
    pub end: Bytes,
    /// Number of the write that deleted the range.
    pub seqno: SeqNo,
}
