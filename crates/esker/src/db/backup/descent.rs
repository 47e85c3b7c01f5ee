//! Which sorted files count, by what they say of where they come from.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::FileNumber;
use crate::store::sst::origin::Lineage;

/// The files of one keyspace that count no more, of all that are whole.
///
/// Files made of the same sources that are there for all keys have taken the place of these. Where
/// some of them are not there and all sources are, the work was never finished, or it does no harm
/// to do it again. Where neither is so nothing is known, and everything counts.
pub fn replaced(
    comparator: &Comparator,
    files: &[(FileNumber, Option<Lineage>)],
) -> BTreeSet<FileNumber> {
    let mut families: BTreeMap<&[FileNumber], Vec<(FileNumber, &Lineage)>> = BTreeMap::new();
    for (number, lineage) in files {
        if let Some(lineage) = lineage {
            let family = families.entry(&lineage.sources).or_default();
            family.push((*number, lineage));
        }
    }
    let mut replaced = BTreeSet::new();
    for (sources, family) in &mut families {
        if is_complete(comparator, family) {
            replaced.extend(sources.iter().copied());
        }
    }
    let counts: BTreeSet<FileNumber> = files
        .iter()
        .map(|(number, _)| *number)
        .filter(|number| !replaced.contains(number))
        .collect();
    for (sources, family) in &families {
        if sources.iter().all(|source| counts.contains(source)) {
            replaced.extend(family.iter().map(|(number, _)| *number));
        }
    }
    replaced
}

// Whether the files of a family are there for all keys.
fn is_complete(comparator: &Comparator, family: &mut [(FileNumber, &Lineage)]) -> bool {
    family.sort_by(|(_, left), (_, right)| match (&left.lower, &right.lower) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(left), Some(right)) => comparator.compare(left, right),
    });
    let mut is_begun = false;
    let mut end: Option<Bytes> = None;
    for (_, lineage) in family.iter() {
        let goes_on = match (&lineage.lower, &end) {
            (lower, None) => lower.is_none() && !is_begun,
            (Some(lower), Some(end)) => comparator.compare(lower, end) != Ordering::Greater,
            (None, Some(_)) => true,
        };
        if !goes_on {
            return false;
        }
        is_begun = true;
        end = lineage.upper.clone();
        if end.is_none() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
