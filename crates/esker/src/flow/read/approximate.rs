//! About how much a range of keys holds, by indexes alone.

use std::ops::{AddAssign, Bound};

use crate::base::types::error::Result;
use crate::base::types::key::Trailer;
use crate::base::types::range::KeyRange;
use crate::flow::read::view::View;
use crate::store::mem::memtable::Memtable;
use crate::store::sst::rank::{Gap, Rank, scaled};

/// About how much a range of keys holds.
///
/// What is deleted or overwritten and not merged away yet is counted with the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approximation {
    /// Bytes of sorted files on the disk, as they are packed.
    pub file_bytes: u64,
    /// Bytes in the value log that entries of these files point to.
    pub value_bytes: u64,
    /// Bytes of memory of the memtables.
    pub memory_bytes: u64,
    /// Entries in files and memtables, deletes among them.
    pub entry_count: u64,
    /// Of them, deletes of single keys.
    pub delete_count: u64,
    /// Entries that these deletes are taken to hide: one each, but for those in the oldest run,
    /// below which there is nothing.
    pub hidden_count: u64,
}

impl Approximation {
    /// Bytes on the disk.
    pub fn disk_bytes(&self) -> u64 {
        self.file_bytes + self.value_bytes
    }

    /// Keys with a value, if none was overwritten and deletes hide as many as they are taken to.
    pub fn key_count(&self) -> u64 {
        self.entry_count
            .saturating_sub(self.delete_count + self.hidden_count)
    }
}

impl AddAssign for Approximation {
    fn add_assign(&mut self, other: Approximation) {
        self.file_bytes += other.file_bytes;
        self.value_bytes += other.value_bytes;
        self.memory_bytes += other.memory_bytes;
        self.entry_count += other.entry_count;
        self.delete_count += other.delete_count;
        self.hidden_count += other.hidden_count;
    }
}

/// About how much of `view` lies in `range`. Files that lie wholly inside are not opened; of those
/// in which an end of the range lies, a part of the index is read, and no data.
///
/// # Errors
/// Those of opening such files and of reading their indexes.
pub fn approximate(view: &View, range: &KeyRange, fill_cache: bool) -> Result<Approximation> {
    let mut sum = Approximation::default();
    for table in &view.parts().memtables {
        sum += of_memtable(table, range);
    }
    for (index, run) in view.runs().iter().enumerate() {
        for place in run.overlapping_places(view.comparator(), range) {
            sum += of_file(view, (index, place), range, fill_cache)?;
        }
    }
    Ok(sum)
}

fn of_memtable(table: &Memtable, range: &KeyRange) -> Approximation {
    let all = (table.entry_count() - table.range_deletes().len()) as u64;
    if all == 0 {
        return Approximation::default();
    }
    let (lower, upper) = (lower_gap(range), upper_gap(range));
    let entry_count = match (lower, upper) {
        (None, None) => all,
        // Of what is written meanwhile some may be counted already.
        _ => (table.about_between(lower.map(place_of), upper.map(place_of)) as u64).min(all),
    };
    let delete_count = scaled(table.delete_count() as u64, entry_count, all);
    Approximation {
        memory_bytes: scaled(table.used_bytes() as u64, entry_count, all),
        delete_count,
        hidden_count: delete_count,
        entry_count,
        ..Approximation::default()
    }
}

fn of_file(
    view: &View,
    (index, place): (usize, usize),
    range: &KeyRange,
    fill_cache: bool,
) -> Result<Approximation> {
    let file = &view.runs()[index].files()[place];
    let all = Rank {
        entry_count: file.entry_count,
        size_bytes: file.size_bytes,
    };
    let comparator = view.comparator();
    let begins_inside = !range.is_below(comparator, &file.smallest);
    let ends_inside = !range.is_above(comparator, &file.largest);
    let rank = |gap: Gap<'_>| view.open_at(index, place)?.rank(gap, fill_cache);
    let lower = match lower_gap(range) {
        Some(gap) if !begins_inside => rank(gap)?,
        _ => Rank::default(),
    };
    let upper = match upper_gap(range) {
        Some(gap) if !ends_inside => rank(gap)?,
        _ => all,
    };
    let entry_count = upper.entry_count.saturating_sub(lower.entry_count);
    let delete_count = scaled(file.delete_count, entry_count, all.entry_count);
    let is_oldest = index + 1 == view.runs().len();
    Ok(Approximation {
        file_bytes: upper.size_bytes.saturating_sub(lower.size_bytes),
        value_bytes: scaled(file.values.total_bytes(), entry_count, all.entry_count),
        memory_bytes: 0,
        delete_count,
        hidden_count: if is_oldest { 0 } else { delete_count },
        entry_count,
    })
}

/// A gap as memtables understand it.
fn place_of(gap: Gap<'_>) -> (&[u8], Trailer) {
    (gap.user_key(), gap.trailer())
}

/// Where a range begins, unless it is with the first key of all.
fn lower_gap(range: &KeyRange) -> Option<Gap<'_>> {
    match &range.lower {
        Bound::Unbounded => None,
        Bound::Included(key) => Some(Gap::Before(key)),
        Bound::Excluded(key) => Some(Gap::Behind(key)),
    }
}

/// Where it ends, unless it is with the last key of all.
fn upper_gap(range: &KeyRange) -> Option<Gap<'_>> {
    match &range.upper {
        Bound::Unbounded => None,
        Bound::Included(key) => Some(Gap::Behind(key)),
        Bound::Excluded(key) => Some(Gap::Before(key)),
    }
}
