//! Nothing that may be asked for is let go, and what was replaced is gone.

use super::*;

fn entries(indices: std::ops::Range<u64>, term: u64) -> Vec<Entry> {
    let entry = |index| {
        let mut entry = Entry::default();
        (entry.index, entry.term) = (index, term);
        entry.data = vec![7; 10].into();
        entry
    };
    indices.map(entry).collect()
}

#[test]
fn a_later_save_takes_the_place_of_entries() {
    let mut cache = EntryCache::default();
    cache.append(SaveNumber(1), &entries(5..10, 1));
    cache.append(SaveNumber(2), &entries(7..9, 2));
    let terms: Vec<_> = (5..10)
        .map(|index| cache.get(index).map(|e| e.term))
        .collect();
    assert_eq!(terms, [Some(1), Some(1), Some(2), Some(2), None]);
    assert_eq!(cache.bytes, 4 * size_bytes(&entries(5..6, 1)[0]));
}

#[test]
fn what_a_later_save_begins_with_is_kept_though_an_earlier_one_is_durable() {
    // Save 2 begins below save 1: with 1 durable, 3 to 4 are still only here.
    let mut cache = EntryCache::default();
    cache.append(SaveNumber(1), &entries(5..10, 1));
    cache.append(SaveNumber(2), &entries(3..5, 2));
    cache.durable(SaveNumber(1));
    cache.shrink(0);
    assert_eq!(cache.first(), Some(3));
    cache.durable(SaveNumber(2));
    cache.shrink(0);
    assert_eq!((cache.first(), cache.bytes), (None, 0));
}

#[test]
fn a_range_has_one_entry_at_least_and_no_more_bytes_than_asked_for() {
    let mut cache = EntryCache::default();
    cache.append(SaveNumber(1), &entries(5..10, 1));
    let each = size_bytes(&entries(5..6, 1)[0]) as u64;
    let len = |bytes_max| cache.range(6, 10, bytes_max).len();
    assert_eq!(
        (len(0), len(each), len(2 * each), len(u64::MAX)),
        (1, 1, 2, 4)
    );
}

#[test]
fn compacting_keeps_what_is_not_durable() {
    let mut cache = EntryCache::default();
    cache.append(SaveNumber(1), &entries(5..10, 1));
    cache.compact(8);
    assert_eq!(cache.first(), Some(5));
    cache.durable(SaveNumber(1));
    cache.compact(8);
    assert_eq!(cache.first(), Some(9));
}
