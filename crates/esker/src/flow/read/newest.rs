//! Whether a key, or any key of a range, was written to since somebody read it.
//!
//! Numbers are compared, which is right as long as a snapshot no newer than what the reader saw is
//! held from before the read on: then a compaction keeps the trace of each later write, and gives
//! it no number that the reader saw (decision record 0011).

use std::ops::Bound;

use crate::base::codec::checksum::hash64;
use crate::base::options::call::ReadOptions;
use crate::base::types::cursor::Cursor;
use crate::base::types::error::Result;
use crate::base::types::key;
use crate::base::types::range::KeyRange;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::seek_target::{first_trailer, set_seek_target};
use crate::flow::read::view::View;
use crate::store::mem::memtable::Memtable;
use crate::store::version::run::Run;

/// What was read.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// One key.
    Key(&'a [u8]),
    /// All keys of a range, those that are not there as well.
    Range(&'a KeyRange),
}

/// Whether any entry or range delete newer than `seen` touches the target.
///
/// Looks at memtables first, and into a file only if it holds anything newer than `seen` at all:
/// for a key that was read a moment ago that is next to never.
///
/// Errors: those of the files that had to be read.
pub fn is_written_since(view: &View, target: Target<'_>, seen: SeqNo) -> Result<bool> {
    if is_in_memtables(view, target, seen)? {
        return Ok(true);
    }
    match target {
        Target::Key(key) => is_key_in_files(view, key, seen),
        Target::Range(range) => is_range_in_files(view, range, seen),
    }
}

/// The same of one key without reading any file, for who holds the lock of all writers: `None`
/// when a file would have to be asked, because a memtable was flushed since.
pub fn is_written_in_memory(view: &View, key: &[u8], seen: SeqNo) -> Option<bool> {
    if is_key_in_memtables(view, key, seen) {
        return Some(true);
    }
    let may_have = |run: &Run| {
        let place = run.find(view.comparator(), key);
        place.is_some_and(|place| run.files()[place].largest_seqno > seen)
    };
    (!view.runs().iter().any(may_have)).then_some(false)
}

fn is_in_memtables(view: &View, target: Target<'_>, seen: SeqNo) -> Result<bool> {
    let range = match target {
        Target::Key(key) => return Ok(is_key_in_memtables(view, key, seen)),
        Target::Range(range) => range,
    };
    for table in &view.parts().memtables {
        let deletes = table.range_deletes().iter().rev();
        let mut newer = deletes.take_while(|delete| delete.seqno > seen);
        let is_touched = newer
            .any(|delete| range.meets(view.comparator(), &delete.start, &delete.end))
            || is_passed(view, &mut Memtable::cursor(table), range, seen)?;
        if is_touched {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_key_in_memtables(view: &View, key: &[u8], seen: SeqNo) -> bool {
    for (index, table) in view.parts().memtables.iter().enumerate() {
        if table
            .get(key, SeqNo::MAX)
            .is_some_and(|entry| entry.seqno() > seen)
        {
            return true;
        }
        // A writer asks under the lock of all writers: few deletes are newer than what was read a
        // moment ago, and those are looked through before anything is built for them.
        let looked_through = table.range_deletes().cover(view.comparator(), key, seen);
        let is_covered = looked_through
            .unwrap_or_else(|| view.memtable_cover(index, key, SeqNo::MAX) > Some(seen));
        if is_covered {
            return true;
        }
    }
    false
}

fn is_key_in_files(view: &View, key: &[u8], seen: SeqNo) -> Result<bool> {
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

fn is_range_in_files(view: &View, range: &KeyRange, seen: SeqNo) -> Result<bool> {
    for (index, run) in view.runs().iter().enumerate() {
        for place in run.overlapping_places(view.comparator(), range) {
            if run.files()[place].largest_seqno <= seen {
                continue;
            }
            let reader = view.open_at(index, place)?;
            let mut deletes = reader.range_deletes().iter();
            let is_touched = deletes.any(|delete| {
                delete.seqno > seen && range.meets(view.comparator(), &delete.start, &delete.end)
            });
            let mut cursor = reader.cursor(ReadOptions::default());
            if is_touched || is_passed(view, &mut cursor, range, seen)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a cursor comes past an entry newer than `seen` on its way through a range.
fn is_passed(view: &View, cursor: &mut impl Cursor, range: &KeyRange, seen: SeqNo) -> Result<bool> {
    let mut is_on = match &range.lower {
        Bound::Unbounded => cursor.seek_to_first()?,
        Bound::Included(lower) | Bound::Excluded(lower) => {
            let mut target = Vec::new();
            set_seek_target(&mut target, lower, first_trailer());
            cursor.seek(&target)?
        }
    };
    while is_on {
        let (key, trailer) = key::split(cursor.key());
        if range.is_above(view.comparator(), key) {
            return Ok(false);
        }
        if trailer.seqno() > seen && !range.is_below(view.comparator(), key) {
            return Ok(true);
        }
        is_on = cursor.next()?;
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
