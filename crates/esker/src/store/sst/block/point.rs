//! Finds the newest visible entry of one key in a block.

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::codec::fixed::u64_at;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::base::types::order::KeyOrder;
use crate::base::types::prefix::common_len;
use crate::store::sst::block::checked::{Bucket, Checked, damaged_entry};
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block::format::head_at;

/// What a point read asks of a block.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// Its `hash64`.
    pub hash: u64,
    /// The newest entry that may be seen: `Trailer::seek` of the reader's sequence number.
    pub newest: Trailer,
}

/// The first entry of the key that is not newer than wanted: its trailer, and where its value
/// lies in the block.
pub fn find(
    block: &Checked,
    order: &KeyOrder,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let restart = match block.bucket(wanted.hash) {
        Bucket::Absent => return Ok(None),
        _ if block.restart_count() == 0 => return Ok(None),
        Bucket::Restart(restart) => restart,
        Bucket::Unknown => block.search_restart(order, wanted.key, wanted.newest.raw())?,
    };
    let start = block.restart(restart)?;
    match order {
        KeyOrder::Bytewise => scan_bytewise(block.entries(), start, wanted),
        KeyOrder::Custom(_) => scan_custom(block, order, start, wanted),
    }
}

// Walks without putting any key together. `alike` is how many bytes the entry before begins with
// like the wanted key, which is behind it. An entry that shares more than that with the entry
// before differs from the wanted key where that one does, so it is before the wanted key too;
// one that shares less is behind.
fn scan_bytewise(
    entries: &[u8],
    start: usize,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let mut at = start;
    let mut alike = 0;
    while at < entries.len() {
        let head = head_at(entries, at).ok_or_else(damaged_entry)?;
        at = head.value_end;
        if head.shared > alike {
            continue;
        }
        if head.shared < alike {
            if head.shared > 0 {
                return Ok(None);
            }
            // At a restart it shares nothing whatever its key is.
            alike = 0;
        }
        let suffix = &entries[head.suffix_start..head.trailer_start];
        let rest = &wanted.key[alike..];
        let common = common_len(suffix, rest);
        let by_key = match (suffix.get(common), rest.get(common)) {
            (None, None) => Ordering::Equal,
            (own, other) => own.cmp(&other),
        };
        match by_key {
            Ordering::Less => {}
            Ordering::Greater => return Ok(None),
            Ordering::Equal => {
                let raw = u64_at(entries, head.trailer_start).ok_or_else(damaged_entry)?;
                let trailer = Trailer::checked(raw).ok_or_else(damaged_entry)?;
                if trailer <= wanted.newest {
                    return Ok(Some((trailer, head.value_start..head.value_end)));
                }
            }
        }
        alike += common;
    }
    Ok(None)
}

// Another order says nothing about prefixes, so every key is put together and compared.
fn scan_custom(
    block: &Checked,
    order: &KeyOrder,
    start: usize,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    let mut is_on = cursor.seek_from(start)?;
    while is_on {
        let (user_key, trailer) = key::split(cursor.key());
        match order.compare(user_key, wanted.key) {
            Ordering::Less => {}
            Ordering::Greater => return Ok(None),
            Ordering::Equal if trailer <= wanted.newest => {
                return Ok(Some((trailer, cursor.value_range())));
            }
            Ordering::Equal => {}
        }
        is_on = cursor.next()?;
    }
    Ok(None)
}
