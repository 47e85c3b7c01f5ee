//! Tests of `open_table`.

use super::*;

fn open(table: &OpenTable<u64>, number: u64) -> Opened<u64> {
    table.open(FileNumber(number), || Ok(number)).unwrap()
}

#[test]
fn half_of_what_nobody_holds_is_taken_the_oldest_first() {
    // Ten files, of which one is held; the two that were used last stay longest.
    let table = OpenTable::new(16);
    (0..10).for_each(|number| drop(open(&table, number)));
    let held = table.find(FileNumber(3)).unwrap();
    table.find(FileNumber(0)).unwrap();
    table.find(FileNumber(1)).unwrap();
    let mut taken: Vec<_> = table.take_idle().iter().map(|file| **file).collect();
    taken.sort_unstable();
    assert_eq!(taken, [2, 4, 5, 6, 7]);
    assert_eq!(table.open_count(), 5);
    let counts: Vec<_> = (0..4).map(|_| table.take_idle().len()).collect();
    assert_eq!(counts, [2, 1, 1, 0]);
    assert_eq!(table.open_count(), 1);
    assert_eq!(*held, 3);
}

#[test]
fn what_somebody_holds_is_open_though_it_was_put_out() {
    // Twelve files of one shard, which may have eight of sixteen, and readers hold them all.
    let table = OpenTable::new(16);
    let even = |count: u64| (0..count).map(|index| index * 2);
    let held: Vec<_> = even(8).map(|number| open(&table, number).reader).collect();
    assert!(table.has_room(), "eight of sixteen");
    let more: Vec<_> = (8..12)
        .map(|index| open(&table, index * 2).reader)
        .collect();
    assert_eq!(table.open_count(), 8);
    assert!(!table.has_room(), "twelve of sixteen");
    drop((held, more));
    // Counted anew when next something is put out.
    drop(open(&table, 100));
    assert!(table.has_room());
    let forgotten: Vec<_> = even(12)
        .map(|number| open(&table, number + 1).reader)
        .collect();
    even(12).for_each(|number| drop(table.forget(FileNumber(number + 1))));
    assert!(!table.has_room());
    drop(forgotten);
}

#[test]
fn a_table_is_full_when_as_many_are_open_as_may_be() {
    let table = OpenTable::new(32);
    (0..31).for_each(|number| drop(open(&table, number)));
    assert!(!table.is_full());
    open(&table, 31);
    assert!(table.is_full());
    open(&table, 32);
    assert_eq!(table.open_count(), 32);
}
