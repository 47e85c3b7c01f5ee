//! Follows pointers into the value log.

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::store::vlog::open_values::OpenValues;
use crate::store::vlog::pointer::ValuePointer;

/// The user's value of an entry, of which `part` is what stands behind an expiry: the value
/// itself, or where it lies.
///
/// # Errors
/// `Corruption` for a pointer that is none, and for a value that does not match its checksum.
#[inline]
pub fn follow(values: &OpenValues, part: Bytes, is_separated: bool) -> Result<Bytes> {
    if is_separated {
        values.value(&ValuePointer::decode(&part)?)
    } else {
        Ok(part)
    }
}
