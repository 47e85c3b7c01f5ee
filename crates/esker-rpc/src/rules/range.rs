//! Which raw keys a read covers.

use crate::keys::{hash_key_prefix, next_key, split_raw_key};
use crate::message::data::{FilterType, GetScannerRequest, MultiGetRequest};
use crate::rules::filter::Filter;

/// Raw keys from `start` on, up to and without `end`; to the last key if there is no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// First key.
    pub start: Vec<u8>,
    /// First key behind it.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys that begin with `prefix`.
    pub fn of_prefix(prefix: Vec<u8>) -> KeyRange {
        KeyRange {
            end: next_key(&prefix),
            start: prefix,
        }
    }

    /// All sort keys of `hash_key`; `None` if that is too long.
    pub fn of_hash_key(hash_key: &[u8]) -> Option<KeyRange> {
        hash_key_prefix(hash_key).map(KeyRange::of_prefix)
    }

    /// True if no key is in it.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// True if `key` is in it.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }

    /// What both cover.
    pub fn and(self, other: KeyRange) -> KeyRange {
        let end = match (self.end, other.end) {
            (Some(one), Some(another)) => Some(one.min(another)),
            (one, another) => one.or(another),
        };
        KeyRange {
            start: self.start.max(other.start),
            end,
        }
    }
}

/// The first key that is not before `key`, or the one behind it.
fn bound(mut key: Vec<u8>, is_behind: bool) -> Vec<u8> {
    if is_behind {
        key.push(0);
    }
    key
}

/// The raw keys of a `MULTI_GET` that names no sort keys; `None`, for status 4, if its hash key is
/// too long or its filter does not exist. A filter by prefix narrows it.
pub fn of_multi_get(request: &MultiGetRequest) -> Option<KeyRange> {
    let prefix = hash_key_prefix(&request.hash_key)?;
    let raw = |sort_key: &[u8]| [&prefix[..], sort_key].concat();
    let asked = KeyRange {
        start: bound(raw(&request.start_sortkey), !request.start_inclusive),
        // No stop means the end of the hash key.
        end: (!request.stop_sortkey.is_empty())
            .then(|| bound(raw(&request.stop_sortkey), request.stop_inclusive)),
    };
    let filter = Filter::new(
        request.sort_key_filter_type,
        &request.sort_key_filter_pattern,
    );
    let beginning = raw(filter?.prefix());
    Some(asked.and(KeyRange::of_prefix(beginning)))
}

/// What whole tables are read to: no raw key begins so.
const TABLE_END: [u8; 2] = [0xff, 0xff];

/// The raw keys of a scan, to the last key if it names no stop. A filter of hash keys by prefix
/// raises the lower end: the length stands in front of a hash key, so it says nothing about the
/// upper one.
pub fn of_scan(request: &GetScannerRequest) -> KeyRange {
    let mut start = bound(request.start_key.to_vec(), !request.start_inclusive);
    if request.hash_key_filter_type == FilterType::FT_MATCH_PREFIX
        && let Some(prefix) = hash_key_prefix(&request.hash_key_filter_pattern)
    {
        start = start.max(prefix);
    }
    let asked = KeyRange {
        start,
        end: (!request.stop_key.is_empty())
            .then(|| bound(request.stop_key.to_vec(), request.stop_inclusive)),
    };
    match of_one_hash_key(request) {
        Some(all) => asked.and(all),
        None => asked,
    }
}

/// The keys of the hash key that a scan begins in, if it ends with that.
///
/// Pegasus lets every scan end so that does not say `full_scan`, unless it begins at the empty hash
/// key, and its Python client relies on it: where a scan of one hash key has no stop, it sends one
/// far behind. Other clients go on with a whole table at the last key that they saw, and do not
/// say `full_scan` then; they are known by the end of the table.
fn of_one_hash_key(request: &GetScannerRequest) -> Option<KeyRange> {
    let is_of_table = request.full_scan == Some(true) || request.stop_key[..] == TABLE_END;
    let (hash_key, _) = split_raw_key(&request.start_key).filter(|_| !is_of_table)?;
    (!hash_key.is_empty())
        .then(|| KeyRange::of_hash_key(hash_key))
        .flatten()
}

#[cfg(test)]
mod tests;
