//! Tests of `arena`.

use super::*;
use crate::env::pages::HeapPages;

#[test]
fn empty_arena_owns_nothing() {
    // A keyspace that is never written must not cost a chunk.
    let writer = Arena::create(Arc::new(HeapPages));
    assert_eq!(writer.arena().reserved_bytes(), 0);
}

#[test]
fn allocations_are_aligned_and_do_not_overlap() {
    // Fill pieces of many sizes with their own number, then look at all of them again.
    let mut writer = Arena::create(Arc::new(HeapPages));
    let count = if cfg!(miri) { 60u8 } else { 250 };
    let mut pieces = Vec::new();
    for number in 0..count {
        let size = usize::from(number) * 7 % 300 + 1;
        let place = writer.allocate(size);
        assert_eq!(place.as_ptr().addr() % ALIGN, 0);
        // SAFETY: the arena gave `size` bytes at `place`.
        unsafe { place.write_bytes(number, size) };
        pieces.push((place, size, number));
    }
    for (place, size, number) in pieces {
        // SAFETY: written in full above, and the arena is still alive.
        let bytes = unsafe { std::slice::from_raw_parts(place.as_ptr(), size) };
        assert!(bytes.iter().all(|&byte| byte == number));
    }
}

#[test]
fn reserved_bytes_stay_close_to_what_was_asked() {
    // One hard number limits all memory, so what lies idle in chunks must stay a small part.
    let mut writer = Arena::create(Arc::new(HeapPages));
    let mut asked = 0;
    let until = if cfg!(miri) { 100_000 } else { 20_000_000 };
    while asked < until {
        writer.allocate(160);
        asked += 160;
        let reserved = writer.arena().reserved_bytes();
        assert!(reserved >= asked);
        assert!(
            reserved <= asked + asked / 4 + 2 * FIRST_CHUNK_BYTES,
            "{asked} {reserved}"
        );
    }
}

#[test]
fn large_allocation_leaves_the_current_chunk_in_use() {
    // A large value in the middle of small entries must not throw away the rest of their chunk.
    let mut writer = Arena::create(Arc::new(HeapPages));
    let first = writer.allocate(16);
    let before = writer.arena().reserved_bytes();
    let large = CHUNK_BYTES_MAX;
    writer.allocate(large);
    let second = writer.allocate(16);
    assert_eq!(second.as_ptr().addr() - first.as_ptr().addr(), 16);
    assert_eq!(writer.arena().reserved_bytes(), before + large + HEAD_BYTES);
}

#[test]
fn memory_outlives_the_writer() {
    // A sealed memtable has readers and no writer.
    let mut writer = Arena::create(Arc::new(HeapPages));
    let place = writer.allocate(8);
    // SAFETY: eight bytes were given.
    unsafe { place.cast::<u64>().write(7) };
    let arena = Arc::clone(writer.arena());
    drop(writer);
    // SAFETY: the arena is still alive.
    assert_eq!(unsafe { place.cast::<u64>().read() }, 7);
    drop(arena);
}

#[test]
#[should_panic(expected = "less than was asked for")]
fn a_piece_that_is_too_small_is_not_written_to() {
    // Anybody may implement `Pages` without unsafe code: this one gives half of what was asked for,
    // and the head of the chunk and the entry would run over its end.
    #[derive(Debug)]
    struct Stingy;
    impl Pages for Stingy {
        fn take(&self, bytes: usize) -> Option<Box<dyn Piece>> {
            HeapPages.take(bytes / 2)
        }
    }
    let mut writer = Arena::create(Arc::new(Stingy));
    writer.allocate(PIECE_BYTES_MIN);
}
