//! Whether a key was written since it was read.

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::error::Result;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::view::View;

/// Whether any entry or range delete newer than `seen` touches `key`.
///
/// Looks at memtables first, and into a file only if it holds anything newer than `seen` at all:
/// for a key that was read a moment ago that is next to never.
///
/// Errors: those of the files that had to be read.
pub fn is_written_since(view: &View, key: &[u8], seen: SeqNo) -> Result<bool> {
    for (index, table) in view.parts().memtables.iter().enumerate() {
        if table
            .get(key, SeqNo::MAX)
            .is_some_and(|entry| entry.seqno() > seen)
        {
            return Ok(true);
        }
        // A writer asks under the lock of all writers: few deletes are newer than what was read a
        // moment ago, and those are looked through before anything is built for them.
        let looked_through = table.range_deletes().cover(view.comparator(), key, seen);
        let is_covered = looked_through
            .unwrap_or_else(|| view.memtable_cover(index, key, SeqNo::MAX) > Some(seen));
        if is_covered {
            return Ok(true);
        }
    }
    for (index, run) in view.runs().iter().enumerate() {
        let Some(place) = run.find(view.comparator(), key) else {
            continue;
        };
        let file = &run.files()[place];
        if file.largest_seqno <= seen {
            continue;
        }
        let reader = view.open_at(index, place)?;
        let read = ReadOptions::default();
        let found = reader.get_hashed(key, hash64(key), SeqNo::MAX, &read)?;
        if found.is_some_and(|found| found.trailer.seqno() > seen) {
            return Ok(true);
        }
        let cover = view
            .file_tombstones(file, &reader)
            .and_then(|tombstones| tombstones.newest_cover(key, SeqNo::MAX));
        if cover.is_some_and(|cover| cover > seen) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
