//! Gives a value another end: writes to its key what is there, with that end.

use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::ids::FileNumber;
use crate::db::core::Core;
use crate::db::keyspace::KeyspaceParts;
use crate::db::writing;
use crate::flow::read::get::{Stored, Valued};
use crate::flow::values::value_log::Pending;
use crate::store::batch::writer::{Batch, LargeBytes};
use crate::store::vlog::value_pool::Found;

/// What keeps the segment of a value that is pointed to once more, until that pointer is in a
/// memtable or given up.
pub struct HeldSegment {
    /// The segment.
    pub number: FileNumber,
    /// Keeps it.
    pub pending: Pending,
}

/// Adds to `batch` what gives `key` the value that is `stored` there until `expiry`, if that
/// is given. What it was read from is to be kept until this has returned.
///
/// A value in the value log keeps its place there, and is kept there by what is returned. Any other
/// is written again.
///
/// Errors: `TooLarge`; those of reading a value that waits for its place.
pub fn put_again(
    core: &Core,
    batch: &mut Batch<'_>,
    parts: &KeyspaceParts,
    key: &[u8],
    stored: Stored,
    expiry: Option<Expiry>,
) -> Result<Option<HeldSegment>> {
    let log = &core.values;
    let pointer = match stored {
        Stored::Here(Valued { value, .. }) | Stored::Folded(value, _) => {
            let value = LargeBytes::Shared(value);
            writing::put_until(batch, parts, key, expiry, value)?;
            return Ok(None);
        }
        // A memtable points for ever to where it waited, also once it is written.
        Stored::Separated(pointer, _) => match log.pool().find(&pointer) {
            Some(Found::There(place)) => place,
            _ => pointer,
        },
    };
    let number = pointer.segment;
    let held = match pointer.is_to_no_place() {
        true => None,
        false => log.hold(number),
    };
    let Some(pending) = held else {
        // It waits in memory for its segment; or that is lost, and this says so.
        let value = LargeBytes::Shared(log.values().value(&pointer)?);
        batch.put_separated(parts.id, key, expiry, value)?;
        return Ok(None);
    };
    batch.put_pointer(parts.id, key, expiry, &pointer)?;
    Ok(Some(HeldSegment { number, pending }))
}
