//! At the edges of a log the answers are exact, whatever of it lies where.

use super::*;

/// A log that has entries 11 to 20 of term 3, and must not be asked for others.
struct Strict;

impl LogRead for Strict {
    fn entries(&self, _: GroupId, low: u64, high: u64, _: u64) -> Result<Vec<Entry>, ReadError> {
        assert!(
            low > 10 && high <= 21,
            "the log is asked for what it does not have"
        );
        Ok((low..high).map(entry).collect())
    }

    fn term(&self, _: GroupId, index: u64) -> Result<u64, ReadError> {
        assert!(
            (11..=20).contains(&index),
            "the log is asked for what it does not have"
        );
        Ok(3)
    }
}

fn entry(index: u64) -> Entry {
    let mut entry = Entry::default();
    (entry.index, entry.term) = (index, if index > 20 { 4 } else { 3 });
    entry
}

// Compacted up to 10, durable up to 20, in memory from 21 to 25.
fn store() -> GroupStore {
    let mut store = GroupStore {
        group: GroupId(1),
        log: Arc::new(Strict),
        cache: EntryCache::default(),
        compacted: Point { index: 10, term: 2 },
        last: Point { index: 20, term: 3 },
        initial: Default::default(),
        desk: Default::default(),
        is_damaged: Default::default(),
    };
    store.append(SaveNumber(1), &(21..=25).map(entry).collect::<Vec<_>>());
    store
}

#[test]
fn trap_7_outside_of_the_log_is_compacted_or_unavailable_and_nothing_else() {
    let store = store();
    for index in 0..10 {
        assert_eq!(store.term_at(index), Err(ReadError::Compacted));
    }
    assert_eq!(store.term_at(10), Ok(2));
    assert_eq!((store.term_at(11), store.term_at(20)), (Ok(3), Ok(3)));
    assert_eq!((store.term_at(21), store.term_at(25)), (Ok(4), Ok(4)));
    assert_eq!(store.term_at(26), Err(ReadError::Unavailable));
    assert_eq!(store.entries_of(10, 12, 9), Err(ReadError::Compacted));
    assert_eq!(store.entries_of(25, 27, 9), Err(ReadError::Unavailable));
}

#[test]
fn trap_8_what_is_compacted_is_never_asked_of_the_log() {
    // So whoever purges the log needs no lock against readers; `Strict` panics when it is asked.
    let mut store = store();
    store.compact(Point { index: 15, term: 3 });
    for index in 0..15 {
        assert_eq!(store.term_at(index), Err(ReadError::Compacted));
        assert_eq!(
            store.entries_of(index + 1, 17, 9),
            Err(ReadError::Compacted)
        );
    }
    assert_eq!(store.term_at(15), Ok(3));
}

#[test]
fn what_is_asked_for_whole_comes_from_both_places() {
    let store = store();
    let all = Storage::entries(&store, 11, 26, None, GetEntriesContext::empty(false));
    let indices: Vec<u64> = all
        .expect("they are there")
        .iter()
        .map(|e| e.index)
        .collect();
    assert_eq!(indices, (11..26).collect::<Vec<_>>());
}

#[test]
fn trap_1_entries_that_are_not_durable_stay_in_memory() {
    let mut store = store();
    store.cache.shrink(0);
    assert_eq!(store.cache.first(), Some(21));
    store.cache.durable(SaveNumber(1));
    store.cache.shrink(0);
    assert_eq!(store.cache.first(), None);
}
