//! Tests of `spare`.

use super::*;

thread_local! {
    static CELL: SpareCell = const { Cell::new(Vec::new()) };
}

const SPARE: SpareBuffer = SpareBuffer::new(&CELL, 1000);

#[test]
fn what_was_given_back_is_taken_next() {
    // The same memory comes round, and a second taker in between gets memory of its own.
    let mut buffer = SPARE.take();
    buffer.reserve(100);
    let at = buffer.as_ptr();
    SPARE.give_back(buffer);
    let again = SPARE.take();
    assert_eq!(again.as_ptr(), at);
    assert_eq!(SPARE.take().capacity(), 0);
}

#[test]
fn large_buffers_are_not_kept() {
    // One byte more than the bound leaves nothing behind.
    SPARE.give_back(Vec::with_capacity(1001));
    assert_eq!(SPARE.take().capacity(), 0);
}
