//! Tests of the pool of values.

use super::*;

const VALUE: usize = 1_000;

/// Bytes that one value takes.
const EACH: u64 = VALUE as u64 + VALUE_OVERHEAD_BYTES;

fn place(number: u64) -> ValuePointer {
    ValuePointer {
        segment: FileNumber(number),
        offset: 100,
        len: u32::try_from(VALUE).unwrap(),
        crc: 7,
    }
}

fn value(seed: u8) -> Bytes {
    Bytes::from(vec![seed; VALUE])
}

fn here(pool: &ValuePool, pointer: &ValuePointer) -> Option<Bytes> {
    match pool.find(pointer)? {
        Found::Here(value) => Some(value),
        Found::There(place) => here(pool, &place),
    }
}

fn waiting(pool: &Arc<ValuePool>, seed: u8) -> Option<Arc<WaitingValue>> {
    let mut room = pool.room_for(VALUE as u64, 1)?;
    Some(room.keep(NewWaiting {
        keyspace: KeyspaceId(3),
        key: b"key",
        value: value(seed),
        crc: 7,
    }))
}

#[test]
fn the_newest_written_values_stay_and_the_oldest_give_way() {
    // Room for three: the fourth puts the first out; a value beyond the whole pool is not kept.
    let pool = ValuePool::new(3 * EACH, EACH);
    for number in 1..=4 {
        pool.keep_written(&place(number), value(number as u8));
    }
    assert_eq!(here(&pool, &place(1)), None);
    for number in 2..=4 {
        assert_eq!(here(&pool, &place(number)), Some(value(number as u8)));
    }
    pool.keep_written(&place(5), Bytes::from(vec![0; 10 * VALUE]));
    assert_eq!(here(&pool, &place(5)), None);
    assert!(pool.used_bytes() <= 3 * EACH);
    let shorter = ValuePointer { len: 5, ..place(4) };
    assert_eq!(here(&pool, &shorter), None);
}

#[test]
fn what_waits_is_never_put_out() {
    // Written values make way for what waits; what waits makes way for nobody, until it is
    // written. Then its pointer leads where it was written.
    let pool = ValuePool::new(2 * EACH, EACH);
    pool.keep_written(&place(1), value(1));
    pool.keep_written(&place(2), value(2));
    let first = waiting(&pool, 3).unwrap();
    let second = waiting(&pool, 4).unwrap();
    assert!(waiting(&pool, 5).is_none());
    pool.keep_written(&place(6), value(6));
    assert_eq!(here(&pool, first.pointer()), Some(value(3)));
    assert_eq!(here(&pool, second.pointer()), Some(value(4)));
    assert_eq!(here(&pool, &place(6)), None);
    assert_eq!(pool.waiting_bytes(), 2 * EACH);
    first.written(&place(7));
    assert_eq!(pool.waiting_bytes(), EACH);
    assert_eq!(here(&pool, first.pointer()), Some(value(3)));
    assert_eq!(here(&pool, &place(7)), Some(value(3)));
    let third = waiting(&pool, 8).unwrap();
    // It left memory for the third one, and is still known to lie in its segment.
    assert!(matches!(pool.find(first.pointer()), Some(Found::There(found)) if found == place(7)));
    assert_eq!(here(&pool, &place(7)), None);
    drop((first, second, third));
    assert_eq!((pool.waiting_bytes(), pool.used_bytes()), (0, 0));
}

#[test]
fn what_settled_is_readable_and_takes_no_room() {
    // Its memtable was flushed, and a reader holds it still.
    let pool = ValuePool::new(2 * EACH, EACH);
    let kept = waiting(&pool, 1).unwrap();
    assert_eq!(kept.settle(), VALUE as u64);
    assert_eq!(pool.waiting_bytes(), 0);
    assert_eq!(here(&pool, kept.pointer()), Some(value(1)));
    let pointer = *kept.pointer();
    drop(kept);
    assert!(pool.find(&pointer).is_none());
    assert_eq!(pool.waiting_bytes(), 0);
}

#[test]
fn room_that_is_not_used_is_given_back() {
    // A batch that is refused keeps nothing.
    let pool = ValuePool::new(2 * EACH, EACH);
    assert!(pool.may_wait(VALUE as u64, 1) && !pool.may_wait(2 * VALUE as u64, 2));
    let room = pool.room_for(2 * VALUE as u64, 2).unwrap();
    assert!(pool.room_for(1, 1).is_none());
    drop(room);
    assert_eq!(pool.waiting_bytes(), 0);
    pool.set_size(EACH, EACH / 2);
    assert!(pool.room_for(2 * VALUE as u64, 2).is_none());
}

#[test]
fn a_load_that_only_writes_soon_stops_paying_for_copies() {
    // All are copied until the pool was full once; then one of many, until a read finds one.
    let pool = ValuePool::new(64 * EACH, EACH);
    let write = |numbers: std::ops::Range<u64>| -> u64 {
        let worth_it = numbers.filter(|number| {
            let is_worth_it = pool.is_copy_worth_it(EACH);
            if is_worth_it {
                pool.keep_written(&place(*number), value(0));
            }
            is_worth_it
        });
        worth_it.count() as u64
    };
    assert_eq!(write(0..64), 64);
    assert_eq!(write(64..640), 576 / COPY_SAMPLE);
    assert!(here(&pool, &place(639)).is_some());
    assert_eq!(write(640..704), 64);
}
