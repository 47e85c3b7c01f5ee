//! Finds the newest visible entry of one key in a block.

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::key::{self, Trailer};
use crate::store::sst::block::checked::{Bucket, Checked};
use crate::store::sst::block::cursor::BlockCursor;
use crate::store::sst::block::search::{Reached, first_not_before};

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
    comparator: &Comparator,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let restart = match block.bucket(wanted.hash) {
        Bucket::Absent => return Ok(None),
        _ if block.restart_count() == 0 => return Ok(None),
        Bucket::Restart(restart) => restart,
        Bucket::Unknown => block.search_restart(comparator, wanted.key, wanted.newest.raw())?,
    };
    let start = block.approach(restart)?;
    match comparator {
        Comparator::Bytewise => search_bytewise(block.entries(), start, wanted),
        Comparator::Custom(_) => scan_custom(block, comparator, start, wanted),
    }
}

fn search_bytewise(
    entries: &[u8],
    start: usize,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let reached = first_not_before(entries, start, wanted.key, wanted.newest)?;
    Ok(reached.and_then(|Reached { head, trailer, .. }| {
        let value = head.value_start..head.value_end;
        trailer.map(|trailer| (trailer, value))
    }))
}

// Another order says nothing about prefixes, so every key is put together and compared.
fn scan_custom(
    block: &Checked,
    comparator: &Comparator,
    start: usize,
    wanted: Wanted<'_>,
) -> Result<Option<(Trailer, Range<usize>)>> {
    let mut cursor = BlockCursor::default();
    cursor.enter(block.clone());
    let mut is_on = cursor.seek_from(start)?;
    while is_on {
        let (user_key, trailer) = key::split(cursor.key());
        match comparator.compare(user_key, wanted.key) {
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
