//! Bounds of a range of user keys, inclusive or exclusive at either end.

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

use crate::base::types::comparator::Comparator;

/// A range of user keys that owns its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Where the range begins.
    pub lower: Bound<Vec<u8>>,
    /// Where the range ends.
    pub upper: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Every key.
    pub const ALL: KeyRange = KeyRange {
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
    };

    /// The range with the bounds of a Rust range such as `b"a".as_slice()..b"b"`.
    pub fn new<K: AsRef<[u8]>>(bounds: impl RangeBounds<K>) -> KeyRange {
        let owned = |bound: Bound<&K>| bound.map(|key| key.as_ref().to_vec());
        KeyRange {
            lower: owned(bounds.start_bound()),
            upper: owned(bounds.end_bound()),
        }
    }

    /// Every key that begins with `prefix`, in the bytewise order.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        let upper = match prefix_end(prefix) {
            Some(end) => Bound::Excluded(end),
            None => Bound::Unbounded,
        };
        KeyRange {
            lower: Bound::Included(prefix.to_vec()),
            upper,
        }
    }

    /// Whether `key` lies before the range begins.
    #[inline]
    pub fn is_below(&self, comparator: &Comparator, key: &[u8]) -> bool {
        !matches!(self.lower, Bound::Unbounded) && is_before(comparator, key, &self.lower)
    }

    /// Whether `key` lies after the range ends.
    #[inline]
    pub fn is_above(&self, comparator: &Comparator, key: &[u8]) -> bool {
        !matches!(self.upper, Bound::Unbounded) && is_behind(comparator, key, &self.upper)
    }

    /// Whether keys from `start` up to `end`, exclusive, lie in the range. Says so as well where
    /// the two have a bound in common and no key.
    pub fn meets(&self, comparator: &Comparator, start: &[u8], end: &[u8]) -> bool {
        let begins_before = match &self.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) | Bound::Excluded(lower) => {
                comparator.compare(lower, end) == Ordering::Less
            }
        };
        begins_before && !self.is_above(comparator, start)
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, comparator: &Comparator, key: &[u8]) -> bool {
        !self.is_below(comparator, key) && !self.is_above(comparator, key)
    }
}

// Apart, as the next: a cursor asks three times at each seek, and mostly there is no bound. Then it
// is no call.
#[inline(never)]
fn is_before(comparator: &Comparator, key: &[u8], bound: &Bound<Vec<u8>>) -> bool {
    match bound {
        Bound::Unbounded => false,
        Bound::Included(lower) => comparator.compare(key, lower) == Ordering::Less,
        Bound::Excluded(lower) => comparator.compare(key, lower) != Ordering::Greater,
    }
}

#[inline(never)]
fn is_behind(comparator: &Comparator, key: &[u8], bound: &Bound<Vec<u8>>) -> bool {
    match bound {
        Bound::Unbounded => false,
        Bound::Included(upper) => comparator.compare(key, upper) == Ordering::Greater,
        Bound::Excluded(upper) => comparator.compare(key, upper) != Ordering::Less,
    }
}

/// The first key, bytewise, after all keys that begin with `prefix`; `None` when there is none
/// because the prefix is empty or all `0xff`.
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests;
