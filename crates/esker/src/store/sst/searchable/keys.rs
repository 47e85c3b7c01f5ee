//! Minimal key prefixes in front-coded groups: key to place, and place to prefix.

use std::cmp::Ordering;

use crate::base::types::comparator::{Comparator, compare_by};
use crate::base::types::error::Result;
use crate::base::types::key::Trailer;
use crate::base::types::prefix::common_len;
use crate::store::sst::searchable::page::{Fronts, Page, RecordPlace, bad, no_place};

/// How many bytes of `key` its prefix needs, between the keys before and behind it: one more than
/// it begins with like either, so that it differs from both.
///
/// All three differ, and are in the bytewise order.
pub fn prefix_len(before: Option<&[u8]>, key: &[u8], behind: Option<&[u8]>) -> usize {
    let alike = |other: Option<&[u8]>| other.map_or(0, |other| common_len(other, key));
    let needed = alike(before).max(alike(behind)) + 1;
    needed.min(key.len())
}

/// An entry of a page: number of its group, and its number in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Number of the group.
    pub group: usize,
    /// Number of the entry in it.
    pub entry: usize,
}

/// Where a search in a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// At an entry that may have the user key; only its record tells. The number is the length
    /// of its prefix, with which the user key begins. What is wanted is this entry or the one
    /// right behind it.
    Perhaps(Spot, usize),
    /// At the first entry behind what is wanted: the page has no such entry.
    Behind(Spot),
    /// All entries of the page are before what is wanted.
    AtEnd,
}

/// What is searched for: the first entry that is not before this one.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// How keys compare.
    pub comparator: &'a Comparator,
    /// The user key.
    pub user_key: &'a [u8],
    /// The newest entry of it that is wanted.
    pub trailer: Trailer,
}

impl Wanted<'_> {
    /// Looks for the entry in `page`.
    pub fn find(&self, page: &Page) -> Result<Landing> {
        let group = self.first_group(page)?;
        match self.comparator {
            Comparator::Bytewise => self.scan_prefixes(page, group),
            Comparator::Custom(_) => self.scan_keys(page, group),
        }
    }

    // The last group whose first entry is surely before the wanted one, or the first group.
    fn first_group(&self, page: &Page) -> Result<usize> {
        let (mut lower, mut upper) = (0, page.group_count() - 1);
        while lower < upper {
            let middle = (lower + upper).div_ceil(2);
            let prefix = page.group(middle)?.first_prefix()?;
            let is_before = match self.comparator {
                Comparator::Bytewise => {
                    prefix < self.user_key && !self.user_key.starts_with(prefix)
                }
                Comparator::Custom(comparator) => {
                    compare_by(&**comparator, prefix, self.user_key).is_lt()
                }
            };
            if is_before {
                lower = middle;
            } else {
                upper = middle - 1;
            }
        }
        Ok(lower)
    }

    // Prefixes that the wanted key begins with stand side by side, and only the last of them can
    // have more behind it in its record: any other is the beginning of the one that follows it,
    // and as it is as short as it must be to differ from that, it is a whole key. So the last is
    // the only one that asks for its record. If several entries have it, it is a whole key too,
    // by the rule of the format.
    fn scan_prefixes(&self, page: &Page, first_group: usize) -> Result<Landing> {
        let mut run: Option<Run> = None;
        let mut behind = None;
        'page: for index in first_group..page.group_count() {
            let group = page.group(index)?;
            let mut scan = Scan::new(self.user_key, group.fronts());
            for entry in 0..group.len() {
                let spot = Spot {
                    group: index,
                    entry,
                };
                match scan.step()? {
                    Side::Before => run = None,
                    Side::Behind => {
                        behind = Some(spot);
                        break 'page;
                    }
                    Side::Begins => match &mut run {
                        Some(run) if run.prefix_len == scan.alike => run.count += 1,
                        _ => run = Some(Run::new(spot, scan.alike)),
                    },
                }
            }
        }
        let behind = behind.map_or(Landing::AtEnd, Landing::Behind);
        match run {
            None => Ok(behind),
            Some(run) if run.count == 1 => Ok(Landing::Perhaps(run.first, run.prefix_len)),
            Some(run) if run.prefix_len < self.user_key.len() => Ok(behind),
            Some(run) => Ok(self.first_visible(page, &run)?.unwrap_or(behind)),
        }
    }

    // Of several entries of the wanted key the first that is not newer than wanted.
    fn first_visible(&self, page: &Page, run: &Run) -> Result<Option<Landing>> {
        let (mut spot, mut left) = (run.first, run.count);
        while left > 0 {
            let group = page.group(spot.group)?;
            let marks = group.marks()?;
            while spot.entry < group.len() && left > 0 {
                if marks.trailer(spot.entry)? <= self.trailer {
                    return Ok(Some(Landing::Perhaps(spot, run.prefix_len)));
                }
                spot.entry += 1;
                left -= 1;
            }
            spot = Spot {
                group: spot.group + 1,
                entry: 0,
            };
        }
        Ok(None)
    }

    // Another order says nothing about prefixes: keys stand whole, and every one is compared.
    fn scan_keys(&self, page: &Page, first_group: usize) -> Result<Landing> {
        let mut key = Vec::new();
        for index in first_group..page.group_count() {
            let group = page.group(index)?;
            let marks = group.marks()?;
            let mut fronts = group.fronts();
            key.clear();
            for entry in 0..group.len() {
                put_next(&mut key, &mut fronts)?;
                let spot = Spot {
                    group: index,
                    entry,
                };
                match self.comparator.compare(&key, self.user_key) {
                    Ordering::Less => {}
                    Ordering::Greater => return Ok(Landing::Behind(spot)),
                    Ordering::Equal if marks.trailer(entry)? <= self.trailer => {
                        return Ok(Landing::Perhaps(spot, key.len()));
                    }
                    Ordering::Equal => {}
                }
            }
        }
        Ok(Landing::AtEnd)
    }
}

/// Entries side by side with one prefix, which the wanted key begins with.
struct Run {
    first: Spot,
    prefix_len: usize,
    count: usize,
}

impl Run {
    fn new(first: Spot, prefix_len: usize) -> Run {
        Run {
            first,
            prefix_len,
            count: 1,
        }
    }
}

/// Where a prefix stands to the wanted key.
enum Side {
    /// Every key with it is before the wanted one.
    Before,
    /// The wanted key begins with it.
    Begins,
    /// Every key with it is behind the wanted one.
    Behind,
}

/// A walk over the prefixes of a group that puts none of them together.
///
/// `alike` is how many bytes the prefix begins with like the wanted key. A prefix that shares more
/// than that with the one before differs from the wanted key where that one does; one that shares
/// less is behind, because prefixes ascend.
struct Scan<'a> {
    wanted: &'a [u8],
    fronts: Fronts<'a>,
    alike: usize,
}

impl<'a> Scan<'a> {
    fn new(wanted: &'a [u8], fronts: Fronts<'a>) -> Scan<'a> {
        Scan {
            wanted,
            fronts,
            alike: 0,
        }
    }

    #[inline]
    fn step(&mut self) -> Result<Side> {
        let front = self.fronts.step()?;
        if front.shared != self.alike {
            return Ok(match front.shared > self.alike {
                true => Side::Before,
                false => Side::Behind,
            });
        }
        let rest = &self.wanted[self.alike..];
        let common = common_len(front.new, rest);
        self.alike += common;
        Ok(match (front.new.get(common), rest.get(common)) {
            (None, _) => Side::Begins,
            (Some(own), Some(other)) if own < other => Side::Before,
            _ => Side::Behind,
        })
    }
}

/// One entry of a group, whose prefix was put together.
#[derive(Clone, Copy, Debug)]
struct Slot {
    prefix_start: usize,
    prefix_end: usize,
    trailer: Trailer,
    record: RecordPlace,
}

/// A group with all its prefixes put together: for walks, both ways.
#[derive(Debug, Default)]
pub struct OpenGroup {
    prefixes: Vec<u8>,
    slots: Vec<Slot>,
}

/// One entry of an open group.
#[derive(Clone, Copy, Debug)]
pub struct OpenEntry<'a> {
    /// The front of its user key.
    pub prefix: &'a [u8],
    /// Sequence number and kind.
    pub trailer: Trailer,
    /// Where its record lies.
    pub record: RecordPlace,
}

impl OpenGroup {
    /// Opens group number `index` of `page`, in place of the one that was open.
    pub fn open(&mut self, page: &Page, index: usize) -> Result<()> {
        self.close();
        let group = page.group(index)?;
        let marks = group.marks()?;
        let mut fronts = group.fronts();
        let mut record = marks.record(0)?;
        for entry in 0..group.len() {
            let front = fronts.step()?;
            let (start, end) = self
                .slots
                .last()
                .map_or((0, 0), |last| (last.prefix_start, last.prefix_end));
            if front.shared > end - start {
                return Err(bad("a prefix shares more than there is"));
            }
            self.prefixes
                .extend_from_within(start..start + front.shared);
            self.prefixes.extend_from_slice(front.new);
            if entry > 0 {
                let offset = record.end().ok_or_else(no_place)?;
                let len = marks.record_len(entry)?;
                record = RecordPlace { offset, len };
            }
            self.slots.push(Slot {
                prefix_start: end,
                prefix_end: self.prefixes.len(),
                trailer: marks.trailer(entry)?,
                record,
            });
        }
        Ok(())
    }

    /// Holds nothing any more, but its memory.
    pub fn close(&mut self) {
        self.prefixes.clear();
        self.slots.clear();
    }

    /// Entries of the group; 0 when none is open.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no group is open.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Entry number `index`; `None` when there is none.
    pub fn entry(&self, index: usize) -> Option<OpenEntry<'_>> {
        let slot = self.slots.get(index)?;
        Some(OpenEntry {
            prefix: self.prefixes.get(slot.prefix_start..slot.prefix_end)?,
            trailer: slot.trailer,
            record: slot.record,
        })
    }
}

/// Makes `prefix`, which holds the prefix before, the next one of `fronts`.
pub fn put_next(prefix: &mut Vec<u8>, fronts: &mut Fronts<'_>) -> Result<()> {
    let front = fronts.step()?;
    if front.shared > prefix.len() {
        return Err(bad("a prefix shares more than there is"));
    }
    prefix.truncate(front.shared);
    prefix.extend_from_slice(front.new);
    Ok(())
}

#[cfg(test)]
mod tests;
